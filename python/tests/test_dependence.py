"""Proofs of dependence, against what running a program with changed arguments shows, and with planted leaks."""

from __future__ import annotations

import functools
import pickle
import time
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.ode import odeint
from perturbation import perturb
from programs import PROGRAMS, Program, attention, layer_norm, normal

import xla_indexing as xi

# --- Causality and independence ---

X = jnp.ones((2, 7, 3))
TOKENS = jax.ShapeDtypeStruct((2, 7), jnp.int32)


def running_mean(x: Any) -> Any:
    return jnp.cumsum(x, axis=1) / jnp.arange(1, x.shape[1] + 1)[:, None]


def causal_convolution(x: Any) -> Any:
    padded = jnp.pad(x, ((0, 0), (2, 0), (0, 0)))
    return sum(padded[:, i : i + x.shape[1]] * (i + 1) for i in range(3))


def recurrent(x: Any) -> Any:
    def step(state: Any, x: Any) -> Any:
        state = jnp.tanh(state * 0.5 + x)
        return state, state

    return jnp.swapaxes(lax.scan(step, jnp.zeros(x[:, 0].shape), jnp.swapaxes(x, 0, 1))[1], 0, 1)


def shifted(x: Any) -> Any:
    return jnp.pad(x, ((0, 0), (1, 0), (0, 0)))[:, :-1]


def associative(x: Any) -> Any:
    return lax.associative_scan(jnp.maximum, x, axis=1)


def normalised(x: Any) -> Any:
    return layer_norm(x, jnp.ones(x.shape[-1]))


CAUSAL = [running_mean, causal_convolution, recurrent, shifted, associative, normalised]


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("f", CAUSAL)
def test_causal_models_are_proven(f: Callable[..., Any], optimized: bool) -> None:
    xi.assert_causal(f, X, optimized=optimized)
    xi.assert_independent(f, X, optimized=optimized)


def test_strict() -> None:
    xi.assert_causal(shifted, X, strict=True)
    xi.assert_causal(lambda x: running_mean(shifted(x)), X, strict=True)
    with pytest.raises(xi.Violation, match="not strictly causal along axis 1") as caught:
        xi.assert_causal(running_mean, X, strict=True)
    assert caught.value.output_element == caught.value.argument_element


def leaks_by_a_mean(x: Any) -> Any:
    return x - jnp.mean(x, axis=1, keepdims=True)


def leaks_by_reverse(x: Any) -> Any:
    return x + x[:, ::-1]


def leaks_by_one(x: Any) -> Any:
    return jnp.roll(x, -1, axis=1)


def leaks_at_one_place(x: Any) -> Any:
    return x.at[:, 2].add(x[:, 4])


