"""Computations as code: what runs is compared with numpy, and with what JAX says."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import xla_indexing as xi

pytestmark = pytest.mark.skipif(not xi.has_lowering(), reason="a build without lowering")

MATMUL = xi.load("""ENTRY e {
  x = f32[7,10] parameter(0)
  w = f32[10,6] parameter(1)
  b = f32[6] parameter(2)
  m = f32[7,6] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bb = f32[7,6] broadcast(b), dimensions={1}
  ROOT a = f32[7,6] add(m, bb)
}""")


def arrays(*shapes, seed=0):
    """Small multiples of 1/4, sums of which are exact."""
    random = np.random.default_rng(seed)
    return [(random.integers(-16, 16, shape) / 4).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize("sizes", [None, "2,4,5", [7, 6, 10], {"d0": 3, "d1": 4, "k": 3}])
def test_a_matmul(sizes):
    x, w, b = arrays((7, 10), (10, 6), (6,))
    result = MATMUL.entry.run(x, w, b, tile_sizes=sizes)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, x @ w + b)


SOFTMAX = xi.load("""
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
ENTRY e {
  s = f32[5,9] parameter(0)
  v = f32[9,4] parameter(1)
  lowest = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[5] reduce(s, lowest), dimensions={1}, to_apply=max
  mb = f32[5,9] broadcast(m), dimensions={0}
  t = f32[5,9] subtract(s, mb)
  x = f32[5,9] exponential(t)
  d = f32[5] reduce(x, zero), dimensions={1}, to_apply=add
  db = f32[5,9] broadcast(d), dimensions={0}
  w = f32[5,9] divide(x, db)
  ROOT o = f32[5,4] dot(w, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}""")


def test_one_pass():
    s, v = arrays((5, 9), (9, 4))
    s[1, :4] = -np.inf
    x = np.exp(s - s.max(1, keepdims=True))
    expected = (x / x.sum(1, keepdims=True)) @ v
    sizes = {"d0": 2, "d1": 3, "k": 2}
    np.testing.assert_allclose(
        SOFTMAX.entry.run(s, v, tile_sizes=sizes, one_pass=True), expected, rtol=1e-4, atol=1e-5
    )
    assert "scf.for" in SOFTMAX.entry.emit(sizes, one_pass=True)
    with pytest.raises(xi.Error, match="no tile_sizes are given"):
        SOFTMAX.entry.emit(one_pass=True)


def test_a_view_of_a_part():
    view = xi.FusionView.of_producer_consumer(MATMUL["m"], MATMUL["a"])
    operands = dict(zip(["x", "w", "bb"], arrays((7, 10), (10, 6), (7, 6))))
    given = [operands[operand.name] for operand in view.operands]
    np.testing.assert_array_equal(view.run(*given), operands["x"] @ operands["w"] + operands["bb"])
    assert view.emit().startswith("module @")


def test_layouts_tuples_and_types():
    m = xi.load("""ENTRY e {
      p = (s8[2,3]{0,1}, pred[3]) parameter(0)
      q = f64[] parameter(1)
      a = s8[2,3]{0,1} get-tuple-element(p), index=0
      b = pred[3] get-tuple-element(p), index=1
      t = s8[3,2]{0,1} transpose(a), dimensions={1,0}
      n = pred[3] not(b)
      z = f64[0] broadcast(q), dimensions={}
      s = f64[] multiply(q, q)
      ROOT r = (s8[3,2]{0,1}, pred[3], f64[], f64[0]) tuple(t, n, s, z)
    }""")
    a = np.arange(6, dtype=np.int8).reshape(2, 3)
    b = np.array([True, False, True])
    transposed, negated, square, nothing = m.entry.run((a, b), np.float64(1.5))
    np.testing.assert_array_equal(transposed, a.T)
    np.testing.assert_array_equal(negated, ~b)
    assert square == 2.25
    assert nothing.shape == (0,)


def test_softmax_and_exp():
    m = xi.load("examples/softmax.hlo")
    fusion = m.fusions[0]
    shape = fusion.operands[0].shape.dimensions
    x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    e = np.exp(x - x.max(-1, keepdims=True))
    assert fusion.run(x).shape == fusion.shape.dimensions
    np.testing.assert_allclose(fusion.run(x), e / e.sum(-1, keepdims=True), rtol=1e-5)


def test_what_jax_computes():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def layer(x, w, rows):
        h = jax.nn.gelu(x @ w, approximate=False)
        return (
            jnp.take(h, rows, axis=0),
            jnp.pad(h, ((1, 0), (0, 2)))[::-1],
            jnp.cumsum(x[:, :3], axis=1)[:, 2],
        )

    x, w = arrays((5, 4), (4, 6))
    rows = np.array([3, 0, 3], np.int32)
    entry = xi.analyze(layer, x, w, rows, optimized=False).entry
    for got, expected in zip(entry.run(x, w, rows), jax.jit(layer)(x, w, rows)):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_loops_branches_and_scatters_of_jax():
    jax = pytest.importorskip("jax")

    def program(x, rows, steps):
        def step(carry, row):
            index, state = carry
            state = jax.lax.cond(index % 2 == 0, lambda s: s @ s.T / 8, lambda s: s - row, state)
            return (index + 1, state), state.sum()

        (_, state), sums = jax.lax.scan(step, (0, x), x)
        halves = jax.lax.while_loop(lambda s: s[0] < steps, lambda s: (s[0] + 1, s[1] / 2), (0, state))
        return halves[1].at[rows].add(x), sums, jax.ops.segment_max(x, rows, 3)

    (x,) = arrays((4, 4))
    rows = np.array([3, -1, 9, 3], np.int32)
    for steps in (0, 3):
        given = x, rows, np.int32(steps)
        entry = xi.analyze(program, *given, optimized=False).entry
        for got, expected in zip(entry.run(*given), jax.jit(program)(*given)):
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    assert "scf.while" in entry.emit()


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_complex_numbers(name):
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    given = [
        (a + 1j * b).astype(name) for a, b in zip(arrays((4, 6), (6, 3)), arrays((4, 6), (6, 3), seed=1))
    ]

    def program(a, b):
        turned = jax.lax.complex(a.imag, a.real)
        return (
            jnp.abs(a * turned + a),
            a @ b,
            b.sum(0) / (1 + b.prod(1)[:3]),
            jnp.where(a == turned, jnp.exp(a), jnp.conj(jnp.tanh(turned))),
            jnp.concatenate([a.T, turned.T])[::-1] * 2,
            jnp.sqrt(a) - jnp.log(b).sum(),
            a.real.astype(name) ** 2,
        )

    with jax.enable_x64(name == "complex128"):
        entry = xi.analyze(program, *given, optimized=False).entry
        expected = jax.jit(program)(*given)
    for got, wanted in zip(entry.run(*given), expected):
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_floats_of_16_bits(name):
    jax = pytest.importorskip("jax")
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else np.float16)
    given = [a.astype(dtype) for a in arrays((4, 6), (6, 3))]

    def layer(x, w):
        return jax.nn.sigmoid(x) @ w, (x.astype("float32") * 3).astype(x.dtype), x.sum(1), x.T > 0

    entry = xi.analyze(layer, *given, optimized=False).entry
    for got, expected in zip(entry.run(*given), jax.jit(layer)(*given)):
        assert got.dtype == expected.dtype
        # XLA keeps sums in f32.
        np.testing.assert_allclose(got.astype(float), np.asarray(expected, float), rtol=0.04, atol=0.04)


@pytest.mark.parametrize("optimized", [False, True])
def test_gradients_of_max_pooling_and_sorts_of_jax(optimized):
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def pooled(x):
        largest = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        return (largest**2).sum()

    def order(x):
        rows = jnp.where(x > 1, jnp.nan, x)[0, :, :, 0]
        return (
            jnp.sort(rows, axis=0),
            jnp.argsort(-rows),
            jnp.median(x, axis=1),
            jax.lax.reduce_precision(x, 5, 10),
        )

    x = np.random.default_rng(2).normal(size=(2, 8, 9, 3)).astype(np.float32)
    gradient = xi.analyze(jax.grad(pooled), x, optimized=optimized)
    assert optimized or "select-and-scatter" in gradient.to_text()
    np.testing.assert_array_equal(gradient.entry.run(x), jax.grad(pooled)(x))
    for got, expected in zip(xi.analyze(order, x, optimized=optimized).entry.run(x), jax.jit(order)(x)):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("optimized", [False, True])
def test_narrow_numbers_and_their_bits(optimized):
    jax = pytest.importorskip("jax")
    ml_dtypes = pytest.importorskip("ml_dtypes")

    def program(weights, x, scales, eighths):
        return (
            x @ (weights.astype("float32") * scales),
            (weights + weights, weights < 0),
            jax.lax.bitcast_convert_type(x, "uint8"),
            jax.lax.bitcast_convert_type(jax.lax.bitcast_convert_type(x, "uint16"), "int32"),
            (x * 100).astype(eighths.dtype),
            eighths.astype("bfloat16") * scales[:2],
            eighths + eighths,
        )

    x, scales, eighths = arrays((4, 6), (5,), (3, 2))
    weights = np.random.default_rng(3).integers(-8, 8, (6, 5)).astype(ml_dtypes.int4)
    given = weights, x, scales, eighths.astype(ml_dtypes.float8_e4m3fn)
    results = xi.analyze(program, *given, optimized=optimized).entry.run(*given)
    for got, expected in zip(results, jax.tree_util.tree_leaves(jax.jit(program)(*given))):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got.astype(float), np.asarray(expected).astype(float))


def test_top_k():
    jax = pytest.importorskip("jax")

    def program(x, n):
        return jax.lax.top_k(x, 3), jax.lax.top_k(n, 2)

    x = np.random.default_rng(4).integers(-3, 3, (4, 7)).astype(np.float32)
    x[0, 2:4] = np.nan, np.inf
    n = np.random.default_rng(5).integers(-9, 9, (5, 6)).astype(np.int32)
    given = x, n
    results = xi.analyze(program, *given, optimized=False).entry.run(*given)
    for got, expected in zip(results, jax.tree_util.tree_leaves(jax.jit(program)(*given))):
        np.testing.assert_array_equal(got, expected)


LONG_LOOP = """
goes_on {
  s = (s64[], f32[]) parameter(0)
  i = s64[] get-tuple-element(s), index=0
  n = s64[] constant(10000000000)
  ROOT c = pred[] compare(i, n), direction=LT
}
step {
  s = (s64[], f32[]) parameter(0)
  i = s64[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  one = s64[] constant(1)
  j = s64[] add(i, one)
  ROOT t = (s64[], f32[]) tuple(j, x)
}
ENTRY e {
  i = s64[] constant(0)
  x = f32[] parameter(0)
  t = (s64[], f32[]) tuple(i, x)
  ROOT w = (s64[], f32[]) while(t), condition=goes_on, body=step
}"""
LONG_SUM = """
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT m = s32[] add(a, b) }
ENTRY e {
  x = s32[] parameter(0)
  z = s32[] constant(0)
  y = s32[100000000000] broadcast(x), dimensions={}
  ROOT r = s32[] reduce(y, z), dimensions={0}, to_apply=add
}"""


@pytest.mark.parametrize("text", [LONG_LOOP, LONG_SUM])
def test_control_c_ends_what_runs_long(text):
    entry = xi.load(text).entry
    x = np.ones((), np.float32 if text is LONG_LOOP else np.int32)
    for _ in range(2):  # What was ended runs again.
        start = time.monotonic()
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            entry.run(x)
        assert time.monotonic() - start < 3


def test_what_does_not_fit_is_an_error():
    x, w, b = arrays((7, 10), (10, 6), (6,))
    with pytest.raises(TypeError, match="takes 3 arrays, not 2"):
        MATMUL.entry.run(x, w)
    with pytest.raises(TypeError, match=r"array 1 of e is float32\[10, 6\], not float32\[6, 10\]"):
        MATMUL.entry.run(x, w.T, b)
    with pytest.raises(TypeError, match=r"not float64\[6\]"):
        MATMUL.entry.run(x, w, b.astype(np.float64))
    with pytest.raises(xi.Error, match="c: cholesky is not lowered"):
        xi.load(
            "ENTRY e { p = f32[4,4] parameter(0) ROOT c = f32[4,4] cholesky(p), lower=true }"
        ).entry.emit()
    with pytest.raises(xi.Error, match="d9"):
        MATMUL.entry.emit("d9=3")


def test_without_the_component_one_sentence_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "xla_indexing._lowering", None)
    monkeypatch.setattr("xla_indexing.lowering.has_lowering", lambda: False)
    with pytest.raises(xi.Error, match=r"^this build of xla_indexing has no lowering: .* `pip install .`"):
        MATMUL.entry.emit()


def test_importing_the_package_does_not_load_the_compiler():
    program = "import sys, xla_indexing; print('xla_indexing._lowering' in sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert output.strip() == "False"
