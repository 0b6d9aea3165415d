"""load(): from everything that people have to a module."""

import gzip
import io
import pathlib
import pickle
import re
import subprocess
import sys

import pytest

import xla_indexing as xi
from xla_indexing import _native

TEXT = """HloModule two_steps, num_partitions=4

half (p: f32[6]) -> f32[3] {
  p = f32[6] parameter(0)
  ROOT s = f32[3] slice(p), slice={[0:3]}, metadata={op_name="jit(f)/slice" source_file="f.py" source_line=7}
}

ENTRY main {
  x = f32[6] parameter(0), metadata={op_name="args[0][\\'w\\']"}
  ROOT f = f32[3] fusion(x), kind=kLoop, calls=half
}
"""


def reads(module):
    return [str(entry.maps[0].map) for entry in module.entry.indexing()]


HALF = ["(d0) -> (d0), domain: d0 in [0, 2]"]


def test_text():
    module = xi.load(TEXT)
    assert module.name == "two_steps"
    assert reads(module) == HALF


def test_bytes_of_text():
    for content in (TEXT.encode(), bytearray(TEXT.encode()), memoryview(TEXT.encode())):
        assert reads(xi.load(content)) == HALF


def test_gzip():
    packed = gzip.compress(TEXT.encode())
    assert reads(xi.load(packed)) == HALF
    for wrong in (packed[:-9], packed[:20], packed[:12] + b"\xff" * 40):
        with pytest.raises(xi.ParseError, match="no whole gzip"):
            xi.load(wrong, filename="m.hlo.gz")


def test_a_path_as_text_and_as_an_object(tmp_path):
    file = tmp_path / "module (1).hlo"
    file.write_text(TEXT)
    for path in (file, str(file)):
        module = xi.load(path)
        assert reads(module) == HALF
        assert module.filename == str(file)


def test_a_module_is_given_back():
    module = xi.load(TEXT)
    assert xi.load(module) == module


def test_a_part_of_a_text():
    assert xi.load("add(f32[4], f32[4])").entry.root.opcode == "add"
    assert xi.load("p = f32[4] parameter(0)\nROOT n = f32[4] negate(p)").entry.root.name == "n"


def test_several_modules_in_one_text():
    text = TEXT + "\n// -----\n" + TEXT.replace("two_steps", "again")
    assert [module.name for module in xi.load_all(text)] == ["two_steps", "again"]
    with pytest.raises(xi.Error, match="one module, found 2"):
        xi.load(text)


def test_a_text_without_a_module():
    assert xi.load_all("// nothing\n") == []
    with pytest.raises(xi.Error, match="one module, found 0"):
        xi.load("// nothing\n")


def test_a_file_that_is_not_there():
    with pytest.raises(FileNotFoundError):
        xi.load("no_such_file.hlo")
    with pytest.raises(FileNotFoundError):
        xi.load(pathlib.Path("no_such_file.hlo"))


def test_a_dump_has_each_module_once(tmp_path):
    def put(name, text):
        (tmp_path / name).write_text(text)

    with pytest.raises(xi.Error, match="there is no module that XLA has dumped"):
        xi.load(tmp_path)
    put("module_0001.jit_f.before_optimizations.txt", TEXT.replace("two_steps", "before"))
    put("module_0001.jit_f.sm_9.0_gpu_after_optimizations.txt", TEXT.replace("two_steps", "after"))
    put("module_0001.jit_f.sm_9.0_gpu_after_optimizations-buffer-assignment.txt", "BufferAssignment:")
    put("module_0001.jit_f.0003.fusion.after_dce.before_cse.txt", TEXT.replace("two_steps", "between"))
    assert [m.name for m in xi.load_all(str(tmp_path))] == [xi.load(tmp_path).name] == ["after"]
    put("module_0002.jit_g.before_optimizations.txt", TEXT.replace("two_steps", "second"))
    assert [m.name for m in xi.load_all(tmp_path)] == ["after", "second"]
    with pytest.raises(xi.Error, match="expected one module, found 2"):
        xi.load(tmp_path)


def test_a_dump_of_xla(jax, tmp_path):
    lowered = jax.jit(lambda x: x * 2).lower(jax.ShapeDtypeStruct((8,), "float32"))
    lowered.compile({"xla_dump_to": str(tmp_path)})
    assert xi.load(tmp_path).instructions