def leaks_by_same_padding(x: Any) -> Any:
    kernel = jnp.ones((3, x.shape[2], x.shape[2]))
    return lax.conv_general_dilated(x, kernel, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


def leaks_by_batch_norm(x: Any) -> Any:
    return x - x.mean(axis=0)


def leaks_through_a_carry(x: Any) -> Any:
    return recurrent(x[:, ::-1])[:, ::-1]


LEAKS = [
    leaks_by_a_mean,
    leaks_by_reverse,
    leaks_by_one,
    leaks_at_one_place,
    leaks_by_same_padding,
    leaks_through_a_carry,
]


def is_real(f: Callable[..., Any], x: Any, violation: xi.Violation) -> bool:
    """Whether the element of the result changes with the one of the argument."""
    rng = np.random.default_rng(0)
    before = np.asarray(normal(rng, *x.shape))
    after = before.copy()
    after[violation.argument_element] += 1.25
    i = violation.output_element
    return bool(np.asarray(f(jnp.asarray(before)))[i] != np.asarray(f(jnp.asarray(after)))[i])


@pytest.mark.parametrize("model", [running_mean, causal_convolution, recurrent])
@pytest.mark.parametrize("leak", LEAKS)
def test_planted_leaks_are_found(leak: Callable[..., Any], model: Callable[..., Any]) -> None:
    def f(x: Any) -> Any:
        return model(leak(x))

    with pytest.raises(xi.Violation) as caught:
        xi.assert_causal(f, X)
    assert caught.value.argument_element[1] > caught.value.output_element[1]
    assert caught.value.by_finite_values
    assert is_real(f, X, caught.value)
    if hasattr(xi.Computation, "explain"):
        assert caught.value.path
        assert "path: " in str(caught.value)
    xi.assert_independent(f, X)


def until_small(row: Any) -> Any:
    """Rows of a batch stop after different numbers of iterations."""
    return lax.while_loop(lambda y: jnp.abs(y).sum() > 1, lambda y: y * 0.5, row)


def integrated(row: Any) -> Any:
    return odeint(lambda y, t: -y * t, row, jnp.linspace(0.0, 1.0, 3))[-1]


def by_greatest(row: Any) -> Any:
    """A scatter whose indices are data of the row."""
    return jnp.zeros_like(row).at[jnp.argmax(row, axis=0)].add(row[:1])


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("of_row", [until_small, integrated, by_greatest])
def test_rows_under_vmap_are_independent(of_row: Callable[[Any], Any], optimized: bool) -> None:
    xi.assert_independent(jax.vmap(of_row), X, optimized=optimized)
    with pytest.raises(xi.Violation):
        xi.assert_independent(lambda x: jax.vmap(of_row)(x - x.mean(0)), X, optimized=optimized)


def test_leaks_between_rows_of_the_batch_are_found() -> None:
    def f(x: Any) -> Any:
        return running_mean(leaks_by_batch_norm(x))

    xi.assert_causal(f, X)
    with pytest.raises(AssertionError, match="not independent along axis 0") as caught:
        xi.assert_independent(f, X)
    violation = caught.value
    assert isinstance(violation, xi.Violation)
    assert violation.argument_element[0] != violation.output_element[0]
    assert violation.argument == "x"
    assert is_real(f, X, violation)
    copy = pickle.loads(pickle.dumps(violation))
    assert (str(copy), copy.output_element) == (str(violation), violation.output_element)


def test_what_is_independent_depends_on_neither_side() -> None:
    for f in (running_mean, lambda x: running_mean(x[:, ::-1])[:, ::-1]):
        with pytest.raises(xi.Violation) as caught:
            xi.assert_independent(f, X, axis=1)
        assert is_real(f, X, caught.value)
    xi.assert_independent(lambda x: x * 2, X, axis=1)


def test_arguments_and_results_are_chosen_by_number() -> None:
    def f(x: Any, y: Any) -> Any:
        return running_mean(x), {"reversed": y[:, ::-1], "same": y}

    for argnums, outnums in ((0, None), (None, 0), (1, 2), ([-2], None), (None, [0, -1])):
        xi.assert_causal(f, X, X, argnums=argnums, outnums=outnums)
    for argnums, outnums in ((None, None), (1, None), (-1, 1), ((0, 1), (1,))):
        with pytest.raises(xi.Violation, match=r"output\[1\]\['reversed'\]"):
            xi.assert_causal(f, X, X, argnums=argnums, outnums=outnums)
    with pytest.raises(xi.Error, match="no number 2"):
        xi.assert_causal(f, X, X, argnums=2)
    with pytest.raises(xi.Error, match="nothing to prove"):
        xi.assert_causal(f, X, X, axis=3)


def test_pytrees_static_and_dropped_arguments() -> None:
    def f(params: Any, unused: Any, x: Any, *rest: Any) -> Any:
        return {"y": running_mean(x) * params["scale"], "z": rest[1][:, ::-1] if len(rest) > 1 else x}

    params = {"scale": jnp.ones(3), "not used": jnp.ones(5)}
    xi.assert_causal(f, params, X, X)
    with pytest.raises(xi.Violation, match=r"of rest\[1\]"):
        xi.assert_causal(f, params, X, X, X, X)
    xi.assert_causal(jax.jit(f), params, X, X)
    power = jax.jit(lambda n, x: running_mean(x) ** n, static_argnums=0)
    xi.assert_causal(power, 3, X)


def test_negative_axes() -> None:
    xi.assert_causal(lambda x: jnp.cumsum(x, axis=-1), X, axis=-1)
    with pytest.raises(xi.Violation):
        xi.assert_causal(lambda x: jnp.cumsum(x, axis=-1)[..., ::-1], X, axis=-1)


# --- What is not decided ---


def test_what_is_not_known_is_neither() -> None:
    def permuted(x: Any, keys: Any) -> Any:
        return x[:, jnp.argsort(keys)]

    with pytest.raises(xi.Undecided, match="the program computes"):
        xi.assert_causal(permuted, X, jnp.ones(7), argnums=0)
    with pytest.raises(xi.Violation):  # the order depends on all keys
        xi.assert_causal(lambda x: permuted(x, x[0, :, 0]), X)
    xi.assert_independent(lambda x, i: x[:, i], X, jnp.zeros(7, jnp.int32), argnums=0)
    assert issubclass(xi.Undecided, xi.Error)
    assert not issubclass(xi.Undecided, AssertionError)


def test_a_value_of_an_argument_may_be_any() -> None:
    def at(x: Any, i: Any) -> Any:
        return lax.dynamic_slice(x, (0, lax.convert_element_type(i, jnp.int32), 0), x.shape) * 1.0

    xi.assert_causal(at, X, 3)  # as long as the array: it cannot move

    gathering = """
    HloModule m
    ENTRY e { x = f32[7] parameter(0)  i = s32[7,1] parameter(1)  ROOT g = f32[7] gather(x, i), offset_dims={},
      collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1} }"""
    entry = xi.load(gathering).entry

    class Lowered:
        """What jax.jit(f).lower() returns, of a program that is HLO."""

        out_info = jax.ShapeDtypeStruct((7,), jnp.float32)

        def lower(self, *args: Any) -> Any:
            return self

        def __call__(self, *args: Any) -> Any:
            raise NotImplementedError

        def as_serialized_hlo_module_proto(self) -> Any:
            return gathering.encode()

    assert entry.indexing()[0].maps[0].map.runtime_variables
    with pytest.raises(xi.Violation):
        xi.assert_causal(Lowered(), jnp.ones(7), jnp.zeros((7, 1), jnp.int32), axis=0, argnums=0)


def test_values_that_do_not_matter_are_no_excuse() -> None:
    def f(x: Any, keys: Any) -> Any:
        row = lax.dynamic_slice(x, (jnp.argmax(keys), 0, 0), (1, 7, 3))
        return row[:, ::-1]

    [read] = xi.analyze(f, X, jnp.ones(2), optimized=False).entry.indexing()[0].maps
    assert read.map.runtime_variables
    with pytest.raises(xi.Violation):
        xi.assert_causal(f, X, jnp.ones(2), argnums=0)
    xi.assert_causal(lambda x, keys: f(x, keys)[:, ::-1], X, jnp.ones(2), argnums=0)


def test_over_approximate_maps_prove_and_do_not_refute() -> None:
    def called_back(x: Any) -> Any:
        return jax.pure_callback(
            lambda x: x, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="sequential"
        )

    with pytest.raises(xi.Undecided, match="over-approximate"):
        xi.assert_causal(called_back, X)
    with pytest.raises(xi.Violation):  # one exact map is enough
        xi.assert_causal(lambda x: (called_back(x), x[:, ::-1]), X)
    with pytest.raises(xi.Undecided):
        xi.assert_causal(lambda x: (called_back(x), x), X)
    xi.assert_causal(lambda x: (called_back(x), x), X, outnums=1)


# --- A deep model ---


def deep_model(x: Any, weights: Any) -> Any:
    for w in weights:
        h = normalised(x)
        gates = jax.nn.sigmoid(jnp.einsum("btd,de->bte", h, w))
        state = lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (gates, h), axis=1)[1]
        x = x + jax.nn.gelu(state @ w) @ w.T
    return x


