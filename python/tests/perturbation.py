"""Which elements of the results of a program change when one element of an argument changes, by running it.

Nothing here knows of indexing maps. A program is run as JAX compiled it. Then every element of every
argument is given a few other finite values, one element and one value at a time, and the results are
compared bit for bit with those of the unchanged arguments.

A value that a result is computed from may leave it as it is: it may be multiplied by zero, or a select may
take the other operand. So every element is tried with several values, on several draws of all arguments,
and what is returned is the union. What changed does depend on the element; what did not change may still do
so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from programs import Program

BASES = 4  # draws of all arguments
DRAWS = 6  # other values of an element that are taken from further draws
FACTORS = (-1.75, 0.0, 1e-2, 1e3)  # and, of floating point numbers, multiples of the value that was there


@dataclasses.dataclass(frozen=True)
class Run:
    """One draw of the arguments, and what changes then.

    `changed[name][output]` is a boolean array whose axes are those of the result `output` followed by those
    of the argument `name`.
    """

    arguments: dict[str, np.ndarray]
    results: list[np.ndarray]
    changed: dict[str, list[np.ndarray]]


def perturb(program: Program) -> list[Run]:
    """Runs the compiled program on `BASES` draws of arguments and on every change of one element of them."""
    draws = [_leaves(program, 100 + number) for number in range(DRAWS)]
    return [_perturb(program, seed, draws) for seed in range(BASES)]


def _leaves(program: Program, seed: int) -> dict[str, np.ndarray]:
    return {name: np.asarray(leaf) for name, leaf in program.leaves(program.arguments(seed)).items()}


def _perturb(program: Program, seed: int, draws: list[dict[str, np.ndarray]]) -> Run:
    arguments = _leaves(program, seed)
    tree = jax.tree.structure(program.arguments(seed))
    names = list(arguments)

    def run(name: str | None, value: np.ndarray | None) -> list[np.ndarray]:
        leaves = [value if name == other else arguments[other] for other in names]
        return [
            np.asarray(leaf) for leaf in jax.tree.leaves(program.compiled(*jax.tree.unflatten(tree, leaves)))
        ]

    results = run(None, None)
    again = run(None, None)
    assert not any(np.any(_differs(*pair)) for pair in zip(results, again)), "two runs give different results"

    changed: dict[str, list[np.ndarray]] = {}
    for name in program.used_names():
        base = arguments[name]
        changed[name] = [np.zeros(result.shape + base.shape, bool) for result in results]
        for element in np.ndindex(base.shape):
            column = (..., *element)
            for value in _other_values(base[element], [draw[name][element] for draw in draws]):
                copy = base.copy()
                copy[element] = value
                for number, (before, after) in enumerate(zip(results, run(name, copy))):
                    changed[name][number][column] |= _differs(before, after)
    return Run(arguments, results, changed)


def _other_values(value: Any, drawn: list[Any]) -> Iterator[Any]:
    """Yields values other than `value`, those `drawn` and, of floating point numbers, multiples of it."""
    kind = value.dtype
    if jax.dtypes.issubdtype(kind, np.inexact):
        drawn = drawn + [np.asarray(value * factor, dtype=kind)[()] for factor in FACTORS]
    seen = {np.asarray(value).tobytes()}
    for other in drawn:
        if np.asarray(other).tobytes() not in seen and np.all(
            np.isfinite(np.asarray(other, dtype=np.complex128))
        ):
            seen.add(np.asarray(other).tobytes())
            yield other


def _differs(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Returns where two arrays differ in any bit."""
    assert (before.shape, before.dtype) == (after.shape, after.dtype)
    return (_bytes(before) != _bytes(after)).any(axis=-1)


def _bytes(array: np.ndarray) -> np.ndarray:
    return np.frombuffer(array.tobytes(), np.uint8).reshape(*array.shape, array.dtype.itemsize)
