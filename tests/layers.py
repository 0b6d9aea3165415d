#!/usr/bin/env python3
"""Checks how the files of the library include each other.

1. Layers. A layer includes itself and what its arrows lead to:
       tools -> report -> {gpu, tiling} -> query -> fusion -> ops -> {hlo, map},  map -> affine -> base,  hlo -> base
   base and hlo know no MLIR.
2. Public headers, those outside of internal/, include public headers only: they are all that is installed.
3. The extension module of the Python package, python/src, includes public headers only, of all layers but tools.
4. No circles. A header and the source file of its name are one unit; no unit includes itself through others.

    tests/layers.py [SOURCE_DIRECTORY]
"""

import collections
import pathlib
import re
import sys

DEPENDS = {
    "base": [],
    "affine": ["base"],
    "map": ["affine"],
    "hlo": ["base"],
    "ops": ["hlo", "map"],
    "fusion": ["ops"],
    "query": ["fusion"],
    "gpu": ["query"],
    "tiling": ["query"],
    "report": ["gpu", "tiling"],
    "tools": ["report"],
}
WITHOUT_MLIR = {"base", "hlo"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def reachable(layer):
    """The layer and all that its arrows lead to."""
    found = {layer}
    for below in DEPENDS[layer]:
        found |= reachable(below)
    return found


def is_public(path):
    return path.endswith(".h") and "/internal/" not in path and not path.startswith("xla_indexing/tools/")


def circles(graph):
    """The strongly connected components of more than one unit (Tarjan's algorithm)."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []

    def visit(unit):
        index[unit] = low[unit] = len(index)
        stack.append(unit)
        on_stack.add(unit)
        for other in sorted(graph[unit]):
            if other not in index:
                visit(other)
                low[unit] = min(low[unit], low[other])
            elif other in on_stack:
                low[unit] = min(low[unit], index[other])
        if low[unit] != index[unit]:
            return
        component = []
        while not component or component[-1] != unit:
            component.append(stack.pop())
            on_stack.discard(component[-1])
        if len(component) > 1:
            found.append(sorted(component))

    sys.setrecursionlimit(10_000)
    for unit in sorted(graph):
        if unit not in index:
            visit(unit)
    return found


def findings(source):
    graph = collections.defaultdict(set)
    files = sorted(source.glob("xla_indexing/**/*.h")) + sorted(source.glob("xla_indexing/**/*.cc"))
    for file in sorted(source.glob("python/src/*")):
        path = file.relative_to(source).as_posix()
        unit = path.rsplit(".", 1)[0]
        graph[unit]  # Known, though it may include nothing.
        for include in INCLUDE.findall(file.read_text()):
            if include.startswith("xla_indexing/") and not is_public(include):
                yield f"{path}: the Python package includes public headers only: {include}"
            if include.startswith("python/src/") and (target := include.rsplit(".", 1)[0]) != unit:
                graph[unit].add(target)
    for file in files:
        path = file.relative_to(source).as_posix()
        parts = path.split("/")
        if len(parts) == 2:
            continue  # The umbrella header and the like.
        layer = parts[1]
        if layer not in DEPENDS:
            yield f"{path}: is in no layer that tests/layers.py knows"
            continue
        unit = path.rsplit(".", 1)[0]
        graph[unit]  # Known, though it may include nothing.
        for include in INCLUDE.findall(file.read_text()):
            if re.match(r"(mlir|llvm)(-c)?/", include) and layer in WITHOUT_MLIR:
                yield f"{path}: {layer} uses no MLIR: {include}"
            if not include.startswith("xla_indexing/"):
                continue
            other = include.split("/")[1]
            if include.count("/") > 1 and other not in reachable(layer):
                yield f"{path}: {layer} may not include {other}: {include}"
            if is_public(path) and not is_public(include):
                yield f"{path}: a public header may not include {include}"
            if (target := include.rsplit(".", 1)[0]) != unit:
                graph[unit].add(target)
    for circle in circles(graph):
        yield f"a circle of files: {', '.join(circle)}"
    if not files:
        yield f"{source}: there are no files in xla_indexing/"


def main(arguments):
    source = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    wrong = list(findings(source))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