def test_a_deep_model_is_proven_in_moments() -> None:
    x, weights = jax.ShapeDtypeStruct((8, 16, 32), jnp.float32), [jnp.ones((32, 32))] * 12
    start = time.perf_counter()
    xi.assert_causal(jax.jit(deep_model), x, weights, argnums=0)
    xi.assert_independent(jax.jit(deep_model), x, weights, argnums=0)
    assert time.perf_counter() - start < 20  # about one, on a machine that does nothing else


# --- Masks that are decided ---


def later(length: int) -> Any:
    """Whether a key comes after a query."""
    return jnp.arange(length)[None, :] > jnp.arange(length)[:, None]


# The ways in which people mask the scores of attention.
MASKS: dict[str, Callable[[Any], Any]] = {
    "where": lambda s: jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -jnp.inf),
    "large_number": lambda s: jnp.where(later(s.shape[-1]), -1e30, s),
    "bias": lambda s: s + jnp.where(later(s.shape[-1]), jnp.finfo(s.dtype).min, 0.0),
    "multiplied_bias": lambda s: s + (1 - jnp.tril(jnp.ones(s.shape[-2:]))) * -1e9,
    "constant": lambda s: jnp.where(np.tril(np.ones(s.shape[-2:], bool)), s, -jnp.inf),
    "constant_bias": lambda s: s + np.where(np.tril(np.ones(s.shape[-2:])) == 1, 0, -1e9).astype(np.float32),
}


def masked_by(mask: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        scores = mask(jnp.einsum("bqd,bkd->bqk", x, x * 0.5))
        return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(scores, axis=-1), jnp.tanh(x))

    return f


def masked_exponentials(x: Any) -> Any:
    powers = jnp.exp(jnp.einsum("bqd,bkd->bqk", x, x)) * jnp.tril(jnp.ones((x.shape[1],) * 2))
    return jnp.einsum("bqk,bkd->bqd", powers / powers.sum(-1, keepdims=True), x)


def masked_attention(x: Any) -> Any:
    return attention(x, x, x, jnp.tril(jnp.ones((x.shape[1],) * 2, bool)))


def zeroed_attention(x: Any) -> Any:
    scores = jnp.einsum("bqd,bkd->bqk", x, x)
    return jnp.einsum("bqk,bkd->bqd", jnp.where(jnp.tril(jnp.ones(scores.shape[1:], bool)), scores, 0), x)


def dot_product_attention(x: Any) -> Any:
    heads = x[:, :, None, :]
    return jax.nn.dot_product_attention(heads, heads, heads, is_causal=True)[:, :, 0]


def of_best_keys(x: Any) -> Any:
    """Scores below the third best are masked, and so are masked ones, whatever is best."""
    scores = jnp.where(later(x.shape[1]), -jnp.inf, jnp.einsum("bqd,bkd->bqk", x, x))
    least = lax.top_k(scores, 3)[0][..., -1:]
    shares = jax.nn.softmax(jnp.where(scores >= least, scores, -jnp.inf), axis=-1)
    return jnp.einsum("bqk,bkd->bqd", shares, x)


