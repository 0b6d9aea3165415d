#!/usr/bin/env python3
"""Checks that a name has one meaning wherever two meanings of it could meet unnoticed.

What is local to a file has a name of its own in its directory. Several files of a directory are
compiled as one (CMAKE_UNITY_BUILD). Two file-local functions of one name with other parameters are
then overloads of each other, which the compiler does not complain about, and a call may find the
wrong one. The same alias twice is allowed.

A type that a header defines has a name of its own in its namespace, in all directories. Two types of
one name have the same instances of templates to the linker, which keeps one of them: a vector of one
type then takes the size of the other, and writes past its memory.

A type of the library, local to a file or not, has a name that no other type of the library has: a reader
who knows what it means knows it everywhere. The messages of protocol buffers, in a namespace of their
own, have the names that they have in XLA.

Reads definitions that begin in the first column, as the formatter puts them.

    tests/unique_names.py DIRECTORY..
"""

import collections
import pathlib
import re
import sys

FUNCTION = re.compile(
    r"(?!using|return|template|class|struct|enum|TEST|INSTANTIATE|static_assert)"
    r"[\w:][\w:<>,&* ]*?[ *&](\w+)\(")
TYPE = re.compile(r"(?:class|struct|enum class|enum) (\w+)\b(?!;)")
CONSTANT = re.compile(r"(?:constexpr|const|inline)[\w:<>,&* ]* (\w+)(?:\[\w*\])?(?: =|\{|\()")
NAMESPACE = re.compile(r"namespace (\S+) \{")
# The body may begin on a later line, after the types that this one is derived from.
DEFINED_TYPE = re.compile(r"(?:class|struct|union|enum class|enum) (?:\[\[\w+\]\] )?(\w+)\b[^;]*$")
ALIAS = re.compile(r"using (\w+) = (.*)")


def local_names(path):
    """Pairs of a name and what it has to agree with to be the same."""
    is_local = False
    for line in path.read_text().splitlines():
        if line.startswith("namespace {"):
            is_local = True
        elif line.startswith("}  // namespace"):
            is_local = False
        elif is_local:
            if alias := ALIAS.match(line):
                yield alias[1], alias[2]
            elif match := FUNCTION.match(line) or TYPE.match(line) or CONSTANT.match(line):
                yield match[1], path


def types_of_header(path):
    """The types that a header defines, each with its namespaces."""
    namespaces = []
    for line in path.read_text().splitlines():
        if match := NAMESPACE.match(line):
            namespaces.append(match[1])
        elif line.startswith("}  // namespace"):
            namespaces.pop()
        elif match := DEFINED_TYPE.match(line):
            yield "::".join([*namespaces, match[1]])


def types_of_library(directories):
    """Where each type of the library, local or not, is defined."""
    defined = collections.defaultdict(set)
    for directory in directories:
        for path in directory.rglob("*.h"):
            for name in types_of_header(path):
                if "::proto::" not in name:
                    defined[name.rsplit("::", 1)[-1]].add(str(path))
        for path in directory.rglob("*.cc"):
            for name, meaning in local_names(path):
                if meaning == path and name in local_types(path):
                    defined[name].add(str(path))
    return defined


def local_types(path):
    return {match[1] for line in path.read_text().splitlines() if (match := TYPE.match(line))}


def main(directories):
    failures = 0
    library = [directory for directory in map(pathlib.Path, directories) if "tests" not in directory.parts]
    for name, paths in sorted(types_of_library(library).items()):
        if len(paths) > 1:
            failures += 1
            print(f"{name} is a type in {' and in '.join(sorted(paths))}")
    headers = collections.defaultdict(set)
    for directory in map(pathlib.Path, directories):
        for path in directory.rglob("*.h"):
            for name in types_of_header(path):
                headers[name].add(str(path))
    for name, paths in sorted(headers.items()):
        if len(paths) > 1:
            failures += 1
            print(f"{name} is defined in {' and in '.join(sorted(paths))}")
    for directory in map(pathlib.Path, directories):
        meanings = collections.defaultdict(dict)
        for path in sorted(directory.rglob("*.cc")):
            for name, meaning in local_names(path):
                meanings[name].setdefault(meaning, path.name)
        for name, files in sorted(meanings.items()):
            if len(files) > 1:
                failures += 1
                print(f"{directory}: {name} is local to {' and to '.join(files.values())}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
