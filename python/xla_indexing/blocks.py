"""Whether the blocks of a kernel cover an array, and the arguments that a compiled function gives away."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ._load import load
from ._native import Error
from ._program import Program, jax, np, trace
from .dependence import Undecided

_MOST_POINTS = 2**22  # of a grid
_MOST_CELLS = 2**24
_MOST_CALLS = 2**16  # of an index map that numpy and JAX cannot call with arrays


# --- Blocks ---


@dataclasses.dataclass(frozen=True)
class BlockCheck:
    """What the blocks of a grid do to an array: what check_blocks() returns.

    `uncovered` is an element that is in no block, `overlapping` a pair of grid points whose blocks have an
    element in common, `outside` a grid point whose block has no element, or one before the first, of a
    dimension; each of them is the first one, or None if there is none. `ragged` says whether a block
    ends past the end of the array, which Pallas pads.
    """

    name: str
    uncovered: tuple[int, ...] | None
    overlapping: tuple[tuple[int, ...], tuple[int, ...]] | None
    outside: tuple[int, ...] | None
    ragged: bool

    @property
    def covers(self) -> bool:
        """Whether every element of the array is in a block."""
        return self.uncovered is None

    @property
    def overlaps(self) -> bool:
        """Whether two grid points have an element in common, as where one accumulates what another began."""
        return self.overlapping is not None

    @property
    def out_of_bounds(self) -> bool:
        """Whether a block begins outside of the array."""
        return self.outside is not None

    @property
    def is_partition(self) -> bool:
        """Whether each element is in just one block, and no block begins outside."""
        return self.covers and not self.overlaps and not self.out_of_bounds

    def __str__(self) -> str:
        said = [
            "covers all" if self.covers else f"element {self.uncovered} is in no block",
            f"blocks of {self.overlapping[0]} and {self.overlapping[1]} overlap"
            if self.overlapping
            else "no blocks overlap",
            f"the block of {self.outside} begins outside" if self.outside is not None else "",
            "the last blocks are padded" if self.ragged else "",
        ]
        return (f"{self.name}: " if self.name else "") + "; ".join(filter(None, said))


def check_blocks(
    index_map: Any,
    block_shape: Sequence[Any] | None = None,
    grid: int | Sequence[int] = (),
    shape: Sequence[int] = (),
    *,
    name: str = "",
) -> BlockCheck:
    """Whether the blocks of a grid cover an array of this shape, whether they overlap, and where they leave
    it.

    `index_map` takes the indices of a grid point and returns those of its block: `block_shape` has a size
    for each dimension, of elements. As in Pallas an index counts blocks, or elements where the size is None
    or a pl.Element. In place of both it may be a pl.BlockSpec. All grid points are looked at.

    >>> print(check_blocks(lambda i, j: (i, j), (8, 16), grid=(4, 2), shape=(32, 32)))
    covers all; no blocks overlap
    >>> print(check_blocks(lambda i: (i + 1,), (8,), grid=4, shape=(32,)))
    element (0,) is in no block; no blocks overlap; the block of (3,) begins outside

    Error where the numbers of dimensions differ; Undecided for more than 2^22 grid points.
    """
    if hasattr(index_map, "index_map") and hasattr(index_map, "block_shape"):  # a BlockSpec
        block_shape = index_map.block_shape if block_shape is None else block_shape
        index_map = index_map.index_map
    sizes = (grid,) if isinstance(grid, int) else tuple(int(n) for n in grid)
    array = tuple(int(n) for n in shape)
    dims = [_Dim.of(d) for d in (array if block_shape is None else block_shape)]
    if len(dims) != len(array):
        raise Error(f"a block has {len(dims)} dimensions, and the array {len(array)}")
    if np.prod(sizes, dtype=float) > _MOST_POINTS:
        raise Undecided(f"the grid {sizes} has more than {_MOST_POINTS} points")
    points = np.indices(sizes).reshape(len(sizes), int(np.prod(sizes, dtype=np.int64)))
    if index_map is None:
        indices = np.zeros((len(dims), points.shape[1]), np.int64)
    else:
        indices = _evaluate(index_map, points, len(dims))
    begins = np.array([x * d.step - d.before for x, d in zip(indices, dims)], np.int64)
    begins = begins.reshape(len(dims), points.shape[1])
    ends = begins + np.array([d.size for d in dims], np.int64)[:, None]
    return _check(name, array, dims, points, begins, ends)


def check_pallas_call(f: Callable[..., Any], *args: Any) -> list[BlockCheck]:
    """check_blocks() of every operand and result of every pallas_call that f makes for these arguments.

    f is traced and does not run. `name` of an answer is the one that Pallas gives the operand: 'x_ref',
    'outputs'.

    Error where f makes no pallas_call, and for index maps and grids that depend on values.
    """
    found: list[BlockCheck] = []
    for equation in _pallas_calls(jax.make_jaxpr(f)(*args).jaxpr):
        mapping = equation.params["grid_mapping"]
        if not all(isinstance(n, int) for n in mapping.grid):
            raise Error("the size of the grid depends on values")
        if mapping.num_index_operands:
            raise Error("the blocks depend on values, by scalar prefetch")
        for block in mapping.block_mappings:
            spec, array = block.to_block_spec(), block.array_aval
            found.append(check_blocks(spec, None, mapping.grid, array.shape, name=str(block.origin)))
    if not found:
        raise Error("the function makes no pallas_call with blocks")
    return found


def _pallas_calls(jaxpr: Any) -> Iterator[Any]:
    core = importlib.import_module("jax.extend.core")
    for equation in jaxpr.eqns:
        if equation.primitive.name == "pallas_call":
            yield equation
            continue
        for value in equation.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if isinstance(inner, core.Jaxpr):
                    yield from _pallas_calls(inner)


@dataclasses.dataclass(frozen=True)
class _Dim:
    """A dimension of a block: elements, elements for each step of its index, and padding around the array."""

    size: int
    step: int
    before: int = 0
    after: int = 0

    @staticmethod
    def of(dim: Any) -> _Dim:
        if dim is None or type(dim).__name__ == "Squeezed":
            return _Dim(1, 1)
        if type(dim).__name__ == "Element":
            return _Dim(int(dim.block_size), 1, *dim.padding)
        if type(dim).__name__ == "Blocked":
            return _Dim(int(dim.block_size), int(dim.block_size))
        if isinstance(dim, (int, np.integer)):
            return _Dim(int(dim), int(dim))
        raise Error(f"blocks with a dimension {dim!r} are not known")


def _evaluate(index_map: Callable[..., Any], points: Any, rank: int) -> Any:
    """The results of an index map at all points of a grid: int64 [rank, points]."""
    count = points.shape[1]
    try:
        found = jax.jit(jax.vmap(index_map, axis_size=count, in_axes=0))(*points.astype(np.int32))
        results = list(found) if isinstance(found, (tuple, list)) else [found]
    except Exception as error:  # It may ask for the value of an index, as `if` does.
        if count > _MOST_CALLS:
            raise Undecided(f"the index map is called for each of {count} grid points: {error}") from error
        each = [index_map(*(int(x) for x in point)) for point in points.T]
        results = list(np.array([x if isinstance(x, tuple) else (x,) for x in each]).reshape(count, -1).T)
    if len(results) != rank:
        raise Error(f"the index map returns {len(results)} indices, and a block has {rank} dimensions")
    return np.array([np.broadcast_to(np.asarray(x), (count,)) for x in results], np.int64).reshape(
        rank, count
    )


def _check(
    name: str, array: tuple[int, ...], dims: list[_Dim], points: Any, begins: Any, ends: Any
) -> BlockCheck:
    limits = np.array(array, np.int64)[:, None]
    before = np.array([d.before for d in dims], np.int64)[:, None]
    after = np.array([d.after for d in dims], np.int64)[:, None]
    is_outside = ((begins < -before) | (begins >= limits + after)).any(axis=0)
    first = np.clip(begins, 0, limits)
    last = np.clip(ends, 0, limits)
    inside = (first < last).all(axis=0)
    # Between two neighbouring ends of blocks is a cell, all of whose elements are in the same blocks.
    cuts = [np.unique([0, n, *first[k], *last[k]]) for k, n in enumerate(array)]
    cells = tuple(len(c) - 1 for c in cuts)
    if np.prod([n + 1 for n in cells], dtype=float) > _MOST_CELLS:
        raise Undecided(f"the blocks cut the array into {cells} cells, more than {_MOST_CELLS}")
    counts = np.zeros([n + 1 for n in cells], np.int64)
    lows = [np.searchsorted(c, first[k][inside]) for k, c in enumerate(cuts)]
    highs = [np.searchsorted(c, last[k][inside]) for k, c in enumerate(cuts)]
    for corner in itertools.product((False, True), repeat=len(array)):
        at = tuple(highs[k] if high else lows[k] for k, high in enumerate(corner))
        np.add.at(counts, at, -1 if sum(corner) % 2 else 1)
    for k in range(len(array)):
        counts = np.cumsum(counts, axis=k)
    counts = counts[tuple(slice(0, n) for n in cells)]

    def cell(where: Any) -> tuple[int, ...] | None:
        return tuple(int(cuts[k][x]) for k, x in enumerate(where[0])) if len(where) else None

    twice = cell(np.argwhere(counts > 1))
    overlapping = None
    if twice is not None:
        element = np.array(twice, np.int64)[:, None]
        both = np.flatnonzero(inside & ((first <= element) & (element < last)).all(axis=0))[:2]
        overlapping = (_point(points, both[0]), _point(points, both[1]))
    return BlockCheck(
        name,
        cell(np.argwhere(counts == 0)),
        overlapping,
        _point(points, np.flatnonzero(is_outside)[0]) if is_outside.any() else None,
        bool((~is_outside & (ends > limits + after).any(axis=0)).any()),
    )


def _point(points: Any, number: Any) -> tuple[int, ...]:
    return tuple(int(x) for x in points[:, number])


# --- Donation ---


@dataclasses.dataclass(frozen=True)
class Donation:
    """What becomes of the buffer of an array of the arguments: an item of what may_donate() returns.

    `answer` is
      - 'aliased': it is donated, and a result is written into it;
      - 'copied': it is donated, and a result has its buffer, but the program copies it before, or the result
      after; - 'unused': it is donated, and no result has its buffer;
      - 'possible': it is not donated, and could be: a result of the same size may be written into it;
      - 'impossible': it is not donated, and no result may be written into it;
      - 'undecided'.
    `outputs` are the numbers of the results that are, or may be, in its buffer; `why` says it in words.
    """

    argument: str
    answer: str
    outputs: tuple[int, ...]
    why: str

    def __str__(self) -> str:
        return f"{self.argument}: {self.answer}: {self.why}"


def may_donate(f: Callable[..., Any], *args: Any) -> list[Donation]:
    """For each array of the arguments whether it is donated, whether that saves a copy, or whether it could
    be.

    f is what jax.jit made, with its donate_argnums, or a function. It is compiled for JAX's default backend,
    and does not run. A result *may* be written into a buffer where all that is read there is read before it
    is overwritten, in some order of what the program, before XLA's passes, computes.

        for donation in xi.may_donate(jax.jit(step, donate_argnums=0), state, batch):
            print(donation)

    """
    jitted: Any = f if hasattr(f, "lower") else jax.jit(f)
    program = trace(jitted, args)
    lowered = jitted.lower(*args)
    compiled = load(lowered.compile())
    donated = _donated(lowered, program)
    of_compiled = {
        compiled.argument_names[d["parameter"]]: d for d in compiled.donations() if d["leaf"] == 0
    }
    of_program = {d["parameter"]: d for d in program.module.donations()}
    found = []
    for leaf in program.arguments:
        is_donated = leaf.name in donated
        known = of_compiled.get(leaf.name) if is_donated else of_program.get(leaf.number)
        if known is None:
            answer = "unused" if is_donated else "impossible"
            found.append(Donation(leaf.name, answer, (), "no result is computed from it"))
        elif is_donated and known["answer"] not in ("aliased", "copied", "undecided"):
            found.append(Donation(leaf.name, "unused", (), "the program writes no result into it"))
        else:
            found.append(Donation(leaf.name, known["answer"], known["outputs"], known["why"]))
    return found


def _donated(lowered: Any, program: Program) -> set[str]:
    infos = [x for x in jax.tree_util.tree_leaves(lowered.args_info) if hasattr(x, "donated")]
    if len(infos) != len(program.arguments):
        # Static arguments have none; those that are left are in the order of the parameters.
        named = [leaf for leaf in program.arguments if leaf.number is not None]
        if len(infos) != len(named):
            raise Error(f"{len(infos)} arrays are lowered, and {len(program.arguments)} are arguments")
        return {leaf.name for leaf, info in zip(named, infos) if info.donated}
    return {leaf.name for leaf, info in zip(program.arguments, infos) if info.donated}