def in_chunks(x: Any) -> Any:
    """Attention that goes over keys in chunks, with a running maximum and sum."""
    length, width = x.shape[1], 2
    keys = jnp.pad(x, ((0, 0), (0, -length % width), (0, 0)))

    def step(j: Any, state: Any) -> Any:
        total, greatest, norm = state
        chunk = lax.dynamic_slice_in_dim(keys, j * width, width, axis=1)
        scores = jnp.einsum("bqd,bkd->bqk", x, chunk)
        places = j * width + jnp.arange(width)
        scores = jnp.where(jnp.arange(length)[:, None] >= places, scores, -jnp.inf)
        next_greatest = jnp.maximum(greatest, scores.max(-1))
        scale = jnp.exp(greatest - next_greatest)
        shares = jnp.exp(scores - next_greatest[..., None])
        total = total * scale[..., None] + jnp.einsum("bqk,bkd->bqd", shares, chunk)
        return total, next_greatest, norm * scale + shares.sum(-1)

    start = (jnp.zeros_like(x), jnp.full(x.shape[:2], -1e30), jnp.zeros(x.shape[:2]))
    total, _, norm = lax.fori_loop(0, keys.shape[1] // width, step, start)
    return total / norm[..., None]


def row_by_row(x: Any) -> Any:
    """One query after the other."""

    def of_row(t: Any) -> Any:
        scores = jnp.einsum("bd,bkd->bk", x[:, t], x)
        scores = jnp.where(jnp.arange(x.shape[1]) <= t, scores, -jnp.inf)
        return jnp.einsum("bk,bkd->bd", jax.nn.softmax(scores, axis=-1), x)

    return lax.map(of_row, jnp.arange(x.shape[1])).swapaxes(0, 1)


def scan_over_blocks(queries: Any, keys: Any, first: Any) -> Any:
    """Attention of queries from position `first` on, in a scan over blocks of keys, of which the first axis is."""
    blocks, _, size, _ = keys.shape

    def step(state: Any, block: Any) -> Any:
        (greatest, norm, total), (k, j) = state, block
        scores = jnp.einsum("bqd,bkd->bqk", queries, k)
        rows, columns = first + jnp.arange(queries.shape[1]), j * size + jnp.arange(size)
        scores = jnp.where(rows[:, None] >= columns, scores, -1e30)
        more = jnp.maximum(greatest, scores.max(-1))
        shares, scale = jnp.exp(scores - more[..., None]), jnp.exp(greatest - more)
        total = total * scale[..., None] + jnp.einsum("bqk,bkd->bqd", shares, k)
        return (more, norm * scale + shares.sum(-1), total), None

    shape = queries.shape[:2]
    start = (jnp.full(shape, -1e30), jnp.zeros(shape), jnp.zeros_like(queries))
    (_, norm, total), _ = lax.scan(step, start, (keys, jnp.arange(blocks)))
    return total / norm[..., None]


def blocks_of_two(x: Any) -> Any:
    padded = jnp.pad(x, ((0, 0), (0, -x.shape[1] % 2), (0, 0)))
    return padded.reshape(x.shape[0], -1, 2, x.shape[2]).swapaxes(0, 1)


def by_blocks_of_keys(x: Any) -> Any:
    return scan_over_blocks(x, blocks_of_two(x), 0)


def by_blocks_of_both(x: Any) -> Any:
    """XLA's optimizer makes the numbers of the rows outside of the loop over keys."""
    blocks = blocks_of_two(x)

    def of_block(block: Any) -> Any:
        queries, i = block
        return scan_over_blocks(queries, blocks, 2 * i)

    attended = lax.map(of_block, (blocks, jnp.arange(len(blocks)))).swapaxes(0, 1)
    return attended.reshape(x.shape[0], -1, x.shape[2])[:, : x.shape[1]]


def masked_layers(x: Any) -> Any:
    """The mask is made once, outside of a loop over layers."""
    mask = jnp.tril(jnp.ones((x.shape[1],) * 2, bool))

    def layer(h: Any, _: Any) -> Any:
        return h + attention(h, h, h, mask), None

    return lax.scan(layer, x, None, length=3)[0]


MASKED = {name: masked_by(mask) for name, mask in MASKS.items()} | {
    f.__name__: f
    for f in (
        masked_exponentials,
        masked_attention,
        zeroed_attention,
        dot_product_attention,
        of_best_keys,
        in_chunks,
        row_by_row,
        by_blocks_of_keys,
        by_blocks_of_both,
        masked_layers,
    )
}


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("name", MASKED)
def test_masked_attention_is_causal(name: str, optimized: bool) -> None:
    xi.assert_causal(MASKED[name], X, assume_finite=True, optimized=optimized)


@pytest.mark.parametrize("name", MASKED)
def test_nothing_changes_where_no_dependence_is_said(name: str) -> None:
    f = jax.jit(MASKED[name])
    x = np.asarray(jax.random.normal(jax.random.key(0), X.shape))
    dependence = xi.depends(MASKED[name], X, assume_finite=True)
    before = np.asarray(f(x))
    for element in np.ndindex(x.shape):
        may_change = np.asarray(dependence.on("x")[element])
        for value in (0.0, -3.5, 5.0):  # of which exponentials are finite
            other = x.copy()
            other[element] = value
            assert not ((np.asarray(f(other)) != before) & ~may_change).any(), (element, value)


@pytest.mark.parametrize("name", MASKED)
def test_a_leak_of_what_is_not_finite_alone_says_so(name: str) -> None:
    with pytest.raises(xi.Violation, match="assume_finite=True leaves that out") as caught:
        xi.assert_causal(MASKED[name], X)
    violation = caught.value
    assert not violation.by_finite_values
    assert not is_real(MASKED[name], X, violation)
    copy = pickle.loads(pickle.dumps(violation))
    assert (str(copy), copy.by_finite_values) == (str(violation), False)


def in_blocks(by: str, end: Callable[[Any], Any]) -> Callable[..., Any]:
    """Attention of blocks of queries to blocks of keys, the blocks of queries by a map or a fori_loop."""
    block, count = 4, 3

    def f(q: Any, k: Any, v: Any) -> Any:
        def of_block(t: Any) -> Any:
            queries = lax.dynamic_slice_in_dim(q, t * block, block)

            def step(j: Any, state: Any) -> Any:
                greatest, norm, total = state
                keys = lax.dynamic_slice_in_dim(k, j * block, block)
                values = lax.dynamic_slice_in_dim(v, j * block, block)
                rows, columns = t * block + jnp.arange(block), j * block + jnp.arange(block)
                scores = jnp.where(rows[:, None] >= columns[None], queries @ keys.T, -jnp.inf)
                more = jnp.maximum(greatest, scores.max(1))
                shares, scale = jnp.exp(scores - more[:, None]), jnp.exp(greatest - more)
                return more, norm * scale + shares.sum(1), total * scale[:, None] + shares @ values

            start = (jnp.full(block, -jnp.inf), jnp.zeros(block), jnp.zeros((block, q.shape[1])))
            _, norm, total = lax.fori_loop(0, end(t), step, start)
            return total / norm[:, None]

        if by == "map":
            return lax.map(of_block, jnp.arange(count)).reshape(q.shape)
        if by == "vmap":
            return jax.vmap(of_block)(jnp.arange(count)).reshape(q.shape)
        return lax.fori_loop(
            0,
            count,
            lambda t, y: lax.dynamic_update_slice_in_dim(y, of_block(t), t * block, 0),
            jnp.zeros_like(q),
        )

    return f


@pytest.mark.parametrize("end", [lambda t: 3, lambda t: t + 1], ids=["all", "until_own"])
@pytest.mark.parametrize("by", ["map", "fori_loop"])
@pytest.mark.parametrize("optimized", [False, True])
def test_attention_in_blocks_of_queries_and_keys_is_causal(
    by: str, end: Callable[[Any], Any], optimized: bool
) -> None:
    """The mask compares numbers of two loops, the outer of which is passed to the inner."""
    q = jnp.ones((12, 5))
    f = in_blocks(by, end)
    xi.assert_causal(f, q, q, q, axis=0, assume_finite=True, optimized=optimized)
    dependence = xi.depends(f, q, q, q, assume_finite=True, optimized=optimized)
    assert dependence.label == "exact"
    tril = np.tril(np.ones((12, 12), bool))
    for row in range(12):
        read = dependence.of()[row, 2]
        np.testing.assert_array_equal(read["k"], np.repeat(tril[row][:, None], 5, axis=1))
        np.testing.assert_array_equal(read["v"], tril[row][:, None] & (np.arange(5) == 2))
    with pytest.raises(xi.Violation):
        xi.assert_causal(f, q, q, q, axis=0, strict=True, assume_finite=True)


@pytest.mark.parametrize("optimized", [False, True])
def test_a_causal_window_of_keys(optimized: bool) -> None:
    x = jnp.ones((1, 24, 1, 3))

    def f(q: Any, k: Any, v: Any) -> Any:
        return jax.nn.dot_product_attention(q, k, v, is_causal=True, local_window_size=(5, 0))

    xi.assert_causal(f, x, x, x, axis=1, assume_finite=True, optimized=optimized)
    read = xi.depends(f, x, x, x, assume_finite=True, optimized=optimized).of()[0, 9, 0, 0]
    assert np.flatnonzero(read["k"].any((0, 2, 3))).tolist() == [4, 5, 6, 7, 8, 9]
    assert np.flatnonzero(read["v"].any((0, 2, 3))).tolist() == [4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: jnp.cumprod(jnp.where(jnp.arange(6) == 0, 0.0, x)),
        lambda x: jnp.clip(x, jnp.where(jnp.arange(6) < 3, 5.0, -9.0), 5.0),
        lambda x: jnp.abs(lax.complex(x, x) * jnp.zeros(6, jnp.complex64)),
    ],
    ids=["a_product_with_zeros", "a_clip_to_one_number", "complex_zeros"],
)
def test_what_is_decided_and_not_followed_is_not_exact(f: Callable[[Any], Any]) -> None:
    assert xi.depends(f, jnp.ones(6), assume_finite=True).label == "over-approximate"


