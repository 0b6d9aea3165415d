#!/usr/bin/env python3
"""Runs the commands that a Markdown page shows and compares what they print with what the page shows.

    run_commands.py SOURCE_DIR BIN_DIR PAGE [SHOWN_DIR]

In a code block (indented by four spaces, or between ``` fences) a line that starts with `$ ` is a command,
continued where it ends in a backslash; the lines after it, up to the next command or the end of the block,
are its output and errors, in which a line `...` stands for any lines. Commands run in SOURCE_DIR, and
SHOWN_DIR in them, `build/release/bin` if it is not given, means BIN_DIR. One without output shown has to
succeed.
"""

import os
import re
import subprocess
import sys


def code_blocks(lines):
    """Yields (number of the first line, lines) of each code block, without its indentation."""
    block, first, fence = [], 0, None  # fence: the column of the open fence
    for number, line in enumerate([*lines, ""], 1):
        is_fence = line.lstrip().startswith("```")
        is_code = not is_fence and (fence is not None or line.startswith("    "))
        if is_code or (block and fence is None and not line.strip() and number <= len(lines)):
            first = first if block else number
            block.append(line[4 if fence is None else fence:])
            continue
        if block:
            yield first, block
            block = []
        if is_fence:
            fence = line.index("`") if fence is None else None


def commands(lines):
    """Yields (line number, command, lines of output) of each command in the code blocks."""
    for first, block in code_blocks(lines):
        index = 0
        while index < len(block):
            if not block[index].startswith("$ "):
                index += 1
                continue
            start = index
            command = block[index][2:]
            while command.endswith("\\") and index + 1 < len(block):
                index += 1
                command = command[:-1] + block[index].lstrip("> ")
            index += 1
            output = []
            while index < len(block) and not block[index].startswith("$ "):
                output.append(block[index].rstrip())
                index += 1
            while output and not output[-1]:
                output.pop()
            yield first + start, command, output


def matches(shown, printed):
    """Whether the lines printed are those shown, where `...` stands for any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + r"\n" for line in shown)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def main():
    source_dir, bin_dir, page = sys.argv[1:4]
    shown_dir = sys.argv[4] if len(sys.argv) > 4 else "build/release/bin"
    with open(os.path.join(source_dir, page), encoding="utf-8") as file:
        lines = file.read().split("\n")
    count = failed = 0
    for number, command, shown in commands(lines):
        count += 1
        run = subprocess.run(
            ["bash", "-c", command.replace(shown_dir + "/", bin_dir + "/")], cwd=source_dir,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            universal_newlines=True, check=False)
        printed = [line.rstrip() for line in run.stdout.split("\n")]
        while printed and not printed[-1]:
            printed.pop()
        if matches(shown, printed) and (shown or run.returncode == 0):
            continue
        failed += 1
        print(f"{page}:{number}: $ {command}\n-- shown:", *shown, sep="\n")
        print(f"-- printed (exit code {run.returncode}):", *printed, sep="\n")
    print(f"{page}: {count} commands, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
