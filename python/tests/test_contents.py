"""What maps lead to with the contents of the arrays that their runtime variables are read from.

What is read is found by computing: every number carries the set of the elements it was computed from.
"""

from __future__ import annotations

import itertools
import pathlib

import numpy as np
import pytest

import xla_indexing as xi

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def walk(x: np.ndarray, table: np.ndarray) -> tuple[list[int], list[set[tuple[int, int]]]]:
    """The loop of loop_values.hlo: the row that each iteration names, and what an element reads of the table."""
    x = x.copy()
    read: list[set[tuple[int, int]]] = [set() for _ in x]
    rows = []
    for _ in range(6):
        rows.append(int(x[0]))
        row = min(max(rows[-1], 0), 9)
        of_row = set(read[0])  # what decides about the row
        for k in range(4):
            read[k] |= of_row | {(row, k)}
        x += table[row]
    return rows, read


def pairs(answer: tuple[np.ndarray, np.ndarray]) -> set[tuple[int, ...]]:
    rows, elements = answer
    assert len(rows) == len(elements)
    result = {(int(row), *map(int, element)) for row, element in zip(rows, elements)}
    assert len(result) == len(rows), "pairs are distinct"
    return result


def test_values_of_iterations() -> None:
    entry = xi.load(EXAMPLES / "loop_values.hlo").entry.indexing()[1]
    variable = entry.maps[0].runtime_variables[0]
    assert (variable.source, variable.loops) == ("walk/walk_body/row", 1)
    rng = np.random.default_rng(1)
    for _ in range(50):
        rows, read = walk(rng.uniform(-3, 8, 4), rng.uniform(-4, 4, (10, 4)))
        answer = entry.reads(np.arange(4).reshape(4, 1), {variable.source: rows})
        expected = {(k, *element) for k in range(4) for element in read[k]}
        # The last iteration decides about no further one.
        assert pairs(answer) == expected
    each = [pairs(m.reads([[0], [1], [2], [3]], {variable.source: rows})) for m in entry.maps]
    assert set().union(*each) == expected


def test_numbers_of_iterations() -> None:
    heat = xi.load(EXAMPLES / "loops.hlo")["heat"]
    entry = next(e for e in heat.indexing(output_leaf=1) if e.operand_leaf == 1)
    assert entry.maps[0].runtime_variables[0].source == "heat, iterations"
    for count, place in itertools.product((0, 1, 7, 2000), (0, 5, 500, 999)):
        expected = {(0, k) for k in range(max(0, place - count), min(999, place + count) + 1)}
        assert pairs(entry.reads([[place]], {"heat, iterations": count})) == expected


def test_values_of_as_many_iterations_as_there_are() -> None:
    """The number of iterations is read from the table, and bounds which of them are looked at."""
    text = (EXAMPLES / "loop_values.hlo").read_text()
    text = text.replace(
        "six = s32[] constant(6)",
        """table = f32[10,4] get-tuple-element(state), index=2
  corner = f32[1,1] slice(table), slice={[0:1], [0:1]}
  number = f32[] reshape(corner)
  six = s32[] convert(number)""",
    )
    entry = xi.load(text).entry.indexing()[1]
    sources = {variable.source for m in entry.maps for variable in m.runtime_variables}
    assert sources == {"walk, iterations", "walk/walk_body/row"}
    rng = np.random.default_rng(2)
    for _ in range(20):
        rows, read = walk(rng.uniform(-3, 8, 4), rng.uniform(-4, 4, (10, 4)))
        answer = entry.reads(np.arange(4).reshape(4, 1), {"walk, iterations": 6, "walk/walk_body/row": rows})
        # How often the loop runs is read from the corner.
        expected = {(k, *element) for k in range(4) for element in read[k] | {(0, 0)}}
        assert pairs(answer) == expected


def test_to_output() -> None:
    entry = xi.load(EXAMPLES / "loop_values.hlo").entry.input_to_output()[1]
    rows = [3, 1, 4, 1, 99, 9]
    there = pairs(entry.reads(list(itertools.product(range(10), range(4))), {"walk/walk_body/row": rows}))
    back = xi.load(EXAMPLES / "loop_values.hlo").entry.indexing()[1]
    expected = pairs(back.reads([[k] for k in range(4)], {"walk/walk_body/row": rows}))
    assert {(k, row // 4, row % 4) for row, k in there} == expected


def test_several_variables() -> None:
    module = xi.load(
        """ENTRY e { p = f32[9] parameter(0)  i = s32[] parameter(1)  j = s32[3] parameter(2)
             s = f32[5] dynamic-slice(p, i), dynamic_slice_sizes={5}
             ROOT g = f32[3] gather(s, j), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
               index_vector_dim=1, slice_sizes={1} }"""
    )
    entry = module.entry.indexing()[0]
    elements = [[0], [1], [2]]
    assert pairs(entry.reads(elements, {"i": 2, "j": [3, -7, 50]})) == {(0, 5), (1, 2), (2, 6)}
    assert pairs(entry.reads(elements, {"i": 70, "j": [0, 1, 1]})) == {(0, 4), (1, 5), (2, 5)}
    assert pairs(entry.reads(np.zeros((0, 1), int), {"i": 0, "j": [0, 0, 0]})) == set()


def test_predicates_are_numbers() -> None:
    module = xi.load(
        """yes { q = f32[4] parameter(0)  ROOT n = f32[4] reverse(q), dimensions={0} }
           no { ROOT q = f32[4] parameter(0) }
           ENTRY e { c = pred[] parameter(0)  p = f32[4] parameter(1)
             ROOT r = f32[4] conditional(c, p, p), true_computation=yes, false_computation=no }"""
    )
    whole = next(e for e in module.entry.indexing() if e.operand == 1)
    assert pairs(whole.reads([[1]], {"c": True})) == {(0, 2)}
    assert pairs(whole.reads([[1]], {"c": np.array(False)})) == {(0, 1)}


@pytest.mark.parametrize(
    ("contents", "error"),
    [
        ({}, "contents has no 'walk/walk_body/row'"),
        ({"walk/walk_body/row": [1, 2]}, r"element \(2\) of 'walk/walk_body/row' is read, .* shape \[2\]"),
        ({"walk/walk_body/row": [[1, 2]]}, r"has shape \[1, 2\], and has to have that of s32\[\] behind 1"),
        ({"walk/walk_body/row": 1}, r"has shape \[\]"),
    ],
)
def test_errors(contents: dict[str, object], error: str) -> None:
    entry = xi.load(EXAMPLES / "loop_values.hlo").entry.indexing()[1]
    with pytest.raises(xi.Error, match=error):
        entry.reads([[0]], contents)


def test_more_errors() -> None:
    entry = xi.load(EXAMPLES / "loop_values.hlo").entry.indexing()[1]
    contents = {"walk/walk_body/row": [0] * 6}
    with pytest.raises(xi.Error, match=r"indices have shape \[1\], and have to have \[N, 1\]"):
        entry.reads([0], contents)
    with pytest.raises(xi.Error, match="points"):
        entry.reads([[0]], contents, max_points=2)
    with pytest.raises(TypeError, match="walk/walk_body/row has to be integers"):
        entry.reads([[0]], {"walk/walk_body/row": [0.5] * 6})