@pytest.mark.parametrize("name", MASKED)
def test_scores_of_one_key_too_many_are_found(name: str) -> None:
    def f(x: Any) -> Any:
        return MASKED[name](x) + 1e-3 * jnp.roll(x, -1, axis=1)

    with pytest.raises(xi.Violation, match="path: "):
        xi.assert_causal(f, X, assume_finite=True)


def test_a_mask_that_is_not_found_is_not_said_to_be_a_leak() -> None:
    rows, columns = np.triu_indices(X.shape[1], 1)
    with pytest.raises(xi.Undecided):
        xi.assert_causal(masked_by(lambda s: s.at[:, rows, columns].set(-jnp.inf)), X, assume_finite=True)


DECIDED: dict[str, tuple[Callable[[Any], Any], int]] = {
    "where": (lambda x: jnp.where(jnp.arange(10) < 5, x, 0), 5),
    "diag": (jnp.diag, 10),
    "tril": (lambda x: jnp.tril(jnp.broadcast_to(x, (10, 10))), 55),
    "even": (lambda x: jnp.where(jnp.arange(10) % 2 == 0, x, 0), 5),
    "both": (lambda x: jnp.where((jnp.arange(10) > 2) & (jnp.arange(10) < 5), x, 0), 2),
    "either": (lambda x: jnp.where((jnp.arange(10) < 2) | (jnp.arange(10) > 8), x, 0), 3),
    "nested": (lambda x: jnp.where(jnp.arange(10) < 8, jnp.where(jnp.arange(10) < 3, 0, x), 0), 5),
    "set": (lambda x: x.at[3].set(0.0), 9),
    "reversed": (lambda x: jnp.where(jnp.flip(jnp.arange(10)) < 3, x, 0), 3),
    "scanned": (lambda x: lax.scan(lambda _, i: (_, jnp.where(i < 4, x[i], 0)), 0, jnp.arange(10))[1], 4),
    "constant": (lambda x: jnp.where(np.array([1, 0, 0, 1, 1, 0, 0, 0, 0, 1], bool), x, 0), 4),
}


