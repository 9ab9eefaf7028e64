#!/usr/bin/env python3
"""Prints each circle of calls that passes through more than three files of one folder of the PETSc side.

    scripts/check_circles.py file.c ...
"""
import collections
import os
import re
import sys

MOST = 3
COMMENT_OR_TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/', re.S)
FUNCTION = re.compile(r"^(?!static\b)(?:\w+ )+\**(\w+)\([^;{]*\)\s*\{", re.M)


def circles(calls):
    """The strongly connected components of a graph {file: files}, by Tarjan's algorithm"""
    number, least, stack, found = {}, {}, [], []

    def visit(file):
        number[file] = least[file] = len(number)
        stack.append(file)
        for called in calls[file]:
            if called not in number:
                visit(called)
            if called in stack:
                least[file] = min(least[file], least[called])
        if least[file] == number[file]:
            at = stack.index(file)
            found.append(stack[at:])
            del stack[at:]

    for file in calls:
        if file not in number:
            visit(file)
    return found


def main():
    code = {}
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            code[name] = COMMENT_OR_TEXT.sub(" ", file.read())
    home = {function: name for name, text in code.items() for function in FUNCTION.findall(text)}
    folders = collections.defaultdict(dict)
    for name, text in code.items():
        called = {home[word] for word in set(re.findall(r"\w+", text)) if word in home}
        folder = os.path.dirname(name)
        folders[folder][name] = sorted(c for c in called if c != name and os.path.dirname(c) == folder)
    for folder, calls in folders.items():
        for circle in circles(calls):
            if len(circle) > MOST:
                print(f"{folder}: a circle of calls over {len(circle)} files: " + ", ".join(map(os.path.basename, sorted(circle))))


main()
