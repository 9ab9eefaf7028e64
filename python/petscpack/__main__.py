"""Prints the path of the plugin, for programs that are not written in Python:

    ./program -dll_append $(python3 -m petscpack) -mat_type aijrbp
"""
from ._plugin import plugin

print(plugin())
