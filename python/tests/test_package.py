"""The package as a whole: its types, its size, what it asks of the system, what else lives in its process."""

import importlib.metadata
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zlib

import pytest

import xla_indexing as xi
from xla_indexing import _native

PACKAGE = pathlib.Path(xi.__file__).parent
EXTENSION = pathlib.Path(_native.__file__)
EXTENSIONS = [EXTENSION, *PACKAGE.glob("_lowering.*.so")]

readelf = pytest.mark.skipif(shutil.which("readelf") is None, reason="no readelf (Debian's binutils)")


def run(program, *arguments, **environment):
    """Runs a Python program in a fresh process that sees this package, and returns what it printed."""
    path = os.pathsep.join([str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    result = subprocess.run(
        [sys.executable, *arguments, "-c", program],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def dynamic_symbols(extension):
    """Name, section, version of each symbol that an extension module has for the dynamic linker; of those
    that are elsewhere, the ones that have to be there."""
    text = subprocess.run(
        ["readelf", "--dyn-syms", "--wide", str(extension)], capture_output=True, text=True, check=True
    ).stdout
    for line in text.splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[0].rstrip(":").isdigit() and fields[0] != "0:":
            name, _, version = fields[7].partition("@")
            if fields[4] == "GLOBAL" or fields[6] != "UND":
                yield name, fields[6], version.strip("@")


of_each_extension = pytest.mark.parametrize("extension", EXTENSIONS, ids=lambda path: path.name.split(".")[0])


@readelf
@of_each_extension
def test_an_extension_shows_one_function(extension):
    shown = [name for name, section, _ in dynamic_symbols(extension) if section != "UND"]
    assert shown == ["PyInit_" + extension.name.split(".")[0]]


@readelf
@of_each_extension
def test_an_extension_needs_no_library_that_is_not_everywhere(extension):
    text = subprocess.run(
        ["readelf", "--dynamic", "--wide", str(extension)], capture_output=True, text=True, check=True
    ).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
    # The unwinder of exceptions, libgcc_s, is one in a process.
    compression = set() if extension == EXTENSION else {"libz.so.1", "libzstd.so.1"}
    assert needed - compression <= {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}


@readelf
def test_all_else_that_it_asks_for_is_pythons():
    others = [
        name for name, section, version in dynamic_symbols(EXTENSION) if section == "UND" and not version
    ]
    assert [name for name in others if not re.match(r"_?Py", name)] == []


@readelf
@of_each_extension
def test_it_runs_with_glibc_2_34(extension):
    versions = {version for _, _, version in dynamic_symbols(extension) if version.startswith("GLIBC_2.")}
    newest = max(int(version.split(".")[1]) for version in versions)
    assert newest <= 34


def test_the_package_is_small():
    content = b"".join(file.read_bytes() for file in PACKAGE.glob("*.py*") if file.is_file())
    content += EXTENSION.read_bytes()
    assert len(zlib.compress(content, 6)) < 6_000_000


def test_it_is_typed():
    assert (PACKAGE / "py.typed").exists()
    assert "class IndexingMap:" in (PACKAGE / "_native.pyi").read_text()


def test_everything_named_is_there():
    assert all(hasattr(xi, name) for name in xi.__all__)


def test_every_class_of_the_extension_is_public():
    classes = {name for name, value in vars(_native).items() if isinstance(value, type)}
    assert classes <= set(xi.__all__)


def test_the_version_is_the_librarys():
    assert re.fullmatch(r"\d+\.\d+\.\d+", xi.__version__)
    try:
        installed = importlib.metadata.version("xla-indexing")
    except importlib.metadata.PackageNotFoundError:
        return  # A development build.
    assert installed == xi.__version__


PROGRAM = '''
import xla_indexing as xi
m = xi.load("""ENTRY e { p = f32[4,6] parameter(0)  ROOT t = f32[6,4] transpose(p), dimensions={1,0} }""")
assert str(m.entry.indexing()[0].maps[0].map) == "(d0, d1) -> (d1, d0), domain: d0 in [0, 5], d1 in [0, 3]"
'''


RUN = """
import numpy as np
print(xi.has_lowering())
try:
    print(m.entry.run(np.arange(24, dtype=np.float32).reshape(4, 6)).sum(1).tolist())
except xi.Error as error:
    print(error)
"""


@pytest.mark.skipif(len(EXTENSIONS) == 1, reason="a build without lowering")
def test_it_runs_computations():
    assert run(PROGRAM + RUN).splitlines() == ["True", "[36.0, 40.0, 44.0, 48.0, 52.0, 56.0]"]


def test_without_the_extension_that_runs_it_says_how_to_get_it(tmp_path):
    package = tmp_path / "xla_indexing"
    package.mkdir()
    for file in PACKAGE.iterdir():
        if not file.name.startswith(("_lowering.", "__pycache__")):
            (package / file.name).symlink_to(file.resolve())
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})" + PROGRAM + RUN
    has_lowering, message = run(program).splitlines()
    assert has_lowering == "False"
    assert "install MLIR 22 (Debian's libmlir-22-dev)" in message
    assert "pip install ." in message


def test_importing_it_imports_neither_jax_nor_numpy():
    program = (
        PROGRAM + "import sys; print([n for n in ('jax', 'jaxlib', 'numpy', 'torch') if n in sys.modules])"
    )
    assert run(program).strip() == "[]"


JAX = """
import jax, jax.numpy as jnp
from jaxlib.mlir import ir
f = jax.jit(lambda x: jnp.tanh(x).T @ x)
lowered = f.lower(jnp.ones((3, 5)))
stablehlo = lowered.compiler_ir("stablehlo")
assert "stablehlo.dot_general" in str(stablehlo)
with ir.Context() as context:
    context.allow_unregistered_dialects = True
    d0, d1 = ir.AffineDimExpr.get(0), ir.AffineDimExpr.get(1)
    assert str(ir.AffineMap.get(2, 0, [d1, d0 + 1])) == "(d0, d1) -> (d1, d0 + 1)"
assert f(jnp.ones((3, 5))).shape == (5, 5)
"""
BOTH = """
[entry] = xi.load(lowered.compile()).entry.indexing()
assert [m.map.results for m in entry.maps] == [["s0", "d0"], ["s0", "d1"]], entry
try:
    xi.load("not a module {")
except xi.ParseError:
    print("ok")
"""


@pytest.mark.skipif(importlib.util.find_spec("jaxlib") is None, reason="no jaxlib")
@pytest.mark.parametrize("first", ["jaxlib", "xla_indexing"])
def test_it_lives_in_one_process_with_jaxlibs_mlir(first):
    parts = [JAX, PROGRAM] if first == "jaxlib" else [PROGRAM, JAX]
    # Both work once more after the other was loaded.
    program = "\n".join([*parts, *parts, BOTH])
    assert run(program, JAX_PLATFORMS="cpu").strip() == "ok"


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="no mypy")
def test_a_users_program_type_checks(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        """
import numpy as np
import xla_indexing as xi


def reads(text: str) -> dict[str, list[tuple[int, ...]]]:
    module: xi.Module = xi.load(text)
    found: dict[str, list[tuple[int, ...]]] = {}
    for entry in module.entry.indexing(xi.OUTPUT_TO_INPUT, exact=True):
        name: str = entry.operand_name
        for operand_indexing in entry.maps:
            indexing_map: xi.IndexingMap = operand_indexing.map
            rows, elements = indexing_map.reads(np.zeros((1, indexing_map.num_dimensions), dtype=np.int64))
            found.setdefault(name, []).extend(tuple(row) for row in elements.tolist())
            same: bool | None = indexing_map.same_relation(indexing_map.simplify())
            assert same
    sizes: list[int | None] = [v.upper for v in xi.IndexingMap("() -> ()").dimensions]
    assert not sizes
    return found
"""
    )
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(program), str(PACKAGE)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(PACKAGE.parent)},
    )
    assert result.returncode == 0, result.stdout + result.stderr


SOURCE = pathlib.Path(__file__).parent.parent.parent


@pytest.mark.skipif(importlib.util.find_spec("ruff") is None, reason="no ruff")
def test_the_sources_follow_the_rules():
    result = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", str(SOURCE / "python")],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout
