"""What answers look like, and what they say to a wrong question."""

from __future__ import annotations

import inspect
import pickle
import types

import pytest

import xla_indexing as xi

ADD = (
    "ENTRY e { p = f32[20,4] parameter(0), metadata={op_name=\"x['w']\"}  q = f32[4] parameter(1), "
    'metadata={op_name="b"}  c = f32[20,4] broadcast(q), dimensions={1}  ROOT s = f32[20,4] add(p, c) }'
)
GATHER = (
    'ENTRY e { p = f32[9,2] parameter(0)  i = s32[3,1] parameter(1), metadata={op_name="ids"}  '
    "ROOT g = f32[3,2] gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
    "index_vector_dim=1, slice_sizes={1,2} }"
)
DOTS = """
    HloModule dots
    plain { a = f32[5,6] parameter(0)  b = f32[6,7] parameter(1)
      ROOT d = f32[5,7] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
    ENTRY reversed { a = f32[5,6] parameter(0)  b = f32[6,7] parameter(1)  r = f32[5,6] reverse(a), dimensions={1}
      ROOT d = f32[5,7] dot(r, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
"""


def public_functions():
    for name in xi.__all__:
        value = getattr(xi, name)
        if isinstance(value, type):
            for method_name, method in vars(value).items():
                function = method.__func__ if isinstance(method, staticmethod) else method
                if isinstance(function, types.FunctionType) and not method_name.startswith("_"):
                    yield f"{name}.{method_name}", function
        elif callable(value):
            yield name, value


def test_every_function_has_a_signature():
    functions = dict(public_functions())
    assert {"load", "equivalent", "Module.report", "Computation.indexing", "Report.columns"} <= set(functions)
    for name, function in functions.items():
        signature = inspect.signature(function)
        takes_a_function = "f" in signature.parameters or name == "Sparsity.jacobian"  # and its arguments
        assert takes_a_function or not {"args", "kwargs"} & set(signature.parameters), name
    assert str(inspect.signature(xi.Interval)) == "(lower: 'int | None', upper: 'int | None')"
    assert list(inspect.signature(xi.load(ADD).report).parameters)[-3:] == ["sort", "top", "machine"]


def test_indices_of_no_element_are_an_error():
    entry = xi.load(ADD).entry.indexing()[1]
    rows, elements = entry.reads([[0, 0], [19, 3]])
    assert rows.tolist() == [0, 1]
    assert elements.tolist() == [[0], [3]]
    for index in ([-1, 0], [20, 0], [0, 4], [0, -1]):
        with pytest.raises(xi.Error, match=r"row 1 of indices, .* is no element of f32\[20,4\]"):
            entry.reads([[0, 0], index])
        with pytest.raises(xi.Error, match="row 0 of indices"):
            entry.maps[0].reads([index])


def test_directions_have_names():
    entry = xi.load(ADD).entry
    forward = entry.input_to_output()
    for name in ("input_to_output", "input-to-output", "INPUT_TO_OUTPUT"):
        assert str(entry.indexing(name)) == str(forward)
    assert str(entry.indexing(direction="output-to-input")) == str(entry.indexing())
    with pytest.raises(xi.Error, match="'output_to_input' or 'input_to_output'"):
        entry.indexing("backwards")
    with pytest.raises(xi.Error, match="direction is 3"):
        entry.indexing(3)


def test_a_report_is_sorted_and_as_long_as_asked_for():
    text = " ".join(f"n{i} = f32[{8 << i}] negate(p{i})" for i in range(5))
    parameters = " ".join(f"p{i} = f32[{8 << i}] parameter({i})" for i in range(5))
    module = xi.load(f"ENTRY e {{ {parameters} {text} ROOT t = (f32[8], f32[128]) tuple(n0, n4) }}")
    report = module.report(sort="moved", top=2)
    assert [row.kernel for row in report] == ["n4", "n3", "n2", "n1", "n0"]
    lines = str(report).splitlines()
    assert sum("e/n" in line for line in lines) == 2
    assert report._repr_html_().count("<tr>") == 3  # one of them is the head
    with pytest.raises(xi.Error, match="beauty"):
        module.report(sort="beauty")
    with pytest.raises(xi.Error, match="top is 0"):
        module.report(top=0)


def test_corresponding_dimensions_of_computations_and_views():
    module = xi.load(ADD)
    of_computation = [str(group) for group in module.entry.corresponding_dims()]
    assert of_computation == [
        "size 20: result 0 dim 0, operand 0 dim 0",
        "size 4: result 0 dim 1, operand 0 dim 1, operand 1 dim 0  (batch)",
    ]
    view = xi.FusionView.of_producer_consumer(module["c"], module["s"])
    assert [group.size for group in view.computation.corresponding_dims()] == [20, 4]


