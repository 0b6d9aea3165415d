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
from slices_module import MODULE

import xla_indexing as xi
from xla_indexing import cli, progress


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


def test_report_prints_the_kernel_that_takes_most_time_first(module: str, capsys: Any) -> None:
    code, out, err = run(capsys, "report", module)
    assert (code, err) == (0, "")
    assert out == xi.load(MODULE).report().to_text()
    assert "main/every_other  (x: (d0, d1) -> (d0, d1 * 2))\n" in out


def test_report_prints_so_many_rows_in_the_order_that_is_asked_for(module: str, capsys: Any) -> None:
    _, out, _ = run(capsys, "report", "--top", "1", "--sort", "name", module)
    assert out == xi.load(MODULE).report().sorted_by("name").to_text(top=1)
    assert "  and 2 more kernels: " in out


def test_report_is_json(module: str, capsys: Any) -> None:
    code, out, _ = run(capsys, "report", "--json", module, module)
    assert code == 0
    first, second = (json.loads(line) for line in out.splitlines())
    assert first == second == json.loads(xi.load(MODULE).report().to_json())


def test_report_writes_a_page(module: str, tmp_path: pathlib.Path, capsys: Any) -> None:
    path = tmp_path / "report.html"
    assert run(capsys, "report", "--html", str(path), module) == (0, "", "")
    assert path.read_text().startswith("<!DOCTYPE html>")
    assert "every_other" in path.read_text()
    two = tmp_path / "two.hlo"
    two.write_text(f"{MODULE}// -----\n{MODULE}")
    code, _, err = run(capsys, "report", "--html", str(path), str(two))
    assert (code, "a page is about one module" in err) == (2, True)


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
        (["report", "--html", "r.html", "FILE", "FILE"], "--html writes a page about one file"),
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
    wrong.write_text("ENTRY e {\n  p = f32[10] parameter(0)\n  ROOT n = f32[10] negate(q)\n}\n")
    unknown = tmp_path / "unknown.hlo"
    unknown.write_text("ENTRY e {\n  p = f32[10] parameter(0)\n  ROOT n = f32[10] negat(p)\n}\n")
    missing = str(tmp_path / "missing.hlo")
    code, out, err = run(capsys, "report", str(wrong), missing, module, str(tmp_path))
    assert code == 1
    assert out.startswith("module slices: 3 kernels")
    assert f"{wrong}:3:27: error: 'q' is not defined" in err
    assert f"xla-indexing: error: {missing}: No such file or directory" in err
    assert f"xla-indexing: error: {tmp_path}: Is a directory" in err
    assert run(capsys, "show", str(wrong))[0] == 1
    code, out, err = run(capsys, "report", str(unknown))
    assert (code, out[:16]) == (0, "module module_e:")
    assert f"{unknown}:3:8: warning: instruction 'n' has the opcode 'negat', which is not known" in err
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
