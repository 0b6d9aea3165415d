"""What Jupyter shows of objects. All text that comes from a module is escaped: it is not trusted."""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from ._native import bytes_text

# A notebook shows a module in a moment: what takes more steps than these, of about a microsecond, is left
# undecided and says so.
_STEPS = 2_000_000
_MOST_ROWS = 100


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
    """The kernels of the module, the most wasteful first."""
    return of_report(module.report(max_steps=_STEPS))


def of_report(report: Any) -> str:
    """The first rows of a report, and its totals."""
    columns = ("kernel", "kind", "wasted", "moved", "efficiency", "runs", "worst", "what is known", "source")
    rows = [
        {
            "kernel": row.kernel,
            "kind": row.kind,
            "wasted": None if row.wasted is None else bytes_text(row.wasted),
            "moved": None if row.moved is None else bytes_text(row.moved),
            "efficiency": row.efficiency,
            "runs": int(row.runs) if row.runs.is_point else str(row.runs),
            "worst": row.worst,
            "what is known": "; ".join(
                [*row.notes, *row.findings, *(f"not exact: {text}" for text in row.not_known)]
            ),
            "source": row.source,
        }
        for row in itertools.islice(report, min(_MOST_ROWS, report.top))
    ]
    more = len(report) - len(rows)
    title = f"<p>module <b>{html.escape(report.module.name)}</b>: {bytes_text(report.wasted)} wasted of "
    title += f"{bytes_text(report.moved)} moved</p>"
    return title + table(rows, columns) + (f"<p>{more:,} more kernels</p>" if more else "")