def test_modules_are_compared_by_their_entries_and_by_what_meets():
    module = xi.load(DOTS)
    assert xi.equivalent(module, module)
    answer = xi.equivalent(module, module.computation("plain"))
    assert (answer.reads, answer.meets, answer.same, bool(answer)) == (True, False, False, False)
    [pair] = answer.pairs
    assert (pair.parameter, pair.other) == (0, (1, 0))
    # In the first, the reversed one, a[0, 0] meets b[5, 0].
    assert pair.difference.output_element == (0, 0)
    assert (pair.difference.operand_element, pair.difference.other_element) == ((0, 0), (0, 0))
    assert pair.difference.is_of_first is False


@pytest.mark.parametrize("text", [ADD, GATHER])
def test_answers_are_pickled_by_asking_again(text):
    entry = xi.load(text).entry
    for exact in (False, True):
        for direction in ("output_to_input", "input_to_output"):
            indexing = entry.indexing(direction, exact=exact)
            for thing in (
                entry,
                entry.root,
                indexing,
                indexing[0],
                indexing[0].maps[0],
                entry.root.indexing(),
            ):
                again = pickle.loads(pickle.dumps(thing))
                assert type(again) is type(thing)
                assert str(again) == str(thing)
    one = entry.indexing(output_leaf=0, scatter_bounds="element", max_maps=3)
    assert str(pickle.loads(pickle.dumps(one))) == str(one)


def test_print_shows_a_summary_and_to_text_the_text():
    module = xi.load(ADD)
    assert str(module).splitlines() == [
        "module module_e: 1 computation, 4 instructions",
        "entry e: 4 instructions",
        "  parameter 0 p (x['w']): f32[20,4]",
        "  parameter 1 q (b): f32[4]",
        "  result f32[20,4]",
    ]
    assert str(xi.load(module.to_text())) == str(module)
    many = xi.load("ENTRY e { " + " ".join(f"p{i} = f32[] parameter({i})" for i in range(12)) + " }")
    assert "  .. and 2 more parameters" in str(many).splitlines()


def test_text_has_the_names_of_arguments():
    assert str(xi.load(ADD).entry.indexing()).splitlines()[::2] == [
        "Output 0 operand 0 (x['w']):",
        "Output 0 operand 1 (b):",
    ]
    [variable] = xi.load(GATHER).entry.indexing()[0].maps[0].runtime_variables
    assert variable.in_words == "element (d0, 0) of ids, clamped to [0, 8]"


def test_counts_are_numbers():
    utilization = xi.load(ADD).entry.utilization()
    assert repr(utilization) == "<xla_indexing.Utilization: bytes read 336, written 320>"
    assert repr(utilization.operands[1]) == "<xla_indexing.OperandUtilization: b, 4 of 4 elements, 80 reads>"


def test_a_description_counts_each_element_once():
    # Element 2 of the result reads 1 to 3 and 2 to 4 of p.
    module = xi.load(
        "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }  ENTRY e {"
        " p = f32[6] parameter(0)  z = f32[] constant(0)"
        " x = f32[4] reduce-window(p, z), window={size=3}, to_apply=add"
        " s = f32[3] slice(x), slice={[0:3]}  t = f32[3] slice(x), slice={[1:4]}"
        " ROOT u = f32[3] subtract(s, t) }"
    )
    assert "p: f32[6]: 4 elements." in str(module.entry.indexing().picture((1,)))


def test_what_cannot_be_loaded_says_what_to_do():
    for nothing in ("", "  \n", b""):
        with pytest.raises(xi.Error, match="the text is empty"):
            xi.load(nothing)
    with pytest.raises(
        TypeError, match=r"not a function, which has no module until it has arguments: analyze\(f"
    ):
        xi.load(lambda x: x)
    with pytest.raises(TypeError, match="not int"):
        xi.load(3)
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match=r"not a jitted function, .*load\(f.lower\(\*args\)\)"):
        xi.load(jax.jit(lambda x: x))
    with pytest.raises(TypeError, match=r"not a ClosedJaxpr, which has no HLO.*analyze\(f, \*args\)"):
        xi.load(jax.make_jaxpr(lambda x: x + 1)(1.0))
    traced = jax.jit(lambda x: x + 1).trace(1.0)
    assert xi.load(traced).entry.root.shape.dimensions == ()
