"""Runs a notebook as Jupyter does, without Jupyter: cells in order, in one namespace, the last expression
shown.

    python python/tests/notebook.py examples/python_tour.ipynb

writes the outputs into the notebook; the tests compare them with those of a run.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import pathlib
import sys
from typing import Any

_REPRESENTATIONS = {
    "image/svg+xml": "_repr_svg_",
    "text/html": "_repr_html_",
}


def run(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Runs the code cells; returns the outputs of each. What a cell raises is raised."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    code_cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [_run_cell("".join(cell["source"]), n + 1, namespace) for n, cell in enumerate(code_cells)]


def _run_cell(source: str, number: int, namespace: dict[str, Any]) -> list[dict[str, Any]]:
    tree = ast.parse(source, f"<cell {number}>")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"<cell {number}>", "exec"), namespace)
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"<cell {number}>", "eval"), namespace)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        for kind, method in _REPRESENTATIONS.items():
            shown = getattr(value, method, lambda: None)()
            if shown is not None:
                data[kind] = _lines(shown)
        outputs.append(
            {"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"}
        )
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def write(path: pathlib.Path) -> None:
    """Runs a notebook and keeps its outputs in it."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    outputs = iter(enumerate(run(notebook), 1))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["execution_count"], cell["outputs"] = next(outputs)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        write(pathlib.Path(argument))
