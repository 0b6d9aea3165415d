"""The command line `xla-indexing`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from . import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="xla-indexing", description="Symbolic indexing maps of XLA HLO.")
    parser.add_argument("--version", action="version", version=f"xla-indexing {__version__}")
    parser.parse_args(arguments)
    parser.print_help()
    return 0
