"""The examples of the documentation: every one runs, and gives what stands there."""

from __future__ import annotations

import doctest
import json
import pathlib

import notebook
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize(
    ("page", "least"),
    [("docs/python.md", 40), ("docs/dependence.md", 20), ("docs/lowering.md", 6), ("README.md", 2)],
)
def test_pages_give_what_they_say(page: str, least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jax")
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(ROOT / page), module_relative=False, optionflags=FLAGS)
    assert result.attempted >= least
    assert result.failed == 0


@pytest.mark.parametrize("name", ["python_tour", "causality"])
def test_notebooks_give_what_they_show(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jax")
    monkeypatch.chdir(ROOT)
    cells = json.loads((ROOT / f"examples/{name}.ipynb").read_text(encoding="utf-8"))
    shown = [cell["outputs"] for cell in cells["cells"] if cell["cell_type"] == "code"]
    assert notebook.run(cells) == shown


def test_the_picture_of_the_tour_is_what_the_command_draws(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    from xla_indexing.cli import main

    drawn = tmp_path / "softmax.svg"
    assert main(["show", "examples/softmax.hlo", "--picture", str(drawn), "--element", "1,20,60"]) == 0
    assert drawn.read_text(encoding="utf-8") == (ROOT / "docs/python_softmax.svg").read_text(encoding="utf-8")
