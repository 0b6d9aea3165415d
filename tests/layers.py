#!/usr/bin/env python3
"""Checks how the files of the library include each other.

1. Layers. A layer includes itself and what its arrows lead to:
       tools -> report -> tiling -> gpu -> query -> fusion -> ops -> {hlo, map},  map -> affine -> base,  hlo -> base,
       tools -> stablehlo -> hlo,  {tools, plugin} -> {lowering, report},  lowering -> tiling,
       plugin -> linalg -> {fusion, stablehlo}
   base and hlo know no MLIR.
2. Rooms. The table in a layer's README.md lists its folders, `./` for the layer's own. A room includes only itself
   and rooms above it in the table. Every folder with sources is listed, and none has more than 22 files.
3. Public headers, those that cmake/XlaIndexingHeaders.cmake lists, include public headers only, and their comments
   name no others: they are all that is installed.
4. The extension modules of the Python package, python/src, include public headers only, and what runs MLIR, which
   is compiled into one of them.
5. No circles. A header and the source file of its name are one unit; no unit includes itself through others.
6. Tests mirror the library: every folder of tests/<layer> is a room of that layer.

    tests/layers.py [SOURCE_DIRECTORY]
    tests/layers.py --public          # lists the public headers
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
    "stablehlo": ["hlo"],
    "ops": ["hlo", "map"],
    "fusion": ["ops"],
    "query": ["fusion"],
    "gpu": ["query"],
    "tiling": ["gpu"],
    "report": ["tiling"],
    "lowering": ["tiling"],
    "linalg": ["fusion", "stablehlo"],
    "plugin": ["report", "lowering", "linalg"],
    "tools": ["report", "stablehlo", "lowering"],
}
RUNS_MLIR = "xla_indexing/lowering/run/run_mlir.h"
WITHOUT_MLIR = {"base", "hlo"}
MOST_FILES = 22
HEADER = re.compile(r"\b(?:[a-z_0-9]+/)+[a-z_0-9]+\.h\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
ROOM = re.compile(r"^\| `([a-z_/]+|\./)` \|", re.MULTILINE)


def reachable(layer):
    """The layer and all that its arrows lead to."""
    found = {layer}
    for below in DEPENDS[layer]:
        found |= reachable(below)
    return found


def public_headers(source):
    """The paths of the public headers, from the list that CMake installs."""
    listing = source / "cmake/XlaIndexingHeaders.cmake"
    if not listing.exists():
        return set()
    return {f"xla_indexing/{header}" for header in re.findall(r"^\s+([\w/]+\.h)\b", listing.read_text(), re.MULTILINE)}


def rooms(source, layer):
    """The folders of the layer in the order of its README.md, as `xla_indexing/ops/loops`."""
    readme = source / "xla_indexing" / layer / "README.md"
    if not readme.exists():
        return []
    names = ROOM.findall(readme.read_text())
    return [f"xla_indexing/{layer}" + ("" if name == "./" else f"/{name.rstrip('/')}") for name in names]


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


def python_findings(source, public, graph):
    for file in sorted(source.glob("python/src/*")):
        path = file.relative_to(source).as_posix()
        unit = path.rsplit(".", 1)[0]
        graph[unit]  # Known, though it may include nothing.
        for include in INCLUDE.findall(file.read_text()):
            if include.startswith("xla_indexing/") and include not in public and include != RUNS_MLIR:
                yield f"{path}: the Python package includes public headers only: {include}"
            if include.startswith("python/src/") and (target := include.rsplit(".", 1)[0]) != unit:
                graph[unit].add(target)


def room_findings(source, files):
    """What is wrong with the folders themselves, and with those of the tests."""
    sizes = collections.Counter(file.parent.relative_to(source).as_posix() for file in files)
    for layer in DEPENDS:
        known = rooms(source, layer)
        for folder in sorted(sizes):
            if (folder == f"xla_indexing/{layer}" or folder.startswith(f"xla_indexing/{layer}/")) and folder not in known:
                yield f"{folder}: is no room in the table of xla_indexing/{layer}/README.md"
        for folder in known:
            if sizes[folder] == 0:
                yield f"{folder}: is in the table of xla_indexing/{layer}/README.md and has no files"
        for folder in sorted({file.parent for file in source.glob(f"tests/{layer}/**/*_test.cc")}):
            room = folder.relative_to(source / "tests").as_posix()
            if room != layer and f"xla_indexing/{room}" not in known:
                yield f"tests/{room}: mirrors no room of xla_indexing/{layer}"
    for folder, size in sorted(sizes.items()):
        if size > MOST_FILES:
            yield f"{folder}: has {size} files, more than {MOST_FILES}"


def findings(source):
    graph = collections.defaultdict(set)
    public = public_headers(source)
    order = {layer: rooms(source, layer) for layer in DEPENDS}
    files = sorted(source.glob("xla_indexing/**/*.h")) + sorted(source.glob("xla_indexing/**/*.cc"))
    yield from python_findings(source, public, graph)
    for header in sorted(public):
        if not (source / header).exists():
            yield f"{header}: is in cmake/XlaIndexingHeaders.cmake and does not exist"
            continue
        for line in (source / header).read_text().splitlines():
            for named in HEADER.findall(line.partition("//")[2]):
                path = named if named.startswith("xla_indexing/") else f"xla_indexing/{named}"
                if path not in public and (source / path).exists():
                    yield f"{header}: a public header names one that is not: {named}"
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
        room = path.rsplit("/", 1)[0]
        for include in INCLUDE.findall(file.read_text()):
            if re.match(r"(mlir|llvm)(-c)?/", include) and layer in WITHOUT_MLIR:
                yield f"{path}: {layer} uses no MLIR: {include}"
            if not include.startswith("xla_indexing/"):
                continue
            other = include.split("/")[1]
            if include.count("/") > 1 and other not in reachable(layer):
                yield f"{path}: {layer} may not include {other}: {include}"
            other_room = include.rsplit("/", 1)[0]
            known = order[layer]
            if room in known and other_room in known and known.index(other_room) > known.index(room):
                yield f"{path}: {room} may not include {other_room}, which comes after it: {include}"
            if path in public and include not in public:
                yield f"{path}: a public header may not include {include}"
            if (target := include.rsplit(".", 1)[0]) != unit:
                graph[unit].add(target)
    yield from room_findings(source, [file for file in files if len(file.relative_to(source).parts) > 2])
    for circle in circles(graph):
        yield f"a circle of files: {', '.join(circle)}"
    if not files:
        yield f"{source}: there are no files in xla_indexing/"


def main(arguments):
    source = pathlib.Path(__file__).parent.parent
    if arguments == ["--public"]:
        print("\n".join(sorted(public_headers(source))))
        return 0
    wrong = list(findings(pathlib.Path(arguments[0]) if arguments else source))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
