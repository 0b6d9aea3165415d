"""The kernels of scripts/gpu, run on the processor: what they touch, address by address, is what was predicted.

The same source is compiled for GPUs where there is nvcc. No GPU is needed.
"""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import xla_indexing as xi

SOURCE = pathlib.Path(__file__).parent.parent.parent
SCRIPTS = SOURCE / "scripts" / "gpu"
sys.path.insert(0, str(SCRIPTS))

import kernels as generator  # noqa: E402
import measure  # noqa: E402
import program  # noqa: E402
from accesses import accesses  # noqa: E402

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")

NAMES = [access.name for access in accesses(64)]
# Rows of 64 divide blocks of 128 threads, rows of 192 do not.
SIZES = [64, 192]


@pytest.fixture(scope="module", params=SIZES)
def rows(request, tmp_path_factory):
    """What was found out about each kernel."""
    made = [generator.make(access) for access in accesses(request.param)]
    directory = tmp_path_factory.mktemp("kernels")
    built = program.compile_program(made, directory, program.PROCESSOR)
    outcomes = {}
    for kernel in made:
        outcome = program.run([str(built)], kernel, directory)
        outcomes[kernel.name] = (
            kernel,
            outcome.is_right,
            program.counted_on_processor(kernel, outcome.printed),
        )
    return outcomes


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_touches_what_was_predicted(rows, name):
    kernel, is_right, counted = rows[name]
    assert is_right
    assert program.differences(kernel, counted) == []


def test_predictions_are_single_numbers_but_where_indices_decide(rows):
    for kernel, _, _ in rows.values():
        for site in kernel.sites:
            is_gathered = kernel.name == "gathered_pieces" and site.what.startswith("p")
            assert (site.predicted[0] < site.predicted[1]) == is_gathered, (kernel.name, site)


def test_predictions_by_hand(rows):
    """A warp of floats in a row has 4 sectors, and one of floats that are far from one another 32."""
    kernel, _, _ = rows["row_major"]
    warps = kernel.output[0] * kernel.output[1] // 32
    wavefronts = {"tiled_32": warps + 32 * warps, "tiled_33": 2 * warps, "tiled_xor": 2 * warps}
    sectors = {
        "row_major": (4 * warps, 4 * warps),
        "vectors_of_4": (4 * warps, 4 * warps),
        "four_in_a_row": (16 * warps, 16 * warps),
        "transposed_read": (32 * warps, 4 * warps),
        "transposed_write": (4 * warps, 32 * warps),
        "strided": (16 * warps, 4 * warps),
        "shifted": (5 * warps, 4 * warps),
    }
    for name, (read, written) in sectors.items():
        predicted = rows[name][0].predicted
        assert (predicted(generator.LOAD), predicted(generator.STORE)) == ((read, read), (written, written))
    for name, count in wavefronts.items():
        predicted = rows[name][0].predicted
        shared = predicted(generator.SHARED_LOAD)[0] + predicted(generator.SHARED_STORE)[0]
        assert shared == count


@pytest.mark.parametrize(
    ("name", "line", "wrong", "is_right"),
    [
        # The wrong element: the result shows it.
        ("shifted", "p + (d0 + 1)", "p + (d0 + 2)", False),
        ("windows", "Within(d1 + s0, 1, 64)", "Within(d1 + s0, 1, 63)", False),
        ("tiled_xor", "Swizzled<5, 2, 7>(((d1 % 32)", "Swizzled<5, 2, 8>(((d1 % 32)", False),
        # The same result by other accesses: the counts show it.
        ("tiled_33", "* 33 +", "* 32 +", True),
        ("tiled_xor", "Swizzled<5, 2, 7>", "", True),
    ],
)
def test_a_kernel_that_does_something_else_is_noticed(tmp_path, name, line, wrong, is_right):
    [access] = [access for access in accesses(64) if access.name == name]
    kernel = generator.make(access)
    assert any(line in text for text in kernel.lines)
    kernel.lines = [text.replace(line, wrong) for text in kernel.lines]
    built = program.compile_program([kernel], tmp_path, program.PROCESSOR)
    outcome = program.run([str(built)], kernel, tmp_path)
    differences = program.differences(kernel, program.counted_on_processor(kernel, outcome.printed))
    assert outcome.is_right == is_right
    assert not is_right or differences != []


def test_a_wrong_prediction_is_noticed(rows):
    kernel, _, counted = rows["tiled_32"]
    other, _, other_counted = rows["tiled_33"]
    assert len(program.differences(kernel, other_counted)) == 1
    assert len(program.differences(other, counted)) == 1


