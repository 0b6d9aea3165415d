"""CUDA kernels from indexing maps, and what the library predicts that they cost.

A kernel has a *site* for each map through which the library says that memory is accessed. A site is one load
or one store of the source, so that the accesses that happen there are those that the library counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from accesses import Access, Tile

import xla_indexing as xi

LOAD, STORE = "global load", "global store"
SHARED_LOAD, SHARED_STORE = "shared load", "shared store"


@dataclass(frozen=True)
class Site:
    """A load or a store of a kernel.

    `predicted` are the least and the most sectors (global memory) or wavefronts (shared memory) of a launch.
    """

    kind: str
    what: str
    predicted: tuple[int, int]


@dataclass
class Kernel:
    access: Access
    grid: list[int] = field(default_factory=list)
    block: list[int] = field(default_factory=list)
    inputs: dict[str, tuple[int, ...]] = field(default_factory=dict)  # sizes of p and i
    output: tuple[int, ...] = ()
    sites: list[Site] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.access.name

    def predicted(self, kind: str) -> tuple[int, int]:
        """The sum over the sites of this kind."""
        costs = [site.predicted for site in self.sites if site.kind == kind]
        return sum(low for low, _ in costs), sum(high for _, high in costs)


def expression(text: str) -> str:
    """An affine expression in C++, in which Index divides as maps do: rounding down."""
    return text.replace("floordiv", "/").replace("mod", "%")


def bounds(interval: xi.Interval) -> tuple[int, int]:
    if interval.lower is None or interval.upper is None:
        raise ValueError(f"there is no end of {interval}")
    return interval.lower, interval.upper


def condition(indexing_map: xi.IndexingMap) -> str:
    """What holds in the domain of a map besides the intervals of its variables; empty: nothing else."""
    parts = []
    for constraint in indexing_map.constraints:
        low, high = bounds(constraint.bounds)
        parts.append(f"Within({expression(constraint.expression)}, {low}, {high})")
    return " && ".join(parts)


def offset(indices: list[str], sizes: tuple[int, ...]) -> str:
    """Where an element lies in a row-major array: a sum in parentheses, or a single variable or number."""
    place = ""
    for index, size in zip(indices, sizes):
        factor = f"({index})" if " " in index else index
        place = f"({place} * {size} + {factor})" if place else factor
    return place or "0"


class Writer:
    """Writes the source of one kernel."""

    def __init__(self, kernel: Kernel, module: xi.Module) -> None:
        self.kernel = kernel
        self.depth = 1
        root = module.entry.root
        assert root is not None
        for parameter in module.entry.parameters:
            kernel.inputs[parameter.name] = tuple(parameter.shape.dimensions)
        kernel.output = tuple(root.shape.dimensions)
        self.entries = {entry.operand_name: entry for entry in module.entry.indexing()}

    def line(self, text: str) -> None:
        self.kernel.lines.append("  " * self.depth + text)

    def open(self, text: str = "") -> None:
        self.line(f"{text} {{" if text else "{")
        self.depth += 1

    def close(self, down_to: int) -> None:
        while self.depth > down_to:
            self.depth -= 1
            self.line("}")

    def site(self, kind: str, what: str, predicted: xi.Interval) -> int:
        self.kernel.sites.append(Site(kind, what, bounds(predicted)))
        return len(self.kernel.sites) - 1

    def launch(self, threads: xi.IndexingMap) -> None:
        """Takes the sizes of blocks and of the grid from a thread map; all of a kernel's have the same."""
        sizes = {variable.name: bounds(variable.bounds)[1] + 1 for variable in threads.dimensions}
        block = [sizes.get(name, 1) for name in ("th_x", "th_y", "th_z")]
        grid = [sizes.get(name, 1) for name in ("bl_x", "bl_y", "bl_z")]
        if self.kernel.block and (self.kernel.block, self.kernel.grid) != (block, grid):
            raise ValueError(f"{self.kernel.name}: the thread maps have different launches")
        self.kernel.block, self.kernel.grid = block, grid

    def loops(self, variables: list[xi.Variable], step: str) -> str:
        """Opens a loop for each range variable; returns the number of the step, the same for all lanes."""
        for variable in variables:
            low, high = bounds(variable.bounds)
            self.open(f"for (Index {variable.name} = {low}; {variable.name} <= {high}; ++{variable.name})")
            here = variable.name if low == 0 else f"({variable.name} - {low})"
            step = here if step == "0" else f"{step} * {high - low + 1} + {here}"
        return step

    def threads(self, threads: xi.IndexingMap) -> tuple[str, int]:
        """Opens the loops of a thread: d0, d1, .. are its element; returns step and vector width."""
        self.launch(threads)
        self.open()
        for variable in threads.dimensions:
            role, axis = variable.name.split("_")
            self.line(f"const Index {variable.name} = {'threadIdx' if role == 'th' else 'blockIdx'}.{axis};")
        width = 1
        ranges = []
        for variable in threads.range_variables:
            if variable.name == "vec":
                width = bounds(variable.bounds)[1] + 1
                self.line("const Index vec = 0;")
            else:
                ranges.append(variable)
        step = self.loops(ranges, "0")
        if condition(threads):
            self.open(f"if ({condition(threads)})")
        self.line(f"const Index step = {step};")
        for number, result in enumerate(threads.results):
            self.line(f"const Index d{number} = {expression(result)};")
        return "step", width

    def runtime_value(self, value: xi.RuntimeVariable, costs: xi.Coalescing, step: str) -> None:
        """Loads the value of a runtime variable from the parameter that it is read from."""
        clamp = re.fullmatch(r"clamp \[(-?\d+), (-?\d+)\]", value.value_function)
        if clamp is None:
            raise ValueError(f"{self.kernel.name}: cannot write the function {value.value_function}")
        [cost] = [
            cost
            for access in costs.accesses
            for cost in access.maps
            if access.name == value.owner.name and xi.IndexingMap(cost.map) == value.map
        ]
        name = value.owner.name
        site = self.site(LOAD, f"{name}: {cost.map}", cost.sectors)
        place = offset([expression(result) for result in value.map.results], self.kernel.inputs[name])
        load = f"Load({site}, {step}, {name} + {place})"
        self.line(f"const Index {value.name} = Clamp({load}, {clamp[1]}, {clamp[2]});")

    def value(self, costs: xi.Coalescing, step: str, width: int) -> str:
        """Adds up the elements of p that element (d0, d1, ..) is computed from; returns the sum's name."""
        element = "float" if width == 1 else f"float{width}"
        self.line(f"{element} value = {{}};")
        [access] = [access for access in costs.accesses if access.name == "p"]
        for operand_indexing, cost in zip(self.entries["p"].maps, access.maps):
            depth = self.depth
            indexing_map = operand_indexing.map
            if len(access.maps) > 1:
                self.open()
            for runtime in operand_indexing.runtime_variables:
                self.runtime_value(runtime, costs, step)
            inner = self.loops(indexing_map.range_variables, step)
            if condition(indexing_map):
                self.open(f"if ({condition(indexing_map)})")
            site = self.site(LOAD, f"p: {cost.map}", cost.sectors)
            place = offset([expression(result) for result in indexing_map.results], self.kernel.inputs["p"])
            if width == 1:
                self.line(f"value += Load({site}, {inner}, p + {place});")
            else:
                self.line(f"value = Load({site}, {inner}, VectorAt(p + {place}));")
            self.close(depth)
        return "value"

    def store(self, costs: xi.Coalescing, step: str, width: int, value: str) -> None:
        [access] = [access for access in costs.accesses if access.is_write]
        [cost] = access.maps
        site = self.site(STORE, "the result", cost.sectors)
        sizes = self.kernel.output
        place = f"out + {offset([f'd{number}' for number in range(len(sizes))], sizes)}"
        target = place if width == 1 else f"VectorAt({place})"
        self.line(f"Store({site}, {step}, {target}, {value});")

    def shared(self, kind: str, tile: Tile, threads: xi.IndexingMap, in_tile: str) -> tuple[int, str]:
        """A site for accesses to the tile: `in_tile` leads from the threads' array to the tile."""
        to_tile = xi.IndexingMap(in_tile)
        conflicts = xi.bank_conflicts(
            str(threads.compose(to_tile).simplify()), f"f32[32,{tile.columns}]", swizzle=tile.swizzle
        )
        site = self.site(kind, "the tile", conflicts.wavefronts)
        place = offset([expression(result) for result in to_tile.results], (32, tile.columns))
        if tile.swizzle:
            bits, target, source = tile.swizzle
            place = f"Swizzled<{bits}, {target}, {source}>({place})"
        return site, f"tile + {place}"

    def through_tile(self, costs: xi.Coalescing, tile: Tile) -> None:
        """A transpose: a block loads a tile of the operand, row by row, and stores it column by column."""
        read, write = costs.accesses
        assert read.threads is not None
        assert write.threads is not None
        operand = f"d0 in [0, {self.kernel.inputs['p'][0] - 1}], d1 in [0, {self.kernel.inputs['p'][1] - 1}]"
        result = f"d0 in [0, {self.kernel.output[0] - 1}], d1 in [0, {self.kernel.output[1] - 1}]"
        self.line(f"alignas(128) __shared__ float tile[32 * {tile.columns}];")
        step, _ = self.threads(read.threads)
        site = self.site(LOAD, "p", read.maps[0].sectors)
        place = offset(["d0", "d1"], self.kernel.inputs["p"])
        self.line(f"const float value = Load({site}, {step}, p + {place});")
        site, place = self.shared(
            SHARED_STORE, tile, read.threads, f"(d0, d1) -> (d0 mod 32, d1 mod 32), domain: {operand}"
        )
        self.line(f"Store({site}, {step}, {place}, value);")
        self.close(1)
        self.line("__syncthreads();")
        step, _ = self.threads(write.threads)
        site, place = self.shared(
            SHARED_LOAD, tile, write.threads, f"(d0, d1) -> (d1 mod 32, d0 mod 32), domain: {result}"
        )
        self.line(f"const float value = Load({site}, {step}, {place});")
        self.store(costs, step, 1, "value")
        self.close(1)


