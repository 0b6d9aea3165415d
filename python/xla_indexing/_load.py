"""From what people have to a Module: text, files, protos, what JAX, TensorFlow and PyTorch/XLA give.

Objects of other packages are known by what they offer. None of those packages is imported here, but for
`analyze`, which needs JAX to trace a function, and for StableHLO's bytecode, which jaxlib converts.
"""

from __future__ import annotations

import gzip
import importlib
import io
import os
import re
import sys
import zlib
from collections.abc import Callable
from typing import Any

from ._native import Error, Module, ParseError, parse

_GZIP = b"\x1f\x8b"
_MAX_BYTES = 2**31
_MLIR_BYTECODE = b"ML\xefR"
_MAX_HEADER_BYTES = 2**16


def load(x: Any, *, filename: str | None = None) -> Module:
    """The one HLO module that `x` is, says or names.

    x is one of
      - HLO text, as XLA, JAX, TensorFlow (`get_compiler_ir`) and PyTorch/XLA print it, or a part of it;
      - a path of a file of it, as a str or an os.PathLike, or of a directory into which XLA has dumped one
        module (--xla_dump_to): as it is after the optimizations if that is there, otherwise before them;
      - the bytes of either, of an HloModuleProto, of StableHLO text or bytecode, or what jax.export's
        serialize() gives, gzipped or not;
      - `jax.stages.Traced`, `Lowered` or `Compiled`, an HloModule or XlaComputation of jaxlib;
      - a StableHLO module;
      - a Module, which is given back.

    `filename` is what error messages call the text.

    >>> load("ENTRY e { p = f32[4] parameter(0)  ROOT n = f32[4] negate(p) }").entry.root.name
    'n'

    ParseError where a text is not right, Error where there is no module or more than one, OSError for a
    file that cannot be read, TypeError for what is none of these.
    """
    modules = load_all(x, filename=filename)
    if len(modules) != 1:
        raise Error(f"expected one module, found {len(modules)}: load_all() gives all of them")
    return modules[0]


def load_all(x: Any, *, filename: str | None = None) -> list[Module]:
    """All modules of a text in which lines `// -----` stand between them, or of a dump; else what load()
    gives.

    >>> [len(m.instructions) for m in load_all("a = f32[4] parameter(0)\\n// -----\\nb = f32[] constant(1)")]
    [1, 1]
    """
    if isinstance(x, Module):
        return [x]
    if isinstance(x, (str, bytes, bytearray)) and not x.strip():
        raise Error("there is nothing to load: the text is empty")
    if isinstance(x, str):
        if not _looks_like_text(x):
            return _load_file(x, filename)
        return _load_bytes(x.encode(), filename or "<string>")
    if isinstance(x, (bytes, bytearray, memoryview)):
        return _load_bytes(bytes(x), filename or "<bytes>")
    if isinstance(x, os.PathLike):
        return _load_file(os.fspath(x), filename)
    return [_load_object(x, filename)]


def analyze(f: Callable[..., Any], *args: Any, optimized: bool = True, **kwargs: Any) -> Module:
    """The module that a Python function of JAX becomes for these arguments.

    f is a function, or what jax.jit made of one. It is lowered and, unless `optimized` is False, compiled
    for JAX's default backend; it does not run. The parameters of the entry know which arguments they are
    (Instruction.argument).

        m = xi.analyze(lambda x: jax.nn.softmax(x), jnp.ones((8, 128)))
        print(m.entry.indexing())
    """
    if not callable(f):
        raise TypeError(f"analyze() takes a function, not {type(f).__name__}")
    jitted: Any = f if hasattr(f, "lower") else importlib.import_module("jax").jit(f)
    lowered = jitted.lower(*args, **kwargs)
    return load(lowered.compile() if optimized else lowered)


def _looks_like_text(x: str) -> bool:
    # A path has no line end and none of the signs of which even the shortest instruction needs some.
    return "\n" in x or (("(" in x or "{" in x) and not os.path.exists(x))


# module_0003.jit_f.cpu_after_optimizations.txt, module_0003.jit_f.before_optimizations.hlo.pb
_DUMPED = re.compile(
    r"(?P<module>module_\d+)\..*(?P<stage>before|after)_optimizations\.(?P<form>txt|hlo|(hlo\.)?pb)(\.gz)?"
)


def _load_dump(directory: str) -> list[Module]:
    """The modules of a dump of XLA, in their order, each from the file that says most."""
    files: dict[str, tuple[tuple[bool, bool], str]] = {}
    for name in sorted(os.listdir(directory)):
        if found := _DUMPED.fullmatch(name):
            rank = (found["stage"] == "after", not found["form"].endswith("pb"))
            if found["module"] not in files or rank > files[found["module"]][0]:
                files[found["module"]] = (rank, name)
    if not files:
        raise Error(
            f"{directory}: there is no module that XLA has dumped, as module_0001.f.after_optimizations.txt"
        )
    paths = (os.path.join(directory, name) for _, name in files.values())
    return [module for path in paths for module in _load_file(path, None)]