def test_what_ncu_prints_is_read():
    [kernel] = [generator.make(access) for access in accesses(64) if access.name == "tiled_33"]
    head = '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'
    values = zip(program.COUNTERS.values(), ["512", "512", "128", "1,128"])
    lines = [
        f'"0","tiled_33(const float *, const int *, float *)","{name}","","{value}"' for name, value in values
    ]
    counted = program.counted_by_counters("\n".join(["==PROF== Connected", head, *lines]))
    assert counted == {
        generator.LOAD: 512,
        generator.STORE: 512,
        generator.SHARED_LOAD: 128,
        generator.SHARED_STORE: 1128,
    }
    row = measure.Row(kernel, True, counted, 2.0)
    assert not row.agrees()
    assert "512 : 512 | 512 : 512 | 256 : 1256 | 2.0 us | 1.00 | **no** |" in measure.table([row])
    counted[generator.SHARED_STORE] = 128
    assert row.agrees()
    assert "256 : 256 | 2.0 us | 1.00 | yes |" in measure.table([row])
    assert "| 256 | 2.0 us | 1.00 | not counted |" in measure.table([measure.Row(kernel, True, {}, 2.0)])
    assert program.counted_by_counters("==ERROR== ERR_NVGPUCTRPERM") == {}


@pytest.mark.parametrize("may_count", [True, False])
def test_on_a_gpu_counters_and_times_are_put_together(tmp_path, monkeypatch, capsys, may_count):
    """A stand-in for the GPU, the compiler and ncu, which gives the counts that are predicted."""
    made = [generator.make(access) for access in accesses(64)[:2]]

    def run(command, kernel, directory, *arguments):
        if arguments:
            return program.Outcome("12.50\n", True)
        if not may_count:
            raise subprocess.CalledProcessError(1, command, "ERR_NVGPUCTRPERM")
        lines = [f'"0","{name}","{kernel.predicted(kind)[0]:,}"' for kind, name in program.COUNTERS.items()]
        return program.Outcome("\n".join(['"ID","Metric Name","Metric Value"', *lines]), True)

    monkeypatch.setattr(measure, "run", run)
    monkeypatch.setattr(
        measure, "compile_program", lambda kernels, directory, compiler: directory / "kernels"
    )
    monkeypatch.setattr(measure.shutil, "which", lambda name, path=None: f"/bin/{name}")
    rows = measure.measure_on_gpu(made, tmp_path, ["nvcc"])
    assert [row.microseconds for row in rows] == [12.5, 12.5]
    assert [row.counted.get(generator.LOAD) for row in rows] == ([512, 512] if may_count else [None, None])
    assert all(row.agrees() for row in rows)
    assert ("ERR_NVGPUCTRPERM" in capsys.readouterr().err) == (not may_count)
    assert ("| yes |" if may_count else "| not counted |") in measure.table(rows)


def test_without_a_gpu_it_says_that_it_was_skipped(tmp_path):
    result = subprocess.run(
        [sys.executable, str(SCRIPTS / "measure.py")],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": str(tmp_path)},
    )
    assert result.returncode == measure.SKIPPED
    assert "SKIPPED: there is no GPU here" in result.stderr
    assert result.stdout == ""


def test_the_documentation_has_the_table(rows):
    made = [kernel for kernel, _, _ in rows.values()]
    found = [
        measure.Row(kernel, is_right, program.by_kind(kernel, counted))
        for kernel, is_right, counted in rows.values()
    ]
    if made[0].output[0] == 64:
        assert measure.table(found) in (SOURCE / "docs" / "queries.md").read_text()


@pytest.mark.skipif(program.gpu_compiler() is None, reason="no nvcc")
def test_it_is_cuda(tmp_path):
    made = [generator.make(access) for access in accesses(4096)]
    compiler = program.gpu_compiler(80, 90)
    assert compiler is not None
    program.compile_program(made, tmp_path, compiler)
    # The accesses are there as they were written: none is joined with another, and vectors are vectors.
    ptx = tmp_path / "kernels.ptx"
    subprocess.run(
        [
            compiler[0],
            "-std=c++17",
            "-O3",
            "-arch=sm_90",
            "-ptx",
            f"-I{SCRIPTS}",
            "-o",
            ptx,
            ptx.with_suffix(".cu"),
        ],
        check=True,
    )
    bodies = dict(zip(NAMES, ptx.read_text().split(".entry")[1:]))
    for name, body in bodies.items():
        assert name in body.split("(")[0]
    assert "ld.global.v4" in bodies["vectors_of_4"]
    assert "st.global.v4" in bodies["vectors_of_4"]
    assert bodies["four_in_a_row"].count("ld.global.f32") == 4
    assert bodies["windows"].count("ld.global.f32") == 3
    assert bodies["tiled_33"].count("ld.shared.f32") == 8
    assert [name for name, body in bodies.items() if ".v2" in body or ".v4" in body] == ["vectors_of_4"]


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="no mypy")
def test_types():
    package = pathlib.Path(xi.__file__).parent.parent
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", *map(str, SCRIPTS.glob("*.py"))],
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": f"{package}{os.pathsep}{SCRIPTS}"},
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.skipif(importlib.util.find_spec("ruff") is None, reason="no ruff")
def test_rules():
    result = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", str(SCRIPTS)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout
