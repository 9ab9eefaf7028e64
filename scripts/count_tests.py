#!/usr/bin/env python3
"""Prints "N passed, M failed" of a JUnit file that ctest wrote, after a line on skipped tests if there are any."""
import sys
import xml.etree.ElementTree as ElementTree

suite = ElementTree.parse(sys.argv[1]).getroot()
count = {name: int(suite.get(name)) for name in ("tests", "failures", "disabled", "skipped")}
skipped = count["disabled"] + count["skipped"]
if skipped:
    print(f"{skipped} skipped")
print(f"{count['tests'] - count['failures'] - skipped} passed, {count['failures']} failed")
