"""What pickle calls to make objects again: text is read again, and questions are asked again."""

from __future__ import annotations

from typing import Any

from ._native import Computation, Entry, Indexing, Instruction, Module, OperandIndexing, parse


def module(text: str, filename: str) -> Module:
    (only,) = parse(text.encode(), filename)
    return only


def computation(of: Module, name: str) -> Computation:
    return of.computation(name)


def instruction(of: Computation, name: str) -> Instruction:
    return of[name]


def indexing(subject: Any, arguments: dict[str, Any]) -> Indexing:
    answer: Indexing = subject.indexing(**arguments)
    return answer


def item(of: Indexing, position: int) -> Entry:
    return of[position]


def map_of(entry: Entry, position: int) -> OperandIndexing:
    return entry.maps[position]
