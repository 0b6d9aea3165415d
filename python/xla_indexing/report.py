"""The kernels of a module, and what each of them wastes of the memory traffic that it causes.

A kernel is a fusion, or an instruction outside of fusions that moves data. Its threads are those that XLA's
GPU backend would give it (Computation.coalescing). What its warps ask for is moved in sectors of 32 bytes;
wasted are the bytes of sectors beyond those that the bytes of each request would fit in. All figures are of
one run of a kernel, with nothing cached between requests.

    >>> import xla_indexing as xi
    >>> m = xi.load('''
    ...   ENTRY e {
    ...     p = f32[1024,1024] parameter(0)
    ...     r = f32[1024,512] slice(p), slice={[0:1024], [0:1024:2]}
    ...     ROOT n = f32[1024,512] negate(r) }''')
    >>> [(row.kernel, int(row.wasted)) for row in m.report()]
    [('r', 2097152), ('n', 0)]
"""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ._native import Computation, Error, Instruction, Interval, Module

_SECTOR_BYTES = 32
# Instructions whose result is memory that is there already, or that take no part in a run.
_NO_KERNELS = frozenset(
    {
        "add-dependency",
        "after-all",
        "bitcast",
        "call",
        "conditional",
        "constant",
        "domain",
        "get-dimension-size",
        "get-tuple-element",
        "opt-barrier",
        "parameter",
        "partition-id",
        "replica-id",
        "tuple",
        "while",
    }
)
# What is no kernel of XLA's emitters: libraries, communication, transfers.
_NOT_EMITTED = frozenset(
    {
        "all-gather",
        "all-gather-done",
        "all-gather-start",
        "all-reduce",
        "all-reduce-done",
        "all-reduce-start",
        "all-to-all",
        "async-done",
        "async-start",
        "async-update",
        "cholesky",
        "collective-broadcast",
        "collective-permute",
        "collective-permute-done",
        "collective-permute-start",
        "convolution",
        "copy-done",
        "copy-start",
        "custom-call",
        "dot",
        "fft",
        "infeed",
        "outfeed",
        "ragged-all-to-all",
        "ragged-dot",
        "recv",
        "recv-done",
        "reduce-scatter",
        "rng-bit-generator",
        "send",
        "send-done",
        "sort",
        "topk",
        "triangular-solve",
    }
)
# By what rows can be sorted. The greatest comes first; of the efficiency the least, of names in their order.
COLUMNS = ("wasted", "moved", "efficiency", "kernel")


@dataclasses.dataclass(frozen=True)
class Row:
    """A kernel. `wasted` and `moved` are bytes; None where they are not known, and `not_known` says why."""

    kernel: str
    kind: str
    instruction: Instruction
    wasted: Interval | None = None
    moved: Interval | None = None
    efficiency: float | None = None  # bytes that have to be moved / bytes that are moved
    worst: str | None = None  # the operand or the result that wastes most
    worst_map: str | None = None
    not_known: str | None = None

    @property
    def source(self) -> str | None:
        """The line of the program that the kernel comes from."""
        if not self.instruction.source_file:
            return None
        return f"{self.instruction.source_file}:{self.instruction.source_line}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "kernel": self.kernel,
            "kind": self.kind,
            "wasted": _number(self.wasted),
            "moved": _number(self.moved),
            "efficiency": self.efficiency,
            "worst": self.worst,
            "worst_map": self.worst_map,
            "source": self.source,
            "op_name": self.instruction.op_name,
            "not_known": self.not_known,
        }


