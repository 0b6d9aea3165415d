"""The kernels of examples/triton_writer/README.md, executed with numpy and compared with their formulas.

The commands of that page are checked by the test of the installed library, so that these kernels are what the
writer writes. Triton itself is not needed: what they use of triton.language is done by numpy here, in f32.
"""

import pathlib
import re
import types

import numpy as np
import pytest

README = pathlib.Path(__file__).parents[2] / "examples" / "triton_writer" / "README.md"
rng = np.random.default_rng(0)


class Pointer:
    """An array and the positions that are addressed in it."""

    def __init__(self, array, positions=0):
        self.array, self.positions = array, positions

    def __add__(self, positions):
        return Pointer(self.array, self.positions + positions)


def load(pointer, mask=True, other=0.0):
    positions = np.asarray(pointer.positions)
    mask = np.broadcast_to(mask, positions.shape)
    inside = (positions >= 0) & (positions < pointer.array.size)
    assert np.all(inside | ~mask), "a load that is not masked is outside of the array"
    return np.where(mask, pointer.array.ravel()[np.where(mask, positions, 0)], np.float32(other))


def store(pointer, value, mask=True):
    positions = np.asarray(pointer.positions)
    mask = np.broadcast_to(mask, positions.shape)
    pointer.array.ravel()[positions[mask]] = np.broadcast_to(value, mask.shape)[mask]


def run_programs(kernel, arguments, count):
    program = [0]
    language = types.SimpleNamespace(
        program_id=lambda axis: program[axis],
        arange=np.arange,
        load=load,
        store=store,
        float32=np.float32,
        zeros=np.zeros,
        exp=np.exp,
        maximum=np.maximum,
        where=np.where,
        max=np.max,
        sum=np.sum,
        reshape=np.reshape,
        permute=np.transpose,
        dot=lambda a, b, input_precision: a @ b,
    )
    names = {"triton": types.SimpleNamespace(jit=lambda function: function), "tl": language}
    exec(compile(kernel, str(README), "exec"), names)
    function = next(f for f in names.values() if isinstance(f, types.FunctionType))
    with np.errstate(invalid="ignore", over="ignore"):
        for program[0] in range(count):
            function(*(Pointer(argument) for argument in arguments))


def kernel_named(name):
    """The text of a kernel on the page, and its number of programs."""
    text = README.read_text(encoding="utf-8")
    found = re.search(
        rf"    # Launch (\d+) programs\.\n    @triton\.jit\n    def {name}\(.*?(?=\n\n)", text, re.S
    )
    assert found, name
    return "\n".join(line[4:] for line in found.group(0).split("\n")), int(found.group(1))


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def softmax(scores):
    scores = scores.astype(np.float64)
    with np.errstate(invalid="ignore"):
        exponential = np.exp(scores - scores.max(-1, keepdims=True))
    return exponential / exponential.sum(-1, keepdims=True)


def of_matmul_gelu():
    x, w, b = floats(40, 48), floats(48, 24), floats(24)
    y = x.astype(np.float64) @ w + b
    return [x, w, b], 0.5 * y * (1 + np.tanh(y))


def of_softmax():
    logits = floats(8, 100) * 4
    logits[1, :] = -np.inf
    logits[2, :60] = -np.inf
    return [logits], softmax(logits)


def of_attention():
    q, k, v, mask = floats(2, 40, 16), floats(2, 56, 16), floats(2, 56, 16), np.zeros((40, 56), np.float32)
    mask[3, :] = -np.inf
    mask[5, :50] = -np.inf
    mask[6, 10:] = -np.inf
    weights = softmax(np.einsum("hqd,hkd->hqk", q.astype(np.float64), k) * 0.25 + mask)
    return [q, k, v, mask], np.einsum("hqk,hkd->hqd", weights, v)


def of_grouped_attention():
    q, k, v = floats(2, 3, 20, 16), floats(2, 28, 16), floats(2, 28, 16)
    k[0, 5, 0] = -np.inf
    weights = softmax(np.einsum("hgqd,hkd->hgqk", q.astype(np.float64), k))
    return [q, k, v], np.einsum("hgqk,hkd->hgqd", weights, v)


def of_weighted_sums():
    x, weights = floats(6, 10, 14, 3), floats(5, 10)
    expected = np.einsum("ijkl,nj->jn", x.astype(np.float64), weights)[:, None, :]
    # As it lies in memory.
    return [x.transpose(1, 2, 3, 0).copy(), weights], np.broadcast_to(expected, (10, 2, 5))


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("matmul_gelu", of_matmul_gelu),
        ("softmax", of_softmax),
        ("attention", of_attention),
        ("grouped_attention", of_grouped_attention),
        ("weighted_sums", of_weighted_sums),
    ],
)
def test_kernels_compute_what_their_hlo_says(name, case):
    kernel, programs = kernel_named(name)
    arguments, expected = case()
    out = np.zeros(expected.shape, np.float32)
    run_programs(kernel, [*arguments, out], programs)
    # Sums of up to 56 terms in f32, of numbers below 100; rows that are masked altogether are NaN.
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5, equal_nan=True)
