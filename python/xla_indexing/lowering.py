"""Computations as code: the text of MLIR that computes them, and their results for given arrays.

`Computation.emit` and `Computation.run` call these functions. They need the extension module `_lowering`,
with LLVM's compiler, which is loaded at the first call; `has_lowering()` says whether this build has it.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from ._native import Computation, Error

if TYPE_CHECKING:
    import numpy as np

TileSizes = Union[str, Mapping[str, int], Sequence[int], None]

_DTYPES = {
    "pred": "bool",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "c64": "complex64",
    "c128": "complex128",
}


def has_lowering() -> bool:
    """Whether this build can emit and run computations."""
    return importlib.util.find_spec("xla_indexing._lowering") is not None


def emit(computation: Computation, tile_sizes: TileSizes = None, *, one_pass: bool = False) -> str:
    """The text of a module of MLIR with a function that computes the computation (docs/lowering.md).

    With `tile_sizes`, as of TiledComputation.instantiate, it does so tile by tile; with `one_pass`, as of
    Computation.tiled, those of a softmax or an attention in one loop.
    """
    hlo = computation.module.to_text()
    text: str = _component().emit(hlo, computation.name, _sizes_text(tile_sizes), one_pass)
    return text


def run(computation: Computation, *arrays: Any, tile_sizes: TileSizes = None, one_pass: bool = False) -> Any:
    """The results of the computation for arrays, one for each parameter, or a tuple of them for a tuple.

    `tile_sizes` and `one_pass` are those of emit. The result is a numpy array, or a list of the arrays of a
    tuple; elements that numpy does not have, such as bf16, f8e5m2 and s4, have the dtypes of ml_dtypes.
    A loop goes on as long as its condition holds; Ctrl-C ends it, as KeyboardInterrupt. TypeError where the
    number of arrays, a shape or a dtype is not the parameter's: nothing is converted.
    """
    import numpy as np

    function = _compiled(computation.module.to_text(), computation.name, _sizes_text(tile_sizes), one_pass)
    leaves = list(_leaves(arrays))
    if len(leaves) != len(function.arguments):
        raise TypeError(f"{computation.name} takes {len(function.arguments)} arrays, not {len(leaves)}")
    content = []
    for number, (leaf, (element, shape, minor_to_major)) in enumerate(zip(leaves, function.arguments)):
        array = np.asarray(leaf)
        dtype = _dtype(element)
        if array.shape != tuple(shape) or array.dtype != dtype:
            given = f"{array.dtype}{list(array.shape)}"
            raise TypeError(f"array {number} of {computation.name} is {dtype}{list(shape)}, not {given}")
        content.append(array.transpose(minor_to_major[::-1]).tobytes())
    results = []
    outputs = function.run(content)
    for output, (element, shape, minor_to_major) in zip(outputs, function.results):
        major_to_minor = minor_to_major[::-1]
        in_memory = np.ndarray([shape[d] for d in major_to_minor], _dtype(element), output)
        results.append(in_memory.transpose(np.argsort(major_to_minor)).copy())
    return results if function.is_of_tuple else results[0]


def _component() -> Any:
    try:
        return importlib.import_module("xla_indexing._lowering")
    except ImportError as error:
        if has_lowering():
            raise
        raise Error(
            "this build of xla_indexing has no lowering: it was built without MLIR 22. To have it, "
            "install MLIR 22 (Debian's libmlir-22-dev), then `pip install .` from the sources (BUILD.md)"
        ) from error


@functools.lru_cache(maxsize=32)
def _compiled(text: str, name: str, tile_sizes: str | None, one_pass: bool) -> Any:
    return _component().compile(text, name, tile_sizes, one_pass)


def _sizes_text(sizes: TileSizes) -> str | None:
    if sizes is None or isinstance(sizes, str):
        return sizes
    if isinstance(sizes, Mapping):
        return ",".join(f"{name}={size}" for name, size in sizes.items())
    return ",".join(str(size) for size in sizes)


def _leaves(arrays: Any) -> Iterator[Any]:
    for array in arrays:
        if isinstance(array, (tuple, list)):
            yield from _leaves(array)
        else:
            yield array


def _dtype(element: str) -> np.dtype[Any]:
    import numpy as np

    if element in _DTYPES:
        return np.dtype(_DTYPES[element])
    name = element.translate({ord("s"): "int", ord("u"): "uint"}) if element[0] in "su" else element
    if hasattr(np, name):
        return np.dtype(name)
    import ml_dtypes  # numpy has no such type

    name = {"bf16": "bfloat16"}.get(element, name.replace("f8", "float8_"))
    dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return dtype