@pytest.mark.parametrize("name", DECIDED)
def test_what_is_decided_keeps_even_infinities_out(name: str) -> None:
    f, count = DECIDED[name]
    pattern = xi.jacobian_sparsity(f, jnp.ones(10))
    assert (pattern.label, pattern.nnz) == ("exact", count)
    x = np.linspace(1, 2, 10, dtype=np.float32)
    before = np.asarray(f(jnp.asarray(x))).ravel()
    rows, columns = pattern.to_scipy().nonzero()
    named = set(zip(rows.tolist(), columns.tolist()))
    for column in range(10):
        for value in (np.nan, np.inf, -7.0):
            other = x.copy()
            other[column] = value
            changed_rows = np.flatnonzero(np.asarray(f(jnp.asarray(other))).ravel() != before)
            assert all((row, column) in named for row in changed_rows)


# --- Elements, against perturbation ---

JUDGED = [
    "layer_norm_rows",
    "einsum",
    "convnet",
    "convolve_rows",
    "batch_norm",
    "scan_forward",
    "mapped_rows",
    "cumulative",
    "gather_in_bounds",
    "strided_slices",
    "select",
    "unused_arguments",
    "zero_size_and_scalars",
    "results_that_are_constant",
    "nested_arguments",
    "conditional",
    "while_data_dependent",
]


@functools.cache
def changed(name: str) -> dict[tuple[str, int], np.ndarray]:
    """What changes in any run, by argument and result: axes of the result, then those of the argument."""
    found: dict[tuple[str, int], np.ndarray] = {}
    for run in perturb(PROGRAMS[name])[:2]:
        for argument, masks in run.changed.items():
            for number, mask in enumerate(masks):
                found[argument, number] = found.get((argument, number), np.zeros_like(mask)) | mask
    return found


@pytest.mark.parametrize("program", [pytest.param(PROGRAMS[n], id=n) for n in JUDGED])
def test_masks_have_every_element_that_changes(program: Program) -> None:
    dependence = xi.depends(program.function, *program.arguments())
    seen = changed(program.name)
    shapes = {name: np.shape(leaf) for name, leaf in program.leaves(program.arguments()).items()}
    assert dependence.arguments == list(shapes)
    outputs = [leaf.shape for leaf in jax.tree.leaves(program.lowered.out_info)]
    named: dict[tuple[str, int], np.ndarray] = {}
    for number, shape in enumerate(outputs):
        for element in list(np.ndindex(shape))[:6]:
            masks = dependence.of(number)[element]
            assert {name: mask.shape for name, mask in masks.items()} == shapes
            for name, mask in masks.items():
                both = np.zeros((*shape, *mask.shape), bool)
                both[element] = mask
                named[name, number] = named.get((name, number), np.zeros_like(both)) | both
                if (name, number) in seen:
                    assert not (seen[name, number][element] & ~mask).any(), (name, element)
    for name, shape in shapes.items():
        for element in list(np.ndindex(shape))[:6]:
            result = dependence.on(name)[element]
            assert jax.tree.structure(result) == jax.tree.structure(program.lowered.out_info)
            for number, mask in enumerate(jax.tree.leaves(result)):
                if (name, number) in seen:
                    assert not (seen[name, number][(..., *element)] & ~mask).any(), (name, element)
                for i in list(np.ndindex(outputs[number]))[:6]:  # both directions say the same
                    if dependence.label == "exact":
                        assert mask[i] == named[name, number][(*i, *element)]


EXACT = ["layer_norm_rows", "einsum", "convolve_rows", "mapped_rows", "strided_slices", "unused_arguments"]


