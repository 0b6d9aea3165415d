#!/usr/bin/env python3
"""Compares the fusions of print-indexing --assume=fused with those of XLA.

    scripts/compare_fusions.py --print-indexing=build/release/bin/print-indexing DUMP...

DUMP is a folder that XLA wrote for one module with

    XLA_FLAGS='--xla_dump_to=DUMP --xla_dump_hlo_as_text
               --xla_dump_hlo_pass_re=priority-fusion|multi_output_fusion'

Of each a line: the kernels, the bytes that they read and write, and of the pairs of an operation and one
that reads it the share that is in one kernel in both or in neither.

  fusion    the module as it is right before XLA's fusion passes, fused by us and by them
  whole     the module as JAX or a dump has it, fused by us, and what XLA made of it in the end
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile

INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?([\w.-]+) = .*? ([a-z][\w-]*)\((.*)$")


def run(program, *arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def least(figure):
    """The number, or the least of bounds."""
    if isinstance(figure, dict):
        figure = figure.get("least", 0)
    return figure[0] if isinstance(figure, list) else figure or 0


def totals(program, file, assume):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        run(program, f"--report={out.name}", f"--assume={assume}", "--jobs=1", file)
        total = json.loads(pathlib.Path(out.name).read_text().splitlines()[0])["totals"]
    return total["kernels"], least(total["bytes_read"]) + least(total["bytes_written"])


def stem(name):
    """A name without what XLA adds to that of a copy: mul.7.0 becomes mul.7.3.clone.1 in a fusion."""
    return re.sub(r"\.\d+$", "", re.sub(r"\.clone.*$", "", name))


def computations(text):
    """Of each computation, by name: the operation and its operands, by name of the instruction."""
    found, current = {}, None
    for line in text.splitlines():
        if line and not line[0].isspace():
            head = re.match(r"(?:ENTRY )?%?([\w.-]+) .*{$|(ENTRY )?%?([\w.-]+) {$", line)
            current = found.setdefault(head[1] or head[3], {}) if head else None
        elif current is not None and (match := INSTRUCTION.match(line)):
            name, opcode, rest = match.groups()
            calls = re.search(r"calls=%?([\w.-]+)", rest)
            operands = re.findall(r"%([\w.-]+)", rest.split("), ")[0])
            current[name] = (opcode, operands, calls[1] if calls else None)
    return found


def pairs_inside(text):
    """The pairs (stem of an operation, stem of one that reads it) inside of fusions."""
    modules = computations(text)
    fused = {
        calls
        for body in modules.values()
        for opcode, _, calls in body.values()
        if opcode == "fusion" and calls
    }
    return {
        (stem(operand), stem(name))
        for computation in fused
        for name, (_, operands, _) in modules.get(computation, {}).items()
        for operand in operands
    }


def agreement(before, ours, theirs):
    """The share of pairs on which two modules agree, and how many pairs there are."""
    ours, theirs = pairs_inside(ours), pairs_inside(theirs)
    leave_out = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "fusion"}
    pairs = set()
    for body in computations(before).values():
        for name, (opcode, operands, _) in body.items():
            if opcode in leave_out:
                continue
            for operand in operands:
                if operand in body and body[operand][0] not in leave_out:
                    pairs.add((stem(operand), stem(name)))
    same = sum((pair in ours) == (pair in theirs) for pair in pairs)
    return same / max(1, len(pairs)), len(pairs)


def last(folder, pattern):
    return str(max(folder.glob(pattern), default="")) or None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--print-indexing", default="build/release/bin/print-indexing")
    parser.add_argument("--stage", choices=["fusion", "whole"], default="fusion")
    parser.add_argument("dumps", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    program = arguments.print_indexing
    names = {
        "fusion": ("*before_priority-fusion.txt", "*after_multi_output_fusion*.txt"),
        "whole": ("*before_optimizations.txt", "*_gpu_after_optimizations.txt"),
    }[arguments.stage]
    sums = [0, 0]
    for folder in arguments.dumps:
        before, after = (last(folder, name) for name in names)
        if before is None or after is None:
            print(f"{folder.name}: no module before or after")
            continue
        (_, unfused), (kernels, ours), (xla_kernels, theirs) = (
            totals(program, before, "unfused"),
            totals(program, before, "fused"),
            totals(program, after, "unfused"),
        )
        line = (
            f"{folder.name:28} kernels {kernels:5} XLA {xla_kernels:5}  MB {unfused / 1e6:14.3f}"
            f" fused {ours / 1e6:14.3f} XLA {theirs / 1e6:14.3f}  ratio {ours / max(1, theirs):.3f}"
        )
        if arguments.stage == "fusion":
            fused = run(program, "--emit=hlo", "--assume=fused", before)
            texts = (pathlib.Path(file).read_text() for file in (before, after))
            before_text, after_text = texts
            share, count = agreement(before_text, fused, after_text)
            line += f"  pairs {count:6} same {share:.1%}"
        print(line, flush=True)
        sums[0] += ours
        sums[1] += theirs
    print(f"all: ratio {sums[0] / max(1, sums[1]):.3f}")


if __name__ == "__main__":
    main()