class Report(Sequence[Row]):
    """Rows, the kernel that wastes most first; `str()` is a table, and a notebook shows one."""

    def __init__(self, module: str, rows: Iterable[Row], left_out: int = 0) -> None:
        self.module = module
        self.left_out = left_out  # kernels that were not looked at
        self._rows = list(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __getitem__(self, i: Any) -> Any:
        return self._rows[i]

    def sorted_by(self, column: str) -> Report:
        """The same rows in another order: by one of COLUMNS. Error where there is no such column."""
        if column not in COLUMNS:
            raise Error(f"there is no column '{column}': there are {', '.join(COLUMNS)}")
        return Report(self.module, sorted(self._rows, key=lambda row: _key(row, column)), self.left_out)

    @property
    def wasted(self) -> Interval:
        """Bytes that all kernels of which it is known waste in a run each."""
        return _sum(row.wasted for row in self._rows if row.wasted is not None)

    @property
    def moved(self) -> Interval:
        """Bytes that all kernels of which it is known move in a run each."""
        return _sum(row.moved for row in self._rows if row.moved is not None)

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each kernel."""
        return [row.to_dict() for row in self._rows]

    def to_dict(self) -> dict[str, Any]:
        """What `xla-indexing report --json` prints."""
        return {
            "module": self.module,
            "wasted": _number(self.wasted),
            "moved": _number(self.moved),
            "kernels": self.rows(),
        }

    def to_text(self, top: int = 20) -> str:
        """A table of the first rows, and a line of what they are of."""
        lines = [
            f"module {_plain(self.module)}: {len(self)} kernels, {bytes_text(self.wasted)} wasted of "
            f"{bytes_text(self.moved)} moved"
        ]
        unknown = sum(row.wasted is None for row in self._rows)
        if unknown:
            lines[0] += f"; not counted: {unknown} of which it is not known"
        head = ("wasted", "moved", "effic.", "kind", "kernel")
        cells = [head, *(_cells(row) for row in self._rows[:top])]
        widths = [max(len(row[i]) for row in cells) for i in range(4)]
        for row, line in zip([None, *self._rows], cells):
            left = [line[0].rjust(widths[0]), line[1].rjust(widths[1]), line[2].rjust(widths[2])]
            lines.append("  ".join([*left, line[3].ljust(widths[3]), line[4]]).rstrip())
            lines += [f"    {text}" for text in _details(row)]
        if len(self) > top:
            lines.append(f"{len(self) - top} more rows")
        if self.left_out:
            lines.append(f"{self.left_out} more kernels, not looked at")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<xla_indexing.Report: of {self.module}, {len(self)} kernels>"

    def _repr_html_(self) -> str:
        head = "".join(
            f"<th>{name}</th>"
            for name in ("kernel", "kind", "wasted", "moved", "efficiency", "worst", "source")
        )
        body = "".join(_html_row(row) for row in self._rows[:100])
        more = len(self) + self.left_out - min(len(self), 100)
        note = f"<p>{more} more kernels</p>" if more else ""
        title = f"<p>module <b>{html.escape(self.module)}</b>: {bytes_text(self.wasted)} wasted of "
        title += f"{bytes_text(self.moved)} moved</p>"
        return f"{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def report_of(
    module: Module,
    *,
    progress: Callable[[int, int], None] | None = None,
    go_on: Callable[[], bool] = lambda: True,
) -> Report:
    """Looks at all kernels of a module, as long as `go_on()`; the one that wastes most is the first.

    `progress` is called with how many of how many are done.
    """
    kernels = list(kernels_of(module))
    rows = []
    for number, kernel in enumerate(kernels):
        if not go_on():
            break
        if progress is not None:
            progress(number, len(kernels))
        rows.append(row_of(kernel))
    return Report(module.name, rows, len(kernels) - len(rows)).sorted_by("wasted")


def kernels_of(module: Module) -> Iterator[Instruction]:
    """Yields the kernels of the entry and of the computations that it runs: loops, branches, calls."""
    waiting: list[Computation] = [module.entry]
    seen: set[Computation] = set()
    while waiting:
        computation = waiting.pop()
        if computation in seen:
            continue
        seen.add(computation)
        for instruction in computation.instructions:
            if instruction.opcode in ("while", "conditional", "call", "async-start"):
                waiting += instruction.called_computations
            if instruction.opcode not in _NO_KERNELS:
                yield instruction


def row_of(kernel: Instruction) -> Row:
    """Looks at one kernel."""
    name = kernel.name if kernel.computation.is_entry else f"{kernel.computation.name}/{kernel.name}"
    if kernel.opcode == "fusion" and "kind=kCustom" in kernel.text:
        return Row(name, kernel.opcode, kernel, not_known="a library makes this fusion")
    if kernel.opcode in _NOT_EMITTED:
        return Row(name, kernel.opcode, kernel, not_known=f"{kernel.opcode} is not made by an emitter")
    try:
        answer = kernel.coalescing()
    except Error as error:
        return Row(name, kernel.opcode, kernel, not_known=str(error).splitlines()[0])
    costs = [(access, cost) for access in answer.accesses for cost in access.maps]
    unknown = [cost.reason for _, cost in costs if cost.reason]
    if unknown:
        return Row(name, answer.kind or kernel.opcode, kernel, not_known=unknown[0])
    wasted = [_wasted(cost) for _, cost in costs]
    moved = _scaled(_sum(cost.sectors for _, cost in costs))
    least = _scaled(_sum(cost.least_sectors for _, cost in costs))
    worst = max(range(len(costs)), key=lambda i: wasted[i].lower or 0, default=None)
    if worst is not None and not wasted[worst].lower:
        worst = None
    return Row(
        name,
        answer.kind or kernel.opcode,
        kernel,
        _sum(wasted),
        moved,
        int(least) / int(moved) if least.is_point and moved.is_point and int(moved) > 0 else None,
        _accessed(kernel, costs[worst][0]) if worst is not None else None,
        (costs[worst][1].map or None) if worst is not None else None,
    )


def _accessed(kernel: Instruction, access: Any) -> str:
    """Returns the name of what is read or written, as the reader of the program knows it."""
    if access.is_write:
        return "the result" if access.leaf == 0 else f"result {access.leaf}"
    if access.number < len(kernel.operands):
        operand = kernel.operands[access.number]
        return str(operand.argument or operand.name)
    return str(access.name)


# Counts that may not be known: intervals of whole numbers from 0.


def _wasted(cost: Any) -> Interval:
    most = None if cost.sectors.upper is None else cost.sectors.upper - (cost.least_sectors.lower or 0)
    least = 0 if cost.least_sectors.upper is None else (cost.sectors.lower or 0) - cost.least_sectors.upper
    return _scaled(Interval(max(0, least), most))


def _scaled(sectors: Interval) -> Interval:
    upper = None if sectors.upper is None else sectors.upper * _SECTOR_BYTES
    return Interval((sectors.lower or 0) * _SECTOR_BYTES, upper)


def _sum(counts: Iterable[Interval]) -> Interval:
    least = most = 0
    bounded = True
    for count in counts:
        least += count.lower or 0
        bounded = bounded and count.upper is not None
        most += count.upper or 0
    return Interval(least, most if bounded else None)


def _number(count: Interval | None) -> Any:
    """Returns a count for JSON: a number, or its least and most, or null."""
    if count is None:
        return None
    return int(count) if count.is_point else {"least": count.lower, "most": count.upper}


def _key(row: Row, column: str) -> Any:
    if column == "kernel":
        return row.kernel
    if column == "efficiency":
        return 2.0 if row.efficiency is None else row.efficiency
    count = row.wasted if column == "wasted" else row.moved
    return 1 if count is None else -(count.lower or 0)


# Text.


def bytes_text(count: Interval | None) -> str:
    """A number of bytes for people.

    >>> from xla_indexing.report import bytes_text
    >>> bytes_text(Interval(1536, 1536)), bytes_text(Interval(0, 2048)), bytes_text(None)
    ('1.5 KiB', '0 B to 2.0 KiB', '?')
    """
    if count is None:
        return "?"
    if count.is_point:
        return _size(int(count))
    most = f" to {_size(count.upper)}" if count.upper is not None else " or more"
    return f"{_size(count.lower or 0)}{most}"


def _size(count: int) -> str:
    value, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"


def _percent(row: Row) -> str:
    return "?" if row.efficiency is None else f"{100 * row.efficiency:.0f}%"


def _cells(row: Row) -> tuple[str, str, str, str, str]:
    return bytes_text(row.wasted), bytes_text(row.moved), _percent(row), _plain(row.kind), _plain(row.kernel)


def _details(row: Row | None) -> list[str]:
    if row is None:
        return []
    lines = []
    if row.worst is not None:
        lines.append(
            f"most of it for {_plain(row.worst)}" + (f": {_plain(row.worst_map)}" if row.worst_map else "")
        )
    if row.not_known is not None:
        lines.append(f"not known: {_plain(row.not_known)}")
    where = "  ".join(_plain(text) for text in (row.source, row.instruction.op_name) if text)
    if where:
        lines.append(where)
    return lines


def _plain(text: str) -> str:
    """Returns text of a module as a terminal may show it: of one line, without control characters."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _html_row(row: Row) -> str:
    right = ' style="text-align:right"'
    worst = html.escape(row.worst or "")
    if row.worst_map:
        worst += f"<br><code>{html.escape(row.worst_map)}</code>"
    if row.not_known:
        worst = f"not known: {html.escape(row.not_known)}"
    cells = [
        f"<td>{html.escape(row.kernel)}</td>",
        f"<td>{html.escape(row.kind)}</td>",
        *(f"<td{right}>{text}</td>" for text in _cells(row)[:3]),
        f'<td style="text-align:left">{worst}</td>',
        f"<td>{html.escape(row.source or '')}</td>",
    ]
    return f"<tr>{''.join(cells)}</tr>"
