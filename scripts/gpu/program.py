"""Compiles generated kernels, runs one, and compares what it cost with what was predicted."""

from __future__ import annotations

import csv
import io
import math
import pathlib
import shutil
import subprocess
from dataclasses import dataclass

import numpy as np
from accesses import Floats, Integers
from kernels import LOAD, SHARED_LOAD, SHARED_STORE, STORE, Kernel, source

# The counters of Nsight Compute for what the library predicts.
COUNTERS = {
    LOAD: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    STORE: "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    SHARED_LOAD: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    SHARED_STORE: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}

PROCESSOR = ["g++", "-std=c++20", "-O1", "-pthread", "-x", "c++"]


def gpu_compiler(*architectures: int) -> list[str] | None:
    """The command that compiles for GPUs, by default for this machine's; None where there is no nvcc."""
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if nvcc is None:
        return None
    targets = [f"-gencode=arch=compute_{number},code=sm_{number}" for number in architectures]
    return [nvcc, "-std=c++17", "-O3", *(targets or ["-arch=native"])]


def compile_program(kernels: list[Kernel], directory: pathlib.Path, compiler: list[str]) -> pathlib.Path:
    """Writes the source of the kernels into the directory, and compiles it there."""
    text = directory / "kernels.cu"
    text.write_text(source(kernels))
    program = directory / "kernels"
    support = pathlib.Path(__file__).resolve().parent
    subprocess.run([*compiler, f"-I{support}", str(text), "-o", str(program)], check=True)
    return program


def inputs(kernel: Kernel) -> tuple[Floats, Integers]:
    """Whole numbers, whose sums are exact; row numbers, some of them out of bounds."""
    random = np.random.default_rng(0)
    p = random.integers(0, 4095, kernel.inputs["p"]).astype(np.float32)
    rows = kernel.inputs["p"][0]
    return p, random.integers(-2, rows + 2, kernel.inputs.get("i", (1, 1))).astype(np.int32)


@dataclass(frozen=True)
class Outcome:
    printed: str
    is_right: bool  # the result


def run(command: list[str], kernel: Kernel, directory: pathlib.Path, *arguments: str) -> Outcome:
    """Runs the program, which `command` begins with, and compares the result with that of numpy."""
    p, i = inputs(kernel)
    p.tofile(directory / "p")
    i.tofile(directory / "i")
    result = directory / "out"
    result.unlink(missing_ok=True)
    done = subprocess.run(
        [*command, kernel.name, str(directory), *arguments], check=True, stdout=subprocess.PIPE, text=True
    )
    out = np.fromfile(result, dtype=np.float32)
    expected = kernel.access.expected(p, i)
    is_right = out.size == math.prod(kernel.output) and np.array_equal(out.reshape(kernel.output), expected)
    return Outcome(done.stdout, is_right)


def counted_on_processor(kernel: Kernel, printed: str) -> list[int]:
    """What each site cost: sectors of those in global memory, wavefronts of those in shared memory."""
    costs = [0] * len(kernel.sites)
    for line in printed.splitlines():
        site, _, sectors, wavefronts = map(int, line.split())
        costs[site] = sectors if kernel.sites[site].kind in (LOAD, STORE) else wavefronts
    return costs


def counted_by_counters(printed: str) -> dict[str, int]:
    """What the loads and the stores cost, from the lines that `ncu --csv` prints."""
    lines = printed.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith('"ID"')]
    if not starts:
        return {}
    kinds = {counter: kind for kind, counter in COUNTERS.items()}
    rows = csv.DictReader(io.StringIO("\n".join(lines[starts[0] :])))
    return {
        kinds[row["Metric Name"]]: int(float(row["Metric Value"].replace(",", "")))
        for row in rows
        if row["Metric Name"] in kinds
    }


def by_kind(kernel: Kernel, costs: list[int]) -> dict[str, int]:
    sums = dict.fromkeys(COUNTERS, 0)
    for site, cost in zip(kernel.sites, costs):
        sums[site.kind] += cost
    return sums


def differences(kernel: Kernel, costs: list[int]) -> list[str]:
    """The sites that cost something else than was predicted."""
    return [
        f"{kernel.name}: {site.kind} of {site.what}: predicted {site.predicted}, counted {cost}"
        for site, cost in zip(kernel.sites, costs)
        if not site.predicted[0] <= cost <= site.predicted[1]
    ]
