"""Blocks of grids against an array that counts them, and donations against what JAX does with the buffers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

import xla_indexing as xi


def counts(
    starts: Callable[..., Any], block: tuple[int, ...], grid: Any, shape: tuple[int, ...]
) -> np.ndarray:
    """How many blocks each element is in."""
    found = np.zeros(shape, int)
    for point in np.ndindex(*grid):
        found[tuple(slice(max(s, 0), max(s + n, 0)) for s, n in zip(starts(*point), block))] += 1
    return found


CASES: list[tuple[Callable[..., Any], tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = [
    (lambda i, j: (i, j), (8, 16), (4, 2), (32, 32)),
    (lambda i, j: (j, i), (8, 16), (2, 4), (32, 32)),
    (lambda i: (i,), (8,), (4,), (30,)),
    (lambda i: (i + 1,), (8,), (4,), (32,)),
    (lambda i: (i - 1,), (8,), (4,), (32,)),
    (lambda i: (i // 2,), (8,), (4,), (16,)),
    (lambda i: (2 * i,), (8,), (2,), (32,)),
    (lambda i, j: (i, 0), (4, 5), (2, 3), (8, 5)),
    (lambda i: (i if i < 2 else 0, 0), (2, 2), (3,), (4, 2)),
    (lambda i: (jnp.where(i % 2 == 0, i, 4 - i), 0, i // 3), (1, 3, 2), (5,), (5, 3, 4)),
    (lambda: (0,), (3,), (), (4,)),
    (lambda i: (i,), (4,), (0,), (4,)),
    (lambda i: (0, i), (2, 3), (4,), (2, 0)),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_blocks_are_counted(number: int) -> None:
    index_map, block, grid, shape = CASES[number]

    def starts(*point: int) -> list[int]:
        return [int(i) * n for i, n in zip(index_map(*point), block)]

    right, check = counts(starts, block, grid, shape), xi.check_blocks(index_map, block, grid, shape)
    assert check.covers == bool((right > 0).all())
    assert check.overlaps == bool((right > 1).any())
    if check.uncovered is not None:
        assert right[check.uncovered] == 0
    if check.overlapping is not None:
        a, b = (starts(*point) for point in check.overlapping)
        assert check.overlapping[0] != check.overlapping[1]
        assert all(max(x, y) < min(x, y) + n for x, y, n in zip(a, b, block))
    outside = [p for p in np.ndindex(*grid) if any(s < 0 or s >= n for s, n in zip(starts(*p), shape))]
    assert check.outside == (outside[0] if outside else None)
    assert check.is_partition == (not outside and bool((right == 1).all()))
    assert check.ragged == any(
        all(0 <= s < n for s, n in zip(starts(*p), shape))
        and any(s + k > n for s, k, n in zip(starts(*p), block, shape))
        for p in np.ndindex(*grid)
    )


@pytest.mark.parametrize("seed", range(60))
def test_random_blocks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rank, dims = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    grid = tuple(int(n) for n in rng.integers(1, 4, dims))
    block = tuple(int(n) for n in rng.integers(1, 4, rank))
    shape = tuple(int(n) for n in rng.integers(1, 7, rank))
    factors, offsets = rng.integers(-1, 3, (rank, dims)), rng.integers(-1, 2, rank)

    def index_map(*point: Any) -> tuple[Any, ...]:
        return tuple(sum(int(f) * p for f, p in zip(row, point)) + int(o) for row, o in zip(factors, offsets))

    kinds = [pl.Element(n) if rng.random() < 0.4 else n for n in block]
    steps = [1 if isinstance(k, pl.Element) else n for k, n in zip(kinds, block)]
    right = counts(lambda *p: [i * s for i, s in zip(index_map(*p), steps)], block, grid, shape)
    check = xi.check_blocks(pl.BlockSpec(tuple(kinds), index_map), grid=grid, shape=shape)
    assert (check.covers, check.overlaps) == (bool(right.all()), bool((right > 1).any()))
    assert check.covers or right[check.uncovered] == 0


def test_pallas_calls_as_they_are() -> None:
    def kernel(x_ref: Any, row_ref: Any, o_ref: Any) -> None:
        o_ref[...] = x_ref[...] + row_ref[...]

    def add(x: Any, row: Any) -> Any:
        return pl.pallas_call(
            kernel,
            grid=(4, 2),
            in_specs=[
                pl.BlockSpec((8, 16), lambda i, j: (i, j)),
                pl.BlockSpec((None, 16), lambda i, j: (2, j)),
            ],
            out_specs=pl.BlockSpec((8, 16), lambda i, j: (i, j // 2)),
            out_shape=jax.ShapeDtypeStruct((32, 32), jnp.float32),
            interpret=True,
        )(x, row)

    arguments = jnp.ones((32, 32)), jnp.ones((3, 32))
    x, row, out = xi.check_pallas_call(jax.jit(lambda *a: add(*a) + 1), *arguments)
    assert x.is_partition
    assert (row.covers, row.uncovered, row.overlapping) == (False, (0, 0), ((0, 0), (1, 0)))
    assert (out.uncovered, out.overlapping, out.out_of_bounds) == ((0, 16), ((0, 0), (0, 1)), False)
    assert str(out) == "outputs: element (0, 16) is in no block; blocks of (0, 0) and (0, 1) overlap"
    with pytest.raises(xi.Error, match="no pallas_call"):
        xi.check_pallas_call(jnp.sin, 1.0)


def test_padding_whole_arrays_and_errors() -> None:
    padded = pl.BlockSpec((pl.Element(6, (1, 1)),), lambda i: (i * 4,))
    check = xi.check_blocks(padded, grid=2, shape=(8,))
    assert (check.covers, check.overlapping, check.outside, check.ragged) == (True, ((0,), (1,)), None, False)
    assert xi.check_blocks(None, None, 1, (3, 4)).is_partition
    with pytest.raises(xi.Error, match="a block has 1 dimensions, and the array 2"):
        xi.check_blocks(lambda i: (i,), (8,), 4, (8, 8))
    with pytest.raises(xi.Error, match="returns 2 indices"):
        xi.check_blocks(lambda i: (i, i), (8,), 4, (8,))
    with pytest.raises(xi.Undecided, match="more than"):
        xi.check_blocks(lambda i: (i,), (8,), 2**23, (8,))
    with pytest.raises(xi.Error, match="BoundedSlice"):
        xi.check_blocks(lambda i: (i,), (pl.BoundedSlice(8),), 4, (8,))


# --- Donation ---


def answers(f: Callable[..., Any], *args: Any) -> dict[str, str]:
    return {d.argument: d.answer for d in xi.may_donate(f, *args)}


@pytest.mark.filterwarnings("ignore:Some donated buffers")
def test_donations() -> None:
    def step(state: Any, batch: Any) -> Any:
        return jax.tree.map(lambda x: x * 0.9 + batch.sum(), state), batch[::-1]

    state = {"w": jnp.ones((4, 4)), "v": jnp.ones(3)}
    found = xi.may_donate(jax.jit(step, donate_argnums=0), state, jnp.ones(5))
    assert [(d.argument, d.answer, d.outputs) for d in found[:2]] == [
        ("state['v']", "aliased", (0,)),
        ("state['w']", "aliased", (1,)),
    ]
    assert answers(jax.jit(lambda x: x[1], donate_argnums=0), jnp.ones((2, 3))) == {"x": "unused"}
    assert answers(lambda x, y: x + 1, jnp.ones(3), jnp.ones(3)) == {"x": "possible", "y": "impossible"}
    assert answers(lambda x: x.T @ x, jnp.ones((4, 4))) == {"x": "impossible"}
    assert answers(lambda x: x.sum(), jnp.ones(4)) == {"x": "impossible"}
    assert all(str(d).startswith(f"{d.argument}: {d.answer}: ") for d in found)


@pytest.mark.filterwarnings("ignore:Some donated buffers")
def test_what_is_aliased_is_consumed() -> None:
    functions: list[Callable[..., Any]] = [
        lambda x: x * 2,
        lambda x: x[::-1],
        lambda x: x.T @ x,
        lambda x: x.sum(axis=0),
        lambda x: x.astype(jnp.int32),
    ]
    for f, donates in itertools.product(functions, (True, False)):
        jitted = jax.jit(f, donate_argnums=0 if donates else ())
        x = jnp.arange(16.0).reshape(4, 4)
        [donation] = xi.may_donate(jitted, x)
        jitted(x)
        assert (donation.answer in ("aliased", "copied")) == (x.is_deleted() and bool(donation.outputs))
        assert donates or not x.is_deleted()
