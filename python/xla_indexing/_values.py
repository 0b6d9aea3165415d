"""The integers that a program computes from arguments that are given, and reads() with them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._native import Computation, Entry, Error, Instruction, RuntimeVariable
from ._program import for_any_value

_MOST_ELEMENTS = 2**26
_TYPES = {"pred": "bool"} | {f"s{n}": f"int{n}" for n in (8, 16, 32, 64)}
_TYPES |= {f"u{n}": f"uint{n}" for n in (8, 16, 32, 64)}
_ELEMENTWISE: dict[str, Any] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "negate": np.negative, "abs": np.abs,
    "maximum": np.maximum, "minimum": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor, "not": np.invert, "sign": np.sign, "select": np.where, "convert": lambda x: x,
    "copy": lambda x: x, "clamp": lambda low, x, high: np.minimum(np.maximum(x, low), high),
}  # fmt: skip
_COMPARE = {"LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal, "EQ": np.equal,
            "NE": np.not_equal}  # fmt: skip


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
    owner = entry.operand_instruction.computation
    known = {p.argument or p.name for p in owner.parameters} | {p.name for p in owner.parameters}
    for name in arguments:
        if name not in known:
            raise Error(f"there is no argument {name!r}: there are {', '.join(sorted(known))}")
    inputs = [arguments.get(p.argument or p.name, arguments.get(p.name)) for p in owner.parameters]
    evaluated: dict[tuple[str, ...], dict[str, Any]] = {}
    all_rows = [np.zeros((0, 1 + len(entry.operand_shape.dimensions if entry.direction.value == 0
                                     else entry.output_shape.dimensions)), np.int64)]  # fmt: skip
    for read in entry.maps:
        given = dict(contents)
        for variable in read.runtime_variables:
            if variable.source not in given:
                value = _value(variable, owner, inputs, evaluated)
                if value is not None:
                    given[variable.source] = value
        if unknown == "any" and any(v.source not in given for v in read.runtime_variables):
            points = np.asarray(indices)
            rows, elements = for_any_value(read.map).reads(points, max_points=max_points)
        else:
            rows, elements = read.reads(indices, given, max_points=max_points)
        all_rows.append(np.column_stack([rows, elements]))
    pairs = np.unique(np.concatenate(all_rows), axis=0)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1:])


def _value(
    variable: RuntimeVariable,
    owner: Computation,
    inputs: Sequence[Any],
    evaluated: dict[tuple[str, ...], dict[str, Any]],
) -> Any:
    """The array that a runtime variable is read from, where it is computed from `inputs` outside of loops."""
    if variable.loops or variable.leaf or variable.value_function == "iterations":
        return None
    path: tuple[str, ...] = ()
    computation = owner
    for caller in [*variable.call_path, None]:
        if path not in evaluated:
            evaluated[path] = _evaluate(computation, inputs)
        if caller is None:
            break
        if caller.opcode not in ("call", "fusion") or len(caller.called_computations) != 1:
            return None
        inputs = [evaluated[path].get(operand.name) for operand in caller.operands]
        computation, path = caller.called_computations[0], (*path, caller.name)
    return evaluated[path].get(variable.owner.name)


def _evaluate(computation: Computation, inputs: Sequence[Any], depth: int = 8) -> dict[str, Any]:
    """The integers and booleans of a computation that are known, by the names of instructions."""
    values: dict[str, Any] = {}
    for instruction in computation.instructions:
        shape = instruction.shape
        if not shape.is_array or shape.element_type not in _TYPES or not shape.is_static:
            continue
        if shape.element_count > _MOST_ELEMENTS:
            continue
        sizes, kind = tuple(shape.dimensions), _TYPES[shape.element_type]
        operands = [values.get(operand.name) for operand in instruction.operands]
        if instruction.opcode == "parameter":
            value = inputs[instruction.parameter_number or 0]
            if value is not None and np.shape(value) != sizes:
                name = instruction.argument or instruction.name
                raise Error(f"argument {name!r} has shape {np.shape(value)}, and has to have {sizes}")
        elif any(operand is None for operand in operands):
            continue
        elif instruction.opcode in ("call", "fusion") and depth > 0:
            [called] = instruction.called_computations
            value = _evaluate(called, operands, depth - 1).get(called.root.name)
        else:
            value = _apply(instruction, operands, sizes)
        if value is not None:
            values[instruction.name] = np.broadcast_to(np.asarray(value).astype(kind), sizes)
    return values


def _apply(instruction: Instruction, operands: list[Any], sizes: tuple[int, ...]) -> Any:
    """What an operation yields for these operands; or None if it is not one of those that are known."""
    opcode, text = instruction.opcode, instruction.text
    if opcode in _ELEMENTWISE:
        return _ELEMENTWISE[opcode](*operands)
    if opcode == "constant":
        literal = text.split("constant(", 1)[1].split(")", 1)[0].replace("true", "1").replace("false", "0")
        numbers = [int(n) for n in re.findall(r"-?\d+", literal)]
        return np.array(numbers).reshape(sizes) if len(numbers) == np.prod(sizes, dtype=int) else None
    dims = _numbers(text, "dimensions")
    if opcode == "iota":
        axis = _numbers(text, "iota_dimension")[0]
        return np.arange(sizes[axis]).reshape([-1 if i == axis else 1 for i in range(len(sizes))])
    if opcode == "compare":
        return _COMPARE[text.split("direction=")[1][:2]](*operands)
    if opcode == "reshape" or (opcode == "bitcast" and _is_row_major(instruction)):
        return operands[0].reshape(sizes)
    if opcode == "broadcast":
        return operands[0].reshape([sizes[i] if i in dims else 1 for i in range(len(sizes))])
    if opcode == "transpose":
        return operands[0].transpose(dims)
    if opcode == "reverse":
        return np.flip(operands[0], tuple(dims))
    if opcode == "concatenate":
        return np.concatenate(operands, axis=dims[0])
    if opcode == "slice":
        parts = re.findall(r"\[([\d:]+)\]", text.split("slice={", 1)[1].split("}", 1)[0])
        return operands[0][tuple(slice(*map(int, part.split(":"))) for part in parts)]
    return None


def _is_row_major(bitcast: Instruction) -> bool:
    shapes = [bitcast.shape, bitcast.operands[0].shape]
    orders = [s.layout and list(s.layout.minor_to_major) == list(range(s.rank))[::-1] for s in shapes]
    return all(orders) and shapes[0].element_type == shapes[1].element_type


def _numbers(text: str, attribute: str) -> list[int]:
    found = re.search(rf"\b{attribute}=\{{?([\d,]*)", text)
    return [int(n) for n in re.findall(r"\d+", found[1])] if found else []
