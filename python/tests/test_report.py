"""Reports about the kernels of modules: their figures, what they say, and how they are made."""

from __future__ import annotations

import json
import pathlib
import threading
from typing import Any

import pytest
from slices_module import MODULE

import xla_indexing as xi


def test_the_kernel_that_takes_most_time_comes_first() -> None:
    report = xi.load(MODULE).report()
    # 128 and 64 KiB, 64 and 64 KiB, and 64, 8 and 2 KiB that come from memory at 3.35 TB/s, after 1 us.
    assert [round((row.microseconds - 1) * 3.35e6) for row in report] == [192 << 10, 128 << 10, 74 << 10]
    assert [row.kernel for row in report] == ["every_other", "twice", "d"]
    row = report[0]
    assert (int(row.wasted), int(row.moved), row.efficiency) == (64 * 256 * 4, 3 * 64 * 256 * 4, 2 / 3)
    assert (row.kind, int(row.runs), row.worst) == ("loop", 1, "x")
    assert row.worst_map is not None
    assert row.worst_map.startswith("(d0, d1) -> (d0, d1 * 2)")
    assert row.instruction == xi.load(MODULE)["every_other"] or row.instruction.name == "every_other"
    assert (int(row.bytes_read), int(row.bytes_written)) == (64 * 256 * 4, 64 * 256 * 4)
    assert int(report.wasted) == 64 * 256 * 4
    assert int(report.moved) == 5 * 64 * 256 * 4


def test_what_is_not_known_is_said_and_not_counted() -> None:
    row = next(row for row in xi.load(MODULE).report() if row.kernel == "d")
    assert (row.wasted, row.moved, row.efficiency, row.worst) == (None, None, None, None)
    assert row.not_known
    # The body of a kernel of a library says what it does.
    library = xi.load(MODULE.replace("kind=kLoop", "kind=kCustom"))
    row = next(row for row in library.report() if row.kernel == "twice")
    assert (row.wasted, row.kind) == (xi.Interval(0, 0), "loop")


def test_rows_are_a_sequence() -> None:
    report = xi.load(MODULE).report()
    assert len(report) == len(report.rows()) == 3
    assert report[-1].kernel == "d"
    with pytest.raises(IndexError):
        report[3]
    assert report.rows()[0] == report[0].to_dict()
    assert [row.kernel for row in report.sorted_by("name")] == ["d", "every_other", "twice"]
    with pytest.raises(xi.Error, match="'size' is no column of the report: time, wasted, moved"):
        report.sorted_by("size")


def test_kernels_in_loops_count_as_often_as_they_run() -> None:
    report = xi.load(
        """
        body { t = (s32[], f32[8,64]) parameter(0)  i = s32[] get-tuple-element(t), index=0
               x = f32[8,64] get-tuple-element(t), index=1  n = f32[8,64] negate(x)  one = s32[] constant(1)
               j = s32[] add(i, one)  ROOT r = (s32[], f32[8,64]) tuple(j, n) }
        condition { t = (s32[], f32[8,64]) parameter(0)  i = s32[] get-tuple-element(t), index=0
                    most = s32[] constant(5)  ROOT c = pred[] compare(i, most), direction=LT }
        ENTRY e { x = f32[8,64] parameter(0)  zero = s32[] constant(0)
                  s = (s32[], f32[8,64]) tuple(zero, x)
                  ROOT w = (s32[], f32[8,64]) while(s), condition=condition, body=body }
        """
    ).report()
    runs = {row.kernel: int(row.runs) for row in report}
    # The loop changes what it carries: XLA copies the constant and the argument, which is not donated.
    copies = {"s.copy": 1, "s.copy.1": 1}
    assert runs == {"w": 1, "body/n": 5, "body/j": 5} | copies
    (n,) = [row for row in report if row.kernel == "body/n"]
    assert int(n.moved) == 5 * 2 * 8 * 64 * 4


def test_a_scan_says_what_one_iteration_reads() -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def running_sum(xs: Any, weights: Any) -> Any:
        def step(total: Any, x: Any) -> tuple[Any, Any]:
            total = total + x * weights
            return total, total

        return jax.lax.scan(step, jnp.zeros(64), xs)[1]

    report = xi.analyze(running_sum, jnp.ones((30, 64)), jnp.ones(64)).report()
    (loop,) = [row for row in report if row.kind == "while"]
    assert "runs 30 times" in loop.notes[0]
    reads = sorted(note.split(" of ")[0:2] for note in loop.notes[1:])
    assert ["one iteration reads 256 B", "the 7.5 KiB"] in reads
    assert ["one iteration reads 256 B", "the 256 B"] in reads
    assert loop.to_dict()["notes"] == loop.notes
    assert loop.notes[0] in report._repr_html_()
    assert {sums["name"] for sums in report.totals("loop")} >= {loop.kernel}


