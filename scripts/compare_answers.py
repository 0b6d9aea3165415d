#!/usr/bin/env python3
"""Compares what two builds of print-indexing answer on real programs.

    scripts/compare_answers.py OLD NEW                        over files of ../shared
    scripts/compare_answers.py OLD NEW --corpora jax:300 ~/programs:1000

Every file is asked for the maps of its entry computation as one fusion and of every instruction, in
both directions, by OLD and NEW in turn. Printed are, for each directory and question: how many entries
are exact, how many of these are no longer exact (and how many became so), maps, lines that differ, and
user time. --list names the entries that are no longer exact; --diff prints lines that differ. Files
that take over 0.2 s and longer than 1.1 times as before are named. Ends with 1 if an entry is no
longer exact.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from typing import Any

import board

HEADINGS = ("Output ", "Input ")
SLOW_SECONDS = 0.2
SLOW_RATIO = 1.1


@dataclass
class Answer:
    """What one run printed."""

    code: int
    seconds: float
    lines: list[str]
    maps: int = 0
    # Whether each entry is exact, by module, instruction and heading.
    entries: dict[tuple[str, str, str], bool] = field(default_factory=dict)


def read_entries(answer: Answer) -> None:
    module = block = ""
    key = None
    for line in answer.lines:
        if line.startswith("module "):
            module, key = line, None
        elif line.startswith(HEADINGS) and line.endswith(":"):
            key = (module, block, line)
            answer.entries[key] = True
        elif line.startswith(HEADINGS):  # "Output to input: .. pairs of leaves not listed"
            key = None
        elif line.endswith(":") and not line.startswith(("(", " ")):
            block, key = line, None
        elif key is not None and ("(over-approximate: " in line or line.startswith("unknown: ")):
            answer.entries[key] = False
        if line.startswith("(") and "-> (" in line:
            answer.maps += 1


def run(program: pathlib.Path, question: str, path: pathlib.Path, seconds: int) -> Answer:
    command = [str(program), *board.QUESTIONS[question], "--direction=both", "--jobs=1", str(path)]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
        )
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds, seconds + 1))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        output.seek(0)
        lines = output.read().decode(errors="replace").splitlines()
    answer = Answer(status, usage.ru_utime, lines)
    read_entries(answer)
    return answer


@dataclass
class Sums:
    """Of the files of one directory, for one question."""

    files: int = 0
    entries: int = 0
    exact: tuple[int, int] = (0, 0)
    lost: int = 0
    gained: int = 0
    maps: tuple[int, int] = (0, 0)
    gone: int = 0
    new: int = 0
    seconds: tuple[float, float] = (0.0, 0.0)


def add(pair: tuple[Any, Any], a: float, b: float) -> tuple[Any, Any]:
    return (pair[0] + a, pair[1] + b)


def compare(
    args: argparse.Namespace, corpus: board.Corpus, question: str, path: pathlib.Path
) -> tuple[str, str, pathlib.Path, Answer, Answer]:
    return (
        corpus.name,
        question,
        path,
        run(args.old, question, path, args.seconds),
        run(args.new, question, path, args.seconds),
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument(
        "--corpora",
        nargs="*",
        type=board.corpus_of,
        default=[board.corpus_of(c) for c in board.CORPORA],
        metavar="DIRECTORY:KB",
    )
    parser.add_argument("--questions", nargs="*", default=list(board.QUESTIONS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=120, help="the most that a run may take")
    parser.add_argument("--list", action="store_true", help="name entries that are no longer exact")
    parser.add_argument("--diff", action="store_true", help="print the lines that differ")
    args = parser.parse_args()

    sums: dict[tuple[str, str], Sums] = collections.defaultdict(Sums)
    slower: list[str] = []
    tasks = [
        (corpus, question, path)
        for corpus in args.corpora
        for path in corpus.files()
        for question in args.questions
    ]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for number, (name, question, path, old, new) in enumerate(
            pool.map(lambda task: compare(args, *task), tasks), 1
        ):
            if sys.stderr.isatty():
                print(f"\r\033[K[{number}/{len(tasks)}] {path.name}", end="", file=sys.stderr, flush=True)
            if old.code != new.code:
                print(f"{path} ({question}): ended with {old.code}, now {new.code}")
            total = sums[name, question]
            total.files += 1
            total.entries += len(new.entries)
            total.exact = add(total.exact, sum(old.entries.values()), sum(new.entries.values()))
            total.maps = add(total.maps, old.maps, new.maps)
            total.seconds = add(total.seconds, old.seconds, new.seconds)
            before, after = collections.Counter(old.lines), collections.Counter(new.lines)
            total.gone += sum((before - after).values())
            total.new += sum((after - before).values())
            lost = [key for key, exact in old.entries.items() if exact and not new.entries.get(key, True)]
            total.lost += len(lost)
            total.gained += sum(
                exact and not old.entries.get(key, True) for key, exact in new.entries.items()
            )
            if args.list:
                for key in lost:
                    print(f"{path} ({question}): no longer exact: {' '.join(key)}")
            if args.diff and before != after:
                print(f"--- {path} ({question})")
                print("\n".join(f"- {line}" for line in old.lines if line in before - after))
                print("\n".join(f"+ {line}" for line in new.lines if line in after - before))
            if old.seconds > SLOW_SECONDS and new.seconds > SLOW_RATIO * old.seconds:
                slower.append(f"{path} ({question}): {old.seconds:.2f} s, now {new.seconds:.2f} s")
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    print(
        "| programs | question | files | entries | exact | now | no longer | newly "
        "| maps | now | lines gone | new | user time | now |"
    )
    print("|" + " --- |" * 14)
    for (name, question), s in sorted(sums.items()):
        print(
            f"| {name} | {question} | {s.files} | {s.entries:,} | {s.exact[0]:,} | {s.exact[1]:,} "
            f"| {s.lost} | {s.gained} | {s.maps[0]:,} | {s.maps[1]:,} | {s.gone:,} | {s.new:,} "
            f"| {s.seconds[0]:.1f} s | {s.seconds[1]:.1f} s |"
        )
    for line in slower:
        print(f"slower: {line}")
    return int(any(s.lost for s in sums.values()))


if __name__ == "__main__":
    sys.exit(main())
