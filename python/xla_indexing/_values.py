"""Entry.reads() where values are computed from arguments that are given, or may be any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._native import Entry, Error, Instruction
from ._program import for_any_value


def reads(
    entry: Entry,
    indices: Any,
    contents: Mapping[str, Any],
    arguments: Mapping[str, Any],
    unknown: str | None,
    max_points: int,
) -> tuple[Any, Any]:
    """Entry.reads() with `arguments`, or with `unknown` values."""
    if unknown not in (None, "any"):
        raise Error(f"unknown is {unknown!r}, and has to be 'any'")
    parameters = entry.operand_instruction.computation.parameters
    known = {p.argument or p.name for p in parameters} | {p.name for p in parameters}
    for name in arguments:
        if name not in known:
            raise Error(f"there is no argument {name!r}: there are {', '.join(sorted(known))}")
    given = {**entry.contents_from([_integers(p, arguments) for p in parameters]), **contents}
    is_to_operand = entry.direction.value == 0
    rank = len((entry.operand_shape if is_to_operand else entry.output_shape).dimensions)
    all_rows = [np.zeros((0, 1 + rank), np.int64)]
    for read in entry.maps:
        if unknown == "any" and any(v.source not in given for v in read.runtime_variables):
            rows, elements = for_any_value(read.map).reads(np.asarray(indices), max_points=max_points)
        else:
            rows, elements = read.reads(indices, given, max_points=max_points)
        all_rows.append(np.column_stack([rows, elements]))
    pairs = np.unique(np.concatenate(all_rows), axis=0)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1:])


def _integers(parameter: Instruction, arguments: Mapping[str, Any]) -> Any:
    """What is given for a parameter, as integers; None if there is nothing, or no integers."""
    value = arguments.get(parameter.argument or parameter.name, arguments.get(parameter.name))
    if value is None or not parameter.shape.is_array:
        return None
    array, sizes = np.asarray(value), tuple(parameter.shape.dimensions)
    if array.shape != sizes:
        name = parameter.argument or parameter.name
        raise Error(f"argument {name!r} has shape {array.shape}, and has to have {sizes}")
    has_integers = parameter.shape.element_type.rstrip("0123456789") in ("s", "u", "pred")
    return array.astype(np.int64) if has_integers and array.dtype.kind in "iub" else None