def test_rows_say_which_line_a_kernel_comes_from_where_that_is_known() -> None:
    text = MODULE.replace(
        "slice={[0:64], [0:512:2]}",
        'slice={[0:64], [0:512:2]}, metadata={op_name="jit(f)/slice" source_file="f.py" source_line=7}',
    )
    report = xi.load(text).report()
    assert [row.source for row in report] == ["f.py:7", None, None]
    assert "    f.py:7  jit(f)/slice\n" in report.to_text()
    assert [sums["name"] for sums in report.totals("source")] == ["no source", "f.py:7"]
    assert "f.py:7</td>" in xi.load(text)._repr_html_()


def test_operands_have_the_names_of_arguments() -> None:
    text = MODULE.replace(
        "x = f32[64,512]{1,0} parameter(0)",
        "x = f32[64,512]{1,0} parameter(0), metadata={op_name=\"args[0]['w']\"}",
    )
    assert xi.load(text).report()[0].worst == "args[0]['w']"


def test_a_report_is_the_same_with_threads_and_says_how_far_it_is() -> None:
    module = xi.load(MODULE)
    calls: list[tuple[int, int]] = []
    report = module.report(jobs=4, progress=lambda done, of: calls.append((done, of)))
    assert calls == [(1, 3), (2, 3), (3, 3)]
    assert report.to_json() == module.report().to_json()
    assert json.loads(report.to_json())["module"] == "slices"


def test_what_progress_raises_ends_the_report() -> None:
    def stop(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        xi.load(MODULE).report(progress=stop)
    with pytest.raises(TypeError):
        xi.load(MODULE).report(progress=7)  # type: ignore[arg-type]
    with pytest.raises(xi.Error, match="0 threads"):
        xi.load(MODULE).report(jobs=0)


def test_threads_make_reports_side_by_side() -> None:
    module = xi.load(MODULE)
    expected = module.report().to_json()
    answers: list[str] = []
    threads = [threading.Thread(target=lambda: answers.append(module.report().to_json())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 8


def test_a_report_is_a_page(tmp_path: pathlib.Path) -> None:
    page = xi.load(MODULE).report().to_html()
    assert page.startswith("<!DOCTYPE html>")
    assert "every_other" in page


def test_names_of_a_module_stay_text_in_a_table() -> None:
    text = MODULE.replace(
        "slice={[0:64], [0:512:2]}",
        'slice={[0:64], [0:512:2]}, metadata={op_name="<b>\x1b[31m" source_file="<script>" source_line=7}',
    )
    report = xi.load(text).report()
    assert "<script>" not in report._repr_html_()
    assert "&lt;script&gt;" in report._repr_html_()
    assert "\x1b" not in report.to_text()


def test_equal_kernels_are_a_group_and_sums_add_up() -> None:
    size = 1 << 26
    text = "".join(
        f'  n{i} = f32[{size}]{{0}} negate(p), metadata={{op_name="jit(f)/Net/block_{i}/neg"}}\n'
        for i in range(12)
    )
    report = xi.load(
        f"ENTRY e {{\n  p = f32[{size}]{{0}} parameter(0)\n{text}  r = f32[8]{{0}} iota(), iota_dimension=0\n}}"
    ).report()
    first, second = report.groups()
    assert (first["kernel"], first["kernels"], first["op_name"]) == ("n0", 12, "jit(f)/Net/block_*/neg")
    assert (first["traffic"], second["traffic"]) == (12 * 2 * 4 * size, 32)
    assert [sums["name"] for sums in report.totals("module")] == ["Net/block_*", "no op_name"]
    for rows in (report.groups(), report.totals("module"), report.totals("source")):
        assert sum(row["traffic"] for row in rows) == report.traffic
        assert sum(row["share"] for row in rows) == pytest.approx(1)
    assert report.totals("loop") == []
    with pytest.raises(xi.Error, match="not by 'layer'"):
        report.totals("layer")
    # The small one is in the line below the table.
    page = report._repr_html_()
    assert page.count("<tr>") == 2
    assert "1 more kernels: 0.1% of the time" in page
    assert "row-major" not in page


def test_a_report_says_for_what_it_is() -> None:
    report = xi.load(MODULE).report(machine="a100")
    assert report.about[0] == "compiled for cpu, as a dot or convolution outside of fusions says"
    assert "a100" in report.about[1]
    assert report.microseconds > xi.load(MODULE).report().microseconds
    assert all("lanes" not in finding for row in report for finding in row.findings)
    with pytest.raises(xi.Error, match="'abacus' is no machine: h100, h200"):
        xi.load(MODULE).report(machine="abacus")


def test_a_module_without_fusions_says_so_and_can_be_fused() -> None:
    text = "ENTRY e { p = f32[8] parameter(0)  n = f32[8] negate(p)  ROOT r = f32[8] exponential(n) }"
    module = xi.load(text)
    said = "no fusions in this module: every operation is treated as a kernel"
    report, fused = module.report(), module.fused().report()
    assert said in report.about
    assert said not in fused.about
    # The negated array is written and read once less.
    assert (len(report), len(fused)) == (2, 1)
    read = [json.loads(each.to_json())["totals"]["bytes_read"] for each in (report, fused)]
    assert read == [64, 32]
    assert module.to_text() == xi.load(text).to_text()
