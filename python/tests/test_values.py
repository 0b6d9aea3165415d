"""reads() with the values of arguments, against what changes when a program is run with them."""

from __future__ import annotations

import functools
from typing import Any

import pytest

pytest.importorskip("jax")

import jax.numpy as jnp
import numpy as np
from index_values import index_values
from jax import lax
from perturbation import Run, perturb
from programs import PROGRAMS

import xla_indexing as xi

NAMES = ["embedding_gradient", "gather_in_bounds", "gather_crossing", "kv_cache_decode", "segment_sum"]


@functools.cache
def first_run(name: str) -> Run:
    return perturb(PROGRAMS[name])[0]


@pytest.mark.parametrize("form", ["lowered", "compiled"])
@pytest.mark.parametrize("name", NAMES)
def test_reads_with_arguments_have_what_changes(name: str, form: str) -> None:
    program, run = PROGRAMS[name], first_run(name)
    entry_computation = xi.load(getattr(program, form)).entry
    integers = {k: v for k, v in run.arguments.items() if v.dtype.kind in "iub"}
    named = set(entry_computation.module.argument_names)
    integers = {k: v for k, v in integers.items() if k in named}
    seen: set[tuple[str, int]] = set()
    for entry in entry_computation.indexing():
        seen.add((entry.operand_name, entry.output_leaf))
        result = run.results[entry.output_leaf]
        points = np.argwhere(np.ones(result.shape, bool))
        rows, elements = entry.reads(points, arguments=integers, unknown="any")
        changed = run.changed[entry.operand_name][entry.output_leaf]
        found = np.zeros_like(changed)
        found[tuple(np.concatenate([points[rows], elements], axis=1).T)] = True
        assert not (changed & ~found).any()
        anything = np.zeros_like(changed)
        rows, elements = entry.reads(points, unknown="any")
        anything[tuple(np.concatenate([points[rows], elements], axis=1).T)] = True
        assert not (found & ~anything).any()
    for (argument, number) in ((a, n) for a, masks in run.changed.items() for n, mask in enumerate(masks) if mask.any()):
        assert (argument, number) in seen


@pytest.mark.parametrize("name", ["embedding_gradient", "gather_in_bounds", "kv_cache_decode"])
def test_values_are_those_of_numpy(name: str) -> None:
    program, run = PROGRAMS[name], first_run(name)
    names = program.used_names()
    text = program.lowered.compiler_ir("hlo").as_hlo_text()
    values = index_values(text, lambda number: run.arguments[names[number]])
    decided = 0
    for entry in xi.load(program.lowered).entry.indexing():
        points = np.argwhere(np.ones(run.results[entry.output_leaf].shape, bool))
        sources = {v.source for read in entry.maps for v in read.runtime_variables}
        if not sources or not sources <= set(values):
            continue
        right = entry.reads(points, {source: values[source] for source in sources})
        arguments = {k: v for k, v in run.arguments.items() if v.dtype.kind in "iub"}
        found = entry.reads(points, arguments=arguments)
        assert all((a == b).all() for a, b in zip(found, right))
        decided += 1
    assert decided


def entry_of(f: Any, *args: Any, optimized: bool = False) -> xi.Entry:
    return xi.analyze(f, *args, optimized=optimized).entry.indexing()[0]


@pytest.mark.parametrize("optimized", [False, True])
def test_indices_that_are_computed(optimized: bool) -> None:
    table, tok = jnp.ones((20, 2)), jnp.zeros(4, jnp.int32)
    given = np.array([3, 0, 9, -1], np.int32)
    for index in (
        lambda t: t,
        lambda t: t[::-1] + 1,
        lambda t: jnp.where(t > 2, 2 * t, 19 - t),
        lambda t: jnp.clip(jnp.concatenate([t[2:], t[:2]]) - 5, 0, 10),
        lambda t: jnp.abs(t.reshape(2, 2, 1).transpose(1, 2, 0).reshape(-1)) * 2,
        lambda t: jnp.cumsum(jnp.abs(t)),
        lambda t: t.at[1].set(5).at[jnp.array([0, 3])].add(2),
        lambda t: t[jnp.abs(t) % 4] + jnp.max(t),
        lambda t: lax.fori_loop(0, 3, lambda k, c: c.at[k].add(k), t),
        lambda t: lax.cond(t[0] > 1, lambda u: u + 1, lambda u: u - 1, t),
    ):
        entry = entry_of(lambda table, tok, index=index: table[index(tok)], table, tok, optimized=optimized)
        rows, elements = entry.reads([[i, 1] for i in range(4)], arguments={"tok": given})
        assert rows.tolist() == [0, 1, 2, 3]
        right = np.asarray(jnp.arange(20)[index(jnp.asarray(given))])
        assert elements.tolist() == [[int(i), 1] for i in right]


def test_what_is_not_known() -> None:
    entry = entry_of(lambda x, keys: x[jnp.argsort(keys)], jnp.ones(6), jnp.ones(6))
    with pytest.raises(xi.Error, match="contents has no"):
        entry.reads([[0]], arguments={"keys": np.ones(6)})
    assert entry.reads([[0], [2]], unknown="any")[1][:, 0].tolist() == [*range(6), *range(6)]
    assert entry.reads([[0]], arguments={"keys": np.ones(6)}, unknown="any")[0].tolist() == [0] * 6
    with pytest.raises(xi.Error, match="unknown is 'all'"):
        entry.reads([[0]], unknown="all")
    with pytest.raises(xi.Error, match="no argument 'key': there are"):
        entry.reads([[0]], arguments={"key": np.ones(6)})


def test_shapes_and_both_ways() -> None:
    f = lambda x, i: lax.dynamic_slice(x, (i,), (3,))  # noqa: E731
    entry = entry_of(f, jnp.ones(9), 0)
    assert entry.reads([[1]], arguments={"i": 4})[1].tolist() == [[5]]
    assert entry.reads([[1]], {}, arguments={"i": 400})[1].tolist() == [[7]]
    with pytest.raises(xi.Error, match=r"argument 'i' has shape \(2,\), and has to have \(\)"):
        entry.reads([[1]], arguments={"i": [4, 5]})
    back = xi.analyze(f, jnp.ones(9), 0, optimized=False).entry.input_to_output()[0]
    assert back.reads([[5], [0]], arguments={"i": 4})[1].tolist() == [[1]]
