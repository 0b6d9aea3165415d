#!/usr/bin/env python3
"""Writes the program that the fragments of a page are, and what it prints.

    page_program.py PAGE SOURCE OUTPUT

Fragments are the blocks of the page that are indented by four spaces. The first one has the includes and what
the others use; each of these is a block of its own, and the comments at its end are what it prints.
"""

import itertools
import pathlib
import sys


def blocks(lines):
    """Yields the lines of each indented block, without the indentation."""
    for is_code, group in itertools.groupby(lines, lambda line: line.startswith("    ") or not line):
        block = [line[4:] for line in group]
        if is_code and any(block):
            yield "\n".join(block).strip("\n").split("\n")


def main(page, source, output):
    first, *fragments = blocks(pathlib.Path(page).read_text().split("\n"))
    split = max(i for i, line in enumerate(first) if line.startswith(("#include", "using "))) + 1
    program = [*first[:split], "int main() {", *first[split:]]
    printed = []
    for fragment in fragments:
        code = list(itertools.takewhile(lambda line: not line.startswith("// "), fragment))
        printed += [line.removeprefix("// ") for line in fragment[len(code) :]]
        program += ["{", *code, "}"]
    pathlib.Path(source).write_text("\n".join([*program, "}", ""]))
    pathlib.Path(output).write_text("\n".join([*printed, ""]))


if __name__ == "__main__":
    main(*sys.argv[1:])
