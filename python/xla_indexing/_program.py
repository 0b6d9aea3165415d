"""A Python function of JAX as a module whose parameters are the leaves of its arguments, and maps as sets."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ._load import load
from ._native import Computation, Error, Indexing, IndexingMap, Module, OperandIndexing


class _Later:
    """A module that is imported when something of it is needed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


np: Any = _Later("numpy")
jax: Any = _Later("jax")


@dataclasses.dataclass(frozen=True)
class Leaf:
    """An array of the arguments or of the result.

    `position` is the number of the argument, 0 for results; `number` that of the entry's parameter (None
    where no result is computed from it), or of the array among those of the result.
    """

    name: str
    shape: tuple[int, ...]
    dtype: Any
    position: int
    number: int | None

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def is_differentiable(self) -> bool:
        """Whether JAX differentiates by it: its elements are real floating point numbers."""
        return bool(jax.dtypes.issubdtype(self.dtype, np.floating))


@dataclasses.dataclass(frozen=True)
class Link:
    """One map between an array of the result and one of the arguments."""

    output: Leaf
    argument: Leaf
    map: OperandIndexing


@dataclasses.dataclass(frozen=True)
class Program:
    """A function with arguments: its module, and what the arrays of the module are in Python."""

    module: Module
    arguments: tuple[Leaf, ...]
    outputs: tuple[Leaf, ...]
    output_tree: Any
    assume_finite: bool = False

    def argument(self, name: str | int) -> Leaf:
        """The array of the arguments that has this name, or number. Error where there is none."""
        if isinstance(name, int) and 0 <= name < len(self.arguments):
            return self.arguments[name]
        for leaf in self.arguments:
            if leaf.name == name:
                return leaf
        raise Error(
            f"no array of the arguments is {name!r}: there are {', '.join(a.name for a in self.arguments)}"
        )

    def output(self, number: int) -> Leaf:
        """An array of the result. Error where there is none."""
        if not 0 <= number < len(self.outputs):
            raise Error(f"there is no output {number}: the result has {len(self.outputs)} arrays")
        return self.outputs[number]

    def links(self, *, exact: bool = False, **asked: Any) -> Iterator[Link]:
        """The maps between all arrays of the result and of the arguments, or those that are asked about."""
        by_number = {leaf.number: leaf for leaf in self.arguments}
        for entry in _indexing(self.module.entry, exact=exact, assume_finite=self.assume_finite, **asked):
            leaf = by_number.get(entry.operand)
            if leaf is not None:
                for read in entry.maps:
                    yield Link(self.outputs[entry.output_leaf], leaf, read)


def _indexing(computation: Computation, *, assume_finite: bool = False, **asked: Any) -> Indexing:
    """The maps of what can change a value."""
    return computation.indexing(dependence=True, assume_finite=assume_finite, **asked)


def trace(
    f: Callable[..., Any], args: Sequence[Any], *, optimized: bool = False, assume_finite: bool = False
) -> Program:
    """Lowers a function for these arguments, as analyze() does; it does not run.

    Error where the parameters of the module are not known to be arrays of the arguments.
    """
    if not callable(f):
        raise TypeError(f"a function is needed, not {type(f).__name__}")
    jitted: Any = f if hasattr(f, "lower") else jax.jit(f)
    lowered = jitted.lower(*args)
    module = load(lowered.compile() if optimized else lowered)
    outputs, tree = jax.tree_util.tree_flatten_with_path(lowered.out_info)
    leaves = tuple(
        Leaf(f"output{jax.tree_util.keystr(path)}", tuple(leaf.shape), leaf.dtype, 0, i)
        for i, (path, leaf) in enumerate(outputs)
    )
    if len(module.entry.root.shape.leaves) != len(leaves):
        raise Error(
            f"the module yields {len(module.entry.root.shape.leaves)} arrays, and the function {len(leaves)}"
        )
    return Program(module, _arguments(f, args, module), leaves, tree, assume_finite)


def _arguments(f: Callable[..., Any], args: Sequence[Any], module: Module) -> tuple[Leaf, ...]:
    named = list(_named(f, args))
    flat: list[tuple[str, int, Any]] = []
    for position, (name, value) in enumerate(named):
        for path, leaf in jax.tree_util.tree_flatten_with_path(value)[0]:
            flat.append((name + jax.tree_util.keystr(path), position, leaf))
    flat = [part for part in flat if _is_array(part[2])]
    types = jax.eval_shape(lambda *values: values, *(x for _, _, x in flat))
    arrays = [(name, position, kind) for (name, position, _), kind in zip(flat, types)]
    numbers = {name: i for i, name in enumerate(module.argument_names) if name is not None}
    if not set(module.argument_names) <= {name for name, _, _ in arrays}:
        if len(module.argument_names) != len(arrays):
            raise Error(f"the arguments of the function are not known: those of the module are {numbers}")
        numbers = {name: i for i, (name, _, _) in enumerate(arrays)}
    return tuple(Leaf(name, tuple(t.shape), t.dtype, p, numbers.get(name)) for name, p, t in arrays)


def _is_array(x: Any) -> bool:
    return hasattr(x, "dtype") or isinstance(x, (bool, int, float, complex))


def _named(f: Callable[..., Any], args: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """The arguments with the names that JAX gives them, those of `*rest` one by one."""
    try:
        signature = inspect.signature(f)
        bound = signature.bind(*args).arguments
    except (ValueError, TypeError):
        for i, value in enumerate(args):
            yield f"args[{i}]", value
        return
    for name, value in bound.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
            for i, one in enumerate(value):
                yield f"{name}[{i}]", one
        else:
            yield name, value


def with_constraint(read: IndexingMap, *constraints: str) -> IndexingMap:
    """The map where these hold too, such as 'd0 - (s0) in [1, 9]'."""
    has_domain = read.dimensions or read.range_variables or read.runtime_variables or read.constraints
    if not constraints:
        return read
    return IndexingMap(f"{read}{', ' if has_domain else ', domain: '}{', '.join(constraints)}")


def for_any_value(read: IndexingMap) -> IndexingMap:
    """The map to every element that is read for some value of the runtime variables.

    >>> print(for_any_value(IndexingMap("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 2]")))
    (d0)[rt0] -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 2]
    """
    if not read.runtime_variables:
        return read
    dims = ", ".join(v.name for v in read.dimensions)
    ranges = ", ".join(v.name for v in [*read.range_variables, *read.runtime_variables])
    return IndexingMap(f"({dims})[{ranges}] -> {str(read).split(' -> ', 1)[1]}").simplify()


def why_not_exact(read: OperandIndexing) -> str | None:
    """Why for_any_value() may have more elements than the program depends on; None: it has not."""
    if not read.is_exact:
        return read.reason or "the map is not exact"
    if read.runtime_variables:
        return "it depends on runtime values: " + ", ".join(v.in_words for v in read.runtime_variables)
    return None


def reads_of(read: OperandIndexing, points: Any, shape: tuple[int, ...]) -> tuple[Any, bool]:
    """The elements, a row for each, that any of `points` maps to, whatever the runtime values are.

    The second is whether they are what the map says: where that has too many points, or no map is known, all
    elements of the array are taken.
    """
    try:
        if read.exactness != "unknown":
            return for_any_value(read.map).reads(points)[1], True
    except Error:
        pass
    return np.indices(shape).reshape(len(shape), int(np.prod(shape, dtype=np.int64))).T, False
