"""Programs of JAX, loaded in every form that they come in, and analysed both ways."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("jax")

import jax
import numpy as np
from programs import PROGRAMS, Program, each

import xla_indexing as xi


def per_program(*names: str) -> Any:
    programs = [PROGRAMS[name] for name in names] if names else each()
    marked = [pytest.param(p, marks=pytest.mark.xdist_group(p.name), id=p.name) for p in programs]
    return pytest.mark.parametrize("program", marked)


def lowered_hlo(program: Program) -> Any:
    return program.lowered.compiler_ir("hlo")


def compiled_hlo(program: Program) -> Any:
    return program.compiled.runtime_executable().hlo_modules()[0]


LOWERED: dict[str, Callable[[Program], Any]] = {
    "Lowered": lambda program: program.lowered,
    "HLO text": lambda program: lowered_hlo(program).as_hlo_text(print_large_constants=True),
    "proto": lambda program: lowered_hlo(program).as_serialized_hlo_module_proto(),
    "XlaComputation": lowered_hlo,
    "HloModule": lambda program: lowered_hlo(program).as_hlo_module(),
    "StableHLO text": lambda program: program.lowered.as_text(),
    "StableHLO text as bytes": lambda program: program.lowered.as_text().encode(),
    "StableHLO module": lambda program: program.lowered.compiler_ir("stablehlo"),
}
COMPILED: dict[str, Callable[[Program], Any]] = {
    "Compiled": lambda program: program.compiled,
    "HLO text": lambda program: program.compiled.as_text(),
    "proto": lambda program: compiled_hlo(program).as_serialized_hlo_module_proto(),
    "HloModule": compiled_hlo,
}


# Programs whose HLO, as JAX converts it, has its instructions in another order: runtime variables are numbered, and
# maps are united, as they come.
WRITTEN_OTHERWISE = ("associative_scan", "mixture_of_experts")


@functools.cache
def loaded(name: str, forms: str, form: str) -> xi.Module:
    return xi.load({"lowered": LOWERED, "compiled": COMPILED}[forms][form](PROGRAMS[name]))


def maps_of(module: xi.Module) -> list[str]:
    """Returns the maps of the entry, both ways, without the names of instructions.

    Instructions are numbered anew when a program passes through another form.
    """
    texts = []
    for direction in (xi.OUTPUT_TO_INPUT, xi.INPUT_TO_OUTPUT):
        for entry in module.entry.indexing(direction):
            leaves = f"{entry.output_leaf} {entry.operand} {entry.operand_leaf} {entry.exactness}"
            texts += [f"{leaves} {indexing.map}" for indexing in entry.maps]
    return texts


@per_program()
@pytest.mark.parametrize("form", LOWERED)
def test_what_is_lowered_has_the_same_maps_in_every_form(program: Program, form: str) -> None:
    module = loaded(program.name, "lowered", form)
    hlo = loaded(program.name, "lowered", "HLO text")
    if form.startswith("StableHLO") and program.name in WRITTEN_OTHERWISE:
        assert xi.equivalent(module, hlo).same is not False
    else:
        assert maps_of(module) == maps_of(hlo)


@per_program()
@pytest.mark.parametrize("form", COMPILED)
def test_what_is_compiled_has_the_same_maps_in_every_form(program: Program, form: str) -> None:
    module = loaded(program.name, "compiled", form)
    assert maps_of(module) == maps_of(loaded(program.name, "compiled", "HLO text"))


@per_program()
@pytest.mark.parametrize("forms", ["lowered", "compiled"])
def test_every_instruction_is_analysed_both_ways(program: Program, forms: str) -> None:
    module = loaded(program.name, forms, forms.capitalize())
    assert len(module.instructions) > 0
    for instruction in module.instructions:
        for direction in (xi.OUTPUT_TO_INPUT, xi.INPUT_TO_OUTPUT):
            for entry in instruction.indexing(direction):
                check_entry(entry, to_input=direction == xi.OUTPUT_TO_INPUT)


def check_entry(entry: xi.Entry, *, to_input: bool) -> None:
    assert len(entry.maps) > 0
    shapes = [entry.output_shape.dimensions, entry.operand_shape.dimensions]
    start, end = shapes if to_input else shapes[::-1]
    for indexing in entry.maps:
        assert indexing.exactness in ("exact", "over-approximate", "unknown")
        assert (indexing.reason is None) == (indexing.exactness == "exact")
        if indexing.exactness == "unknown":
            continue
        assert len(indexing.map.dimensions) == len(start)
        assert len(indexing.map.results) == len(end)
        assert len(indexing.runtime_variables) == len(indexing.map.runtime_variables)
        assert xi.IndexingMap(str(indexing.map)) == indexing.map


@per_program()
@pytest.mark.parametrize("forms", ["lowered", "compiled"])
def test_parameters_have_the_names_of_arguments(program: Program, forms: str) -> None:
    module = loaded(program.name, forms, forms.capitalize())
    assert [parameter.argument for parameter in module.entry.parameters] == program.used_names()
    for entry in module.entry.indexing():
        assert entry.operand_name == program.used_names()[entry.operand]


@per_program("transformer_train_step", "kv_cache_decode", "adam_step", "unused_arguments")
@pytest.mark.parametrize("optimized", [False, True])
def test_analyze_lowers_and_compiles(program: Program, optimized: bool) -> None:
    module = xi.analyze(program.function, *program.arguments(), optimized=optimized)
    assert [parameter.argument for parameter in module.entry.parameters] == program.used_names()
    assert any(instruction.opcode == "fusion" for instruction in module.instructions) == optimized


def test_names_of_arguments_are_those_that_python_uses() -> None:
    def function(params: Any, *rest: Any, scale: Any) -> Any:
        return params["layers"][1]["w"] @ rest[0] * scale + params["bias"]

    w, x, scale = np.ones((2, 3), np.float32), np.ones(3, np.float32), np.float32(2)
    params = {"layers": [None, {"w": w}], "bias": np.ones(2, np.float32), "unused": x}
    module = xi.analyze(function, params, x, scale=scale)
    names = [parameter.argument for parameter in module.entry.parameters]
    assert names == ["params['bias']", "params['layers'][1]['w']", "rest[0]", "scale"]


def test_what_jit_made_of_a_function_is_taken_as_it_is() -> None:
    module = xi.analyze(jax.jit(lambda x, unused: x * 2, keep_unused=True), np.ones(3), np.ones(2))
    assert [parameter.argument for parameter in module.entry.parameters] == ["x", "unused"]


def test_instructions_know_the_line_that_they_come_from() -> None:
    def doubled(x: Any) -> Any:
        return jax.numpy.tanh(x)  # the line

    first = doubled.__code__.co_firstlineno
    module = xi.analyze(doubled, np.ones((2, 2), np.float32))
    found = [i for i in module.instructions if i.opcode == "tanh"]
    assert found
    for instruction in found:
        assert instruction.op_name is not None
        assert "tanh" in instruction.op_name
        assert instruction.source_file == __file__
        assert instruction.source_line == first + 1
        assert (__file__, first + 1) in [tuple(frame[:2]) for frame in instruction.frames]
