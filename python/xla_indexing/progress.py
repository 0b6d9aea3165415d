"""A progress bar on standard error, on a terminal alone, and only for what takes more than a second."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TextIO

_BEFORE_FIRST = 1.0  # seconds until it shows, and between two changes
_BETWEEN = 0.1
_WIDTH = 30


class Progress:
    """Call it with how much of how much is done.

    >>> from xla_indexing.progress import Progress
    >>> with Progress("model") as progress:
    ...     for i in range(3):
    ...         progress(i, 3)
    """

    def __init__(self, what: str, stream: TextIO | None = None) -> None:
        self._what = "".join(c if c.isprintable() else "?" for c in what)[:30]
        self._stream = sys.stderr if stream is None else stream
        self._start = time.monotonic()
        self._next = self._start + _BEFORE_FIRST
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._shown = False
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def show_percent(self, percent: int) -> None:
        """Shows how long a question has taken, and how much of the steps that it may take."""
        steps = f", {percent} % of its steps" if percent > 0 else ""
        seconds = time.monotonic() - self._start
        self._show(percent, 100, f"{seconds:.0f} s{steps}; Ctrl-C ends it")

    def end(self) -> None:
        """Takes the bar away."""
        self.__exit__(None, None, None)

    def __call__(self, done: int, of: int) -> None:
        self._show(done, of, f"{done:,} of {of:,}")

    def _show(self, done: int, of: int, text: str) -> None:
        now = time.monotonic()
        if now < self._next or of <= 0 or not self._stream.isatty():
            return
        self._next = now + _BETWEEN
        self._shown = True
        filled = min(_WIDTH, done * _WIDTH // of)
        bar = "#" * filled + "-" * (_WIDTH - filled)
        self._stream.write(f"\r\x1b[K{self._what} [{bar}] {text}")
        self._stream.flush()
