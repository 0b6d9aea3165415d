"""The ways to access memory that are measured: HLO, and the threads that compute its result.

A kernel is described in this library's terms alone. The HLO says which elements of the parameters an element
of the result is computed from, and the thread map says which thread computes it. A thread map is a text;
where there is none, threads are those of XLA's kernel for a transpose, with a tile in shared memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int32]

ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT sum = f32[] add(a, b) }\n"


@dataclass(frozen=True)
class Tile:
    """A tile of 32 x 32 floats in shared memory.

    Rows are `columns` floats apart. `swizzle` = (bits, target, source) XORs so many bits of a byte address,
    from `source` on, into those from `target` on.
    """

    columns: int
    swizzle: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class Access:
    """A kernel: what it computes, with which threads, and what its result has to be."""

    name: str  # of the kernel, an identifier of C
    description: str
    hlo: str  # parameters are p, an array of floats, and, where it is used, i, one of indices
    expected: Callable[[Floats, Integers], Floats]  # the result, computed by numpy
    threads: str | None = None  # over the result; None: those of XLA's kernel
    tile: Tile | None = None


def row_major(rows: int, columns: int, *, loop: int = 1, vector: int = 1, swapped: bool = False) -> str:
    """Blocks of 128 threads go over an array in the order of its memory.

    A thread has `loop * vector` elements next to one another: `loop` accesses of `vector` elements. `swapped`
    gives the same threads for the transposed array.
    """
    elements = rows * columns
    each = loop * vector
    blocks = -(-elements // (128 * each))
    ranges = {"s0": loop, "vec": vector}
    names = [name for name, size in ranges.items() if size > 1]
    place = f"(bl_x * {128 * each} + th_x * {each}"
    place += "".join(f" + {name}" if name == "vec" else f" + {name} * {vector}" for name in names) + ")"
    results = [f"{place} floordiv {columns}", f"{place} mod {columns}"]
    domain = [f"th_x in [0, 127], bl_x in [0, {blocks - 1}]"]
    domain += [f"{name} in [0, {ranges[name] - 1}]" for name in names]
    if blocks * 128 * each != elements:
        domain.append(f"{place} in [0, {elements - 1}]")
    variables = "(th_x, bl_x)" + (f"[{', '.join(names)}]" if names else "")
    if swapped:
        results.reverse()
    return f"{variables} -> ({', '.join(results)}), domain: {', '.join(domain)}"


def line_of_threads(size: int) -> str:
    """Blocks of 128 threads go over an array of one dimension, an element each."""
    blocks = -(-size // 128)
    place = "th_x + bl_x * 128"
    end = "" if blocks * 128 == size else f", {place} in [0, {size - 1}]"
    return f"(th_x, bl_x) -> ({place}), domain: th_x in [0, 127], bl_x in [0, {blocks - 1}]{end}"


def gather(rows: int, columns: int) -> str:
    return (
        f"ENTRY gather {{ p = f32[{rows},{columns}] parameter(0)  i = s32[{rows},1] parameter(1)\n"
        f"  ROOT rows = f32[{rows},{columns}] gather(p, i), offset_dims={{1}}, collapsed_slice_dims={{0}},\n"
        f"    start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{columns}}} }}"
    )


def gathered(p: Floats, i: Integers) -> Floats:
    return p[np.clip(i[:, 0], 0, p.shape[0] - 1)]


def accesses(n: int) -> list[Access]:
    """The accesses, of arrays of n x n floats or a little more; n is a multiple of 64."""
    square = f"f32[{n},{n}]"
    copy = f"ENTRY copy {{ p = {square} parameter(0)  ROOT c = {square} copy(p) }}"
    transpose = (
        f"ENTRY transpose {{ p = {square} parameter(0)  ROOT t = {square} transpose(p), dimensions={{1,0}} }}"
    )

    def reduce(dimension: int) -> str:
        return (
            f"{ADD}ENTRY reduce {{ p = {square} parameter(0)  z = f32[] constant(0)\n"
            f"  ROOT r = f32[{n}] reduce(p, z), dimensions={{{dimension}}}, to_apply=add }}"
        )

    return [
        Access("row_major", "copy, an element a thread", copy, lambda p, i: p, row_major(n, n)),
        Access(
            "vectors_of_4",
            "copy, one access of 4 elements a thread",
            copy,
            lambda p, i: p,
            row_major(n, n, vector=4),
        ),
        Access(
            "four_in_a_row",
            "copy, 4 elements a thread in 4 accesses",
            copy,
            lambda p, i: p,
            row_major(n, n, loop=4),
        ),
        Access(
            "transposed_read",
            "transpose, lanes along rows of the result",
            transpose,
            lambda p, i: p.T,
            row_major(n, n),
        ),
        Access(
            "transposed_write",
            "transpose, lanes along rows of the operand",
            transpose,
            lambda p, i: p.T,
            row_major(n, n, swapped=True),
        ),
        Access(
            "tiled_32", "transpose through a tile of 32 columns", transpose, lambda p, i: p.T, tile=Tile(32)
        ),
        Access(
            "tiled_33", "transpose through a tile of 33 columns", transpose, lambda p, i: p.T, tile=Tile(33)
        ),
        Access(
            "tiled_xor",
            "transpose through a tile of 32 columns, rows XORed into columns",
            transpose,
            lambda p, i: p.T,
            tile=Tile(32, (5, 2, 7)),
        ),
        Access(
            "strided",
            "every fourth column",
            f"ENTRY strided {{ p = f32[{n},{4 * n}] parameter(0)\n"
            f"  ROOT s = {square} slice(p), slice={{[0:{n}],[0:{4 * n}:4]}} }}",
            lambda p, i: p[:, ::4],
            row_major(n, n),
        ),
        Access(
            "shifted",
            "all elements but the first: warps begin inside a sector",
            f"ENTRY shifted {{ p = f32[{n * n + 1}] parameter(0)\n"
            f"  ROOT s = f32[{n * n}] slice(p), slice={{[1:{n * n + 1}]}} }}",
            lambda p, i: p[1:],
            line_of_threads(n * n),
        ),
        Access(
            "short_rows",
            "the first 100 columns: warps go across the ends of rows",
            f"ENTRY short_rows {{ p = {square.replace(f',{n}]', f',{n + 64}]')} parameter(0)\n"
            f"  ROOT s = f32[{n},100] slice(p), slice={{[0:{n}],[0:100]}} }}",
            lambda p, i: p[:, :100],
            row_major(n, 100),
        ),
        Access(
            "windows",
            "sums of windows of 3 in a row, padded",
            f"{ADD}ENTRY windows {{ p = {square} parameter(0)  z = f32[] constant(0)\n"
            f"  ROOT w = {square} reduce-window(p, z), window={{size=1x3 pad=0_0x1_1}}, to_apply=add }}",
            lambda p, i: np.lib.stride_tricks.sliding_window_view(np.pad(p, ((0, 0), (1, 1))), 3, 1).sum(-1),
            row_major(n, n),
        ),
        Access(
            "broadcast",
            "an element of the operand for each row",
            f"ENTRY broadcast {{ p = f32[{n}] parameter(0)\n"
            f"  ROOT b = {square} broadcast(p), dimensions={{0}} }}",
            lambda p, i: np.repeat(p[:, None], n, axis=1),
            row_major(n, n),
        ),
        Access(
            "sums_of_columns",
            "a thread adds up a column",
            reduce(0),
            lambda p, i: p.sum(0),
            line_of_threads(n),
        ),
        Access(
            "sums_of_rows", "a thread adds up a row", reduce(1), lambda p, i: p.sum(1), line_of_threads(n)
        ),
        Access("gathered_rows", f"gathered rows of {n}", gather(n, n), gathered, row_major(n, n)),
        Access("gathered_pieces", "gathered rows of 8", gather(n, 8), gathered, row_major(n, 8)),
    ]
