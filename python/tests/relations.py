"""The pairs of elements that a map names, by numpy: at most so many, with the values of runtime variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import xla_indexing as xi

MOST_POINTS = 4_000_000
MOST_ITERATIONS = 1000


class Points(NamedTuple):
    """Values of all variables of a map, row by row, and whether those of its runtime variables are known."""

    known: bool
    rows: np.ndarray


class Pairs(NamedTuple):
    """What a map pairs, row by row, and whether the values of all of its runtime variables are known."""

    known: bool
    ends: tuple[np.ndarray, np.ndarray]


def pairs_of(indexing: Any, values: Mapping[str, np.ndarray]) -> Pairs | None:
    """Returns the elements that a map pairs, for the points of `points_of`; nothing where there are none."""
    points = points_of(indexing, values)
    if points is None:
        return None
    results, valid = table(indexing.map, points.rows)
    starts = points.rows[valid, : len(indexing.map.dimensions)]
    return Pairs(points.known, (starts, results[valid]))


def points_of(indexing: Any, values: Mapping[str, np.ndarray]) -> Points | None:
    """Returns points of all variables of a map; which of them are in its domain is not looked at.

    A runtime variable has the value that `values` has for the instruction that it is bound to; where there
    is none, it takes all values of its interval; of one without end, as how often a loop runs, the first
    MOST_ITERATIONS. Returns nothing where these are too many.
    """
    map_ = indexing.map
    bound = {variable.name: variable for variable in indexing.runtime_variables}
    names: list[str] = []
    points = np.zeros((1, 0), dtype=np.int64)
    all_known = True
    for variable in [*map_.dimensions, *map_.range_variables, *map_.runtime_variables]:
        value = value_at(bound[variable.name], names, points, values) if variable.name in bound else None
        names.append(variable.name)
        if value is not None:
            inside = (value >= variable.lower) & (value <= variable.upper)
            points = np.column_stack([points, value])[inside]
            continue
        all_known &= variable.name not in bound
        upper = variable.lower + MOST_ITERATIONS - 1 if variable.upper is None else variable.upper
        size = upper - variable.lower + 1
        if size * len(points) > MOST_POINTS:
            return None
        column = np.tile(np.arange(variable.lower, upper + 1), len(points))
        points = np.column_stack([np.repeat(points, size, axis=0), column])
    return Points(all_known, points)


def value_at(
    variable: Any, names: list[str], points: np.ndarray, values: Mapping[str, np.ndarray]
) -> np.ndarray | None:
    """Returns the value of a runtime variable at points of the variables `names`, where it is known."""
    tensor = values.get(variable.owner.name)
    if tensor is None or variable.leaf != 0 or variable.value_function == "iterations":
        return None
    used = [*variable.map.dimensions, *variable.map.range_variables, *variable.map.runtime_variables]
    where, _ = table(variable.map, points[:, [names.index(v.name) for v in used]])
    return np.broadcast_to(apply(variable.value_function, tensor[tuple(where.T)]), len(points))


def apply(value_function: str, value: np.ndarray) -> np.ndarray:
    """Applies what print-indexing prints as `as is`, `clamp [lo, hi]` and `in [0, n-1], else n-1`."""
    if value_function == "as is":
        return value
    low, high = (int(part) for part in value_function.split("[")[1].split("]")[0].split(","))
    if value_function.startswith("clamp"):
        return np.clip(value, low, high)
    return np.where((value >= low) & (value <= high), value, high)


def table(map_: Any, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the results of a map at points of all of its variables, and which points are in the domain.

    The map is read again with all of its variables as dimensions, so that each point has one result.
    """
    header, rest = str(map_).split(" -> ", 1)
    names = ", ".join(part for part in re.split(r"[()\[\]{}]+", header) if part)
    function = xi.IndexingMap(f"({names}) -> {rest}")
    inside = function.in_domain(points)
    results = np.zeros((len(points), len(map_.results)), dtype=np.int64)
    results[inside] = function(points[inside])
    return results, inside
