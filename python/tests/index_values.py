"""The integers that the entry computation of a program computes from its arguments, by numpy.

Gathers, scatters and dynamic slices take their positions from such integers. JAX computes them from an
argument with a handful of operations (negative indices count from the end, and so on). What is not among
these operations has no value here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np

_LINE = re.compile(
    r"^ *(?:ROOT )?%?(?P<name>[\w.-]+) = (?P<type>\w+)\[(?P<dims>[\d,]*)\]\S* "
    r"(?P<opcode>[\w-]+)\((?P<operands>.*?)\)(?P<attributes>.*)$"
)
_TYPES = {
    "pred": np.bool_,
    "u8": np.uint8,
    "u32": np.uint32,
    "u64": np.uint64,
    "s8": np.int8,
    "s32": np.int32,
    "s64": np.int64,
}
_ELEMENTWISE: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "select": np.where,
    "clamp": lambda low, x, high: np.minimum(np.maximum(x, low), high),
    "convert": lambda x: x,
}
_COMPARE = {
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
    "EQ": np.equal,
    "NE": np.not_equal,
}


def integers(numbers: str) -> list[int]:
    """Reads `{0,3}` or `0,3`."""
    return [int(number) for number in re.findall(r"-?\d+", numbers)]


def index_values(hlo: str, parameter: Callable[[int], np.ndarray]) -> Mapping[str, np.ndarray]:
    """Returns the integers and booleans of the entry of `hlo`, by the names of instructions."""
    values: dict[str, np.ndarray] = {}
    entry = hlo[hlo.index("\nENTRY ") :].split("\n}")[0]
    for line in entry.splitlines():
        match = _LINE.match(line)
        if match is None or match["type"] not in _TYPES:
            continue
        value = _value(match, values, parameter)
        if value is not None:
            shape = tuple(integers(match["dims"]))
            values[match["name"]] = np.broadcast_to(value, shape).astype(_TYPES[match["type"]])
    return values


def _value(
    match: re.Match[str], values: Mapping[str, np.ndarray], parameter: Callable[[int], np.ndarray]
) -> np.ndarray | None:
    opcode, text, attributes = match["opcode"], match["operands"], match["attributes"]
    shape = tuple(integers(match["dims"]))
    if opcode == "parameter":
        return np.asarray(parameter(int(text)))
    if opcode == "constant":
        plain = text.replace("true", "1").replace("false", "0")
        return np.array(integers(plain)).reshape(shape) if "..." not in text else None
    if opcode == "iota":
        axis = integers(attributes)[0]
        return np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    operands = [values.get(name.strip(" %")) for name in text.split(",")]
    known = [value for value in operands if value is not None]
    if len(known) < len(operands):
        return None
    if opcode in _ELEMENTWISE:
        return _ELEMENTWISE[opcode](*known)
    if opcode == "compare":
        return _COMPARE[attributes.split("direction=")[1][:2]](*known)
    if opcode == "reshape":
        return known[0].reshape(shape)
    dimensions = integers(attributes.split("}")[0]) if "{" in attributes else []
    if opcode == "broadcast":
        sizes = [shape[i] if i in dimensions else 1 for i in range(len(shape))]
        return known[0].reshape(sizes)
    if opcode == "transpose":
        return known[0].transpose(dimensions)
    if opcode == "concatenate":
        return np.concatenate(known, axis=dimensions[0])
    if opcode == "slice":
        return known[0][tuple(slice(*integers(part)) for part in re.findall(r"\[([\d:]+)\]", attributes))]
    return None
