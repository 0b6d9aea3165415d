"""Modules, computations, instructions, shapes and the entries of indexing."""

import gc
import pickle

import pytest

import xla_indexing as xi

TEXT = """HloModule m

fused (a: f32[8], b: f32[]) -> f32[8] {
  a = f32[8] parameter(0)
  b = f32[] parameter(1)
  c = f32[8] broadcast(b), dimensions={}
  ROOT d = f32[8] add(a, c), metadata={op_name="jit(f)/add" source_file="dir/f.py" source_line=12}
}

ENTRY main {
  x = f32[8]{0} parameter(0), metadata={op_name="x"}
  y = f32[] parameter(1), metadata={op_name="args[1][\\'<b>\\']"}
  start = s32[] parameter(2)
  n = f32[8] negate(x)
  f = f32[8] fusion(n, y), kind=kLoop, calls=fused
  s = f32[3] dynamic-slice(f, start), dynamic_slice_sizes={3}
  ROOT t = (f32[3], f32[8]) tuple(s, f)
}
"""


@pytest.fixture
def module():
    return xi.load(TEXT)


def names(objects):
    return [o.name for o in objects]


def test_a_module_has_its_parts(module):
    assert module.name == "m"
    assert names(module.computations) == ["fused", "main"]
    assert module.entry.name == "main"
    assert names(module.fusions) == ["f"]
    assert len(module.instructions) == 11
    assert (module.num_replicas, module.num_partitions) == (1, 1)
    assert xi.load(module.to_text()).to_text() == module.to_text()


def test_names_find_instructions_and_computations(module):
    assert module["f"].opcode == "fusion"
    assert module["%f"] == module["f"]
    assert module["fused"] == module.computation("fused") == module["f"].called_computations[0]
    assert module["d"] == module["fused/d"] == module["fused"]["d"]
    for missing in ("nothing", "", "%", "fused/nothing", "no/d"):
        with pytest.raises(KeyError):
            module[missing]
    with pytest.raises(KeyError):
        module.computation("f")
    with pytest.raises(KeyError):
        module.entry["d"]


def test_a_computation_has_its_parts(module):
    fused = module["fused"]
    assert fused.module == module
    assert names(fused.instructions) == ["a", "b", "c", "d"]
    assert names(fused.parameters) == ["a", "b"]
    assert fused.root.name == "d"
    assert (fused.is_entry, fused.is_fusion) == (False, True)
    assert (module.entry.is_entry, module.entry.is_fusion) == (True, False)
    assert "add(%a, %c)" in fused.to_text()


def test_an_instruction_has_its_parts(module):
    f = module["f"]
    assert f.opcode == "fusion"
    assert names(f.operands) == ["n", "y"]
    assert names(f.users) == ["s", "t"]
    assert f.computation == module.entry
    assert f.module == module
    assert f.text.startswith("%f = f32[8] fusion(%n, %y)")
    assert not f.is_root
    assert module["t"].is_root
    assert (module["x"].parameter_number, f.parameter_number) == (0, None)


def test_where_an_instruction_comes_from(module):
    d = module["d"]
    assert (d.op_name, d.source_file, d.source_line) == ("jit(f)/add", "dir/f.py", 12)
    assert d.frames == [("dir/f.py", 12, "")]
    n = module["n"]
    assert (n.op_name, n.source_file, n.source_line, n.frames) == ("", "", 0, [])


def test_parameters_are_named_by_arguments(module):
    assert module.argument_names == ["x", "args[1]['<b>']", None]
    assert module.warnings == []
    assert module["y"].argument == "args[1]['<b>']"
    assert module["start"].argument is None
    assert module["a"].argument is None
    operands = {entry.operand_name for entry in module.entry.indexing()}
    assert operands == {"x", "args[1]['<b>']", "start"}
    assert [e.operand_name for e in module["f"].indexing()] == ["n", "args[1]['<b>']"]


def test_what_all_parameters_are_called_is_no_name_of_an_argument():
    line = 'p{0} = f32[2] parameter({0}), metadata={{op_name="{1}"}}'
    for name in ("XLA_Args", "same"):
        text = (
            "ENTRY e {\n"
            + line.format(0, name)
            + "\n"
            + line.format(1, name)
            + "\nROOT s = f32[2] add(p0, p1)\n}"
        )
        assert xi.load(text).argument_names == [None, None]


