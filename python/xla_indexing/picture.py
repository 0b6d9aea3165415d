"""Pictures of indexing maps: an element of one array, and the elements of others that it leads to.

A picture is SVG, without scripts and without anything from elsewhere, so that notebooks, browsers and code
hosts show it as it is; it has colours for light and for dark pages. Text of modules is escaped.

    >>> import xla_indexing as xi
    >>> transpose = xi.IndexingMap("(d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 4]")
    >>> transpose.picture(element=(1, 3))
    <Picture of element (1, 3): 1 element that it leads to>
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import math
import os
import pathlib
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._native import OUTPUT_TO_INPUT, Error

Points = npt.NDArray[np.int64]

# The most squares in a row or column of a grid; of longer dimensions a square stands for several elements.
MOST_SQUARES = 32
# The most points that are evaluated for a picture, and the most maps of one array that have a colour each.
MOST_POINTS = 1 << 24
MOST_COLOURS = 4


class Picture:
    """An SVG picture: `str()` is its text, a notebook shows it, `save()` writes it."""

    def __init__(self, svg: str, title: str) -> None:
        self._svg = svg
        self._title = title

    def __str__(self) -> str:
        return self._svg

    def __repr__(self) -> str:
        return f"<Picture of {self._title}>"

    def _repr_svg_(self) -> str:
        return self._svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture to a file, as a rule one whose name ends in `.svg`."""
        pathlib.Path(path).write_text(self._svg, encoding="utf-8")


@dataclasses.dataclass
class Array:
    """An array in a picture: what stands above it, its sizes, and sets of its elements, each with a colour.

    `sets` are integer arrays [N, dimensions]. `legend` says what each set is, `notes` stand below it,
    `axes` are the names of its dimensions, where these have other names than "dimension 0".
    """

    title: str
    sizes: tuple[int, ...]
    sets: list[Points]
    axes: list[str] = dataclasses.field(default_factory=list)
    legend: list[str] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)
    is_unknown: bool = False


def of_map(
    indexing_map: Any,
    element: Sequence[int] | None = None,
    runtime: Sequence[int] | None = None,
    *,
    sizes: tuple[Sequence[int], Sequence[int]] | None = None,
) -> Picture:
    """A map as two grids: the element that is chosen, and all elements that it leads to.

    `element` has an index for each dimension; without it one in the middle is taken. `runtime` has a value
    for each runtime variable; without it they are in the middle of their intervals too. `sizes` are those
    of the two arrays; without them they are as large as the intervals of the dimensions and the results
    need.

    Error where an interval has no end, where the element is outside of the domain, or where it
    leads to more than 2^24 points.
    """
    values = _runtime_values(indexing_map, runtime)
    first = tuple(sizes[0]) if sizes else _extent(indexing_map)
    point = _element([(indexing_map, values)], first, element)
    reads = _reads(indexing_map, point, values)
    second = tuple(sizes[1]) if sizes else _extent_of_results(indexing_map, reads)
    names = ", ".join(f"{v.name} = {i}" for v, i in zip(indexing_map.dimensions, point))
    chosen = np.array([point], dtype=np.int64).reshape(1, len(point))
    axes = [v.name for v in indexing_map.dimensions]
    start = Array(f"element ({', '.join(map(str, point))})", first, [chosen], axes)
    end = Array(_count(len(reads), "element") + " that it leads to", second, [reads])
    given = [*([names] if names else []), *_said(indexing_map, values)]
    return draw([str(indexing_map)], start, [end], given)


def svg_of(indexing_map: Any) -> str | None:
    """What a notebook shows of a map: its picture, or None where it has none."""
    try:
        return str(of_map(indexing_map))
    except Error:
        return None


def of_entry(
    entry: Any, element: Sequence[int] | None = None, runtime: Sequence[int] | None = None
) -> Picture:
    """An element of the array that the maps of an entry start from, and all elements that they lead to.

    As `of_indexing`.
    """
    return _of_entries([entry], element, runtime)


