"""The examples of the documentation: every one runs, and gives what stands there."""

from __future__ import annotations

import doctest
import importlib
import json
import pathlib
import pkgutil

import notebook
import pytest

import xla_indexing as xi

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_the_tour_gives_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False, optionflags=FLAGS)
    assert result.attempted > 20
    assert result.failed == 0


def python_modules() -> list[str]:
    return [m.name for m in pkgutil.iter_modules(xi.__path__) if not m.name.startswith(("_", "cli"))]


@pytest.mark.parametrize("name", python_modules())
def test_docstrings_of_python_files_give_what_they_say(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"xla_indexing.{name}"), optionflags=FLAGS).failed == 0


def test_the_notebook_gives_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    cells = json.loads((ROOT / "examples/python_tour.ipynb").read_text(encoding="utf-8"))
    shown = [cell["outputs"] for cell in cells["cells"] if cell["cell_type"] == "code"]
    assert notebook.run(cells) == shown


def test_the_picture_of_the_readme_is_what_the_command_draws(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    from xla_indexing.cli import main

    drawn = tmp_path / "softmax.svg"
    assert main(["show", "examples/softmax.hlo", "--picture", str(drawn), "--element", "1,20,60"]) == 0
    assert drawn.read_text(encoding="utf-8") == (ROOT / "docs/softmax.svg").read_text(encoding="utf-8")
