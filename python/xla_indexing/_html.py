"""What Jupyter shows of objects. All text that comes from a module is escaped: it is not trusted."""

from __future__ import annotations

import html
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from .report import report_of

_MOMENT = 2.0  # seconds


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


def of_operand_indexing(indexing: object) -> str:
    return pre(indexing)


def of_module(module: Any) -> str:
    """The kernels of the module, the most wasteful first: as many of them as can be looked at in a moment."""
    end = time.monotonic() + _MOMENT
    return report_of(module, go_on=lambda: time.monotonic() < end)._repr_html_()
