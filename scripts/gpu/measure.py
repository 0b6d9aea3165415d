#!/usr/bin/env python3
"""Compares what this library predicts of memory accesses with what a GPU does.

Kernels are generated from thread maps, compiled by nvcc and run. Their sectors and wavefronts are taken from
the hardware's counters (ncu); where there is no permission to read these, only times are shown beside what
was predicted. Without a GPU nothing is measured, which is said, and the exit code is 77. The exit code is 1
where a result is wrong or a counter differs from the prediction.

--processor runs the same kernels on the processor and counts from the addresses that they touch.

Needs the package xla_indexing, for example with PYTHONPATH=build/release/python.
"""

from __future__ import annotations

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from accesses import accesses
from kernels import LOAD, SHARED_LOAD, SHARED_STORE, STORE, Kernel, make, source
from program import (
    COUNTERS,
    PROCESSOR,
    by_kind,
    compile_program,
    counted_by_counters,
    counted_on_processor,
    gpu_compiler,
    run,
)

SKIPPED = 77
LAUNCHES = 20  # that are timed


@dataclass
class Row:
    """What was found out about a kernel; `counted` by kind of access, empty where counters cannot be read."""

    kernel: Kernel
    is_right: bool
    counted: dict[str, int]
    microseconds: float | None = None

    def agrees(self) -> bool:
        for kind, count in self.counted.items():
            low, high = self.kernel.predicted(kind)
            if not low <= count <= high:
                return False
        return self.is_right


def cell(row: Row, kinds: list[str]) -> str:
    """A prediction, and after a colon what was counted."""
    low = sum(row.kernel.predicted(kind)[0] for kind in kinds)
    high = sum(row.kernel.predicted(kind)[1] for kind in kinds)
    if high == 0:
        return ""
    predicted = str(low) if low == high else f"{low} to {high}"
    return f"{predicted} : {sum(row.counted.get(kind, 0) for kind in kinds)}" if row.counted else predicted


def table(rows: list[Row]) -> str:
    """The rows as a table in Markdown."""
    has_times = rows[0].microseconds is not None
    head = ["kernel", "what it does", "sectors read", "sectors written", "wavefronts"]
    if has_times:
        head += ["time", "of row_major"]
    head.append("agrees")
    lines = [head, ["---"] * len(head)]
    for row in rows:
        cells = [f"`{row.kernel.name}`", row.kernel.access.description]
        cells += [cell(row, [LOAD]), cell(row, [STORE]), cell(row, [SHARED_LOAD, SHARED_STORE])]
        if row.microseconds is not None and rows[0].microseconds is not None:
            cells += [f"{row.microseconds:.1f} us", f"{row.microseconds / rows[0].microseconds:.2f}"]
        verdict = "yes" if row.counted else "not counted"
        cells.append("**wrong result**" if not row.is_right else verdict if row.agrees() else "**no**")
        lines.append(cells)
    return "\n".join(f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in lines)


def measure_on_processor(kernels: list[Kernel], directory: pathlib.Path) -> list[Row]:
    program = compile_program(kernels, directory, PROCESSOR)
    rows = []
    for kernel in kernels:
        outcome = run([str(program)], kernel, directory)
        rows.append(
            Row(kernel, outcome.is_right, by_kind(kernel, counted_on_processor(kernel, outcome.printed)))
        )
    return rows


def measure_on_gpu(kernels: list[Kernel], directory: pathlib.Path, compiler: list[str]) -> list[Row]:
    program = str(compile_program(kernels, directory, compiler))
    ncu = shutil.which("ncu") or shutil.which("ncu", path="/usr/local/cuda/bin")
    rows = []
    for kernel in kernels:
        timed = run([program], kernel, directory, str(LAUNCHES))
        counted: dict[str, int] = {}
        if ncu is not None:
            counters = [ncu, "--csv", "--print-units=base", f"--metrics={','.join(COUNTERS.values())}"]
            try:
                counted = counted_by_counters(run([*counters, program], kernel, directory).printed)
            except subprocess.CalledProcessError as error:
                print(f"measure.py: ncu failed: {error.output}", file=sys.stderr)
        if not counted:
            print(f"measure.py: {kernel.name}: no counters, only times", file=sys.stderr)
        rows.append(Row(kernel, timed.is_right, counted, float(timed.printed)))
    return rows


def gpu_name() -> str | None:
    """The name of the first GPU and its driver; None where there is no GPU."""
    if shutil.which("nvidia-smi") is None:
        return None
    found = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
        stdout=subprocess.PIPE,
        text=True,
    )
    lines = found.stdout.splitlines()
    return lines[0].replace(", ", ", driver ") if found.returncode == 0 and lines else None


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--size", type=int, help="of the arrays, a multiple of 64 (4096; on the processor 64)"
    )
    parser.add_argument("--processor", action="store_true", help="run and count on the processor")
    parser.add_argument("--source", action="store_true", help="print the kernels, and run nothing")
    options = parser.parse_args()
    size = options.size or (64 if options.processor or options.source else 4096)
    if size < 64 or size % 64 != 0:
        parser.error("--size is to be a multiple of 64")

    gpu, compiler = gpu_name(), gpu_compiler()
    if not options.processor and not options.source and (gpu is None or compiler is None):
        missing = "no GPU" if gpu is None else "no nvcc"
        print(f"measure.py: SKIPPED: there is {missing} here, and nothing was measured", file=sys.stderr)
        return SKIPPED

    kernels = [make(access) for access in accesses(size)]
    if options.source:
        print(source(kernels), end="")
        return 0
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        if options.processor or compiler is None:
            rows, machine = measure_on_processor(kernels, directory), "counted on the processor"
        else:
            rows, machine = measure_on_gpu(kernels, directory, compiler), str(gpu)
    print(
        f"Arrays of {size} x {size} floats, {machine}. A prediction, and after the colon what was counted.\n"
    )
    print(table(rows))
    return 0 if all(row.agrees() for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
