"""Pictures of indexing maps: an element of one array, and the elements of others that it maps to.

`IndexingMap.picture`, `Entry.picture` and `Indexing.picture` make them. A picture is SVG, without scripts and
without anything from elsewhere, so that notebooks, browsers and code hosts show it as it is; it has colours
for light and for dark pages. Text of modules is escaped.

    >>> import xla_indexing as xi
    >>> transpose = xi.IndexingMap("(d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 4]")
    >>> transpose.picture(element=(1, 3))
    <Picture of element (1, 3): 1 element that it maps to>
"""

from __future__ import annotations

import os
import pathlib


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
