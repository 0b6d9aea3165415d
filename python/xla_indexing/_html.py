"""What Jupyter shows of objects. All text that comes from a module is escaped: it is not trusted."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from ._native import bytes_text, time_text

# A notebook shows a module in a moment: what takes more steps than these, of about a microsecond, is left
# undecided and says so.
_STEPS = 2_000_000
_MOST_ROWS = 20
_MOST_SUMS = 10
_SMALL_SHARE = 0.01


class _Table(Protocol):
    def rows(self) -> list[dict[str, Any]]: ...


def pre(text: object) -> str:
    return f"<pre>{html.escape(str(text))}</pre>"


def table(rows: Sequence[Mapping[str, Any]], columns: Iterable[str] | None = None) -> str:
    """Rows as an HTML table; columns that no row has a value in are left out."""
    if not rows:
        return "<p>nothing</p>"
    names = [name for name in (columns or rows[0]) if any(row.get(name) is not None for row in rows)]
    head = "".join(f"<th>{html.escape(name.replace('_', ' '))}</th>" for name in names)
    body = "".join("<tr>" + "".join(_cell(row.get(name)) for name in names) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if value is None:
        return "<td></td>"
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, float):
        return f'<td style="text-align:right">{value:.4g}</td>'
    if isinstance(value, int):
        return f'<td style="text-align:right">{value:,}</td>'
    return f'<td style="text-align:left">{html.escape(str(value))}</td>'


def of_rows(answer: _Table) -> str:
    return table(answer.rows())


def of_explanation(explanation: Any) -> str:
    """The chain from the output to the operand, one box for each instruction."""
    if not explanation.steps:
        return pre(explanation)
    arrow = '<div style="text-align:center">&#8593;</div>'
    return (
        '<div style="display:inline-block">'
        + arrow.join(_step(step) for step in explanation.steps)
        + "</div>"
    )


def _step(step: Any) -> str:
    place = f"{step.source_file}:{step.source_line}" if step.source_file else ""
    iterations = ", ".join(map(str, step.iterations))
    if step.repeats > 1:
        iterations += f" to {step.iterations[-1] - step.repeats + 1}"
    in_loop = f"in iteration{'s' * (step.repeats > 1)} {iterations}" if iterations else ""
    where = " ".join(part for part in (step.op_name, place, in_loop) if part)
    element = ", ".join(map(str, step.element))
    return (
        '<div style="border:1px solid currentColor;border-radius:4px;padding:2px 8px">'
        f"<b>{html.escape(step.instruction)}</b> [{element}] {html.escape(step.opcode)}"
        f'<div style="opacity:0.7;font-size:smaller">{html.escape(where)}</div></div>'
    )


def of_operand_indexing(indexing: object) -> str:
    return pre(indexing)


def of_module(module: Any) -> str:
    """The kernels of the module, what takes most time first."""
    return of_report(module.report(max_steps=_STEPS))


def of_report(report: Any) -> str:
    """The groups of 1% or more, or the first report(top=) ones, and sums by module of the model."""
    columns = (
        "kernel",
        "kernels",
        "kind",
        "time",
        "share",
        "moved",
        "wasted",
        "efficiency",
        "runs",
        "what is known",
        "source",
    )
    groups = report.groups()
    kernels = [group for group in groups if group["kind"] != "while"]
    shown = [group for group in groups if report.top or _is_large(group, report)][: report.top or _MOST_ROWS]
    rows = [
        {
            **_figures(group),
            "kernel": group["kernel"],
            "kind": group["kind"],
            "efficiency": group["efficiency"],
            "runs": int(group["runs"]) if group["runs"].is_point else str(group["runs"]),
            "what is known": "; ".join(
                [*group["notes"], *group["findings"], *(f"not exact: {text}" for text in group["not_known"])]
            ),
            "source": group["source"],
        }
        for group in shown
    ]
    head = f"<p>module <b>{html.escape(report.module.name)}</b>: {bytes_text(report.wasted)} wasted of "
    head += f"{bytes_text(report.moved)} moved, at least {time_text(report.microseconds)}</p>"
    head += "".join(f"<p>{html.escape(text)}</p>" for text in report.about)
    rest = [group for group in kernels if not any(group is other for other in shown)]
    count = sum(group["kernels"] for group in rest)
    more = (
        f"<p>{count:,} more kernels: {sum(group['share'] for group in rest):.1%} of the time</p>"
        if rest
        else ""
    )
    sums = [sum_ for sum_ in report.totals("module") if _is_large(sum_, report)][:_MOST_SUMS]
    modules = [{"module": sum_["name"], **_figures(sum_)} for sum_ in sums] if len(sums) > 1 else []
    return head + table(rows, columns) + more + (table(modules) if modules else "")


def _is_large(sums: Mapping[str, Any], report: Any) -> bool:
    return bool(sums["share"] >= _SMALL_SHARE or sums["traffic"] >= _SMALL_SHARE * report.traffic)


def _figures(sums: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kernels": sums["kernels"],
        "time": time_text(sums["microseconds"]),
        "share": f"{sums['share']:.1%}",
        "moved": None if sums["moved"] is None else bytes_text(sums["moved"]),
        "wasted": None if sums["wasted"] is None else bytes_text(sums["wasted"]),
    }