def test_equal_objects_are_of_one_module(module):
    other = xi.load(TEXT)
    assert module["f"] == module["f"]
    assert hash(module["f"]) == hash(module["f"])
    assert module["f"] != other["f"]
    assert module.entry != other.entry
    assert module != other
    assert module["f"] != module["f"].called_computations[0]
    assert module["f"] != "f"
    assert len({*module.instructions, *module.instructions}) == 11


def test_objects_keep_what_they_need_alive():
    def only(function):
        result = function(xi.load(TEXT))
        gc.collect()
        return result

    assert only(lambda m: m["d"].operands)[0].name == "a"
    assert only(lambda m: m.entry.indexing()[0].maps[0].map).num_dimensions == 1
    assert "clamp [0, 5]" in str(only(lambda m: m["s"].indexing()[0].maps[0].runtime_variables[0]))
    assert only(lambda m: m["s"].indexing()[0].maps[0].runtime_variables[0].owner).name == "start"
    assert only(lambda m: m["f"].shape.leaves)[0].dimensions == (8,)
    assert only(lambda m: xi.FusionView.of_producer_consumer(m["n"], m["f"]).operands)[0].name == "x"
    assert only(lambda m: m["f"].tiling([4])).cost.num_programs == 2
    assert only(lambda m: m["f"].coalescing().hero).opcode == "add"


def test_shapes():
    shape = xi.Shape("(f32[8,128]{1,0:T(8,128)}, (s32[], pred[<=4]), token[])")
    assert shape.is_tuple
    assert not shape.is_array
    assert [str(leaf) for leaf in shape.leaves] == ["f32[8,128]{1,0:T(8,128)}", "s32[]", "pred[<=4]"]
    tiled, scalar, dynamic = shape.leaves
    assert (tiled.element_type, tiled.dimensions, tiled.rank) == ("f32", (8, 128), 2)
    assert tiled.layout.minor_to_major == (1, 0)
    assert scalar.dimensions == ()
    assert scalar.layout is None
    assert scalar.element_count == 1
    assert (dynamic.dimensions, dynamic.is_static) == ((4,), False)
    assert xi.Shape("f32[?]").dimensions == (None,)
    assert pickle.loads(pickle.dumps(shape)) == shape
    assert hash(xi.Shape("f32[2]")) == hash(xi.Shape("f32[2]"))
    assert xi.Shape("f32[2]") != xi.Shape("f32[3]")
    with pytest.raises(xi.ParseError):
        xi.Shape("f32[2")
    with pytest.raises(xi.Error):
        _ = shape.element_count


def test_entries_are_a_sequence(module):
    indexing = module.entry.indexing()
    # The offset of the slice is read too.
    assert len(indexing) == len(list(indexing)) == 5
    assert [(e.output_leaf, e.operand) for e in indexing] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    assert indexing[-1].operand == 1
    for i in (5, -6):
        with pytest.raises(IndexError):
            indexing[i]
    assert [str(e.output_shape) for e in indexing][::3] == ["f32[3]", "f32[8]"]
    assert str(indexing[0].operand_shape) == "f32[8]{0}"
    assert indexing[0].operand_instruction == module["x"]


def test_maps_are_selected_by_operand_and_leaf(module):
    indexing = module.entry.indexing()
    assert len(indexing.maps()) == 5
    assert [str(m.map) for m in indexing.maps(operand=1, output_leaf=1)] == [
        "(d0) -> (), domain: d0 in [0, 7]"
    ]
    assert indexing.maps(7) == []


def test_a_runtime_variable_says_where_its_value_is(module):
    [entry] = [e for e in module["s"].indexing() if e.operand == 0]
    [operand_indexing] = entry.maps
    assert operand_indexing.is_exact
    assert operand_indexing.reason is None
    assert operand_indexing.replica_map is None
    [variable] = operand_indexing.runtime_variables
    assert (variable.name, variable.owner, variable.leaf) == ("rt0", module["start"], 0)
    assert variable.bounds == xi.Interval(0, 5)
    assert variable.value_function == "clamp [0, 5]"
    assert [variable.apply(v) for v in (-3, 4, 9)] == [0, 4, 5]
    assert variable.map.num_results == 0
    assert variable.call_path == []


def test_both_directions(module):
    forward = module["s"].indexing(xi.INPUT_TO_OUTPUT)
    assert str(forward) == str(module["s"].input_to_output())
    assert str(module["s"].output_to_input()) == str(module["s"].indexing(xi.OUTPUT_TO_INPUT))
    assert forward.direction == xi.Direction.INPUT_TO_OUTPUT
    [to_output] = forward.maps(operand=0)
    # Element i of the operand comes out at i - rt0.
    assert to_output.map.evaluate([4], runtime=[3]) == (1,)


