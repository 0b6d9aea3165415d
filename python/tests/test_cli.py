"""The command line `xla-indexing`: what it prints, its exit codes, and that it ends quietly."""

from __future__ import annotations

import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

import xla_indexing as xi
from xla_indexing import cli, progress, report

MODULE = """\
HloModule slices, is_scheduled=true

doubled {
  p = f32[64,256]{1,0} parameter(0)
  ROOT s = f32[64,256]{1,0} add(p, p)
}

ENTRY main {
  x = f32[64,512]{1,0} parameter(0)
  every_other = f32[64,256]{1,0} slice(x), slice={[0:64], [0:512:2]}
  twice = f32[64,256]{1,0} fusion(every_other), kind=kLoop, calls=doubled
  w = f32[256,8]{1,0} parameter(1)
  ROOT d = f32[64,8]{1,0} dot(twice, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


@pytest.fixture
def module(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "model.hlo"
    path.write_text(MODULE)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        code = cli.main(arguments)
    except SystemExit as error:
        code = int(error.code or 0)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_report_prints_the_kernel_that_wastes_most_first(module: str, capsys: Any) -> None:
    code, out, err = run(capsys, "report", module)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    # Every other one of 4 bytes: 64 * 256 elements are in 64 * 512 * 4 bytes of sectors, half of them wasted.
    assert lines[0] == (
        "module slices: 3 kernels, 64.0 KiB wasted of 320.0 KiB moved; "
        "not counted: 1 of which it is not known"
    )
    assert lines[2].split() == ["64.0", "KiB", "192.0", "KiB", "67%", "loop", "every_other"]
    assert lines[3].split(": ", 1)[0] == "    most of it for x"
    assert "not known: dot is not made by an emitter" in out


def test_report_prints_so_many_rows_in_the_order_that_is_asked_for(module: str, capsys: Any) -> None:
    _, out, _ = run(capsys, "report", "--top", "1", "--sort", "kernel", module)
    assert out.splitlines()[2].split()[-1] == "d"
    assert out.splitlines()[-1] == "2 more rows"


def test_report_is_json(module: str, capsys: Any) -> None:
    code, out, _ = run(capsys, "report", "--json", module, module)
    assert code == 0
    first, second = (json.loads(line) for line in out.splitlines())
    assert first == second
    assert (first["module"], first["wasted"], first["moved"]) == ("slices", 65536, 327680)
    assert [kernel["kernel"] for kernel in first["kernels"]] == ["every_other", "twice", "d"]
    assert first["kernels"][2]["wasted"] is None


def test_show_prints_what_print_indexing_prints(module: str, capsys: Any) -> None:
    code, out, err = run(capsys, "show", module, "every_other")
    assert (code, err) == (0, "")
    assert out == ("Output 0 operand 0:\n(d0, d1) -> (d0, d1 * 2), domain: d0 in [0, 63], d1 in [0, 255]\n")
    _, back, _ = run(capsys, "show", module, "every_other", "--direction", "both")
    assert back.startswith(out)
    assert "Input 0 output 0:\n" in back
    _, fused, _ = run(capsys, "show", module, "doubled")
    assert fused == "Output 0 operand 0:\n(d0, d1) -> (d0, d1), domain: d0 in [0, 63], d1 in [0, 255]\n"
    _, entry, _ = run(capsys, "show", module)
    assert entry.count("Output 0 operand") == 2


def test_show_draws(module: str, tmp_path: pathlib.Path, capsys: Any) -> None:
    path = tmp_path / "out.svg"
    assert run(capsys, "show", module, "doubled", "--picture", str(path), "--element", "3,17") == (0, "", "")
    drawn = xi.load(MODULE).computation("doubled").indexing().picture((3, 17))
    assert path.read_text() == str(drawn)
    code, out, _ = run(capsys, "show", module, "doubled", "--picture", "-", "--element", "3,17")
    assert (code, out) == (0, str(drawn))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: COMMAND"),
        (["repotr"], "invalid choice: 'repotr'"),
        (["report"], "required: FILE"),
        (["report", "--top", "-1", "FILE"], "-1 is less than 0"),
        (["report", "--top", "many", "FILE"], "invalid _count value: 'many'"),
        (["report", "--sort", "size", "FILE"], "there is no column 'size'"),
        (["show", "FILE", "nothing"], "there is no instruction or computation 'nothing' in module 'slices'"),
        (["show", "FILE", "--direction", "up"], "invalid choice: 'up'"),
        (["show", "FILE", "--element", "1,2"], "--element is of a picture"),
        (["show", "FILE", "doubled", "--picture", "p.svg", "--element", "99,0"], "not one of an array of"),
        (["show", "FILE", "--picture", "p.svg", "--leaf", "7"], "no map starts from that array"),
        (["show", "FILE", "--picture", "p.svg", "--direction", "both"], "one direction"),
    ],
)
def test_a_wrong_command_line_has_the_exit_code_2(
    arguments: list[str], message: str, module: str, capsys: Any
) -> None:
    code, out, err = run(capsys, *[module if argument == "FILE" else argument for argument in arguments])
    assert (code, out) == (2, "")
    assert message in err


def test_an_input_that_cannot_be_read_has_the_exit_code_1_and_the_others_are_printed(
    module: str, tmp_path: pathlib.Path, capsys: Any
) -> None:
    wrong = tmp_path / "wrong.hlo"
    wrong.write_text("ENTRY e {\n  p = f32[10] parameter(0)\n  ROOT n = f32[10] negat(p)\n}\n")
    missing = str(tmp_path / "missing.hlo")
    code, out, err = run(capsys, "report", str(wrong), missing, module, str(tmp_path))
    assert code == 1
    assert out.startswith("module slices: 3 kernels")
    assert f"{wrong}:3:20: error: expected an opcode, found 'negat'" in err
    assert f"xla-indexing: error: {missing}: No such file or directory" in err
    assert f"xla-indexing: error: {tmp_path}: Is a directory" in err
    assert run(capsys, "show", str(wrong))[0] == 1
    assert run(capsys, "show", missing)[0] == 1
    assert run(capsys, "show", module, "--picture", "/no such directory/p.svg")[0] == 1


@pytest.mark.parametrize("arguments", [["--help"], ["report", "--help"], ["show", "--help"]])
def test_help_teaches_with_examples_that_are_right(
    arguments: list[str], module: str, tmp_path: pathlib.Path, capsys: Any, monkeypatch: Any
) -> None:
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    examples = out.split("examples:\n")[1].splitlines()
    assert examples
    monkeypatch.chdir(tmp_path)
    for example in examples:
        words = example.split("  ")[1].split(" | ")[0].split()[1:]
        words = [{"model.hlo": module, "fusion.3": "twice"}.get(word, word) for word in words]
        assert run(capsys, *words)[0] == 0, example


def test_the_version_is_that_of_the_package(capsys: Any) -> None:
    assert run(capsys, "--version") == (0, f"xla-indexing {xi.__version__}\n", "")


def start(*arguments: str, **keywords: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "xla_indexing", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **keywords)


def test_standard_input_is_read_and_a_proto_too() -> None:
    process = start("show", "-", "doubled", stdin=subprocess.PIPE)
    out, err = process.communicate(MODULE.encode(), timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert out.startswith(b"Output 0 operand 0:\n")


def test_it_ends_quietly_where_nobody_reads_on(module: str) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "xla_indexing", "report", *[module] * 50]
    process = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(write)
    assert (process.returncode, process.stderr) == (1, b"")


def test_it_ends_quietly_when_interrupted() -> None:
    process = start("show", "-", stdin=subprocess.PIPE)
    deadline = time.monotonic() + 30
    # It waits for its input once it has opened it; before that, Python itself may be interrupted.
    while not waits_for_input(process.pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"")


def waits_for_input(process: int) -> bool:
    """Whether a process sleeps in a read of file descriptor 0."""
    try:
        words = pathlib.Path(f"/proc/{process}/syscall").read_text().split()
    except OSError:
        return False
    return words[:2] == ["0", "0x0"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    for stream, expected in ((Terminal(), True), (io.StringIO(), False)):
        now[0] = 0.0
        with progress.Progress("model\x1b", stream) as bar:
            bar(0, 10)
            now[0] = 0.9
            bar(3, 10)
            assert stream.getvalue() == ""
            now[0] = 1.1
            bar(5, 10)
            assert ("model? [###############---------------] 5 of 10" in stream.getvalue()) == expected
            written = stream.getvalue()
            now[0] = 1.15
            bar(6, 10)
            assert stream.getvalue() == written
        assert stream.getvalue().endswith("\r\x1b[K") == expected


def test_kernels_are_those_of_loops_and_branches_too() -> None:
    module = xi.load(
        """
        body { t = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(t), index=0
               x = f32[8] get-tuple-element(t), index=1  n = f32[8] negate(x)  one = s32[] constant(1)
               j = s32[] add(i, one)  ROOT r = (s32[], f32[8]) tuple(j, n) }
        condition { t = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(t), index=0
                    most = s32[] constant(5)  ROOT c = pred[] compare(i, most), direction=LT }
        ENTRY e { s = (s32[], f32[8]) parameter(0)
                  ROOT w = (s32[], f32[8]) while(s), condition=condition, body=body }
        """
    )
    names = {row.kernel for row in module.report()}
    assert names == {"body/n", "body/j", "condition/c"}


def test_rows_say_which_line_a_kernel_comes_from_where_that_is_known() -> None:
    text = MODULE.replace(
        "slice={[0:64], [0:512:2]}",
        'slice={[0:64], [0:512:2]}, metadata={op_name="jit(f)/slice" source_file="f.py" source_line=7}',
    )
    rows = xi.load(text).report().rows()
    assert [row["source"] for row in rows] == ["f.py:7", None, None]
    assert "    f.py:7  jit(f)/slice\n" in xi.load(text).report().to_text()
    assert "f.py:7</td>" in xi.load(text)._repr_html_()


def test_fusions_that_a_library_makes_are_not_charged() -> None:
    library = xi.load(MODULE.replace("kind=kLoop", "kind=kCustom"))
    (row,) = [row for row in library.report() if row.kernel == "twice"]
    assert (row.wasted, row.not_known) == (None, "a library makes this fusion")


def test_what_was_not_looked_at_is_said() -> None:
    answer = report.report_of(xi.load(MODULE), go_on=iter([True, False]).__next__)
    assert (len(answer), answer.left_out) == (1, 2)
    assert "2 more kernels, not looked at" in answer.to_text()
    assert "2 more kernels" in answer._repr_html_()


def test_names_of_a_module_stay_text_in_a_table() -> None:
    key = "<b>&\x1b[31m"
    module = xi.load(MODULE)
    row = report.Row(key, key, module["twice"], xi.Interval(0, 0), xi.Interval(1, 2), None, key, key)
    answer = report.Report(key, [row])
    assert "<b>&" not in answer._repr_html_().replace("<b>&lt;b&gt;", "")
    assert "\x1b" not in answer.to_text()
