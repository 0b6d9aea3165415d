"""JAX programs that the tests analyse: small arrays, many kinds of models.

Each is a function with a generator of its arguments. Shapes are small, because the tests of execution
change every element of every argument, one at a time, and look which elements of the results change.

`Program.hidden` names the arguments that have elements which leave a result as it is although its formula
names them: why, and the share of all pairs of elements that it is at most. Maps speak of the formula: every
value that it names counts as read, whatever the other values are. The reasons are those of `Hidden`, and
there are no others.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


class Hidden(enum.Enum):
    """Why a value that a formula names leaves the result as it is, bit for bit."""

    ZERO = "it is multiplied by zero, as what a mask leaves out of a softmax"
    SELECT = "a select or a maximum takes another of its operands"
    FEW = "an integer has few values here, or many values round to the same"
    WHOLE = "an operation whose definition names a whole row reads a part of it"
    INDEX = (
        "an index leads to one element at a time, and the definition names every element that it may lead to"
    )


@dataclasses.dataclass(frozen=True)
class Program:
    """A function, how its arguments are drawn, and how it is jitted."""

    name: str
    function: Callable[..., Any]
    inputs: Callable[[np.random.Generator], tuple[Any, ...]]
    jit: Mapping[str, Any]
    hidden: Mapping[str, tuple[Hidden, float]]

    @property
    def sharded(self) -> bool:
        """Whether the compiled program is that of one device of several, with the shapes of its shards."""
        return self.name.startswith("sharded")

    def arguments(self, seed: int = 0) -> tuple[Any, ...]:
        """Draws the arguments; the same for the same seed."""
        return self.inputs(np.random.default_rng(seed))

    @functools.cached_property
    def lowered(self) -> jax.stages.Lowered:
        return jax.jit(self.function, **self.jit).lower(*self.arguments())

    @functools.cached_property
    def compiled(self) -> jax.stages.Compiled:
        return self.lowered.compile()

    def leaves(self, arguments: tuple[Any, ...]) -> dict[str, Any]:
        """Returns the arrays in `arguments` by the names that JAX gives them: `params['w']`, `xs[0]`."""
        flat: dict[str, Any] = {}
        signature = inspect.signature(self.function)
        for name, value in signature.bind(*arguments).arguments.items():
            for path, leaf in jax.tree_util.tree_flatten_with_path(value)[0]:
                flat[name + jax.tree_util.keystr(path)] = leaf
        return flat

    def used_names(self) -> list[str]:
        """Returns the names of the arguments that the lowered program keeps, in the order of its parameters.

        JAX drops arguments that no result is computed from; it tells which only in a field of its own.
        """
        names = list(self.leaves(self.arguments()))
        kept = self.lowered._lowering.compile_args["kept_var_idx"]  # type: ignore[attr-defined]
        return [name for number, name in enumerate(names) if number in kept]


PROGRAMS: dict[str, Program] = {}


def program(
    inputs: Callable[[np.random.Generator], tuple[Any, ...]],
    *,
    hidden: Mapping[str, tuple[Hidden, float]] | None = None,
    **jit: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Puts a function among the programs. What is left of the keywords are those of `jax.jit`."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__
        assert name not in PROGRAMS, name
        PROGRAMS[name] = Program(name, function, inputs, jit, hidden or {})
        return function

    return register


Rng = np.random.Generator


def normal(rng: Rng, *shape: int, dtype: Any = np.float32) -> Any:
    """Draws from the standard normal distribution."""
    return np.asarray(rng.standard_normal(shape)).astype(dtype)


def whole(rng: Rng, below: int, *shape: int, dtype: Any = np.int32) -> Any:
    """Draws integers of [0, below)."""
    return np.asarray(rng.integers(0, below, shape)).astype(dtype)


# Transformers.


def layer_norm(x: Any, scale: Any) -> Any:
    mean = jnp.mean(x, axis=-1, keepdims=True)
    return scale * (x - mean) * lax.rsqrt(jnp.mean((x - mean) ** 2, axis=-1, keepdims=True) + 1e-5)


def attention(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    scores = jnp.einsum("...qd,...kd->...qk", q, k) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9)
    return jnp.einsum("...qk,...kd->...qd", jax.nn.softmax(scores), v)


def transformer_parameters(rng: Rng) -> dict[str, Any]:
    return {
        "embedding": normal(rng, 5, 4),
        "qkv": normal(rng, 4, 12),
        "out": normal(rng, 4, 4),
        "scale": normal(rng, 4),
        "mlp": {"up": normal(rng, 4, 6), "down": normal(rng, 6, 4)},
    }


def transformer_logits(params: dict[str, Any], tokens: Any) -> Any:
    x = params["embedding"][tokens]
    q, k, v = jnp.split(layer_norm(x, params["scale"]) @ params["qkv"], 3, axis=-1)
    causal = jnp.tril(jnp.ones((tokens.shape[-1],) * 2, bool))
    x = x + attention(q, k, v, causal) @ params["out"]
    x = x + jax.nn.gelu(x @ params["mlp"]["up"]) @ params["mlp"]["down"]
    return x @ params["embedding"].T


def cross_entropy(logits: Any, labels: Any) -> Any:
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], axis=-1))


@program(
    lambda rng: (transformer_parameters(rng), whole(rng, 5, 2, 3)),
    hidden={
        "params['embedding']": (Hidden.ZERO, 0.25),
        "params['qkv']": (Hidden.ZERO, 0.3),
        "tokens": (Hidden.ZERO, 0.4),
    },
)
def transformer_forward(params, tokens):
    return transformer_logits(params, tokens)


@program(
    lambda rng: (transformer_parameters(rng), whole(rng, 5, 2, 3), whole(rng, 5, 2, 3)),
    hidden={
        "labels": (Hidden.FEW, 0.15),
        "tokens": (Hidden.FEW, 0.03),
        "params['embedding']": (Hidden.FEW, 0.02),
        "params['mlp']['down']": (Hidden.FEW, 0.02),
        "params['mlp']['up']": (Hidden.FEW, 0.02),
    },
)
def transformer_train_step(params, tokens, labels):
    loss, gradient = jax.value_and_grad(lambda p: cross_entropy(transformer_logits(p, tokens), labels))(
        params
    )
    return loss, jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient)


@program(
    lambda rng: (
        {"k": normal(rng, 6, 4), "v": normal(rng, 6, 4)},
        normal(rng, 4),
        whole(rng, 6),
        normal(rng, 4, 12),
    ),
    donate_argnums=0,
    hidden={
        "position": (Hidden.INDEX, 0.4),
        "cache['k']": (Hidden.ZERO, 0.4),
        "cache['v']": (Hidden.ZERO, 0.3),
    },
)
def kv_cache_decode(cache, x, position, weights):
    q, k, v = jnp.split(x @ weights, 3)
    cache = {
        "k": lax.dynamic_update_slice(cache["k"], k[None], (position, 0)),
        "v": lax.dynamic_update_slice(cache["v"], v[None], (position, 0)),
    }
    mask = jnp.arange(6)[None] <= position
    return attention(q[None], cache["k"], cache["v"], mask)[0], cache


@program(lambda rng: (normal(rng, 3, 8), normal(rng, 3, 8), normal(rng, 3, 8), whole(rng, 9, 3)))
def rope_attention(q, k, v, positions):
    def rotate(x):
        angle = positions[:, None] * 100.0 ** (-jnp.arange(0, 4) / 4.0)
        even, odd = x[:, 0::2], x[:, 1::2]
        turned = [even * jnp.cos(angle) - odd * jnp.sin(angle), even * jnp.sin(angle) + odd * jnp.cos(angle)]
        return jnp.stack(turned, axis=-1).reshape(x.shape)

    return attention(rotate(q), rotate(k), v)


@program(lambda rng: (normal(rng, 6, 4), normal(rng, 4, 3), normal(rng, 3, 4, 2)))
def mixture_of_experts(x, router, experts):
    gates = jax.nn.softmax(x @ router)
    expert = jnp.argmax(gates, axis=-1)
    order = jnp.argsort(expert)
    outputs = lax.ragged_dot(x[order], experts, jnp.bincount(expert, length=3))
    return jnp.zeros_like(outputs).at[order].set(outputs) * jnp.max(gates, axis=-1, keepdims=True)


@program(lambda rng: (normal(rng, 3, 5), normal(rng, 5)))
def layer_norm_rows(x, scale):
    return layer_norm(x, scale)


@program(lambda rng: (normal(rng, 4, 5), whole(rng, 5, 4)), hidden={"labels": (Hidden.INDEX, 0.8)})
def softmax_cross_entropy(logits, labels):
    return jax.value_and_grad(cross_entropy)(logits, labels)


@program(
    lambda rng: (normal(rng, 7, 3), whole(rng, 7, 5), normal(rng, 5, 3)),
    hidden={"tokens": (Hidden.INDEX, 0.4)},
)
def embedding_gradient(table, tokens, weight):
    return jax.grad(lambda t: jnp.sum(weight * t[tokens] ** 2))(table)


@program(lambda rng: (normal(rng, 2, 3, 4), normal(rng, 2, 4, 2), normal(rng, 2, 3)))
def einsum(x, y, z):
    return jnp.einsum("bij,bjk,bi->bik", x, y, z)


# Convolutions and windows.


def convolve(x: Any, kernel: Any, **keywords: Any) -> Any:
    keywords = {"window_strides": (1, 1), "padding": "SAME", **keywords}
    return lax.conv_general_dilated(x, kernel, dimension_numbers=("NHWC", "HWIO", "NHWC"), **keywords)


@program(lambda rng: (normal(rng, 1, 4, 5, 2), normal(rng, 3, 3, 2, 3), normal(rng, 3)))
def convnet(x, kernel, bias):
    return jnp.mean(jax.nn.relu(convolve(x, kernel) + bias), axis=(1, 2))


@program(
    lambda rng: (normal(rng, 1, 5, 4, 1), normal(rng, 2, 2, 1, 2)),
    hidden={"x": (Hidden.SELECT, 0.03), "kernel": (Hidden.SELECT, 0.03)},
)
def convnet_gradient(x, kernel):
    def loss(x, kernel):
        y = jax.nn.silu(convolve(x, kernel, window_strides=(2, 1)))
        return jnp.sum(lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "VALID") ** 2)

    return jax.grad(loss, argnums=(0, 1))(x, kernel)


@program(lambda rng: (normal(rng, 2, 4, 4, 3), normal(rng, 2, 3, 1, 3)))
def depthwise_convolution(x, kernel):
    return convolve(x, kernel, feature_group_count=3)


@program(lambda rng: (normal(rng, 1, 5, 4, 2), normal(rng, 2, 2, 1, 4)))
def depthwise_convolution_gradient(x, kernel):
    grad = jax.grad(lambda *a: jnp.sum(jnp.sin(convolve(*a, feature_group_count=2))), argnums=(0, 1))
    return grad(x, kernel)


@program(lambda rng: (normal(rng, 1, 3, 3, 2), normal(rng, 3, 3, 2, 2)))
def dilated_convolution(x, kernel):
    return convolve(x, kernel, lhs_dilation=(2, 2), rhs_dilation=(1, 2), padding=((2, 1), (1, 3)))


@program(lambda rng: (normal(rng, 2, 7), normal(rng, 3)))
def convolve_rows(x, kernel):
    return jax.vmap(lambda row: jnp.convolve(row, kernel, mode="valid"))(x)


@program(lambda rng: (normal(rng, 1, 5, 5, 1),), hidden={"x": (Hidden.SELECT, 0.2)})
def max_pool_gradient(x):
    pool = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")  # noqa: E731
    return jax.grad(lambda x: jnp.sum(pool(x) ** 2))(x)


@program(lambda rng: (normal(rng, 1, 5, 4, 2),))
def average_pool_gradient(x):
    pool = lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 2, 1), (1, 2, 2, 1), "VALID") / 6  # noqa: E731
    return pool(x), jax.grad(lambda x: jnp.sum(jnp.exp(pool(x))))(x)


@program(lambda rng: (normal(rng, 4, 3), normal(rng, 3), normal(rng, 3)))
def batch_norm(x, scale, offset):
    mean, variance = jnp.mean(x, axis=0), jnp.var(x, axis=0)
    return (x - mean) * lax.rsqrt(variance + 1e-3) * scale + offset


@program(lambda rng: (normal(rng, 4, 6),), hidden={"image": (Hidden.ZERO, 0.85)})
def image_resize(image):
    return jax.image.resize(image, (7, 4), "bilinear"), jax.image.resize(image, (2, 9), "nearest")


# Loops and conditionals.


@program(lambda rng: (normal(rng, 3, 3), normal(rng, 2, 3), normal(rng, 3), normal(rng, 5, 2)))
def scan_forward(recurrent, weights, state, xs):
    def step(state, x):
        state = jnp.tanh(state @ recurrent + x @ weights)
        return state, state * 2

    return lax.scan(step, state, xs)


@program(lambda rng: (normal(rng, 3, 3), normal(rng, 3), normal(rng, 4, 3)))
def scan_gradient(recurrent, state, xs):
    def loss(recurrent, state):
        return jnp.sum(lax.scan(lambda s, x: (jnp.tanh(s @ recurrent + x), None), state, xs)[0] ** 2)

    return jax.grad(loss, argnums=(0, 1))(recurrent, state)


@program(lambda rng: (rng.random() < 0.5, normal(rng, 3, 4), normal(rng, 3, 4)))
def conditional(flag, x, y):
    return lax.cond(flag, lambda x, y: jnp.sin(x), lambda x, y: (y * 2)[::-1], x, y)


@program(lambda rng: (whole(rng, 5), normal(rng, 4), normal(rng, 4)))
def switch(branch, x, y):
    return lax.switch(
        branch - 1, [lambda x, y: x + y, lambda x, y: x[::-1], lambda x, y: jnp.cumsum(y)], x, y
    )


@program(lambda rng: (normal(rng, 5), whole(rng, 6)))
def while_data_dependent(x, bound):
    def body(carry):
        i, x = carry
        return i + 1, jnp.roll(x, 1) * 1.5

    return lax.while_loop(lambda carry: carry[0] < bound, body, (jnp.int32(0), x))[1]


@program(lambda rng: (normal(rng, 3, 3), normal(rng, 3)))
def power_iteration(matrix, x):
    return lax.fori_loop(0, 4, lambda i, v: jnp.tanh(matrix @ v), x)


@program(lambda rng: (normal(rng, 6, 2), normal(rng, 6, 2)))
def associative_scan(a, b):
    return lax.associative_scan(lambda f, g: (f[0] * g[0], f[1] * g[0] + g[1]), (a, b))


@program(lambda rng: (normal(rng, 4, 3), normal(rng, 3, 2)))
def mapped_rows(x, w):
    return lax.map(lambda row: jax.nn.softplus(row @ w), x)


@program(lambda rng: (normal(rng, 3, 4), normal(rng, 4, 3)))
def rematerialized_gradient(x, w):
    block = jax.checkpoint(lambda x, w: jnp.tanh(jnp.sin(x @ w)))
    return jax.grad(lambda w: jnp.sum(block(x, w)))(w)


# Sorting, searching and reducing.


@program(lambda rng: (normal(rng, 3, 5), normal(rng, 3, 5)), hidden={"values": (Hidden.WHOLE, 0.75)})
def sort_pairs(keys, values):
    return lax.sort((keys, values), dimension=1, num_keys=1)


@program(lambda rng: (normal(rng, 6, 2),))
def argsort_columns(x):
    return jnp.argsort(x, axis=0)


@program(lambda rng: (normal(rng, 4, 5),))
def argmax(x):
    return jnp.argmax(x, axis=1), jnp.argmin(x, axis=0)


@program(lambda rng: (normal(rng, 3, 6),))
def top_k(x):
    return lax.top_k(x, 2)


@program(lambda rng: (normal(rng, 3, 5),))
def cumulative(x):
    return jnp.cumsum(x, axis=1), jnp.cumprod(x, axis=0), lax.cummax(x, axis=1, reverse=True)


@program(lambda rng: (np.sort(normal(rng, 6)), normal(rng, 4)))
def search_sorted(edges, x):
    return jnp.searchsorted(edges, x)


@program(lambda rng: (normal(rng, 6, 2), whole(rng, 4, 6)))
def segment_sum(x, segments):
    return jax.ops.segment_sum(x, segments, num_segments=4)


@program(lambda rng: (whole(rng, 9, 4, 5),), hidden={"x": (Hidden.FEW, 0.3)})
def integer_reductions(x):
    return jnp.sum(x, axis=0), jnp.max(x, axis=1), jnp.any(x > 4, axis=1), jnp.bitwise_xor.reduce(x, axis=0)


# Indexing.


@program(lambda rng: (normal(rng, 5, 4), whole(rng, 5, 3)))
def gather_rows(x, rows):
    return x[rows]


@program(lambda rng: (normal(rng, 5, 6), whole(rng, 5, 3, 1), whole(rng, 6, 2)))
def gather_crossing(x, rows, columns):
    return x[rows, columns]


@program(lambda rng: (normal(rng, 3, 5), whole(rng, 5, 3, 2)))
def take_along_axis(x, indices):
    return jnp.take_along_axis(x, indices, axis=1)


@program(lambda rng: (normal(rng, 5, 4), whole(rng, 5, 3)))
def gather_in_bounds(x, rows):
    return x.at[rows].get(mode="promise_in_bounds")


@program(lambda rng: (normal(rng, 7, 6),))
def strided_slices(x):
    return x[1::3, ::-2], x[-2:, None, 3], x.at[::2].get()


@program(
    lambda rng: (normal(rng, 5, 3), whole(rng, 5, 4), normal(rng, 4, 3)), hidden={"rows": (Hidden.INDEX, 0.3)}
)
def scatter_add(x, rows, updates):
    return x.at[rows].add(updates)


@program(
    lambda rng: (normal(rng, 6), rng.permutation(6)[:3].astype(np.int32), normal(rng, 3)),
    hidden={"rows": (Hidden.INDEX, 0.3)},
)
def scatter_set(x, rows, updates):
    return x.at[rows].set(updates, unique_indices=True)


@program(
    lambda rng: (normal(rng, 5, 3), whole(rng, 5, 4), normal(rng, 4, 3)), hidden={"rows": (Hidden.INDEX, 0.3)}
)
def scatter_in_bounds(x, rows, updates):
    return x.at[rows].add(updates, mode="promise_in_bounds")


@program(
    lambda rng: (normal(rng, 5, 3), whole(rng, 5, 4), normal(rng, 4, 3)),
    hidden={"rows": (Hidden.INDEX, 0.5), "updates": (Hidden.SELECT, 0.1)},
)
def scatter_max(x, rows, updates):
    return x.at[rows].max(updates)


@program(lambda rng: (normal(rng, 4, 5), normal(rng, 2, 2)))
def scatter_slice(x, block):
    return x.at[1:3, 2:4].set(block), x.at[::2, 1].multiply(3.0)


@program(lambda rng: (normal(rng, 8, 3), whole(rng, 8)))
def dynamic_slice(x, start):
    return lax.dynamic_slice_in_dim(x, start, 4)


@program(lambda rng: (normal(rng, 6, 5), whole(rng, 8), whole(rng, 8)))
def dynamic_slice_clamped(x, row, column):
    return lax.dynamic_slice(x, (row, column), (3, 2), allow_negative_indices=False)


@program(
    lambda rng: (normal(rng, 6, 5), normal(rng, 2, 2), whole(rng, 6), whole(rng, 5)),
    hidden={"row": (Hidden.INDEX, 0.5), "column": (Hidden.INDEX, 0.6)},
)
def dynamic_update_slice_clamped(x, block, row, column):
    return lax.dynamic_update_slice(x, block, (row, column), allow_negative_indices=False)


@program(
    lambda rng: (normal(rng, 6, 5), normal(rng, 2, 2), whole(rng, 6), whole(rng, 5)),
    hidden={"row": (Hidden.INDEX, 0.5), "column": (Hidden.INDEX, 0.6)},
)
def dynamic_update_slice(x, block, row, column):
    return lax.dynamic_update_slice(x, block, (row, column))


@program(lambda rng: (normal(rng, 3, 4), normal(rng, 2, 4)))
def rearrangements(x, y):
    padded = jnp.pad(x, ((1, 0), (2, 1)), mode="edge")
    tiled = jnp.tile(y, (2, 1)).reshape(2, 8).T
    return (
        jnp.concatenate([x, y]),
        jnp.roll(padded, 2, axis=1),
        tiled,
        jnp.repeat(y, 2, axis=0),
        lax.rev(x, (0,)),
    )


@program(lambda rng: (normal(rng, 5, 5),), hidden={"x": (Hidden.SELECT, 0.65)})
def triangles(x):
    return jnp.tril(x), jnp.triu(x, 2), jnp.diag(x), jnp.trace(x)


@program(lambda rng: (normal(rng, 3, 2), rng.random((3, 2)) < 0.5))
def select(x, mask):
    return jnp.where(mask, x, -x), jnp.clip(x, -0.5, 0.5)


@program(lambda rng: (whole(rng, 4, 5),), hidden={"labels": (Hidden.FEW, 0.2)})
def one_hot(labels):
    return jax.nn.one_hot(labels, 4)


# Element types.


@program(lambda rng: (whole(rng, 8, 4, 6, dtype=np.int8), normal(rng, 3), normal(rng, 2, 6)))
def int4_weights(weights, scales, x):
    quantized = (weights - 4).astype(jnp.int4)
    return x @ (quantized[:3].astype(jnp.float32) * scales[:, None]).T


@program(lambda rng: (whole(rng, 8, 4, 6, dtype=jnp.int4), normal(rng, 6)))
def int4_arguments(weights, x):
    return weights.astype(jnp.float32) @ x, weights + jnp.int4(1)


@program(lambda rng: (normal(rng, 3, 4, dtype=jnp.float8_e4m3fn), normal(rng, 4, 2, dtype=jnp.float8_e4m3fn)))
def fp8_matmul(x, y):
    product = jnp.dot(x, y, preferred_element_type=jnp.float32)
    return product, (product * 3).astype(jnp.float8_e5m2)


@program(lambda rng: (normal(rng, 3, 4, dtype=jnp.bfloat16), normal(rng, 4, 2)))
def mixed_precision(x, y):
    return (x.astype(jnp.float32) @ y).astype(jnp.bfloat16)


@program(lambda rng: (normal(rng, 3, 2), whole(rng, 256, 3, 4, dtype=np.uint8)))
def bitcast_convert(x, bytes_of_floats):
    return lax.bitcast_convert_type(x, jnp.uint16), lax.bitcast_convert_type(bytes_of_floats, jnp.int32)


@program(lambda rng: (normal(rng, 3, 3) + 1j * normal(rng, 3, 3), normal(rng, 3)))
def complex_numbers(z, x):
    return jnp.abs(z @ (x + 0j)), jnp.conj(z.T) * jnp.exp(1j * x)


@program(lambda rng: (normal(rng, 3, 8),), hidden={"x": (Hidden.ZERO, 0.1)})
def fourier(x):
    spectrum = jnp.fft.rfft(x)
    return jnp.fft.irfft(spectrum * 2.0, axis=1), jnp.real(jnp.fft.fft(x[:, :4]))


@program(lambda rng: (rng.integers(0, 2**32, 2, dtype=np.uint32), normal(rng, 4, 3)))
def dropout(key, x):
    keep = jax.random.bernoulli(jax.random.wrap_key_data(key), 0.8, x.shape)
    return jnp.where(keep, x / 0.8, 0.0)


@program(lambda rng: (rng.integers(0, 2**32, 2, dtype=np.uint32),))
def random_normal(key):
    a, b = jax.random.split(jax.random.wrap_key_data(key))
    return jax.random.normal(a, (3, 2)), jax.random.randint(b, (4,), 0, 1000)


# Linear algebra.


def positive_definite(x: Any) -> Any:
    return x @ x.T + jnp.eye(x.shape[0])


@program(lambda rng: (normal(rng, 3, 3), normal(rng, 3, 2)))
def cholesky_solve(x, b):
    return jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(positive_definite(x)), b)


@program(lambda rng: (normal(rng, 4, 4) + 4 * np.eye(4, dtype=np.float32), normal(rng, 4, 2)))
def triangular_solve(a, b):
    return lax.linalg.triangular_solve(a, b, left_side=True, lower=True)


@program(
    lambda rng: (normal(rng, 3, 3) + 3 * np.eye(3, dtype=np.float32), normal(rng, 3)),
    # Below the diagonal of R a select takes zeros.
    hidden={"a": (Hidden.SELECT, 0.11)},
)
def linalg(a, b):
    return jnp.linalg.solve(a, b), jnp.linalg.det(a), jnp.linalg.qr(a)[1], jnp.linalg.eigvalsh(a + a.T)


# Pallas, interpreted.


@program(lambda rng: (normal(rng, 4, 3), normal(rng, 3, 2)))
def pallas_matmul(x, y):
    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = jnp.dot(x_ref[...], y_ref[...])

    return pallas.pallas_call(
        kernel,
        grid=(2,),
        in_specs=[pallas.BlockSpec((2, 3), lambda i: (i, 0)), pallas.BlockSpec((3, 2), lambda i: (0, 0))],
        out_specs=pallas.BlockSpec((2, 2), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct((4, 2), jnp.float32),
        interpret=True,
    )(x, y)


@program(lambda rng: (normal(rng, 8),))
def pallas_add_one(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1.0

    return pallas.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8,), jnp.float32), interpret=True)(x)


# Arguments of every kind.


class Moments(NamedTuple):
    mean: Any
    square: Any


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    weights: Any
    moments: Moments
    step: Any


@program(
    lambda rng: (
        State(normal(rng, 3, 2), Moments(normal(rng, 3, 2), normal(rng, 3, 2) ** 2), whole(rng, 9) + 1),
        normal(rng, 3, 2),
    )
)
def adam_step(state, gradient):
    mean = 0.9 * state.moments.mean + 0.1 * gradient
    square = 0.99 * state.moments.square + 0.01 * gradient**2
    step = state.step + 1
    weights = state.weights - 0.1 * (mean / (1 - 0.9**step)) / (jnp.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return State(weights, Moments(mean, square), step)


@program(
    lambda rng: ({"a": [normal(rng, 2), (normal(rng, 3),)], "b": {"c": normal(rng, 2, 3)}}, normal(rng, 3))
)
def nested_arguments(tree, *rest):
    return {"first": tree["a"][0] @ tree["b"]["c"], "second": [tree["a"][1][0] * rest[0]]}


@program(lambda rng: (normal(rng, 3), normal(rng, 4), {"used": normal(rng, 3), "not used": normal(rng, 2)}))
def unused_arguments(x, ignored, tree):
    return x * tree["used"]


@program(lambda rng: (normal(rng, 3, 4), normal(rng, 3, 4)), donate_argnums=(0, 1))
def donated_arguments(x, y):
    return x + y.sum(axis=0), y * 2


@program(lambda rng: (normal(rng, 0, 3), normal(rng, 2, 3), normal(rng)))
def zero_size_and_scalars(nothing, x, scale):
    return jnp.concatenate([nothing, x]) * scale, jnp.sum(nothing, axis=0), nothing.T, scale


@program(lambda rng: (normal(rng, 3),))
def results_that_are_constant(x):
    return jnp.arange(4), jnp.zeros((2, 2)), x


# Sharded over eight devices.


@functools.cache
def mesh(*sizes: int) -> Mesh:
    axes = ("x", "y")[: len(sizes)]
    return jax.make_mesh(sizes, axes, axis_types=(AxisType.Auto,) * len(sizes))


@program(lambda rng: (normal(rng, 8, 4), normal(rng, 4, 2)))
def sharded_matmul(x, y):
    x = lax.with_sharding_constraint(x, NamedSharding(mesh(4, 2), P("x", "y")))
    y = lax.with_sharding_constraint(y, NamedSharding(mesh(4, 2), P("y", None)))
    return lax.with_sharding_constraint(x @ y, NamedSharding(mesh(4, 2), P("x", None)))


@program(
    lambda rng: (normal(rng, 8, 4), normal(rng, 4)),
    in_shardings=(NamedSharding(mesh(4, 2), P("x", "y")), NamedSharding(mesh(4, 2), P())),
    out_shardings=NamedSharding(mesh(4, 2), P("y", "x")),
)
def sharded_arguments(x, scale):
    return jnp.cumsum(x, axis=0).T * scale[:, None]


def over_shards(function: Callable[..., Any], in_specs: Any, out_specs: Any) -> Callable[..., Any]:
    return jax.shard_map(function, mesh=mesh(8), in_specs=in_specs, out_specs=out_specs)


@program(lambda rng: (normal(rng, 8, 3),))
def sharded_sum(x):
    return over_shards(lambda x: lax.psum(x, "x"), P("x"), P())(x)


@program(lambda rng: (normal(rng, 8, 8),))
def sharded_collectives(x):
    def body(x):
        around = lax.ppermute(x, "x", [(i, (i + 1) % 8) for i in range(8)])
        turned = lax.all_to_all(x, "x", split_axis=1, concat_axis=0, tiled=True)
        scattered = lax.psum_scatter(
            lax.all_gather(x, "x", tiled=True) * 2, "x", scatter_dimension=0, tiled=True
        )
        return around, turned, scattered

    return over_shards(body, P("x"), (P("x"), P(None, "x"), P("x")))(x)


@program(lambda rng: (normal(rng, 8, 2),))
def sharded_gradient(x):
    def loss(x):
        return over_shards(lambda x: lax.pmean(jnp.sum(x**2, keepdims=True), "x"), P("x"), P())(x)[0, 0]

    return jax.grad(loss)(x)


def each() -> list[Program]:
    return list(PROGRAMS.values())
