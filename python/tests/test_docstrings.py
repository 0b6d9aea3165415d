"""The examples of all docstrings, also of the extension module, are run and have to give what they say."""

import doctest
import inspect

import numpy
import pytest

import xla_indexing
from xla_indexing import _load, _native, _program, blocks, dependence, picture, progress, sparsity


def docstrings():
    """Pairs of a name and the docstring of it, of everything public in the package."""
    for module in (xla_indexing, _load, _program, blocks, dependence, picture, progress, sparsity):
        yield module.__name__, module.__doc__
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) == module.__name__:
                yield f"{module.__name__}.{name}", value.__doc__
    for name, value in vars(_native).items():
        if name.startswith("__"):
            continue
        yield name, value.__doc__
        if inspect.isclass(value):
            for member in vars(value).values():
                yield f"{name}.{getattr(member, '__name__', member)}", getattr(member, "__doc__", None)


EXAMPLES = {name: text for name, text in docstrings() if text and ">>>" in text}


def test_there_are_examples():
    assert len(EXAMPLES) > 15


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_gives_what_it_says(name):
    names = {**vars(xla_indexing), **vars(_program), "xi": xla_indexing, "np": numpy}
    test = doctest.DocTestParser().get_doctest(EXAMPLES[name], names, name, None, 0)
    report = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=report.append)
    assert not report, "".join(report)