@pytest.mark.parametrize("program", [pytest.param(PROGRAMS[n], id=n) for n in EXACT])
def test_exact_masks_have_no_others(program: Program) -> None:
    dependence = xi.depends(program.function, *program.arguments())
    assert (dependence.label, dependence.reason) == ("exact", "")
    for (name, number), mask in changed(program.name).items():
        outputs = [leaf.shape for leaf in jax.tree.leaves(program.lowered.out_info)]
        for element in list(np.ndindex(outputs[number]))[:10]:
            assert (dependence.of(number)[element][name] == mask[element]).all()


# --- Masks that are computed ---

ROW = jnp.arange(8)
COLUMN = ROW[:, None]
KERNEL = np.ones((3, 3, 1, 1), np.float32)
KERNEL[1, 1:] = KERNEL[2] = 0


def drawn(*shape: int) -> Any:
    return normal(np.random.default_rng(0), *shape)


def masked_convolution(x: Any, w: Any) -> Any:
    return lax.conv_general_dilated(x, w * KERNEL, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def built_by_a_loop(x: Any) -> Any:
    return x * lax.fori_loop(0, 8, lambda i, m: m.at[i].set(i < 3), jnp.zeros(8))


def built_by_a_scan(x: Any) -> Any:
    return x * lax.scan(lambda c, i: (c, jnp.where(i % 3 == 1, 1.0, 0.0)), 0, ROW)[1]


TABLE = jnp.array([5, 0, 2, 7, 1, 6, 3, 4])
SEGMENTS = jnp.repeat(jnp.arange(3), jnp.array([3, 1, 4]), total_repeat_length=8)


def of_one_segment(x: Any) -> Any:
    one_hot = jax.nn.one_hot(SEGMENTS, 3)
    return jnp.where(one_hot @ one_hot.T > 0, x, 0.0)


def chosen_by_iteration(x: Any) -> Any:
    def add(i: Any, total: Any) -> Any:
        return total + x[lax.switch(i % 3, [lambda i: i, lambda i: 7 - i, lambda i: 0 * i], i)]

    return lax.fori_loop(0, 8, add, 0.0)


def transposed_convolution(x: Any) -> Any:
    return lax.conv_general_dilated(
        x, jnp.ones((1, 1, 3)) * jnp.array([1.0, 0, 1]), (1,), [(1, 1)], lhs_dilation=(2,)
    )


def convolution_of_a_mask(w: Any) -> Any:
    return lax.conv_general_dilated(jnp.where(ROW % 4 == 0, 1.0, 0.0)[None, None], w, (2,), "SAME")


COMPUTED_MASKS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "tril_indices": (lambda x: x * jnp.zeros((8, 8)).at[jnp.tril_indices(8)].set(1.0), (drawn(8, 8),)),
    "scattered": (lambda x: x * jnp.ones(8).at[jnp.array([1, 4])].set(0.0), (drawn(8),)),
    "replaced": (lambda x: x.at[jnp.array([1, 4, 6])].set(0.0), (drawn(8),)),
    "cumsum": (lambda x: jnp.where(jnp.cumsum(jnp.ones(8)) >= 3, x, 0.0), (drawn(8),)),
    "cumprod": (lambda x: x * jnp.cumprod(jnp.where(ROW < 3, 1.0, 0.0)), (drawn(8),)),
    "shifted bits": (lambda x: jnp.where((jnp.int32(0b10110) >> ROW) & 1 == 1, x, 0.0), (drawn(8),)),
    "power": (lambda x: x * jnp.power(0, ROW), (drawn(8),)),
    "loop": (built_by_a_loop, (drawn(8),)),
    "scan": (built_by_a_scan, (drawn(8),)),
    "kron": (lambda x: jnp.kron(jnp.eye(2), jnp.ones((4, 4))) @ x, (drawn(8),)),
    "band": (lambda x: jnp.where(jnp.abs(COLUMN - ROW) <= 1, x[0], 0.0) @ x, (drawn(8, 8),)),
    "sort": (lambda x: jnp.where(jnp.sort(TABLE % 4) < 2, x, 0.0), (drawn(8),)),
    "argsort": (lambda x: jnp.where(jnp.argsort(TABLE) < 3, x, 0.0), (drawn(8),)),
    "argsort of floats": (lambda x: jnp.where(jnp.argsort(TABLE % 3 - 1.0) < 3, x, 0.0), (drawn(8),)),
    "argmax": (lambda x: x * (jnp.argmax(jax.nn.one_hot(TABLE % 3, 3), axis=-1) == 1), (drawn(8),)),
    "select": (lambda x: jnp.select([TABLE < 2, TABLE % 2 == 0], [x, x[::-1]], 0.0), (drawn(8),)),
    "segments": (of_one_segment, (drawn(8, 8),)),
    "switch": (chosen_by_iteration, (drawn(8),)),
    "transposed convolution": (transposed_convolution, (drawn(1, 1, 8),)),
    "convolution of a mask": (convolution_of_a_mask, (drawn(1, 1, 3),)),
    "masked convolution": (masked_convolution, (drawn(1, 5, 5, 1), drawn(3, 3, 1, 1))),
    "two convolutions": (
        lambda x, w: masked_convolution(masked_convolution(x, w) + x, w),
        (drawn(1, 5, 5, 1), drawn(3, 3, 1, 1)),
    ),
}


