"""Proofs of what depends on what, each of them one line in a test.

Every function lowers a function of JAX, without running it, and asks the maps between its results and its
arguments, by default those of the program before XLA's optimizer.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ._native import Error, Explanation, IndexingMap
from ._program import Leaf, Link, Program, np, reads_of, trace, why_not_exact, with_constraint


class Undecided(Error):
    """What is neither proven nor refuted; the message says why."""

    code: str = "UNIMPLEMENTED"


class Violation(AssertionError):
    """An element of a result depends on one that it must not depend on.

    `output` and `argument` are names, `output_element` and `argument_element` indices; `path` says through
    which instructions the dependence goes, and is empty where that is not known. `by_finite_values` is False
    where no finite value of the argument's element changes the result's, so that assume_finite=True accepts
    the pair.
    """

    def __init__(self, output: str, output_element: tuple[int, ...], argument: str,
                 argument_element: tuple[int, ...], what: str, path: str,
                 by_finite_values: bool = True) -> None:  # fmt: skip
        self.output, self.output_element = output, output_element
        self.argument, self.argument_element = argument, argument_element
        self.path, self.by_finite_values = path, by_finite_values
        super().__init__(
            f"{what}: element {output_element} of {output} depends on element "
            f"{argument_element} of {argument}"
            + ("" if by_finite_values else ", but only if numbers are not finite (0 * inf is NaN): "
               "assume_finite=True leaves that out")
            + (f"\npath: {path}" if path else "")
        )  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        what = str(self).split(": element ", 1)[0]
        parts = (self.output, self.output_element, self.argument, self.argument_element, what, self.path)
        return type(self), (*parts, self.by_finite_values)


Undecided.__module__ = Violation.__module__ = "xla_indexing"


# --- Proofs ---


def assert_causal(
    f: Callable[..., Any],
    *args: Any,
    axis: int = 1,
    strict: bool = False,
    argnums: int | Sequence[int] | None = None,
    outnums: int | Sequence[int] | None = None,
    optimized: bool = False,
    assume_finite: bool = False,
) -> None:
    """Proves that no element of a result depends on one of an argument that is later along `axis`.

    It is about each pair of an array of the result and an array of the arguments that have this axis, of one
    length; `argnums` and `outnums` choose arguments, and arrays of the result, by their numbers. `strict`:
    on none of the same place either. `args` are arrays, or jax.ShapeDtypeStruct. The proof is by maps: it
    takes as long for long axes as for short ones. `assume_finite` takes the arguments to be finite, so that
    0 * x is 0, as proofs about masked attention need.

        xi.assert_causal(lambda x: jnp.cumsum(x, axis=1), jnp.ones((2, 1000)))

    Violation, an AssertionError, names two elements; Undecided says why neither that nor a proof was found.
    Error where there is no such pair of arrays.
    """
    program = trace(f, args, optimized=optimized, assume_finite=assume_finite)
    what = f"not {'strictly ' if strict else ''}causal along axis {axis}"
    _prove(program, axis, argnums, outnums, lambda n: [(0 if strict else 1, n)], what)


def assert_independent(
    f: Callable[..., Any],
    *args: Any,
    axis: int = 0,
    argnums: int | Sequence[int] | None = None,
    outnums: int | Sequence[int] | None = None,
    optimized: bool = False,
    assume_finite: bool = False,
) -> None:
    """Proves that elements depend only on those of the same place along `axis`, such as that of the batch.

    Arguments and what is raised are those of assert_causal().

        xi.assert_independent(jax.nn.softmax, jnp.ones((8, 128)))
    """
    program = trace(f, args, optimized=optimized, assume_finite=assume_finite)
    what = f"not independent along axis {axis}"
    _prove(program, axis, argnums, outnums, lambda n: [(1, n), (-n, -1)], what)


def _prove(
    program: Program,
    axis: int,
    argnums: int | Sequence[int] | None,
    outnums: int | Sequence[int] | None,
    forbidden: Callable[[int], list[tuple[int, int]]],
    what: str,
) -> None:
    """Proves that an argument's index along an axis, less the result's, is never `forbidden(length)`."""
    pairs = {
        (output.number, argument.name): (i, k)
        for output, argument in itertools.product(program.outputs, program.arguments)
        if _is_chosen(output.number, outnums, len(program.outputs))
        and _is_chosen(
            argument.position, argnums, 1 + max((a.position for a in program.arguments), default=0)
        )
        and (i := _place(output, axis)) is not None
        and (k := _place(argument, axis)) is not None
        and output.shape[i] == argument.shape[k]
    }
    if not pairs:
        raise Error(f"no result and no argument have an axis {axis} of one length: there is nothing to prove")
    found: dict[str, None] = {}
    for exact in (False, True):
        found = {}
        for link in program.links(exact=exact):
            places = pairs.get((link.output.number, link.argument.name))
            if places is None:
                continue
            i, k = places
            why = _violates(program, link, i, k, forbidden(link.output.shape[i]), what)
            if why:
                found[f"{link.output.name} and {link.argument.name}: {why}"] = None
        if not found:
            return
    raise Undecided(f"{what}, or it is; that was not decided for " + "; ".join(found))


def _is_chosen(number: int | None, chosen: int | Sequence[int] | None, count: int) -> bool:
    if chosen is None or number is None:
        return chosen is None
    numbers = [chosen] if isinstance(chosen, int) else list(chosen)
    for n in numbers:
        if not -count <= n < count:
            raise Error(f"there is no number {n}: there are {count}")
    return number in [n % count for n in numbers]


def _place(leaf: Leaf, axis: int) -> int | None:
    rank = len(leaf.shape)
    return axis % rank if -rank <= axis < rank else None


def _violates(
    program: Program, link: Link, i: int, k: int, forbidden: list[tuple[int, int]], what: str
) -> str | None:
    """None if the map never does what is forbidden, or why that is undecided; raises Violation."""
    if link.map.exactness == "unknown":
        return link.map.reason or "the map is unknown"
    if link.map.replica_map is not None:
        return "what is read is of another device"
    read = link.map.map
    why: str | None = None
    for lower, upper in forbidden:
        bad = with_constraint(
            read, f"({read.results[k]}) - ({read.dimensions[i].name}) in [{lower}, {upper}]"
        )
        empty = bad.is_empty()
        if empty:
            continue
        point = a_point(bad) if empty is False else None
        if point is None:
            why = "no element was found, and that there is none was not shown, in so many steps"
            continue
        if not link.map.is_exact:
            why = f"the map is over-approximate: {link.map.reason}"
            continue
        needed = _needed_values(link, bad, point)
        if needed:
            why = f"the program computes {needed}, and which values that takes is not known"
            continue
        dims = point[: bad.num_dimensions]
        ranges = point[bad.num_dimensions : bad.num_dimensions + bad.num_range_variables]
        element = read.evaluate(dims, ranges, point[len(dims) + len(ranges) :])
        path = _explained(program, link, dims, element, program.assume_finite)
        finite = _explained(program, link, dims, element, assume_finite=True)
        raise Violation(
            link.output.name,
            tuple(dims),
            link.argument.name,
            tuple(element),
            what,
            "" if path is None else str(path),
            by_finite_values=finite is None or finite.depends is not False,
        )
    return why


def _explained(
    program: Program, link: Link, output: Sequence[int], element: Sequence[int], assume_finite: bool
) -> Explanation | None:
    """Through which instructions the one reads the other."""
    if link.argument.number is None or link.output.number is None:
        return None
    return program.module.entry.explain(
        list(output),
        link.argument.number,
        list(element),
        output=link.output.number,
        dependence=True,
        assume_finite=assume_finite,
    )


def a_point(read: IndexingMap) -> list[int] | None:
    """A point of the domain, the least one: values of dimensions, range variables and runtime variables.

    None if there is none, or if none was found in the steps of is_empty().
    """
    point: list[int] = []
    fixed: list[str] = []
    for variable in [*read.dimensions, *read.range_variables, *read.runtime_variables]:
        lower, upper = variable.lower, variable.upper
        if lower is None:
            return None
        width = 1
        while upper is None:  # a variable without end: the least power of two below which there is a point
            limit = lower + width
            if with_constraint(read, *fixed, f"{variable.name} in [{lower}, {limit}]").is_empty() is False:
                upper = limit
            width *= 2
            if width > 2**62:
                return None
        while lower < upper:
            middle = (lower + upper) // 2
            empty = with_constraint(read, *fixed, f"{variable.name} in [{lower}, {middle}]").is_empty()
            if empty is None:
                return None
            if empty:
                lower = middle + 1
            else:
                upper = middle
        point.append(lower)
        fixed.append(f"{variable.name} in [{lower}, {lower}]")
    return point if with_constraint(read, *fixed).is_empty() is False else None


def _needed_values(link: Link, bad: IndexingMap, point: Sequence[int]) -> str:
    """The runtime values, in words, that a pair of elements needs, which the arguments may not be able to
    have.

    Elements of arguments can have any value. Other values are not needed where the pair is there with each
    of them.
    """
    runtimes = link.map.runtime_variables
    if not runtimes:
        return ""
    values: dict[tuple[Any, ...], int] = {}
    computed: list[str] = []
    for j, variable in enumerate(runtimes):
        value = point[bad.num_dimensions + bad.num_range_variables + j]
        used = [*variable.map.dimensions, *variable.map.range_variables, *variable.map.runtime_variables]
        by_name = dict(zip([v.name for v in _variables(bad)], point))
        at = [by_name[v.name] for v in used]
        n, s = variable.map.num_dimensions, variable.map.num_range_variables
        where = variable.map.evaluate(at[:n], at[n : n + s], at[n + s :])
        owner = variable.owner
        is_argument = owner.parameter_number is not None and owner.computation.is_entry
        if (
            not is_argument
            or variable.apply(value) != value
            or values.setdefault((variable.owner.name, variable.leaf, where), value) != value
        ):
            computed.append(variable.in_words)
    if not computed:
        return ""
    return "" if _is_there_for_all_values(bad, point) else ", ".join(computed)


def _variables(read: IndexingMap) -> list[Any]:
    return [*read.dimensions, *read.range_variables, *read.runtime_variables]


def _is_there_for_all_values(read: IndexingMap, point: Sequence[int]) -> bool:
    """Whether a point stays in the domain whatever the runtime variables are."""
    head = str(read).split(" -> ", 1)[0]
    count = read.num_dimensions + read.num_range_variables
    box = [f"{v.name} in [{x}, {x}]" for v, x in zip(_variables(read)[:count], point)]
    for v in read.runtime_variables:
        if v.lower is None or v.upper is None:
            return False
        box.append(f"{v.name} in [{v.lower}, {v.upper}]")
    for c in read.constraints:
        ends = [
            None if c.bounds.lower is None else f"{c.expression} in [{-(2**62)}, {c.bounds.lower - 1}]",
            None if c.bounds.upper is None else f"{c.expression} in [{c.bounds.upper + 1}, {2**62}]",
        ]
        for outside in ends:
            if outside and not IndexingMap(f"{head} -> (), domain: {', '.join([*box, outside])}").is_empty():
                return False
    return True


# --- Which elements ---


@dataclasses.dataclass(frozen=True)
class Dependence:
    """Which elements of the results of a function depend on which elements of its arguments: what depends()
    returns.

    `arguments` are the names of the arrays of the arguments, as in Module.argument_names.
    """

    _program: Program

    @property
    def arguments(self) -> list[str]:
        """The names of the arrays of the arguments, in order."""
        return [leaf.name for leaf in self._program.arguments]

    @property
    def label(self) -> str:
        """'exact', or 'over-approximate': perhaps fewer elements depend than are said to, by `reason`."""
        return "over-approximate" if self.reason else "exact"

    @property
    def reason(self) -> str:
        """Why it is over-approximate, for all reasons; empty where it is exact."""
        reasons = {why: None for link in self._program.links() if (why := why_not_exact(link.map))}
        return "; ".join(reasons)

    def on(self, argument: str | int) -> ByElement:
        """What depends on elements of an array of the arguments, by its name, such as "params['w']", or
        number.

        `depends(f, x).on("x")[i, j]` are boolean masks in the structure of the result, of which elements
        depend on any of those that the index names. Error where there is no such array.
        """
        program, leaf = self._program, self._program.argument(argument)

        def find(index: Any) -> Any:
            points = _points(leaf, index)
            masks = [np.zeros(output.shape, bool) for output in program.outputs]
            if leaf.number is not None:
                for link in program.links(direction="input_to_output", operand=leaf.number):
                    elements, _ = reads_of(link.map, points, link.output.shape)
                    masks[link.output.number or 0][tuple(elements.T)] = True
            return program.output_tree.unflatten(masks)

        return ByElement(find)

    def of(self, output: int = 0) -> ByElement:
        """What elements of an array of the result, by its number, depend on.

        `depends(f, x).of()[i, j]["x"]` is a boolean mask of the shape of x. Error where there is no such
        array.
        """
        self._program.output(output)
        return ByElement(
            lambda index: {name: field.mask for name, field in self.fields(index, output).items()}
        )

    def fields(self, index: Any, output: int = 0) -> dict[str, ReceptiveField]:
        """What of() says as a ReceptiveField for each array of the arguments."""
        leaf, arguments = self._program.output(output), self._program.arguments
        points = _points(leaf, index)
        masks = {argument.name: np.zeros(argument.shape, bool) for argument in arguments}
        reasons: dict[str, dict[str, None]] = {argument.name: {} for argument in arguments}
        for link in self._program.links(output_leaf=leaf.number):
            elements, is_known = reads_of(link.map, points, link.argument.shape)
            masks[link.argument.name][tuple(elements.T)] = True
            why = why_not_exact(link.map) or ("" if is_known else "the map has too many points")
            if why and len(elements):
                reasons[link.argument.name][why] = None
        return {name: ReceptiveField(mask, "; ".join(reasons[name])) for name, mask in masks.items()}


@dataclasses.dataclass(frozen=True)
class ByElement:
    """Answers for elements of an array: `[index]` takes what numpy takes, and raises what it raises."""

    _find: Callable[[Any], Any]

    def __getitem__(self, index: Any) -> Any:
        """Boolean masks of what depends on any of these elements, or what any of them depends on."""
        return self._find(index)


def _points(leaf: Leaf, index: Any) -> Any:
    """The elements that an index names, a row for each: int64 [N, rank]."""
    numbers = np.arange(leaf.size, dtype=np.int64).reshape(leaf.shape)
    chosen = np.unique(np.ravel(numbers[index]))
    if not leaf.shape:
        return np.zeros((len(chosen), 0), np.int64)
    return np.stack(np.unravel_index(chosen, leaf.shape), axis=1).astype(np.int64)


@dataclasses.dataclass(frozen=True)
class ReceptiveField:
    """The elements of an array that an element of a result depends on.

    `mask` is a boolean array of its shape; `reason` says why there may be fewer, and is empty where it is
    exact.
    """

    mask: Any
    reason: str

    @property
    def label(self) -> str:
        """'exact' or 'over-approximate'."""
        return "over-approximate" if self.reason else "exact"

    @property
    def elements(self) -> Any:
        """The indices, a row for each: int64 [N, rank]."""
        return np.argwhere(self.mask)

    @property
    def box(self) -> tuple[range, ...]:
        """For each dimension the indices of the least box with strides that has all of the elements."""
        return tuple(_range(np.unique(column)) for column in self.elements.T)

    @property
    def is_box(self) -> bool:
        """Whether they are all elements of `box`."""
        return int(self.mask.sum()) == int(np.prod([len(r) for r in self.box], dtype=np.int64))

    def __repr__(self) -> str:
        inside = "" if self.is_box else f", {len(self.elements)} elements in it"
        return f"<xla_indexing.ReceptiveField: {self.box}{inside}, {self.label}>"


def _range(values: Any) -> range:
    if len(values) == 0:
        return range(0)
    step = int(np.gcd.reduce(np.diff(values))) if len(values) > 1 else 1
    return range(int(values[0]), int(values[-1]) + 1, step)


def depends(
    f: Callable[..., Any], *args: Any, optimized: bool = False, assume_finite: bool = False
) -> Dependence:
    """Which elements of the results of f depend on which elements of its arguments.

        d = xi.depends(lambda x: x[::-1].cumsum(), jnp.ones(5))
        d.on("x")[1]        # array([False, False, False,  True,  True])
        d.of()[1]["x"]      # array([False, False, False,  True,  True])

    `args` are arrays, or jax.ShapeDtypeStruct. Runtime values count as any that they may have.
    """
    return Dependence(trace(f, args, optimized=optimized, assume_finite=assume_finite))


def explain(
    f: Callable[..., Any],
    *args: Any,
    output: Sequence[int],
    input: Sequence[int],
    result: int = 0,
    argument: str | int = 0,
    optimized: bool = False,
    assume_finite: bool = False,
) -> Explanation:
    """Why an element of a result depends on one of an argument: a shortest chain of instructions.

    `output` and `input` are indices: of an array of the result, whose number is `result`, and of an array of
    the arguments, by name or number. Every step has its element, its source line, and the iterations of the
    loops that it is in.

        print(xi.explain(lambda x: jnp.cumsum(x), jnp.ones(5), output=(3,), input=(1,)))

    Explanation.depends is False where it does not depend, and None if that was not decided. Error where
    there is no such array, ValueError for an element outside of it.
    """
    program = trace(f, args, optimized=optimized, assume_finite=assume_finite)
    leaf, of = program.argument(argument), program.output(result)
    if leaf.number is None:
        raise Error(f"no result is computed from {leaf.name}")
    return program.module.entry.explain(
        list(output),
        leaf.number,
        list(input),
        output=of.number or 0,
        dependence=True,
        assume_finite=assume_finite,
    )


def receptive_field(
    f: Callable[..., Any],
    *args: Any,
    element: Any,
    output: int = 0,
    argument: str | int = 0,
    optimized: bool = False,
    assume_finite: bool = False,
) -> ReceptiveField:
    """The elements of an array of the arguments that an element of a result depends on.

    `element` is an index, or anything that numpy indexes by: then what any of these elements depends on.
    `output` is the number of an array of the result, `argument` the name or number of one of the arguments.

        xi.receptive_field(lambda x: jnp.convolve(x, jnp.ones(3)), jnp.ones(9), element=4)

    Error where there is no such array, IndexError where there is no such element.
    """
    found = depends(f, *args, optimized=optimized, assume_finite=assume_finite)
    leaf = found._program.argument(argument)
    return found.fields(element, output)[leaf.name]
