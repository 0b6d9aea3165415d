"""Random programs of floats with masks: what is said not to depend does not change, whatever is given.

A program is drawn as a tree: sums, products, matrix products, softmaxes, loops, and masks of iotas, comparisons,
literals, scatters and loops, which choose, multiply by 0 or 1, or add -inf. Every element of both arguments is
given several other finite values; infinity and NaN too, if they are not assumed to be finite.
XLA_INDEXING_EFFORT multiplies the number of programs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import numpy as np

import xla_indexing as xi

N = 4
FINITE = (0.0, -2.5, 0.75)  # other values of an element
ANY = (np.inf, -np.inf, np.nan)
EFFORT = os.environ.get("XLA_INDEXING_EFFORT", "1")
PROGRAMS = 24 * (int(EFFORT) if EFFORT.isdigit() else 1)

Value = Callable[[Any, Any], Any]


class Programs:
    """Draws programs f(x, y) of arrays N x N, and masks of that shape."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def draw(self, choices: list[Any]) -> Any:
        return choices[self.random.integers(len(choices))]()

    def mask(self, depth: int) -> Callable[[], Any]:
        k = int(self.random.integers(-1, 3))
        bits = self.random.integers(0, 2, (N, N)).astype(bool)
        leaves: list[Any] = [
            lambda: lambda: jnp.tril(jnp.ones((N, N), bool), k),
            lambda: lambda: jnp.arange(N)[:, None] + jnp.arange(N) >= 2 + k,
            lambda: lambda: jnp.broadcast_to(jnp.arange(N) % 2 == k % 2, (N, N)),
            lambda: lambda: jnp.asarray(bits),
            lambda: lambda: jnp.zeros((N, N), bool).at[np.arange(N), bits[0].astype(int)].set(True),
            lambda: lambda: jnp.cumsum(jnp.asarray(bits, jnp.int32), axis=0) > 1,
            lambda: (
                lambda: jax.lax.fori_loop(
                    0, 1 + abs(k), lambda i, m: m.at[i].set(True), jnp.zeros((N, N), bool)
                )
            ),
        ]
        if depth == 0:
            return self.draw(leaves)
        a, b = self.mask(depth - 1), self.mask(depth - 1)
        return self.draw(
            [
                *leaves,
                lambda: lambda: a() & b(),
                lambda: lambda: a() | b(),
                lambda: lambda: ~a(),
                lambda: lambda: a().T,
                lambda: lambda: a()[::-1],
                lambda: lambda: jnp.where(a(), b(), bits),
            ]
        )

    def value(self, depth: int) -> Value:
        if depth == 0:
            return self.draw([lambda: lambda x, y: x, lambda: lambda x, y: y, lambda: lambda x, y: x * y])
        a, b, mask = self.value(depth - 1), self.value(depth - 1), self.mask(1)
        least = float(self.random.choice([-np.inf, -1e30]))
        diagonal = np.eye(N, dtype=bool)

        def softmax(x: Any, y: Any) -> Any:
            return jax.nn.softmax(jnp.where(mask() | diagonal, a(x, y), least), axis=1) @ b(x, y)

        def unnormalised(x: Any, y: Any) -> Any:
            return jnp.exp(jnp.tanh(a(x, y)) + jnp.where(mask(), 0.0, least)) * b(x, y)

        def loop(x: Any, y: Any) -> Any:
            rows = jnp.arange(N)[:, None]
            step = b(x, y)
            return jax.lax.fori_loop(0, 2, lambda i, c: jnp.where(rows <= i, step + c, c), a(x, y))

        return self.draw(
            [
                lambda: softmax,
                lambda: unnormalised,
                lambda: loop,
                lambda: lambda x, y: jnp.where(mask(), a(x, y), 0),
                lambda: lambda x, y: jnp.where(mask(), a(x, y), b(x, y)),
                lambda: lambda x, y: a(x, y) * mask().astype(x.dtype) - b(x, y),
                lambda: lambda x, y: (a(x, y) * mask()) @ b(x, y),
                lambda: lambda x, y: jnp.tanh(a(x, y)) + b(x, y).T,
                lambda: lambda x, y: a(x, y)[::-1] * b(x, y),
                lambda: lambda x, y: jnp.cumsum(jnp.where(mask(), a(x, y), 0), axis=1),
                lambda: lambda x, y: a(x, y) - jnp.sum(b(x, y) * mask(), axis=0),
                lambda: lambda x, y: jnp.concatenate([a(x, y)[:2], jnp.roll(b(x, y), 1, axis=1)[2:]]),
            ]
        )


def changed(f: Value, seed: int) -> tuple[Any, Any]:
    """Which elements of f(x, y) change with which of x, then y, by finite values and by any: N*N x 2*N*N each."""
    random = np.random.default_rng(seed)
    given = random.uniform(0.5, 1.5, 2 * N * N).astype(np.float32)
    inputs = [given]
    for place in range(given.size):
        for value in FINITE + ANY:
            inputs.append(given.copy())
            inputs[-1][place] = value
    arrays = np.stack(inputs).reshape(-1, 2, N, N)
    results = np.asarray(jax.jit(jax.vmap(f))(arrays[:, 0], arrays[:, 1])).reshape(len(inputs), -1)
    differs = (results[1:] != results[0]) & ~(np.isnan(results[1:]) & np.isnan(results[0]))
    differs = differs.reshape(given.size, len(FINITE + ANY), -1)
    return differs[:, : len(FINITE)].any(axis=1).T, differs.any(axis=1).T


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_nothing_changes_where_no_dependence_is_said(seed: int) -> None:
    f = Programs(seed).value(2 + seed % 2)
    x = jax.ShapeDtypeStruct((N, N), jnp.float32)
    by_finite, by_any = changed(f, seed)
    for assume_finite, seen in ((True, by_finite), (False, by_any)):
        pattern = xi.jacobian_sparsity(f, x, x, argnums=(0, 1), assume_finite=assume_finite)
        assert not (seen & ~pattern.toarray()).any(), f"assume_finite={assume_finite}"
