"""The command line `xla-indexing`, also `python -m xla_indexing`.

Exit codes: 0 everything asked for was printed; 1 an input could not be read or is not valid, or the output
could not be written; 2 the command line is wrong, or there is no such instruction or computation; 130
interrupted.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

from . import INPUT_TO_OUTPUT, OUTPUT_TO_INPUT, Error, Report, __version__, load_all
from .progress import Progress

_DESCRIPTION = """\
Which elements of one tensor does an element of another depend on, and what does it cost to read them?

FILE is HLO text, an HloModuleProto (.hlo.pb) or StableHLO, whatever it is called; '-' is standard input.
JAX writes such files with  compiled.as_text()  and with  XLA_FLAGS=--xla_dump_to=DIRECTORY.
"""

_EXAMPLES = """\
examples:
  xla-indexing report model.hlo                     the kernels that take most time
  xla-indexing report --top 5 --sort moved model.hlo
  xla-indexing report --json model.hlo | python3 -m json.tool
  xla-indexing report --html report.html model.hlo  a page with pictures of every kernel
  xla-indexing show model.hlo                       what the results of the entry are computed from
  xla-indexing show model.hlo fusion.3              what that instruction, or computation, reads
  xla-indexing show model.hlo fusion.3 --direction input-to-output
  xla-indexing show model.hlo fusion.3 --picture fusion.svg
  xla-indexing show model.hlo fusion.3 --picture fusion.svg --element 3,17
"""

_SHOW = """\
The indexing maps of an instruction or a computation; without a name of the entry computation, all of it
taken as one fusion. A line is a map: from the element (d0, d1, ..) to the elements that it reads, for all
values of the range variables [s0, ..] and the values that the runtime variables {rt0, ..} have when the
program runs.
"""

_REPORT = """\
The kernels of a module, the one that wastes most memory traffic first. Wasted: what is moved, in whole
sectors of 32 bytes, beyond the bytes that the threads of a warp ask for.
"""

_DIRECTIONS = {
    "output-to-input": [OUTPUT_TO_INPUT],
    "input-to-output": [INPUT_TO_OUTPUT],
    "both": [OUTPUT_TO_INPUT, INPUT_TO_OUTPUT],
}


class UsageError(Exception):
    """What is wrong with the command line, where that is known only once the input is read."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    try:
        code = _run(_parser().parse_args(arguments))
        sys.stdout.flush()
        return code
    except UsageError as error:
        print(f"xla-indexing: error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Whoever read the output has seen enough. What is left in the buffer has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"xla-indexing: error: {place}{error.strerror or error}", file=sys.stderr)
        return 1
    except (Error, MemoryError) as error:
        print(
            str(error) if isinstance(error, Error) else "xla-indexing: error: out of memory", file=sys.stderr
        )
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="xla-indexing",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"xla-indexing {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    report = _command(
        commands, "report", "the kernels that take time, and the memory traffic that they waste", _REPORT
    )
    report.add_argument("files", metavar="FILE", nargs="+", help="a module; '-' is standard input")
    report.add_argument("--top", metavar="N", type=_count, help="print N rows (default: those of 1%%)")
    report.add_argument("--machine", metavar="NAME", default="h100", help="h100, h200, a100, mi300x or cpu")
    report.add_argument("--sort", metavar="COLUMN", default="time", help="sort by this column")
    report.add_argument(
        "--json", action="store_true", help="print all rows as JSON, an object for each module"
    )
    report.add_argument(
        "--html", metavar="OUT.html", help="write a page to look at, which needs nothing else"
    )
    report.set_defaults(run=_report)

    show = _command(commands, "show", "the indexing maps of an instruction or a computation", _SHOW)
    show.add_argument("file", metavar="FILE", help="a module; '-' is standard input")
    show.add_argument("name", metavar="NAME", nargs="?", help="an instruction or a computation")
    show.add_argument("--direction", choices=_DIRECTIONS, default="output-to-input")
    show.add_argument("--exact", action="store_true", help="the tightest maps, which may be more")
    show.add_argument(
        "--picture", metavar="OUT.svg", help="draw an element and what it reads, instead of text"
    )
    show.add_argument("--element", metavar="I,J,..", type=_indices, help="the element that the picture is of")
    show.add_argument("--leaf", metavar="N", type=_count, default=0, help="the array of a tuple (default: 0)")
    show.add_argument(
        "--operand",
        metavar="N",
        type=_count,
        default=0,
        help="the operand, from input to output (default: 0)",
    )
    show.set_defaults(run=_show)
    return parser