def test_one_leaf_alone(module):
    assert {e.output_leaf for e in module.entry.indexing(output_leaf=1)} == {1}
    assert {e.operand for e in module.entry.indexing(xi.INPUT_TO_OUTPUT, operand=0)} == {0}
    for wrong in ({"output_leaf": 2}, {"output_leaf": -1}, {"operand": 0}):
        with pytest.raises(xi.Error):
            module.entry.indexing(**wrong)
    for wrong in ({"operand": 9}, {"operand": -1}, {"operand_leaf": 0}, {"output_leaf": 0}):
        with pytest.raises(xi.Error):
            module.entry.indexing(xi.INPUT_TO_OUTPUT, **wrong)


def test_exact_maps_are_asked_for():
    module = xi.load(
        "ENTRY e { p = f32[8,4] parameter(0)  u = f32[2,2] parameter(1)  i = s32[] constant(3)"
        "  j = s32[] constant(1)  ROOT d = f32[8,4] dynamic-update-slice(p, u, i, j) }"
    )
    usual, exact = module["d"].indexing(), module["d"].indexing(exact=True)
    assert not usual.is_exact
    assert usual.maps(0)[0].exactness == "over-approximate"
    assert usual.maps(0)[0].reason
    assert exact.is_exact
    read = sorted(tuple(x[:2]) for m in exact.maps(0) for x in m.map.to_numpy().tolist())
    assert read == [(i, j) for i in range(8) for j in range(4) if not (i in (3, 4) and j in (1, 2))]
    unfolded = module["d"].indexing(fold_runtime_variables=False)
    assert unfolded.maps(1)[0].map.num_runtime_variables == 2
    assert usual.maps(1)[0].map.num_runtime_variables == 0


def test_devices():
    module = xi.load(
        "HloModule m, replica_count=4\nENTRY e { p = f32[2] parameter(0)"
        "  ROOT g = f32[8] all-gather(p), dimensions={0}, replica_groups={{0,1,2,3}} }"
    )
    [m] = module["g"].indexing().maps()
    assert m.replica_map.num_dimensions == 2
    # Element 5 of device 0 is element 1 of device 2.
    assert "replica: " in str(m)


def test_rows_and_html(module):
    rows = module["f"].indexing().rows()
    assert [row["operand_name"] for row in rows] == ["n", "args[1]['<b>']"]
    assert rows[0]["map"] == "(d0) -> (d0), domain: d0 in [0, 7]"
    assert rows[0]["exactness"] == "exact"
    html = module["f"].indexing()._repr_html_()
    assert "args[1][&#x27;&lt;b&gt;&#x27;]" in html
    assert "<b>" not in html


def test_reprs_are_short(module):
    for thing in (
        module,
        module.entry,
        module["f"],
        module["f"].indexing(),
        module["f"].indexing()[0],
        module["s"].indexing().maps()[0],
        module["f"].shape,
    ):
        assert "\n" not in repr(thing)
        assert len(repr(thing)) < 200


def test_intervals():
    assert (xi.Interval(2, 5).size, xi.Interval(2, None).size) == (4, None)
    assert [x in xi.Interval(2, 5) for x in (1, 2, 5, 6)] == [False, True, True, False]
    assert xi.Interval(None, None) == xi.Interval(None, None) != xi.Interval(0, None)
    assert xi.Interval(5, 2) == xi.Interval(1, 0)
    assert (str(xi.Interval(3, 3)), str(xi.Interval(None, 3))) == ("3", "[-inf, 3]")
    assert pickle.loads(pickle.dumps(xi.Interval(-(2**63), None))) == xi.Interval(-(2**63), None)
    with pytest.raises(xi.Error):
        int(xi.Interval(0, 1))


def test_opcodes_that_are_not_known():
    text = "ENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[2] frobnicate(p), level=<3>\n}\n"
    module = xi.load(text)
    [warning] = module.warnings
    assert warning.splitlines()[0].endswith(
        ":3:8: warning: instruction 'r' has the opcode 'frobnicate', which is not known; "
        "everything that it yields may be made of all of its operands"
    )
    assert module["r"].opcode == "frobnicate"
    assert "frobnicate(%p), level=<3>" in module.to_text()
    [entry] = module["r"].indexing()
    assert entry.maps[0].reason == "whole operand: the opcode frobnicate is not known"