def test_errors_show_the_place_and_name_the_file(tmp_path):
    file = tmp_path / "wrong.hlo"
    file.write_text("ENTRY e {\n  p = f32[2,3 parameter(0)\n}\n")
    with pytest.raises(xi.ParseError) as caught:
        xi.load(file)
    first, line, caret = str(caught.value).splitlines()
    assert first.startswith(f"{file}:2:15: error: ")
    assert line == "  p = f32[2,3 parameter(0)"
    assert caret == " " * 14 + "^"
    assert caught.value.code == "INVALID_ARGUMENT"
    with pytest.raises(xi.ParseError, match=r"^here:2:1"):
        xi.load("\n}", filename="here")


def test_what_the_verifier_refuses():
    with pytest.raises(xi.ParseError, match=r"has shape f32\[2,3\]"):
        xi.load("ENTRY e { p = f32[2,3] parameter(0)  ROOT t = f32[2,3] transpose(p), dimensions={1,0} }")


@pytest.mark.parametrize("wrong", [None, 3, 2.5, [TEXT], {"a": TEXT}, object(), io.StringIO(TEXT), str, len])
def test_what_is_none_of_these(wrong):
    with pytest.raises(TypeError, match=r"load\(\) takes HLO text"):
        xi.load(wrong)


def test_a_module_pickles_by_its_text():
    module = xi.load(TEXT, filename="two_steps.hlo")
    again = pickle.loads(pickle.dumps(module))
    assert again.to_text() == module.to_text()
    assert again.filename == "two_steps.hlo"
    assert again.argument_names == ["args[0]['w']"]
    assert again.num_partitions == 4


class HasText:
    """What load() takes an object of another package by."""

    def as_serialized_hlo_module_proto(self):
        return TEXT.encode()


class Computation:
    def as_hlo_module(self):
        return HasText()


class Lowered:
    def compiler_ir(self, dialect):
        assert dialect == "hlo"
        return Computation()

    def as_text(self):
        raise AssertionError("there is something better")


class Executable:
    def hlo_modules(self):
        return [HasText()]


class Compiled:
    def __init__(self, executable):
        self._executable = executable

    def runtime_executable(self):
        return self._executable

    def as_text(self):
        return TEXT


@pytest.mark.parametrize(
    "like", [HasText(), Computation(), Lowered(), Compiled(Executable()), Compiled(None)], ids=repr
)
def test_objects_are_known_by_what_they_offer(like):
    assert reads(xi.load(like)) == HALF


def test_analyze_lowers_and_compiles():
    calls = []

    class Jitted:
        def __call__(self):
            raise AssertionError("it does not run")

        def lower(self, *args, **kwargs):
            calls.append((args, kwargs))
            lowered = Lowered()
            lowered.compile = lambda: Compiled(Executable())
            return lowered

    for optimized in (True, False):
        assert reads(xi.analyze(Jitted(), 1, optimized=optimized, scale=2)) == HALF
    assert calls == [((1,), {"scale": 2})] * 2


def test_analyze_takes_a_function():
    with pytest.raises(TypeError, match="takes a function"):
        xi.analyze("f")


# --- jaxlib, where it is ---


@pytest.fixture(scope="module")
def jax():
    return pytest.importorskip("jax")


def program(params, x, unused, *, scale=2.0):
    return (x @ params["w"] + params["b"]) * scale


def arguments(jax):
    ones = jax.numpy.ones
    return ({"w": ones((4, 8)), "b": ones(8)}, ones((3, 4)), ones(5))


def test_arguments_have_their_names_and_unused_ones_are_left_out(jax):
    lowered = jax.jit(program).lower(*arguments(jax), scale=3.0)
    names = ["params['b']", "params['w']", "x", "scale"]
    for form in (lowered, lowered.compile(), lowered.compiler_ir("stablehlo")):
        assert [p.argument for p in xi.load(form).entry.parameters] == names
    assert xi.analyze(program, *arguments(jax), scale=3.0).argument_names == names


def test_all_forms_of_a_lowered_program_read_the_same(jax):
    lowered = jax.jit(program).lower(*arguments(jax))
    forms = [
        lowered,
        lowered.as_text(),
        lowered.as_text().encode(),
        lowered.compiler_ir("hlo"),
        lowered.compiler_ir("hlo").as_serialized_hlo_module_proto(),
        lowered.compiler_ir("stablehlo"),
    ]
    # The names of arguments are not in all of them.
    texts = {str([str(m) for m in xi.load(form).entry.indexing().maps()]) for form in forms}
    assert len(texts) == 1