def _load_file(path: str | bytes, filename: str | None) -> list[Module]:
    if os.path.isdir(path):
        return _load_dump(os.fsdecode(path))
    with open(path, "rb") as file:
        content = file.read()
    return _load_bytes(content, filename or os.fsdecode(path))


def _load_bytes(content: bytes, filename: str) -> list[Module]:
    if content.startswith(_GZIP):
        try:
            content = gzip.GzipFile(fileobj=io.BytesIO(content)).read(_MAX_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise ParseError(f"{filename}: error: this is no whole gzip: {error}") from error
        if len(content) > _MAX_BYTES:
            raise ParseError(f"{filename}: error: more than {_MAX_BYTES} bytes")
    at = content.find(_MLIR_BYTECODE, 0, _MAX_HEADER_BYTES)
    if at > 0:  # What jax.export serializes: behind the header, the number of bytes and then these.
        size = int.from_bytes(content[at - 4 : at], "little") if at >= 4 else 0
        content = content[at : at + size]
    if at >= 0:
        return [_from_bytecode(content, filename)]
    return parse(content, filename)


def _from_bytecode(content: bytes, filename: str) -> Module:
    """By jaxlib, which prints it as text."""
    try:
        ir = importlib.import_module("jaxlib.mlir.ir")
        stablehlo = importlib.import_module("jaxlib.mlir.dialects.stablehlo")
    except ImportError as error:
        raise Error(
            f"{filename}: StableHLO as bytecode is converted by jaxlib, which is not here; "
            f"its text is read without: {error}"
        ) from error
    try:
        module = stablehlo.deserialize_portable_artifact(ir.Context(), content)
    except Exception as error:  # jaxlib raises what it likes.
        raise ParseError(f"{filename}: jaxlib does not take this StableHLO: {error}") from error
    return _load_object(module, filename)


def _load_object(x: Any, filename: str | None) -> Module:
    name = filename or f"<{type(x).__name__}>"
    if hasattr(x, "runtime_executable") and hasattr(x, "as_text"):  # jax.stages.Compiled
        return _load_compiled(x, name)
    if hasattr(x, "compiler_ir") and hasattr(x, "as_text"):  # jax.stages.Lowered
        return _load_object(x.compiler_ir("hlo"), name)
    if hasattr(x, "as_hlo_module"):  # XlaComputation
        return _load_object(x.as_hlo_module(), name)
    if hasattr(x, "as_serialized_hlo_module_proto"):  # HloModule
        return _load_hlo_module(x, name)
    if hasattr(x, "mlir_module") and callable(x.mlir_module):  # jax.export.Exported
        return load(x.mlir_module().encode(), filename=name)
    if hasattr(x, "operation") and hasattr(x.operation, "get_asm"):  # an MLIR module
        return load(x.operation.get_asm(enable_debug_info=True).encode(), filename=name)
    if hasattr(x, "lower") and hasattr(x, "jaxpr"):  # jax.stages.Traced
        return _load_object(x.lower(), name)
    raise TypeError(_why_not(x))


def _why_not(x: Any) -> str:
    """What load() says of what it does not take, and what to do instead."""
    takes = (
        "load() takes HLO text, a path, bytes, a jax.stages.Traced, Lowered or Compiled, an HloModule or a "
        "StableHLO module"
    )
    if type(x).__name__ in ("ClosedJaxpr", "Jaxpr"):
        return (
            f"{takes}, not a {type(x).__name__}, which has no HLO: ask for the function f that it was made "
            "of, analyze(f, *args) or load(jax.jit(f).lower(*args)); a ClosedJaxpr itself is the function "
            "jax.extend.core.jaxpr_as_fun(x)"
        )
    if callable(x) and not isinstance(x, type):
        if hasattr(x, "lower"):
            return (
                f"{takes}, not a jitted function, which has no module until it has arguments: "
                "analyze(f, *args), or load(f.lower(*args))"
            )
        return f"{takes}, not a function, which has no module until it has arguments: analyze(f, *args)"
    return f"{takes}, not {type(x).__name__}"


def _load_hlo_module(x: Any, name: str) -> Module:
    # Text says more than the proto, as how many devices there are; constants whole, whatever their size.
    options = getattr(sys.modules.get(type(x).__module__), "HloPrintOptions", None)
    if options is None or not hasattr(x, "to_string"):
        return load(x.as_serialized_hlo_module_proto(), filename=name)
    full = options()
    full.print_large_constants = True
    return load(x.to_string(full).encode(), filename=name)


def _load_compiled(x: Any, name: str) -> Module:
    executable = x.runtime_executable()
    modules = executable.hlo_modules() if hasattr(executable, "hlo_modules") else []
    return _load_hlo_module(modules[0], name) if modules else load(x.as_text().encode(), filename=name)