@pytest.mark.parametrize("name", COMPUTED_MASKS)
def test_masks_that_are_computed_leave_what_the_jacobian_has(name: str) -> None:
    f, args = COMPUTED_MASKS[name]
    sparsity = xi.jacobian_sparsity(f, *args, assume_finite=True)
    jacobian = np.asarray(jax.jacobian(f)(*args)).reshape(sparsity.shape)
    assert sparsity.label == "exact"
    assert np.array_equal(sparsity.toarray() != 0, jacobian != 0)


# --- Why ---


def layers(weights: Any, x: Any, ahead: int) -> Any:
    """Layers of attention in a scan; each position attends to those before it and `ahead` after it."""
    t = x.shape[1]
    mask = jnp.tril(jnp.ones((t, t), bool), ahead)

    def layer(x: Any, w: Any) -> tuple[Any, None]:
        scores = jnp.einsum("btd,bsd->bts", x @ w[0], x @ w[1])
        return x + jax.nn.softmax(jnp.where(mask, scores, -jnp.inf)) @ (x @ w[2]), None

    return lax.scan(layer, x, weights)[0]


WEIGHTS = jnp.ones((6, 3, 4, 4))
CAUSAL = functools.partial(layers, ahead=0)
LEAKING = functools.partial(layers, ahead=1)


def test_a_leak_in_a_scan_over_layers_has_a_path_through_the_layers() -> None:
    x = jnp.ones((1, 9, 4))
    xi.assert_causal(CAUSAL, WEIGHTS, x, argnums=1, assume_finite=True)
    with pytest.raises(xi.Violation, match="in iterations 4 to 0"):
        xi.assert_causal(LEAKING, WEIGHTS, x, argnums=1, assume_finite=True)
    # One place further in each of six layers.
    for distance in (1, 6, 7):
        output, input = (0, 1, 2), (0, 1 + distance, 3)
        why = xi.explain(LEAKING, WEIGHTS, x, output=output, input=input, argument="x", assume_finite=True)
        assert why.depends is (distance <= 6)
        if distance > 6:
            assert not why.steps
            continue
        assert (why.steps[0].element, why.steps[-1].element) == (output, input)
        iterations = {s.iterations[0] - i for s in why.steps if s.iterations for i in range(s.repeats)}
        assert iterations == set(range(6))
        assert __file__ in {step.source_file for step in why.steps}
        assert "in iteration" in why._repr_html_()


def test_explain_names_what_is_not_there() -> None:
    f = jnp.cumsum
    assert xi.explain(f, jnp.ones(5), output=(3,), input=(1,)).depends is True
    assert xi.explain(f, jnp.ones(5), output=(1,), input=(3,)).depends is False
    with pytest.raises(xi.Error, match="no array of the arguments is 'y'"):
        xi.explain(f, jnp.ones(5), output=(3,), input=(1,), argument="y")
    with pytest.raises(xi.Error, match="there is no output 1"):
        xi.explain(f, jnp.ones(5), output=(3,), input=(1,), result=1)
    with pytest.raises(ValueError, match="index 5 is outside"):
        xi.explain(f, jnp.ones(5), output=(3,), input=(5,))


def test_elements_by_slices() -> None:
    d = xi.depends(lambda x: {"y": jnp.cumsum(x), "n": x.sum()}, jnp.ones(6))
    assert d.on("x")[4]["y"].tolist() == [False] * 4 + [True] * 2
    assert d.on(0)[4:]["y"].tolist() == d.on("x")[4]["y"].tolist()
    assert d.on("x")[-1]["n"].tolist() is True
    assert d.of(1)[:2]["x"].tolist() == [True] * 2 + [False] * 4
    assert d.of(0)[()]["x"].all()
    with pytest.raises(xi.Error, match="'z': there are x"):
        d.on("z")
    with pytest.raises(xi.Error, match="no output 2"):
        d.of(2)
    with pytest.raises(IndexError):
        d.of(1)[6]


def test_receptive_fields() -> None:
    def convnet(x: Any, kernel: Any) -> Any:
        for stride in (1, 2):
            x = lax.conv_general_dilated(x, kernel, (stride,) * 2, "VALID")
        return x

    x, kernel = jnp.ones((1, 1, 32, 32)), jnp.ones((1, 1, 3, 3))
    field = xi.receptive_field(convnet, x, kernel, element=(0, 0, 2, 3))
    assert field.box == (range(1), range(1), range(4, 9), range(6, 11))
    assert (field.is_box, field.label, len(field.elements)) == (True, "exact", 25)
    weights = xi.receptive_field(convnet, x, kernel, element=(0, 0, 2, 3), argument="kernel")
    assert weights.mask.all()
    strided = xi.receptive_field(lambda x: x[::3][::-1], jnp.ones(10), element=slice(0, 2))
    assert strided.box == (range(6, 10, 3),)
    nothing = xi.receptive_field(lambda x: jnp.zeros(3), x, element=0)
    assert (nothing.box[0], nothing.is_box) == (range(0), True)
    one_of_all = xi.receptive_field(lambda x, i: x[i], jnp.ones(5), 3, element=())
    assert (one_of_all.mask.all(), one_of_all.label) == (True, "over-approximate")
    assert "runtime values" in one_of_all.reason
