#!/usr/bin/env python3
"""Runs print-indexing as the comments of a file say and compares what it prints with them.

    run_cases.py PRINT_INDEXING FILE

Lines of the file that begin with these, wherever they stand, are read:

    //$ --direction=both    a command: the flags that stand before FILE
    //| Output 0 operand 0: a line of its standard output; all of them, in order
    //! 4:8: error: unknown its standard error: what one of its errors says after `FILE:` (or, of the
                            command line, after `print-indexing: error: `), or the beginning of
                            that; all of them, in order
    //= 1                   its exit code, where that is not 0

Every error of an input has to come with its place, the line it is in and a caret below the place.
"""

import re
import subprocess
import sys


class Command:
    def __init__(self, flags, line_number):
        self.flags = flags
        self.line_number = line_number
        self.output = []
        self.errors = []
        self.exit_code = 0


def read_commands(lines):
    commands = []
    for number, line in enumerate(lines, 1):
        sign, text = line[:3], line[4:]
        if sign == "//$":
            commands.append(Command(text.split(), number))
        elif sign == "//|":
            commands[-1].output.append(text)
        elif sign == "//!":
            commands[-1].errors.append(text)
        elif sign == "//=":
            commands[-1].exit_code = int(text)
    return commands


def printable(text):
    return "".join(" " if c == "\t" else c if " " <= c <= "~" else "?" for c in text)


def check_diagnostics(file, lines, printed):
    """What is wrong with errors that should show their places; a list of messages."""
    wrong = []
    for at in range(0, len(printed), 3):
        place = re.match(r"(.*?):(\d+):(\d+): error: .", printed[at])
        if place is None or place[1] != file or len(printed) < at + 3:
            wrong.append(f"no error with its place: {printed[at:at + 3]}")
            break
        number, column = int(place[2]), int(place[3])
        source = printable(lines[number - 1]) if number <= len(lines) else ""
        shown, caret = printed[at + 1], printed[at + 2]
        if caret.lstrip(" ") != "^":
            wrong.append(f"no caret: {caret}")
        # Of a long line the end may be cut off; where its beginning is too, nothing is compared.
        if column <= 80 and (len(caret) != column or (
                shown.rstrip() != source.rstrip() and not (
                    shown.endswith("...") and source.startswith(shown[:-3])))):
            wrong.append(f"not line {number} with a caret at column {column}: {printed[at + 1:at + 3]}")
    return wrong


def run(program, file, lines, command):
    result = subprocess.run(
        [program, *command.flags, file], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, timeout=300, check=False)
    output = result.stdout.decode("utf-8").splitlines()
    errors = result.stderr.decode("utf-8").splitlines()
    wrong = []
    if result.returncode != command.exit_code:
        wrong.append(f"exit code {result.returncode}, expected {command.exit_code}")
    if output != command.output:
        wrong += ["standard output:", *output, "expected:", *command.output]
    if result.returncode == 1:
        wrong += check_diagnostics(file, lines, errors)
    heads = [line.removeprefix(file + ":").removeprefix("print-indexing: error: ")
             for line in errors if "error: " in line]
    if len(heads) != len(command.errors) or not all(
            head.startswith(expected) for head, expected in zip(heads, command.errors)):
        wrong += ["standard error:", *errors, "expected:", *command.errors]
    return wrong


def main():
    program, file = sys.argv[1:]
    with open(file, "rb") as stream:
        lines = stream.read().decode("latin-1").split("\n")
    commands = read_commands(lines)
    failed = not commands
    for command in commands:
        wrong = run(program, file, lines, command)
        if wrong:
            failed = True
            print(f"{file}:{command.line_number}: {' '.join(['print-indexing', *command.flags])}")
            print(*wrong, "", sep="\n")
    print(f"{file}: {len(commands)} commands{', some failed' if failed else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