def make(access: Access) -> Kernel:
    """The kernel of an access, and what the library predicts that it costs."""
    module = xi.load(access.hlo)
    kernel = Kernel(access)
    writer = Writer(kernel, module)
    costs = module.entry.coalescing(access.threads)
    if access.tile:
        writer.through_tile(costs, access.tile)
    else:
        assert costs.threads is not None
        step, width = writer.threads(costs.threads)
        writer.store(costs, step, width, writer.value(costs, step, width))
        writer.close(1)
    return kernel


def source(kernels: list[Kernel]) -> str:
    """A program of CUDA C++ that launches the kernels; support.h says what it does."""
    lines = ['#include "support.h"', ""]
    for kernel in kernels:
        lines += [f"// {kernel.access.description}."]
        lines += [f"__global__ void {kernel.name}(const float* p, const int* i, float* out) {{"]
        lines += [*kernel.lines, "}", ""]
    lines += ["const Launch launches[] = {"]
    for kernel in kernels:
        grid, block = (", ".join(map(str, sizes)) for sizes in (kernel.grid, kernel.block))
        elements = [1, 1, 1]
        for number, sizes in enumerate((kernel.inputs["p"], kernel.inputs.get("i", ()), kernel.output)):
            for size in sizes:
                elements[number] *= size
        counts = ", ".join(map(str, elements))
        lines += [f'    {{"{kernel.name}", {kernel.name}, dim3({grid}), dim3({block}), {counts}}},']
    lines += ["};", "", "int main(int argc, char** argv) { return Run(launches, argc, argv); }", ""]
    return "\n".join(lines)