def of_indexing(
    indexing: Iterable[Any],
    element: Sequence[int] | None = None,
    runtime: Sequence[int] | None = None,
    *,
    leaf: int = 0,
    operand: int = 0,
) -> Picture:
    """An element of one array, and what it leads to in all others.

    The array is the result's `leaf` from output to input, and `leaf` of `operand` from input to output. Its
    maps to another array have a colour each, as far as there are colours. `runtime` gives the values of the
    runtime variables of all maps that have as many; those of others are in the middle of their intervals.

    A map that leads to more than 2^24 points, or has an interval without end, is not drawn, and it is said.

    Error where no entry starts from that array, or the element is not one of the array.
    """
    starting = [entry for entry in indexing if _start_of(entry) == (operand, leaf)]
    if not starting:
        starting = [entry for entry in indexing if _start_of(entry) == (None, leaf)]
    if not starting:
        raise Error("there is nothing to draw: no map starts from that array")
    return _of_entries(starting, element, runtime)


def _of_entries(entries: list[Any], element: Sequence[int] | None, runtime: Sequence[int] | None) -> Picture:
    first = entries[0]
    to_input = _start_of(first)[0] is None
    shape = first.output_shape if to_input else first.operand_shape
    name = f"result {first.output_leaf}" if to_input else _operand_title(first)
    operands = [operand for entry in entries for operand in entry.maps if operand.exactness != "unknown"]
    maps = [(operand.map, _runtime_values(operand.map, runtime)) for operand in operands]
    point = _element(maps, shape.dimensions, element)
    chosen = np.array([point], dtype=np.int64).reshape(1, len(point))
    axes = [v.name for v in maps[0][0].dimensions] if maps else []
    start = Array(f"{name}: {_short(shape)}", tuple(shape.dimensions), [chosen], axes)
    said: dict[str, None] = {f"element ({', '.join(map(str, point))})": None}
    ends = [_end_of(entry, point, runtime, to_input, said) for entry in entries]
    return draw([], start, ends, list(said))


def _end_of(
    entry: Any, point: Sequence[int], runtime: Sequence[int] | None, to_input: bool, said: dict[str, None]
) -> Array:
    shape = entry.operand_shape if to_input else entry.output_shape
    title = _operand_title(entry) if to_input else f"result {entry.output_leaf}"
    array = Array(f"{title}: {_short(shape)}", tuple(shape.dimensions), [])
    for operand in entry.maps:
        if operand.exactness == "unknown":
            array.is_unknown = True
            array.notes.append(f"unknown: {operand.reason}")
            continue
        values = _runtime_values(operand.map, runtime)
        try:
            array.sets.append(_reads(operand.map, point, values))
        except Error as error:
            array.is_unknown = True
            array.notes.append(f"not drawn: {str(operand.map).split(', domain: ', 1)[0]}: {error}")
            continue
        array.legend.append(str(operand.map).split(", domain: ", 1)[0])
        words = [variable.in_words for variable in operand.runtime_variables]
        said.update(dict.fromkeys(map(": ".join, zip(_said(operand.map, values), words))))
        if not operand.is_exact:
            array.notes.append(f"over-approximate: {operand.reason}")
    return array


def _start_of(entry: Any) -> tuple[int | None, int]:
    """Returns the array that an entry starts from: no operand and a leaf of the result, or an operand and
    its leaf."""
    if entry.direction == OUTPUT_TO_INPUT:
        return None, entry.output_leaf
    return entry.operand, entry.operand_leaf


def _operand_title(entry: Any) -> str:
    leaf = f" leaf {entry.operand_leaf}" if entry.operand_leaf else ""
    return f"{entry.operand_name}{leaf}"


def _short(shape: Any) -> str:
    return str(shape).split("{", 1)[0]


# What is drawn.


def _bounds(variable: Any) -> tuple[int, int]:
    if variable.lower is None or variable.upper is None:
        raise Error(f"{variable.name} has an interval without end, which no picture can show")
    return variable.lower, variable.upper


def _extent(indexing_map: Any) -> tuple[int, ...]:
    return tuple(max(_bounds(v)[1] + 1, 1) for v in indexing_map.dimensions)


def _extent_of_results(indexing_map: Any, reads: Points) -> tuple[int, ...]:
    """Returns the sizes of an array that holds all results, or `reads` where the rest is not known."""
    largest = reads.max(axis=0, initial=0).tolist()
    try:
        ranges = indexing_map.image().ranges
    except Error:
        ranges = ()
    if len(ranges) == len(largest):
        largest = [max(size, *r[-1:]) if len(r) else size for size, r in zip(largest, ranges)]
    return tuple(int(size) + 1 for size in largest)


