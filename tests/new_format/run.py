#!/usr/bin/env python3
"""Adds the example format of the how-to to a copy of the source tree, as its page says, and runs the page's commands there.

    run.py --format NAME --source FOLDER --copy FOLDER PAGE

A line above a code block says what the block is:

    In `PATH`, below the line of `TEXT`:       lines for a file that is there, below the only line with TEXT
    Run:                                       commands, run in the copy in their order once all lines are inserted

Blocks of the language text explain something; every other block must have such a line. The exit status is 0 when all
commands succeed and the unit, conformance and fault tests of the format are among those that passed.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PARTS = (".clang-format", ".size-exceptions", "CMakeLists.txt", "CMakePresets.json", "petscpack.pc.in", "bench", "cmake",
         "docs", "examples", "include", "scripts", "src", "tests")
BELOW = re.compile(r"In `([^`]+)`, below the line of `([^`]+)`:")
SOURCE_CHECK = "scripts/check_source.sh"


class PageError(Exception):
    """A page that cannot be followed"""


def code_blocks(text):
    """Yields (last line of text above, language, code) for each code block of a page"""
    above, fence, language, code = "", None, "", []
    for line in text.splitlines():
        mark = re.match(r"(`{3,})(\w*)\s*$", line)
        if fence is None and mark:
            fence, language, code = mark[1], mark[2], []
        elif fence is None:
            above = line.strip() or above
        elif mark and not mark[2] and len(mark[1]) >= len(fence):
            yield above, language, "".join(f"{each}\n" for each in code)
            fence, above = None, ""
        else:
            code.append(line)
    if fence is not None:
        raise PageError(f"a code block below '{above}' has no end")


def insert_below(path, anchor, code):
    """Inserts code below the only line that contains the anchor"""
    lines = path.read_text().splitlines(keepends=True)
    matches = [i for i, line in enumerate(lines) if anchor in line]
    if len(matches) != 1:
        raise PageError(f"{len(matches)} lines of {path.name} contain '{anchor}'")
    lines.insert(matches[0] + 1, code)
    path.write_text("".join(lines))


def follow(text, copy):
    """Inserts the lines of a page in the copy; returns the paths that it changed, and the page's commands"""
    changed, commands = [], []
    for above, language, code in code_blocks(text):
        if match := BELOW.fullmatch(above):
            insert_below(copy / match[1], match[2], code)
            changed.append(match[1])
        elif above == "Run:":
            commands.append(code)
        elif language != "text":
            raise PageError(f"nothing says what the code block below '{above}' is")
    return changed, commands


def copy_source(source, copy):
    """A fresh copy of what a build needs"""
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    for part in PARTS:
        if (source / part).is_dir():
            shutil.copytree(source / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source / part, copy / part)


def can_check_source():
    formatter = shutil.which("clang-format-14") or shutil.which("clang-format")
    if not formatter or not shutil.which("git"):
        return False
    version = subprocess.run([formatter, "--version"], capture_output=True, text=True, check=False).stdout
    return "version 14." in version


def track_alone(copy, changed, folder):
    """Makes the copy a repository of the changed files and a folder yet to come, all that the source check looks at"""
    git = ["git", "-C", str(copy)]
    subprocess.run([*git, "init", "-q"], check=True)
    (copy / ".git/info").mkdir(exist_ok=True)
    parents = [f"!/{each}/\n/{each}/*\n" for each in reversed(Path(folder).parents) if each.name]
    (copy / ".git/info/exclude").write_text("/*\n" + "".join(parents) + f"!/{folder}/\n")
    subprocess.run([*git, "add", "--force", *sorted(set(changed))], check=True)


def run_commands(commands, copy):
    """Runs the commands; returns what they printed"""
    jobs = str(len(os.sched_getaffinity(0)))
    environment = {"CMAKE_BUILD_PARALLEL_LEVEL": jobs, "CTEST_PARALLEL_LEVEL": jobs, **os.environ}
    output = []
    with subprocess.Popen(["bash", "-ex", "-c", commands], cwd=copy, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            output.append(line)
    if process.returncode:
        raise PageError(f"the commands end with status {process.returncode}")
    return "".join(output)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", required=True)
    parser.add_argument("--source", required=True, type=Path)
    parser.add_argument("--copy", required=True, type=Path)
    parser.add_argument("page", type=Path)
    arguments = parser.parse_args()

    copy_source(arguments.source, arguments.copy)
    changed, commands = follow(arguments.page.read_text(), arguments.copy)
    if can_check_source():
        track_alone(arguments.copy, changed, f"src/kernels/{arguments.format}")
    else:
        print(f"{SOURCE_CHECK} is left out: it needs git and clang-format 14")
        commands = [each for each in commands if SOURCE_CHECK not in each]
    output = run_commands("".join(commands), arguments.copy)
    for test in ("unit_{}_test", "conformance_{}", "faults_{}"):
        name = test.format(arguments.format)
        if not re.search(rf" {name} \.+ +Passed", output):
            raise PageError(f"the test {name} has not passed")


if __name__ == "__main__":
    try:
        main()
    except (PageError, OSError) as error:
        sys.exit(f"FAILED {error}")