def test_an_exported_program(jax):
    exported = pytest.importorskip("jax.export").export(jax.jit(program))(*arguments(jax))
    expected = reads(xi.load(jax.jit(program).lower(*arguments(jax))))
    assert reads(xi.load(exported)) == expected
    assert reads(xi.load(exported.mlir_module_serialized)) == expected
    pytest.importorskip("flatbuffers")
    assert reads(xi.load(exported.serialize())) == expected


def test_an_exported_program_of_symbolic_sizes(jax):
    export = pytest.importorskip("jax.export")
    rows = jax.ShapeDtypeStruct(export.symbolic_shape("b, 6"), "float32")
    exported = export.export(jax.jit(lambda x: x.reshape(-1, 2, 3).transpose(0, 2, 1)))(rows)
    expected = ["(d0, d1, d2) -> (d0, d1 + d2 * 3), domain: d0 in [0, inf], d1 in [0, 2], d2 in [0, 1]"]
    for form in (exported, exported.mlir_module_serialized):
        assert [str(m) for m in xi.load(form).entry.indexing().maps()][:1] == expected


# What the parser, which takes no bytecode, says to do instead.
@pytest.mark.parametrize("is_exported", [False, True])
def test_the_command_that_prints_bytecode_as_text(jax, tmp_path, is_exported):
    exported = pytest.importorskip("jax.export").export(jax.jit(program))(*arguments(jax))
    if is_exported:
        pytest.importorskip("flatbuffers")
    content = bytes(exported.serialize() if is_exported else exported.mlir_module_serialized)
    with pytest.raises(xi.ParseError, match="bytecode") as error:
        _native.parse(content, "f.mlirbc")
    file = tmp_path / "f.mlirbc"
    file.write_bytes(content)
    command = re.search(r"python3 -c '(.*)'", str(error.value))
    assert command is not None
    text = subprocess.check_output([sys.executable, "-c", command[1].replace("FILE", str(file))], text=True)
    assert reads(xi.load(text)) == reads(xi.load(jax.jit(program).lower(*arguments(jax))))


def test_source_lines(jax):
    module = xi.analyze(program, *arguments(jax), optimized=False)
    line = program.__code__.co_firstlineno + 1
    found = {i.source_line for i in module.instructions if i.source_file.endswith("test_load.py")}
    assert line in found


def test_bytecode_that_jaxlib_does_not_take(jax):
    with pytest.raises(xi.ParseError, match="jaxlib does not take"):
        xi.load(b"ML\xefR this is no module")


def test_stablehlo_that_is_not_right():
    with pytest.raises(xi.ParseError, match="custom op 'this' is unknown"):
        xi.load("module @m { this is no operation }")


STABLEHLO = """#loc1 = loc("x")
module @jit_f {
  func.func public @main(%arg0: tensor<2x3xf32> loc("x")) -> (tensor<3x2xf32> {jax.result_info = ""}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32> loc("jit(f)/transpose"(#loc1))
    return %0 : tensor<3x2xf32>
  }
}
"""
TRANSPOSED = ["(d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]"]


def test_stablehlo_text_is_read_without_jaxlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jaxlib.mlir.ir", None)
    file = tmp_path / "f.mlir"
    file.write_text(STABLEHLO)
    for x in (STABLEHLO, STABLEHLO.encode(), gzip.compress(STABLEHLO.encode()), file, str(file)):
        module = xi.load(x)
        assert module.name == "jit_f"
        assert reads(module) == TRANSPOSED
        assert module.entry.root.name == "transpose.0"


def test_an_mlir_module_is_read_as_its_text():
    class Operation:
        def get_asm(self, enable_debug_info):
            assert enable_debug_info
            return STABLEHLO

    class MlirModule:
        operation = Operation()

    assert reads(xi.load(MlirModule())) == TRANSPOSED


def test_errors_in_stablehlo_have_a_place():
    with pytest.raises(xi.ParseError, match=r"f\.mlir:4:30: error: use of undeclared SSA value name"):
        xi.load(STABLEHLO.replace("transpose %arg0", "transpose %arg1"), filename="f.mlir")


def test_bytecode_needs_jaxlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "jaxlib.mlir.ir", None)
    with pytest.raises(xi.Error, match="its text is read without"):
        xi.load(b"ML\xefR\x00")