def _command(commands: Any, name: str, summary: str, description: str) -> argparse.ArgumentParser:
    examples = [line for line in _EXAMPLES.splitlines() if f"xla-indexing {name}" in line]
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog="\n".join(["examples:", *examples]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is less than 0")
    return number


def _indices(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part.strip())


def _run(options: argparse.Namespace) -> int:
    run: Callable[[argparse.Namespace], int] = options.run
    return run(options)


def _modules(file: str) -> list[Any]:
    """The modules of a file; what is not known in them is said on standard error."""
    if file == "-":
        modules = load_all(sys.stdin.buffer.read(), filename="<stdin>")
    else:
        with open(file, "rb") as stream:
            modules = load_all(stream.read(), filename=file)
    for module in modules:
        for warning in module.warnings:
            print(warning, file=sys.stderr)
    return modules


def _report(options: argparse.Namespace) -> int:
    if options.sort not in Report.columns():
        raise UsageError(f"there is no column '{options.sort}': there are {', '.join(Report.columns())}")
    if options.html and (len(options.files) > 1 or options.json):
        raise UsageError("--html writes a page about one file")
    code = 0
    for file in options.files:
        try:
            modules = _modules(file)
            if options.html and len(modules) > 1:
                raise UsageError(f"a page is about one module, and {file} has {len(modules)}")
            for module in modules:
                with Progress(module.name) as progress:
                    report = module.report(progress=progress, machine=options.machine).sorted_by(options.sort)
                    page = report.to_html(progress=progress) if options.html else ""
                if options.html:
                    pathlib.Path(options.html).write_text(page, encoding="utf-8")
                else:
                    print(report.to_json() if options.json else report.to_text(top=options.top), end="")
        except (Error, FileNotFoundError, IsADirectoryError, PermissionError) as error:
            place = f"{file}: {error.strerror}" if isinstance(error, OSError) else error
            print(place if isinstance(error, Error) else f"xla-indexing: error: {place}", file=sys.stderr)
            code = 1
    return code


def _show(options: argparse.Namespace) -> int:
    subjects = [_subject(module, options.name) for module in _modules(options.file)]
    if options.element is not None and not options.picture:
        raise UsageError("--element is of a picture: it needs --picture")
    if options.picture:
        if len(subjects) != 1 or options.direction == "both":
            raise UsageError("a picture is of one module and one direction")
        _draw(subjects[0], options)
        return 0
    for subject in subjects:
        for direction in _DIRECTIONS[options.direction]:
            print(str(subject.indexing(direction, exact=options.exact)).rstrip("\n"))
    return 0


def _subject(module: Any, name: str | None) -> Any:
    if name is None:
        return module.entry
    try:
        return module[name]
    except KeyError:
        raise UsageError(
            f"there is no instruction or computation '{name}' in module '{module.name}'"
        ) from None


def _draw(subject: Any, options: argparse.Namespace) -> None:
    (direction,) = _DIRECTIONS[options.direction]
    indexing = subject.indexing(direction, exact=options.exact)
    try:
        picture = indexing.picture(options.element, leaf=options.leaf, operand=options.operand)
    except Error as error:
        raise UsageError(str(error)) from None
    if options.picture == "-":
        print(picture, end="")
    else:
        picture.save(options.picture)
