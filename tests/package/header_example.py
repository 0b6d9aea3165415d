#!/usr/bin/env python3
"""Writes the program that opens a header, and what it prints.

    header_example.py HEADER SOURCE OUTPUT

The program is the indented text of the header's comment from `#include <` to the line before `It prints`, the output
the indented text after that line.
"""

import pathlib
import sys


def indented(lines):
    """The lines that are indented in a comment, without the comment's marks."""
    return "".join(line.removeprefix("//   ") + "\n" if line != "//" else "\n" for line in lines).strip("\n") + "\n"


def main(header, source, output):
    lines = pathlib.Path(header).read_text().split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith("//   #include <"))
    middle = lines.index("// It prints")
    last = next(i for i, line in enumerate(lines) if not line.startswith("//"))
    pathlib.Path(source).write_text(indented(lines[first:middle]))
    pathlib.Path(output).write_text(indented(lines[middle + 1 : last]))


if __name__ == "__main__":
    main(*sys.argv[1:])
