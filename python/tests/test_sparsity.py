"""Patterns of Jacobians and Hessians, against what jax.jacobian and jax.hessian compute."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from programs import PROGRAMS, normal

import xla_indexing as xi


def dense(jacobian: Any, outputs: int, inputs: int) -> np.ndarray:
    """A Jacobian as JAX returns it, of one array and one argument, as a matrix."""
    return np.asarray(jacobian).reshape(outputs, inputs)


def laplacian(x: Any) -> Any:
    return sum(jnp.roll(x, shift, axis) for axis in (0, 1) for shift in (-1, 1)) - 4 * x


def upwind(x: Any) -> Any:
    return x[1:] ** 2 - x[:-1] ** 3


def block_diagonal(x: Any) -> Any:
    return jnp.tanh(x.reshape(3, 4) @ jnp.arange(1.0, 17).reshape(4, 4) / 50).reshape(-1)


def scanned(x: Any) -> Any:
    return lax.scan(lambda c, v: (jnp.sin(c) + v, c * v), x[0], x)[1]


def arrow(x: Any) -> Any:
    return jnp.concatenate([jnp.sum(x**2)[None], x[1:] * x[0]])


def fourier(x: Any) -> Any:
    return jnp.real(jnp.fft.ifft(jnp.fft.fft(x, axis=1) * 2j, axis=1)) + x


def windows(x: Any) -> Any:
    return lax.reduce_window(jnp.exp(x), 0.0, lax.add, (2, 3), (1, 2), "VALID")


# Functions, the shape of x, and whether no entry of the pattern is zero by accident.
FUNCTIONS: list[tuple[Callable[..., Any], tuple[int, ...], bool]] = [
    (laplacian, (4, 5), True),
    (block_diagonal, (12,), True),
    (scanned, (6,), True),
    (arrow, (7,), True),
    (windows, (4, 7), True),
    (jnp.sum, (3, 4), True),
    (lambda x: jnp.zeros((2, 3)), (4,), True),
    (fourier, (3, 4), False),
    (jnp.sort, (6,), False),
]


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_jacobians(number: int) -> None:
    f, shape, equal = FUNCTIONS[number]
    mode = ("forward", "reverse", "auto")[number % 3]
    scipy_sparse = pytest.importorskip("scipy.sparse")
    x = jnp.asarray(normal(np.random.default_rng(3), *shape))
    pattern = xi.jacobian_sparsity(f, x)
    right = dense(jax.jacobian(f)(x), *pattern.shape)
    mask = pattern.toarray()
    assert not ((right != 0) & ~mask).any()
    if equal:
        assert pattern.label == "exact"
        assert (mask == (right != 0)).all()
    jacobian = pattern.jacobian(x, mode=mode)
    assert isinstance(jacobian, scipy_sparse.csr_array)
    np.testing.assert_allclose(jacobian.toarray(), right, rtol=2e-5, atol=2e-5)
    assert (pattern.to_scipy().toarray() == mask).all()
    assert (np.asarray(pattern.to_bcoo().indices) == np.argwhere(mask)).all()


@pytest.mark.parametrize("by", ["columns", "rows"])
@pytest.mark.parametrize(("f", "shape", "equal"), FUNCTIONS)
def test_colorings_keep_rows_apart(
    f: Callable[..., Any], shape: tuple[int, ...], equal: bool, by: str
) -> None:
    pattern = xi.jacobian_sparsity(f, jnp.ones(shape))
    mask, colors = pattern.toarray(), pattern.coloring(by)
    mask = mask if by == "columns" else mask.T
    assert colors.shape == (mask.shape[1],)
    for color in range(colors.max(initial=-1) + 1):
        assert (mask[:, colors == color].sum(axis=1) <= 1).all()
        assert (colors == color).any()


def test_few_products_do() -> None:
    def colors(f: Callable[..., Any], n: int, by: str = "columns") -> int:
        return int(xi.jacobian_sparsity(f, jnp.ones(n)).coloring(by).max()) + 1

    assert colors(upwind, 500) == 2
    assert colors(block_diagonal, 12) == 4
    assert colors(lambda x: x[::-1] ** 2, 300) == 1
    assert (colors(jnp.sum, 300), colors(jnp.sum, 300, "rows")) == (300, 1)
    calls = []

    def counted(x: Any) -> Any:
        calls.append(x)
        return jnp.sum(x**2)

    pattern = xi.jacobian_sparsity(counted, jnp.ones(300))
    assert (pattern.jacobian(jnp.arange(300.0)).toarray() == 2 * np.arange(300)).all()


def test_a_large_stencil() -> None:
    pattern = xi.jacobian_sparsity(laplacian, jax.ShapeDtypeStruct((128, 128), jnp.float32))
    assert (pattern.nnz, pattern.label) == (5 * 128 * 128, "exact")
    assert pattern.coloring().max() < 12


def test_trees_are_one_after_the_other() -> None:
    def f(a: Any, k: Any, tree: Any) -> Any:
        return {"v": tree["b"] * a[0], "i": k + 1, "a": a @ tree["c"]}

    rng = np.random.default_rng(0)
    a, tree = (
        jnp.asarray(normal(rng, 3)),
        {"c": jnp.asarray(normal(rng, 3, 2)), "b": jnp.asarray(normal(rng, 4))},
    )
    pattern = xi.jacobian_sparsity(f, a, jnp.ones((2, 2), jnp.int32), tree, argnums=(2, 0))
    assert pattern.shape == (2 + 4 + 4, 4 + 6 + 3)
    real = lambda a, tree: {k: v for k, v in f(a, 0, tree).items() if k != "i"}  # noqa: E731
    jacobian = jax.jacobian(real, argnums=(1, 0))(a, tree)
    rows = [
        np.concatenate([np.asarray(j).reshape(n, -1) for j in (row[0]["b"], row[0]["c"], row[1])], axis=1)
        for row, n in ((jacobian["a"], 2), (jacobian["v"], 4))
    ]
    right = np.concatenate([rows[0], np.zeros((4, 13)), rows[1]])
    assert (pattern.toarray() == (right != 0)).all()
    for mode in ("forward", "reverse"):
        found = pattern.jacobian(mode=mode, format="bcoo")
        np.testing.assert_allclose(np.asarray(found.todense()), right, rtol=1e-6)


def test_runtime_values_and_types() -> None:
    pattern = xi.jacobian_sparsity(lambda x, i: x[i] * 2, jnp.ones(5), 3)
    assert (pattern.label, pattern.toarray().tolist()) == ("over-approximate", [[True] * 5])
    assert "runtime values" in pattern.reason
    assert pattern.jacobian(jnp.ones(5), 1).toarray().tolist() == [[0, 2, 0, 0, 0]]
    half = xi.jacobian_sparsity(lambda x: x * 3, jnp.ones(4, jnp.bfloat16))
    assert (half.jacobian().toarray() == 3 * np.eye(4)).all()
    assert xi.jacobian_sparsity(lambda x: x > 0, jnp.ones(4)).nnz == 0
    assert xi.jacobian_sparsity(lambda x, y: x * y, jnp.ones(4), jnp.ones(4), argnums=-1).nnz == 4


def test_loops_of_unknown_length() -> None:
    def spun(n: Any, x: Any) -> Any:
        return lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, jnp.roll(c[1], 1) * 2), (0, x))[1]

    pattern = xi.jacobian_sparsity(spun, 3, jnp.ones(5), argnums=1)
    assert (pattern.nnz, pattern.label) == (25, "over-approximate")
    assert (pattern.jacobian(mode="forward").toarray() == 8 * np.roll(np.eye(5), 3, 0)).all()


# --- Hessians ---


def rosenbrock(x: Any) -> Any:
    return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@pytest.mark.parametrize(
    ("f", "shape", "nonzeros"),
    [
        (rosenbrock, (8,), 8 + 2 * 7),
        (lambda x: jnp.sum(jnp.sin(x)), (3, 4), 12),
        (lambda x: jnp.sum(x * 3), (5,), 0),
    ],
)
def test_hessians(f: Callable[..., Any], shape: tuple[int, ...], nonzeros: int | None) -> None:
    x = jnp.asarray(normal(np.random.default_rng(1), *shape))
    pattern = xi.hessian_sparsity(f, x)
    right = dense(jax.hessian(f)(x), *pattern.shape)
    assert not ((right != 0) & ~pattern.toarray()).any()
    if nonzeros is not None:
        assert pattern.nnz == nonzeros
    assert (pattern.toarray() == pattern.toarray().T).all()
    np.testing.assert_allclose(pattern.jacobian(x).toarray(), right, rtol=1e-4, atol=1e-4)


def test_hessians_of_several_arguments() -> None:
    def f(a: Any, b: Any) -> Any:
        return jnp.sum(a * b["x"])

    pattern = xi.hessian_sparsity(f, jnp.ones(3), {"x": jnp.ones(3)}, argnums=(0, 1))
    assert pattern.toarray().tolist() == (np.eye(6, k=3) + np.eye(6, k=-3)).astype(bool).tolist()


def test_derivatives_of_ones_own_need_not_be_symmetric() -> None:
    @jax.custom_vjp
    def f(x: Any) -> Any:
        return x[0] * x[1]

    f.defvjp(lambda x: (f(x), x), lambda x, g: (g * jnp.stack([x[1] ** 2, 0 * x[1]]),))
    pattern, right = xi.hessian_sparsity(f, jnp.ones(2)), jax.jacrev(jax.grad(f))(jnp.ones(2))
    assert right.tolist() == [[0, 2], [0, 0]]
    assert not ((right != 0) & ~pattern.toarray()).any()


# --- Programs and errors ---

DIFFERENTIABLE = ["einsum"]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_programs(name: str) -> None:
    program = PROGRAMS[name]
    arguments = tuple(map(jnp.asarray, program.arguments()))
    for number, argument in enumerate(arguments):
        pattern = xi.jacobian_sparsity(program.function, *arguments, argnums=number)
        assert pattern.label == "exact"
        jacobian = jax.jacobian(program.function, argnums=number)(*arguments)
        right = np.concatenate([np.asarray(x).reshape(-1, argument.size) for x in jax.tree.leaves(jacobian)])
        assert not ((right != 0) & ~pattern.toarray()).any()
        np.testing.assert_allclose(pattern.jacobian(*arguments).toarray(), right, rtol=1e-3, atol=1e-4)


def test_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = xi.jacobian_sparsity(upwind, jnp.ones(4))
    assert repr(pattern) == "<xla_indexing.Sparsity: 3 x 4, 6 entries, exact>"
    with pytest.raises(xi.Error, match="no argument 2"):
        xi.jacobian_sparsity(upwind, jnp.ones(4), argnums=2)
    with pytest.raises(xi.Error, match="twice"):
        xi.jacobian_sparsity(jnp.add, jnp.ones(4), jnp.ones(4), argnums=(0, -2))
    with pytest.raises(xi.Error, match="mode is 'up'"):
        pattern.jacobian(mode="up")
    with pytest.raises(xi.Error, match="format is 'coo'"):
        pattern.jacobian(format="coo")
    with pytest.raises(xi.Error, match="by is 'x'"):
        pattern.coloring("x")
    with pytest.raises(xi.Error, match="4 x 5, and the pattern"):
        pattern.jacobian(jnp.ones(5))
    with pytest.raises(xi.Error, match="complex"):
        pattern.jacobian(jnp.ones(4, jnp.complex64))
    with pytest.raises(TypeError, match="a function is needed"):
        xi.jacobian_sparsity(jnp.ones(3), jnp.ones(3))  # type: ignore[arg-type]
    found = importlib.import_module

    def without_scipy(name: str) -> Any:
        if name.startswith("scipy"):
            raise ImportError(name)
        return found(name)

    monkeypatch.setattr(importlib, "import_module", without_scipy)
    with pytest.raises(xi.Error, match="pip install scipy"):
        pattern.to_scipy()
    assert pattern.jacobian(format="bcoo").shape == (3, 4)
