"""The maps of whole programs against what running them shows.

`perturbation.py` says which elements of the results change when one element of an argument changes. The
maps between the root of the entry computation and its parameters have to name every such pair: nothing may
be missing, ever. Where a map is exact, what it names beyond that is a value that the program's formula
reads and that no change let through; for the arguments that have such pairs the program says why, and how
large a share of the pairs they are at most.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import pytest

pytest.importorskip("jax")

import numpy as np
from index_values import index_values
from perturbation import Run, perturb
from programs import PROGRAMS, Program, each
from relations import Pairs, pairs_of

import xla_indexing as xi


@functools.cache
def runs(name: str) -> list[Run]:
    return perturb(PROGRAMS[name])


@functools.cache
def known_values(name: str, form: str) -> list[Mapping[str, np.ndarray]]:
    """Returns, for each run, the integers that the program computes, by the names of the instructions."""
    program = PROGRAMS[name]
    text = (
        program.lowered.compiler_ir("hlo").as_hlo_text() if form == "lowered" else program.compiled.as_text()
    )
    names = program.used_names()
    return [index_values(text, lambda number, run=run: run.arguments[names[number]]) for run in runs(name)]


class Relation:
    """The pairs of elements of one result and one argument that maps name.

    `exact`: the maps are, and so are the values of their runtime variables. `fixed`: they have no runtime
    variables.
    """

    def __init__(self, result: np.ndarray, argument: np.ndarray) -> None:
        self.named = np.zeros(result.shape + argument.shape, bool)
        self.exact = True
        self.fixed = True

    def add(self, pairs: Pairs | None, exact: bool, fixed: bool, to_output: bool) -> None:
        """Adds the pairs of a map from the elements of the result to those of the argument, or back."""
        if pairs is None:
            self.named[...] = True
            self.exact = False
            return
        self.named[tuple(np.concatenate(pairs.ends[::-1] if to_output else pairs.ends, axis=1).T)] = True
        self.exact &= pairs.known and exact
        self.fixed &= fixed


Relations = dict[tuple[str, int], Relation]


@functools.cache
def entry_of(name: str, form: str) -> Any:
    return xi.load(getattr(PROGRAMS[name], form)).entry


def relations(
    program: Program, entries: Any, to_output: bool, known: list[Mapping[str, np.ndarray]]
) -> list[Relations]:
    """Returns, for each run, the pairs that the maps of `entries` name, by argument and result."""
    names = program.used_names()
    found: list[Relations] = []
    for run in runs(program.name):
        shapes = [(name, number) for name in names for number in range(len(run.results))]
        found.append(
            {(name, number): Relation(run.results[number], run.arguments[name]) for name, number in shapes}
        )
    for entry in entries:
        leaf = names[entry.operand], entry.output_leaf
        for indexing in entry.maps:
            fixed = indexing.map is not None and not indexing.map.runtime_variables
            pairs = pairs_of(indexing, {}) if fixed else None
            for values, relations_of_run in zip(known, found):
                if indexing.map is not None and not fixed:
                    pairs = pairs_of(indexing, values)
                relations_of_run[leaf].add(pairs, indexing.is_exact, fixed, to_output)
    return found


@functools.cache
def relations_of(name: str, form: str, to_output: bool, exact: bool) -> list[Relations]:
    direction = xi.INPUT_TO_OUTPUT if to_output else xi.OUTPUT_TO_INPUT
    entries = entry_of(name, form).indexing(direction, exact=exact)
    return relations(PROGRAMS[name], entries, to_output, known_values(name, form))


def missing(program: Program, found: list[Relations]) -> list[str]:
    """Returns the pairs that changed together and that no map names, some of each argument and result."""
    messages = []
    for run, relations_found in zip(runs(program.name), found):
        for name, changed in run.changed.items():
            for output, seen in enumerate(changed):
                for where in np.argwhere(seen & ~relations_found[name, output].named)[:2]:
                    messages.append(f"{program.name}: result {output}, {name}: {where.tolist()}")
    return messages


def unseen(program: Program, found: list[Relations]) -> dict[str, float]:
    """Returns the share of the pairs of exact maps that never changed together, for each argument with
    any."""
    named: dict[str, int] = {}
    hidden: dict[str, int] = {}
    for name, output in found[0]:
        seen_ever = np.any([run.changed[name][output] for run in runs(program.name)], axis=0)
        for run, relations_found in zip(runs(program.name), found):
            relation = relations_found[name, output]
            if relation.exact:
                seen = seen_ever if relation.fixed else run.changed[name][output]
                named[name] = named.get(name, 0) + int(relation.named.sum())
                hidden[name] = hidden.get(name, 0) + int((relation.named & ~seen).sum())
    return {name: count / named[name] for name, count in hidden.items() if count}


def cases() -> list[Any]:
    return [
        pytest.param(program, form, marks=pytest.mark.xdist_group(program.name), id=f"{program.name}-{form}")
        for program in each()
        for form in (("lowered",) if program.sharded else ("lowered", "compiled"))
    ]


@pytest.mark.parametrize(("program", "form"), cases())
def test_maps_name_every_element_that_changes_a_result(program: Program, form: str) -> None:
    for to_output in (False, True):
        for exact in (False, True):
            assert missing(program, relations_of(program.name, form, to_output, exact)) == []


@pytest.mark.parametrize(("program", "form"), cases())
def test_exact_maps_name_nothing_else_but_for_a_reason(program: Program, form: str) -> None:
    for to_output in (False, True):
        for exact in (False, True):
            for name, share in unseen(program, relations_of(program.name, form, to_output, exact)).items():
                reason, most = program.hidden.get(name, ("no reason is known", 0.0))
                assert share <= most, (
                    f"{name}: {share:.1%} of the pairs that are named never changed together; {reason}"
                )


@pytest.mark.parametrize(
    "program", [pytest.param(p, marks=pytest.mark.xdist_group(p.name), id=p.name) for p in each()]
)
def test_every_reason_for_more_is_needed(program: Program) -> None:
    forms = ("lowered",) if program.sharded else ("lowered", "compiled")
    shares = [
        unseen(program, relations_of(program.name, form, False, exact))
        for form in forms
        for exact in (False, True)
    ]
    for name, (_, most) in program.hidden.items():
        assert max(share.get(name, 0.0) for share in shares) > most / 3 or most < 0.05, name


# The comparison can fail: it finds every one of these changes of the maps of programs.


def text_of(map_: Any, results: list[str], first_lower: int = 0, more: str = "") -> str:
    """Returns the text of a map with other results, another first dimension, one more range variable."""
    variables = [[f"{v.name} in [{v.lower}, {v.upper}]" for v in kind] for kind in kinds(map_)]
    names = [[v.name for v in kind] for kind in kinds(map_)]
    if more:
        names[1].append(more.split()[0])
        variables[1].append(more)
    variables[0] = [
        text.replace("[0,", f"[{first_lower},") if i == 0 else text for i, text in enumerate(variables[0])
    ]
    header = f"({', '.join(names[0])})[{', '.join(names[1])}]{{{', '.join(names[2])}}}"
    constraints = [str(constraint) for constraint in map_.constraints]
    domain = ", ".join([*itertools.chain(*variables), *constraints])
    return f"{header} -> ({', '.join(results)}), domain: {domain}"


def kinds(map_: Any) -> list[Any]:
    return [map_.dimensions, map_.range_variables, map_.runtime_variables]


def shift_the_first_result(map_: Any, size: int) -> str:
    first, *others = map_.results
    return text_of(map_, [f"(({first}) + 1) mod {size}", *others])


def widen_the_first_result(map_: Any, size: int) -> str:
    return text_of(map_, ["all", *map_.results[1:]], more=f"all in [0, {size - 1}]")


def narrow_the_domain(map_: Any, size: int) -> str:
    return text_of(map_, map_.results, first_lower=1)


class ChangedMap:
    def __init__(self, text: str, indexing: Any) -> None:
        self.map = xi.IndexingMap(text)
        self.runtime_variables, self.is_exact = indexing.runtime_variables, indexing.is_exact


class ChangedEntry:
    """An entry with other maps."""

    def __init__(self, entry: Any, maps: list[ChangedMap]) -> None:
        self.operand, self.output_leaf, self.maps = entry.operand, entry.output_leaf, maps


def changed_entries(program: Program, change: Callable[[Any, int], str]) -> list[ChangedEntry]:
    """Returns the entries of a lowered program; those of arguments of more than one row are changed."""
    entries = []
    for entry in entry_of(program.name, "lowered").indexing(xi.OUTPUT_TO_INPUT):
        shape = runs(program.name)[0].arguments[program.used_names()[entry.operand]].shape
        if shape and shape[0] > 1:
            maps = [ChangedMap(change(indexing.map, shape[0]), indexing) for indexing in entry.maps]
            entries.append(ChangedEntry(entry, maps))
        else:
            entries.append(entry)
    return entries


JUDGED = [
    "strided_slices",
    "cumulative",
    "gather_in_bounds",
    "select",
    "donated_arguments",
    "gather_crossing",
]


def judged(names: list[str]) -> Any:
    marked = [pytest.param(PROGRAMS[name], marks=pytest.mark.xdist_group(name), id=name) for name in names]
    return pytest.mark.parametrize("program", marked)


@judged(JUDGED)
@pytest.mark.parametrize("change", [shift_the_first_result, narrow_the_domain])
def test_the_comparison_finds_what_is_missing(program: Program, change: Callable[[Any, int], str]) -> None:
    known = known_values(program.name, "lowered")
    assert missing(program, relations(program, changed_entries(program, change), False, known))


@judged(JUDGED)
def test_the_comparison_finds_maps_that_are_left_out(program: Program) -> None:
    entries = list(entry_of(program.name, "lowered").indexing(xi.OUTPUT_TO_INPUT))
    for left_out in range(len(entries)):
        kept = entries[:left_out] + entries[left_out + 1 :]
        assert missing(program, relations(program, kept, False, known_values(program.name, "lowered")))


@judged([name for name in JUDGED if name != "cumulative"])
def test_the_comparison_finds_what_is_too_much(program: Program) -> None:
    known = known_values(program.name, "lowered")
    found = relations(program, changed_entries(program, widen_the_first_result), False, known)
    assert missing(program, found) == []
    shares = unseen(program, found)
    assert any(share > program.hidden.get(name, ("", 0.0))[1] for name, share in shares.items())
