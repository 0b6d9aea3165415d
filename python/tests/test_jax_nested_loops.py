"""Loops within loops whose counters index an array, as people write them: what elements depend on is exact, and
is where the Jacobian is not zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import xla_indexing as xi

ROWS, COLUMNS = 5, 6


def over(
    rows: tuple[int, int], columns: tuple[int, int], step: Callable[[Any, Any, Any], Any]
) -> Callable[[Any], Any]:
    """For each i of the rows, for each j of the columns: x = step(i, j, x)."""
    return lambda x: lax.fori_loop(
        *rows, lambda i, x: lax.fori_loop(*columns, lambda j, x: step(i, j, x), x), x
    )


PROGRAMS = {
    "above": over((1, ROWS), (0, COLUMNS), lambda i, j, x: x.at[i, j].set(x[i - 1, j] * 2 + x[i, j])),
    "left": over((0, ROWS), (1, COLUMNS), lambda i, j, x: x.at[i, j].set(x[i, j - 1] * 2 + x[i, j])),
    "diagonal": over((1, ROWS), (1, COLUMNS), lambda i, j, x: x.at[i, j].set(x[i - 1, j - 1] + x[i, j])),
    "right": over((0, ROWS), (0, COLUMNS - 1), lambda i, j, x: x.at[i, j].set(x[i, j] + x[i, j + 1])),
    "scaled": over((0, ROWS), (0, COLUMNS), lambda i, j, x: x.at[i, j].multiply(i + j + 1.0)),
}


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_elements_depend_on_those_that_change_them(name: str, optimized: bool) -> None:
    f = PROGRAMS[name]
    x = np.random.default_rng(0).uniform(1, 2, (ROWS, COLUMNS)).astype(np.float32)
    entries = xi.analyze(f, x, optimized=optimized).entry.indexing()
    assert [entry.exactness for entry in entries] == ["exact"]
    dependence = xi.depends(f, x, optimized=optimized)
    assert dependence.label == "exact"
    changes = np.asarray(jax.jacfwd(f)(jnp.asarray(x))) != 0
    for element in np.ndindex(ROWS, COLUMNS):
        np.testing.assert_array_equal(dependence.on("x")[element], changes[(..., *element)])
