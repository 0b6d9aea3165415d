"""The entries of Jacobians and Hessians that may be non-zero, and the others' cost saved."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

from ._native import Error
from ._program import Leaf, for_any_value, jax, np, trace, why_not_exact

_MOST_ENTRIES = 2**30
_COLORS_AT_ONCE = 64


@dataclasses.dataclass(frozen=True)
class Sparsity:
    """A pattern: the entries of a matrix that may be non-zero. What jacobian_sparsity() returns.

    Entry `i` of it is at row `rows[i]` and column `cols[i]` (int64, sorted by row); `shape` is that of the
    matrix. `reason` says why there may be fewer, and is empty where the pattern is exact.
    """

    rows: Any
    cols: Any
    shape: tuple[int, int]
    reason: str
    _function: Callable[..., Any]
    _arguments: tuple[Any, ...]
    _argnums: tuple[int, ...]

    @property
    def label(self) -> str:
        """'exact': the entries are all pairs of an element of a result that the formula computes from an
        element of an argument, and no others; 'over-approximate': there may be fewer, by `reason`. An entry
        may be zero all the same.
        """
        return "over-approximate" if self.reason else "exact"

    @property
    def nnz(self) -> int:
        """The number of entries that may be non-zero."""
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<xla_indexing.Sparsity: {self.shape[0]} x {self.shape[1]}, {self.nnz} entries, {self.label}>"

    def toarray(self) -> Any:
        """The pattern as a boolean array of its shape."""
        mask = np.zeros(self.shape, bool)
        mask[self.rows, self.cols] = True
        return mask

    def to_scipy(self) -> Any:
        """The pattern as a boolean scipy.sparse.csr_array. Error without scipy."""
        return self._scipy(np.ones(self.nnz, bool))

    def to_bcoo(self) -> Any:
        """The pattern as a boolean BCOO of jax.experimental.sparse."""
        return self._bcoo(np.ones(self.nnz, bool))

    def coloring(self, by: str = "columns") -> Any:
        """Colours for columns (or `by` "rows") such that no two of one colour have an entry in one row:
        int64 [columns].

        Found one by one, those with most entries first. Columns of one colour are computed by one JVP, rows
        by one VJP.
        """
        if by not in ("columns", "rows"):
            raise Error(f"by is {by!r}, and has to be 'columns' or 'rows'")
        if by == "rows":
            return _coloring(self.cols, self.rows, self.shape[0])
        return _coloring(self.rows, self.cols, self.shape[1])

    @functools.cached_property
    def _colorings(self) -> tuple[Any, Any]:
        return self.coloring(), self.coloring("rows")

    def jacobian(self, *args: Any, mode: str = "auto", format: str = "scipy") -> Any:
        """The Jacobian at these arguments, which are all that f takes, computed for its pattern alone.

        `mode` is "forward", by as many JVPs as there are colours of columns, "reverse", by as many VJPs as
        there are colours of rows, or "auto", what is less. `format` is "scipy", a csr_array, or "bcoo". Its
        entries are those of the pattern, zeros among them. Without `args`: at those that the pattern was
        asked for.

        Error where shapes or types of `args` are others, and for complex arrays.
        """
        if mode not in ("auto", "forward", "reverse"):
            raise Error(f"mode is {mode!r}, and has to be 'auto', 'forward' or 'reverse'")
        if format not in ("scipy", "bcoo"):
            raise Error(f"format is {format!r}, and has to be 'scipy' or 'bcoo'")
        columns, rows = self._colorings
        by_columns = mode == "forward" or (mode == "auto" and columns.max(initial=-1) <= rows.max(initial=-1))
        given = args or self._arguments
        call, x, inputs, outputs, shape = _vectors(self._function, given, self._argnums)
        if shape != self.shape:
            raise Error(f"the Jacobian is {shape[0]} x {shape[1]}, and the pattern {self.shape}")
        if by_columns:
            push, dtype = jax.linearize(call, x)[1], x.dtype
            colors, sources, vertices, targets, lines = columns, inputs, self.cols, outputs, self.rows
        else:
            y, pull = jax.vjp(call, x)
            push, dtype = (lambda seed: pull(seed)[0]), y.dtype
            colors, sources, vertices, targets, lines = rows, outputs, self.rows, inputs, self.cols
        push = jax.jit(jax.vmap(push))
        products = [np.zeros((0, len(targets)), np.float32)]
        for first in range(0, int(colors.max(initial=-1)) + 1, _COLORS_AT_ONCE):
            seeds = np.arange(first, first + _COLORS_AT_ONCE)[:, None] == colors[sources]
            products.append(np.asarray(push(jax.numpy.asarray(seeds, dtype))))
        values = np.concatenate(products)[colors[vertices], np.searchsorted(targets, lines)]
        return self._scipy(values) if format == "scipy" else self._bcoo(values)

    def _scipy(self, values: Any) -> Any:
        try:
            sparse = importlib.import_module("scipy.sparse")
        except ImportError as error:
            raise Error("scipy is not here: `pip install scipy`, or to_bcoo() and format='bcoo'") from error
        return sparse.csr_array((values, (self.rows, self.cols)), shape=self.shape)

    def _bcoo(self, values: Any) -> Any:
        sparse = importlib.import_module("jax.experimental.sparse")
        indices = np.stack([self.rows, self.cols], axis=1).astype(np.int32)
        return sparse.BCOO(
            (jax.numpy.asarray(values), jax.numpy.asarray(indices)),
            shape=self.shape,
            indices_sorted=True,
            unique_indices=True,
        )


def jacobian_sparsity(
    f: Callable[..., Any],
    *args: Any,
    argnums: int | Sequence[int] = 0,
    optimized: bool = False,
    assume_finite: bool = False,
) -> Sparsity:
    """Which entries of the Jacobian of f with respect to arguments `argnums` may be non-zero, for all their
    values.

    A row is an element of the result, a column one of the arguments: arrays row-major, those of pytrees one
    after the other in JAX's order, and arguments in the order of `argnums`. Of arrays that are not real
    floating point numbers rows and columns are empty. f is not run.

        pattern = xi.jacobian_sparsity(lambda x: x[1:] - x[:-1], jnp.ones(1000))
        pattern.nnz, pattern.coloring().max() + 1     # (1998, 2)
        pattern.jacobian(x)                           # by two JVPs

    Error where there is no such argument, and for more than 2^30 entries.
    """
    numbers = _argnums(argnums, len(args))
    program = trace(f, args, optimized=optimized, assume_finite=assume_finite)
    inputs = [leaf for n in numbers for leaf in program.arguments if leaf.position == n]
    columns = dict(zip((leaf.name for leaf in inputs), np.cumsum([0, *(x.size for x in inputs)]).tolist()))
    starts = np.cumsum([0, *(leaf.size for leaf in program.outputs)]).tolist()
    shape = (starts[-1], sum(leaf.size for leaf in inputs))
    reasons: dict[str, None] = {}
    codes: list[Any] = [np.zeros(0, np.int64)]
    for link in program.links():
        output, argument = link.output, link.argument
        if argument.name not in columns or not (output.is_differentiable and argument.is_differentiable):
            continue
        pairs, is_known = _pairs(link.map, output, argument)
        why = why_not_exact(link.map) or ("" if is_known else "the map has too many points")
        if why and len(pairs):
            reasons[why] = None
        row, column = pairs // max(argument.size, 1), pairs % max(argument.size, 1)
        codes.append((row + starts[output.number or 0]) * shape[1] + column + columns[argument.name])
    code = np.unique(np.concatenate(codes))
    rows, cols = code // max(shape[1], 1), code % max(shape[1], 1)
    return Sparsity(rows, cols, shape, "; ".join(reasons), f, args, numbers)


def hessian_sparsity(
    f: Callable[..., Any],
    *args: Any,
    argnums: int | Sequence[int] = 0,
    optimized: bool = False,
    assume_finite: bool = False,
) -> Sparsity:
    """Which entries of the Hessian of a function with a scalar result may be non-zero: those of its
    gradient's Jacobian.

    Rows and columns are both the elements of the arguments `argnums`, as jacobian_sparsity() has them.
    `jacobian()` of what is returned is the Hessian.

        xi.hessian_sparsity(lambda x: jnp.sum(x[1:] * x[:-1]), jnp.ones(9))
    """
    numbers = _argnums(argnums, len(args))
    gradient = jax.grad(f, argnums=numbers)
    return jacobian_sparsity(
        gradient, *args, argnums=numbers, optimized=optimized, assume_finite=assume_finite
    )


def _argnums(argnums: int | Sequence[int], count: int) -> tuple[int, ...]:
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    for n in numbers:
        if not -count <= n < count:
            raise Error(f"there is no argument {n}: there are {count}")
    normal = tuple(n % count for n in numbers)
    if len(set(normal)) < len(normal):
        raise Error(f"argnums {numbers} name an argument twice")
    return normal


def _pairs(read: Any, output: Leaf, argument: Leaf) -> tuple[Any, bool]:
    """Pairs of elements of both, as row * size + column, sorted; and whether they are as the map says."""
    try:
        if read.exactness != "unknown":
            pairs = for_any_value(read.map).to_numpy("pairs", max_points=_MOST_ENTRIES)
            rank = len(output.shape)
            return _flat(pairs[:, :rank], output.shape) * argument.size + _flat(
                pairs[:, rank:], argument.shape
            ), True
    except Error:
        pass
    if output.size * argument.size > _MOST_ENTRIES:
        raise Error(f"more than {_MOST_ENTRIES} entries for {output.name} and {argument.name}")
    return np.arange(output.size * argument.size), False


def _flat(elements: Any, shape: tuple[int, ...]) -> Any:
    flat = np.zeros(len(elements), np.int64)
    for k, size in enumerate(shape):
        flat = flat * size + elements[:, k]
    return flat


def _coloring(lines: Any, vertices: Any, count: int) -> Any:
    """Colours of `count` vertices, no two of a line with one; vertex `vertices[i]` is on line `lines[i]`."""
    order = np.argsort(vertices, kind="stable")
    line_of = lines[order].tolist()
    ends = np.cumsum(np.bincount(vertices, minlength=count))
    starts = ends - np.bincount(vertices, minlength=count)
    used = [0] * (int(lines.max(initial=-1)) + 1)  # the colours of each line, a bit for each
    colors = np.zeros(count, np.int64)
    for vertex in np.argsort(starts - ends, kind="stable").tolist():
        mine = line_of[starts[vertex] : ends[vertex]]
        taken = 0
        for line in mine:
            taken |= used[line]
        free = ~taken & (taken + 1)
        colors[vertex] = free.bit_length() - 1
        for line in mine:
            used[line] |= free
    return colors


def _vectors(f: Callable[..., Any], args: Sequence[Any], argnums: Sequence[int]) -> Any:
    """f from the vector of all real numbers of some arguments to that of the result.

    Returns it, the vector, which elements of the arguments and of the result these are, and the numbers of
    all.
    """
    ravel = importlib.import_module("jax.flatten_util").ravel_pytree
    leaves, tree = jax.tree_util.tree_flatten([args[n] for n in argnums])
    if any(jax.numpy.iscomplexobj(x) for x in leaves):
        raise Error("jacobian() is of real numbers, and an argument is complex")
    x, unravel = ravel([leaf for leaf in leaves if _is_real(leaf)])

    def call(x: Any, *, is_whole: bool = False) -> Any:
        real = iter(unravel(x))
        given = dict(zip(argnums, tree.unflatten([next(real) if _is_real(v) else v for v in leaves])))
        found = jax.tree_util.tree_leaves(f(*(given.get(n, arg) for n, arg in enumerate(args))))
        return found if is_whole else ravel([y for y in found if _is_real(y)])[0]

    results = jax.eval_shape(lambda x: call(x, is_whole=True), x)
    inputs, outputs = (np.repeat([_is_real(v) for v in a], [_size(v) for v in a]) for a in (leaves, results))
    return call, x, np.flatnonzero(inputs), np.flatnonzero(outputs), (len(outputs), len(inputs))


def _is_real(x: Any) -> bool:
    return bool(jax.numpy.issubdtype(jax.numpy.result_type(x), np.floating))


def _size(x: Any) -> int:
    return int(np.prod(np.shape(x), dtype=np.int64))