def _finite(variable: Any) -> tuple[int, int]:
    low = variable.lower if variable.lower is not None else 0
    high = variable.upper if variable.upper is not None else max(low, 0)
    return low, high


def _runtime_values(indexing_map: Any, runtime: Sequence[int] | None) -> tuple[int, ...]:
    variables = list(indexing_map.runtime_variables)
    if runtime is not None and len(runtime) == len(variables):
        return tuple(int(value) for value in runtime)
    return tuple(sum(_finite(v)) // 2 for v in variables)


def _said(indexing_map: Any, values: Sequence[int]) -> list[str]:
    """Returns what the picture says of runtime variables: their values and their intervals."""
    return [
        f"{v.name} = {value} of [{v.lower}, {v.upper}]"
        for v, value in zip(indexing_map.runtime_variables, values)
    ]


def _element(
    maps: Sequence[tuple[Any, tuple[int, ...]]], sizes: Sequence[int], element: Sequence[int] | None
) -> tuple[int, ...]:
    """Returns the element that is asked for, or one near the middle that the maps lead somewhere from."""
    if element is not None:
        point = tuple(int(index) for index in element)
        if len(point) != len(sizes) or any(not 0 <= i < size for i, size in zip(point, sizes)):
            raise Error(f"the element {list(point)} is not one of an array of {list(sizes)}")
        return point
    if 0 in sizes:
        raise Error(f"an array of {list(sizes)} has no element to choose")
    middle = [size // 2 for size in sizes]
    candidates = [middle, [size // 3 for size in sizes], [0] * len(sizes), [size - 1 for size in sizes]]
    rng = np.random.default_rng(0)
    candidates += rng.integers(0, np.array(sizes, dtype=np.int64), (200, len(sizes))).tolist()
    points = np.array(candidates, dtype=np.int64).reshape(len(candidates), len(sizes))
    score = np.zeros(len(points))
    for indexing_map, runtime in maps:
        # A map that takes too long to try has no say.
        with contextlib.suppress(Error):
            score += indexing_map.in_domain(points, runtime=runtime or None, max_points=MOST_POINTS)
    return tuple(int(index) for index in points[int(np.argmax(score))])


def _reads(indexing_map: Any, point: Sequence[int], runtime: Sequence[int]) -> Points:
    points = np.array([point], dtype=np.int64).reshape(1, len(point))
    _, elements = indexing_map.reads(points, runtime=list(runtime) or None, max_points=MOST_POINTS)
    return np.unique(np.asarray(elements, dtype=np.int64), axis=0)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


# A grid of squares: two dimensions of an array.


@dataclasses.dataclass
class Axis:
    """A dimension along the rows or columns of a grid; without one, a single square."""

    dimension: int | None
    size: int
    name: str = ""

    @property
    def step(self) -> int:
        """How many elements a square stands for."""
        return max(1, -(-self.size // MOST_SQUARES))

    @property
    def squares(self) -> int:
        return max(1, -(-self.size // self.step))


@dataclasses.dataclass
class Grid:
    """The plane of an array that is shown, and how much of each square each set fills."""

    rows: Axis
    columns: Axis
    shares: list[npt.NDArray[np.float64]]
    fixed: list[str]


def grid_of(array: Array) -> Grid:
    """Chooses the two dimensions along which the sets extend most, the last ones first, and cuts there."""
    rank = len(array.sizes)
    everything = np.concatenate([*array.sets, np.zeros((0, rank), dtype=np.int64)])
    spread = [len(np.unique(everything[:, d])) if len(everything) else 0 for d in range(rank)]
    order = sorted(range(rank), key=lambda d: (min(spread[d], 2), array.sizes[d] > 1, d), reverse=True)
    shown = sorted(order[:2])
    names = array.axes or [f"dimension {d}" for d in range(rank)]
    axes = [Axis(d, array.sizes[d], names[d]) for d in shown]
    rows = axes[0] if rank > 1 else Axis(None, 1)
    columns = axes[-1] if rank > 0 else Axis(None, 1)
    cut = {d: int(everything[0, d]) if len(everything) else 0 for d in range(rank) if d not in shown}
    fixed = []
    for d, index in cut.items():
        more = f", also at {_count(spread[d] - 1, 'other')}" if spread[d] > 1 else ""
        fixed.append(f"{names[d]} at {index} of {array.sizes[d]}{more}")
    shares = [_shares(points, rows, columns, cut) for points in array.sets]
    return Grid(rows, columns, shares, fixed)


def _shares(points: Points, rows: Axis, columns: Axis, cut: dict[int, int]) -> npt.NDArray[np.float64]:
    """Returns the share of the elements of each square that are among the points."""
    for dimension, index in cut.items():
        points = points[points[:, dimension] == index]
    counts = np.zeros((rows.squares, columns.squares))
    zero = np.zeros(len(points), dtype=np.int64)
    row = points[:, rows.dimension] // rows.step if rows.dimension is not None else zero
    column = points[:, columns.dimension] // columns.step if columns.dimension is not None else zero
    inside = (row >= 0) & (row < rows.squares) & (column >= 0) & (column < columns.squares)
    np.add.at(counts, (row[inside], column[inside]), 1)
    heights = np.minimum(rows.step, rows.size - np.arange(rows.squares) * rows.step)
    widths = np.minimum(columns.step, columns.size - np.arange(columns.squares) * columns.step)
    share: npt.NDArray[np.float64] = counts / np.maximum(1, heights[:, None] * widths[None, :])
    return share


# SVG.

# For light and for dark pages. The colours of sets are those of Okabe and Ito, which colour-blind people tell
# apart, darker on light paper. Text has a contrast of at least 4.5 to 1, all else of 3 to 1.
_LIGHT = {
    "paper": "#ffffff",
    "square": "#f3f5f7",
    "line": "#8a929b",
    "text": "#1f2328",
    "faint": "#57606a",
    "chosen": "#c04a00",
    "sets": ["#0072b2", "#00805e", "#a9447c", "#8a6d00"],
}
_DARK = {
    "paper": "#0d1117",
    "square": "#1b2129",
    "line": "#5f6974",
    "text": "#e6edf3",
    "faint": "#a4adb7",
    "chosen": "#ff9b4a",
    "sets": ["#56b4e9", "#35c497", "#dd8fbb", "#e5c747"],
}
_FONT = "font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif"
_MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
_MARGIN = 16
_MOST_LINES = 12  # of one text; of longer ones the beginning is shown
_LINE = 17
_CHARACTER = 6.9  # the width of a character of text of 12 pixels, about
_MONO_CHARACTER = 7.3


def _style(name: str, colours: dict[str, Any]) -> str:
    rules = [
        f".p{{fill:{colours['paper']};stroke:{colours['line']}}}",
        f".g{{fill:{colours['square']};stroke:{colours['line']};stroke-width:.6}}",
        f".l{{fill:none;stroke:{colours['line']};stroke-width:.6}}",
        f".t{{fill:{colours['text']}}}",
        f".f{{fill:{colours['faint']}}}",
        f".c{{fill:{colours['chosen']};stroke:{colours['text']};stroke-width:1.5}}",
        f".a{{stroke:{colours['faint']};stroke-width:1.5;fill:none}}",
        *(f".s{i}{{fill:{colour}}}" for i, colour in enumerate(colours["sets"])),
    ]
    return "".join(f"#{name} {rule}" for rule in rules)


def clean(text: object) -> str:
    """Escapes text for XML, and replaces what XML does not allow."""
    allowed = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
    return allowed.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


class _Canvas:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.width = 0.0
        self.height = 0.0

    def grow(self, x: float, y: float) -> None:
        self.width, self.height = max(self.width, x), max(self.height, y)

    def text(
        self, x: float, y: float, text: str, kind: str = "t", anchor: str = "start", style: str = ""
    ) -> None:
        """Puts text with its base line at y."""
        anchored = f' text-anchor="{anchor}"' if anchor != "start" else ""
        styled = f' style="{style}"' if style else ""
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}"{anchored}{styled}>{clean(text)}</text>')
        left = {"start": x, "middle": x - len(text) * _CHARACTER / 2, "end": x}[anchor]
        character = _MONO_CHARACTER if _MONO in style else _CHARACTER
        self.grow(left + len(text) * character if anchor != "end" else x, y + 4)

    def square(self, kind: str, x: float, y: float, width: float, height: float) -> None:
        self.parts.append(f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"/>')
        self.grow(x + width, y + height)


def draw(heading: Sequence[str], start: Array, ends: Sequence[Array], given: Sequence[str]) -> Picture:
    """Draws arrays side by side: the first with the element that is chosen, then those that it leads to."""
    canvas = _Canvas()
    y = float(_MARGIN)
    for text in heading:
        for line in _wrapped(text, 100):
            y += _LINE
            canvas.text(_MARGIN, y - 4, line, style=_MONO)
    for line in _wrapped(" · ".join(given), 100):
        y += _LINE
        canvas.text(_MARGIN, y - 4, line, "f")
    top = y + (8 if y > _MARGIN else 0)
    right, bottom = _panel(canvas, start, _MARGIN, top, is_start=True)
    x, row_bottom = right, bottom
    arrow = (right + 8, top + _LINE + 22.0)
    canvas.parts.append(f'<path class="a" d="M{arrow[0]:g} {arrow[1]:g}h22m-7 -5l7 5l-7 5"/>')
    first_x = x = right + 46
    for number, end in enumerate(ends):
        if number and x > 820:
            x, top = first_x, row_bottom + 14
        right, bottom = _panel(canvas, end, x, top, is_start=False)
        row_bottom = max(row_bottom, bottom)
        x = right + 28
    title = f"{start.title}: {', '.join(end.title for end in ends)}"
    return Picture(_document(canvas, _described(heading, start, ends, given)), title)


def _described(heading: Sequence[str], start: Array, ends: Sequence[Array], given: Sequence[str]) -> str:
    """Returns what the picture shows in words, for those who do not see it."""
    words = [f"{start.title}; {'; '.join(given)}."]
    for end in ends:
        number = _count(len(np.unique(np.concatenate(end.sets), axis=0)) if end.sets else 0, "element")
        words.append(f"{end.title}: {f'{number} and more' if end.is_unknown else number}.")
    return textwrap.shorten(" ".join([*heading, *words]), 2000, placeholder=" ...")


def _document(canvas: _Canvas, description: str) -> str:
    width, height = math.ceil(canvas.width + _MARGIN), math.ceil(canvas.height + _MARGIN)
    body = "\n".join(canvas.parts)
    name = "xi" + hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()[:10]
    dark = f"@media(prefers-color-scheme:dark){{{_style(name, _DARK)}}}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" id="{name}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="{name}d" '
        f'style="{_FONT};font-size:12px">\n'
        f'<desc id="{name}d">{clean(description)}</desc>\n'
        f"<style>{_style(name, _LIGHT)}{dark}</style>\n"
        f'<rect class="p" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>\n'
        f"{body}\n</svg>\n"
    )


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text, width, subsequent_indent="  ", break_on_hyphens=False, max_lines=_MOST_LINES, placeholder=" ..."
    )


def _panel(canvas: _Canvas, array: Array, x: float, y: float, *, is_start: bool) -> tuple[float, float]:
    """Draws an array with its title and what is said of it. Returns its right and its lower end."""
    grid = grid_of(array)
    title = array.title if len(array.title) <= 60 else array.title[:57] + "..."
    canvas.text(x, y + 13, title, style="font-weight:600")
    right = x + len(title) * _CHARACTER
    longest = max(grid.rows.squares, grid.columns.squares)
    side = float(min(22, max(9, 264 // longest)))
    left = x + (_label_width(grid.rows) if grid.rows.dimension is not None else 0)
    top = y + _LINE + (_LINE + 2 if grid.columns.dimension is not None else 4)
    _squares(canvas, grid, left, top, side, array, is_start)
    _labels(canvas, grid, left, top, side)
    right = max(right, left + grid.columns.squares * side)
    bottom = top + grid.rows.squares * side
    for kind, line in _below(grid, array, is_start):
        bottom += _LINE
        offset = 0.0 if kind is None else 14.0
        if kind is not None and kind >= 0:
            canvas.square(f"s{kind}", x, bottom - 9, 9, 9)
        canvas.text(x + offset, bottom, line, "f" if kind is None else "t")
        right = max(right, x + offset + len(line) * _CHARACTER)
    return right, bottom


def _below(grid: Grid, array: Array, is_start: bool) -> list[tuple[int | None, str]]:
    """Returns the lines below a grid, each with the number of the colour that it explains, if any.

    A line with the number -1 goes on with the one before.
    """
    lines: list[tuple[int | None, str]] = []
    width = 44
    if grid.rows.step > 1 or grid.columns.step > 1:
        what = f"{grid.rows.step} x {grid.columns.step}" if len(array.sizes) > 1 else str(grid.columns.step)
        lines.append((None, f"a square is {what} elements,"))
        lines.append((None, "a small one only some of them"))
    fixed = [] if array.is_unknown else grid.fixed
    lines += [(None, line) for text in fixed for line in _wrapped(text, width)]
    for number, text in enumerate(array.legend):
        colour = min(number, MOST_COLOURS - 1)
        if number > MOST_COLOURS - 1:
            lines.append((colour, f"and {_count(len(array.legend) - number, 'other map')}"))
            break
        head, *rest = _wrapped(text, width)
        lines.append((colour, head))
        lines += [(-1, line) for line in rest]
    lines += [(None, line) for text in array.notes for line in _wrapped(text, width)]
    if not is_start and not array.is_unknown and not any(len(points) for points in array.sets):
        lines.append((None, "nothing is read"))
    return lines


def _label_width(axis: Axis) -> float:
    return max(len(str(axis.size - 1)), 2) * _CHARACTER + 20


def _squares(
    canvas: _Canvas, grid: Grid, left: float, top: float, side: float, array: Array, is_start: bool
) -> None:
    width, height = grid.columns.squares * side, grid.rows.squares * side
    canvas.square("g", left, top, width, height)
    lines = "".join(f"M{left + i * side:g} {top:g}v{height:g}" for i in range(1, grid.columns.squares))
    lines += "".join(f"M{left:g} {top + i * side:g}h{width:g}" for i in range(1, grid.rows.squares))
    if lines:
        canvas.parts.append(f'<path class="l" d="{lines}"/>')
    if array.is_unknown:
        canvas.text(left + width / 2, top + height / 2 + 4, "?", "f", "middle")
    if is_start:
        for row, column in np.argwhere(grid.shares[0] > 0):
            canvas.square("c", left + column * side, top + row * side, side, side)
        return
    _sets(canvas, grid, left, top, side)


def _sets(canvas: _Canvas, grid: Grid, left: float, top: float, side: float) -> None:
    """Fills squares with the colours of the sets that they have elements of, side by side."""
    if not grid.shares:
        return
    stack = np.stack(grid.shares[:MOST_COLOURS])
    if len(grid.shares) > MOST_COLOURS:
        stack[-1] = np.max(grid.shares[MOST_COLOURS - 1 :], axis=0)
    for number, row, column in np.argwhere(stack > 0):
        beside = stack[:, row, column] > 0
        inset = min(1.0, side / 10) if stack[number, row, column] >= 1 else side / 5
        width = (side - 2 * inset) / beside.sum()
        x = left + column * side + inset + beside[:number].sum() * width
        canvas.square(f"s{number}", x, top + row * side + inset, width, side - 2 * inset)


def _labels(canvas: _Canvas, grid: Grid, left: float, top: float, side: float) -> None:
    """Writes the first and last index of both axes, and which dimensions they are."""
    small = "font-size:11px"
    columns, rows = grid.columns, grid.rows
    if columns.dimension is not None:
        end = left + columns.squares * side
        canvas.text(left + side / 2, top - 4, "0", "f", "middle", small)
        if columns.size > 1:
            canvas.text(end, top - 4, str(columns.size - 1), "f", "end", small)
        name = columns.name
        if columns.squares * side > (len(name) + len(str(columns.size)) + 4) * 6.2:
            canvas.text((left + end) / 2, top - 4, name, "f", "middle", small)
    if rows.dimension is not None:
        end = top + rows.squares * side
        canvas.text(left - 5, top + side / 2 + 4, "0", "f", "end", small)
        if rows.size > 1:
            canvas.text(left - 5, end - side / 2 + 4, str(rows.size - 1), "f", "end", small)
        name = rows.name
        if rows.squares * side > len(name) * 6.2 + 3 * side:
            middle = (top + end) / 2
            turned = f"translate({left - _label_width(rows) + 11:g} {middle:g}) rotate(-90)"
            canvas.parts.append(
                f'<text class="f" text-anchor="middle" transform="{turned}" style="{small}">'
                f"{clean(name)}</text>"
            )
