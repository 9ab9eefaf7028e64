#!/usr/bin/env python3
"""Prints the tests that a stage of CI runs, one line each, sorted: stage, test, processes, type, space.

    ctest --test-dir BUILD SELECTION --show-only=json-v1 | scripts/ci_tests.py STAGE

`.ci/run tests` calls it for every stage: written before and after a change of CI, the two lists show what was lost.
"""
import json
import re
import sys


def properties(test):
    return {p["name"]: p["value"] for p in test.get("properties", [])}


def argument(command, *names):
    """The words after one of these options, or a dash"""
    words = []
    for at, word in enumerate(command):
        if word in names:
            for value in command[at + 1:]:
                if value.startswith("-"):
                    break
                words.append(value)
    return ",".join(words) or "-"


def processes(command):
    for option in ("-n", "--ranks"):
        if option in command:
            return command[command.index(option) + 1]
    return "1"


def space(name, command, labels):
    if argument(command, "--space") == "device" or argument(command, "-mat_aijfmt_device") == "gpu":
        return "device"
    return "device" if "device" in labels or re.search("_gpu(_|$)", name) else "host"


def main():
    stage = sys.argv[1]
    lines = []
    for test in json.load(sys.stdin)["tests"]:
        command = test.get("command", [])
        kind = argument(command, "--format", "-format", "-type", "-mat_type", "--types")
        lines.append((stage, test["name"], processes(command), kind,
                      space(test["name"], command, properties(test).get("LABELS", []))))
    for line in sorted(lines):
        print(*line)


if __name__ == "__main__":
    main()
