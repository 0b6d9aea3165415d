"""Gives the functions and methods of the extension module signatures that `inspect` and `?` show.

nanobind knows them as text. All of them are compiled as one module of functions without bodies, of which each
function here is a wrapper. Importing this module does it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import _native

_DEFAULT = re.compile(r"\\(\d+)")  # the i-th default value


def install(module: ModuleType) -> None:
    """Replaces the functions of the module, and the methods of its classes, by wrappers with signatures."""
    found: list[tuple[Any, str, Any]] = []
    for name, value in list(vars(module).items()):
        if hasattr(value, "__nb_signature__"):
            found.append((module, name, value))
        elif isinstance(value, type) and value.__module__ == module.__name__:
            found += [(value, n, f) for n, f in list(vars(value).items()) if hasattr(f, "__nb_signature__")]
    source = ["from __future__ import annotations\n"]
    defaults: dict[str, Any] = {}
    for i, (_, _, function) in enumerate(found):
        text, _, values = function.__nb_signature__[0]
        head = re.match(r"def \w+", text)
        if head is None:
            continue
        for k, value in enumerate(values or ()):
            defaults[f"_d{i}_{k}"] = value
        parameters = _DEFAULT.sub(rf"_d{i}_\1", text[head.end() :])
        source.append(f"def _f{i}{parameters}: ...\n")
    scope: dict[str, Any] = dict(defaults)
    exec(compile("".join(source), "<signatures>", "exec"), scope)
    for i, (owner, name, function) in enumerate(found):
        bare = scope.get(f"_f{i}")
        if bare is None:
            continue
        wrapper: Any = _wrapper(function, bare, owner, name)
        if name == "__init__":
            owner.__signature__ = _signature_without_self(bare)
        elif isinstance(owner, ModuleType) or not name.startswith("__"):
            is_static = isinstance(owner, type) and bare.__code__.co_varnames[:1] != ("self",)
            setattr(owner, name, staticmethod(wrapper) if is_static else wrapper)


def _wrapper(function: Any, bare: Callable[..., Any], owner: Any, name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    call.__name__ = name
    call.__qualname__ = name if isinstance(owner, ModuleType) else f"{owner.__qualname__}.{name}"
    call.__module__ = owner.__name__ if isinstance(owner, ModuleType) else owner.__module__
    call.__doc__ = function.__nb_signature__[0][1]
    call.__wrapped__ = bare  # type: ignore[attr-defined]
    return call


def _signature_without_self(bare: Callable[..., Any]) -> Any:
    signature = inspect.signature(bare)
    parameters = list(signature.parameters.values())[1:]
    return signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)


install(_native)
