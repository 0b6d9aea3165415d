#!/usr/bin/env python3
"""The board: what each engine of the library is worth.

Runs print-indexing over real programs, as it is and with engines switched off one at a time
(xla_indexing/base/engines.h), and prints for each engine its lines of code, how many lines of
answers change without it, how many maps and labels more or fewer there are, and what time it takes.
docs/board.md says how to read it.

    scripts/board.py --list                              the engines, and their lines
    scripts/board.py                                     all of them, over files of ../shared
    scripts/board.py --engines Cover Bands+Joints        some, and two that are off together
    scripts/board.py --corpora jax:300 ~/programs:1000   a directory, and the largest file in kB
    scripts/board.py --write                             docs/board.md, too; --show: without running more

What is done is kept in build/board, and not done again until print-indexing is another one: a run that was
interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import contextlib
import hashlib
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "xla_indexing/base/engines.def"
PAGE = ROOT / "docs/board.md"
BUILD = ROOT / "build/board"
CORPORA = ["hlo:150", "jax:1000", "models:300"]
# What is asked, by the name of the question.
QUESTIONS = {"fused": ["--fuse"], "instructions": ["--instruction=all"]}
# With no engine off again, from time to time.
REPEATS = [f"#{i}" for i in range(1, 8)]
ENGINES_PER_REPEAT = 9
EXTENSIONS = {".hlo", ".pb", ".gz"}
MEMORY_LIMIT = 6 << 30


# --- The table of engines


@dataclass
class Engine:
    name: str
    question: str
    files: list[str]  # below xla_indexing/; path#Name is a function or a class of it


def text_of(literals: str) -> str:
    return "".join(re.findall(r'"([^"]*)"', literals))


def read_engines(table: pathlib.Path = TABLE) -> list[Engine]:
    row = re.compile(
        r'^XLA_INDEXING_ENGINE\(\s*(\w+)\s*,((?:\s*"[^"]*")+)\s*,((?:\s*"[^"]*")+)\s*\)', re.MULTILINE
    )
    return [
        Engine(name, text_of(question), text_of(files).split())
        for name, question, files in row.findall(table.read_text())
    ]


def definition_lines(text: str, name: str) -> set[int]:
    """The numbers of the lines of a function's or class's definitions, with the comment before."""
    lines = text.splitlines()
    found: set[int] = set()
    for first, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        starts = re.search(rf"(?:^|[\s*&:]){name}\(|^\s*(?:class|struct) {name}\b", line)
        if not starts or line.lstrip().startswith(("//", "return", "}", "const auto", "if")):
            continue
        last = first
        while last < len(lines) and not re.match(rf"^\s{{{indent}}}}};?$", lines[last]):
            # A declaration, a call, or what ends before any body.
            if re.search(r";\s*$", lines[last]) and len(lines[last]) - len(lines[last].lstrip()) <= indent:
                break
            if not lines[last].strip() and last == first + 1:
                break
            last += 1
        else:
            while first > 0 and lines[first - 1].lstrip().startswith("//"):
                first -= 1
            found.update(range(first, last + 1))
    return found


def lines_of(
    engine_names: Iterable[str], engines: list[Engine], source: pathlib.Path = ROOT / "xla_indexing"
) -> int:
    """How many lines of code these engines are, each counted once."""
    counted: set[tuple[pathlib.Path, int]] = set()
    for engine in engines:
        if engine.name not in engine_names:
            continue
        for pattern in engine.files:
            path, _, name = pattern.partition("#")
            for file in sorted(source.glob(path)):
                text = file.read_text()
                lines = definition_lines(text, name) if name else set(range(len(text.splitlines())))
                counted.update((file, line) for line in lines)
    return len(counted)


# --- What is run


@dataclass
class Corpus:
    name: str
    directory: pathlib.Path
    kilobytes: int

    def files(self) -> list[pathlib.Path]:
        all_files = sorted(path for path in self.directory.rglob("*") if path.suffix in EXTENSIONS)
        return [path for path in all_files if path.stat().st_size <= self.kilobytes * 1000]


@dataclass(frozen=True)
class Task:
    """A question about a file, with an engine off, or several; with none: the answer to compare with."""

    engine: str  # "": none; "A+B": both; "#1", "#2": none once more, for its time
    corpus: str
    question: str
    path: pathlib.Path
    name: str  # of the file in the corpus


@dataclass
class Result:
    engine: str
    corpus: str
    question: str
    name: str
    status: str = "ok"  # or why there is no answer
    code: int = 0
    lines: int = 0
    maps: int = 0
    weak: int = 0  # lines with an over-approximate label
    unknown: int = 0
    gone: int = 0  # lines of the answer without which ..
    new: int = 0  # .. and with which it is another one
    seconds: float = 0.0  # of user time
    asked: list[str] = field(default_factory=list)  # with no engine off: those that were asked

    def key(self) -> tuple[str, str, str, str]:
        return (self.engine, self.corpus, self.question, self.name)


def count_answer(lines: list[str], result: Result) -> None:
    result.lines = len(lines)
    result.maps = sum(line.startswith("(") and "-> (" in line for line in lines)
    result.weak = sum("(over-approximate: " in line for line in lines)
    result.unknown = sum("unknown: " in line for line in lines)


class Stopped(Exception):
    """Ctrl-C was pressed."""


class Runner:
    """Runs tasks, and keeps what came of them."""

    def __init__(self, program: pathlib.Path, seconds: int, store: pathlib.Path):
        self.program = program
        self.seconds = seconds
        self.store = store
        self.answers = store / "answers"
        self.lock = threading.Lock()
        self.stopped = False
        self.running: set[int] = set()
        self.results: dict[tuple[str, str, str, str], Result] = {}
        self.record = store / "results.jsonl"
        self._load()

    def _load(self) -> None:
        self.store.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(self.program.read_bytes()).hexdigest()
        head = json.dumps({"program": digest, "seconds": self.seconds})
        lines = self.record.read_text().splitlines() if self.record.exists() else []
        if not lines or lines[0] != head:
            self.record.write_text(head + "\n")
            return
        for line in lines[1:]:
            try:
                result = Result(**json.loads(line))
            except (ValueError, TypeError):
                continue  # The last line of a run that was killed.
            self.results[result.key()] = result

    def answer_path(self, task: Task) -> pathlib.Path:
        return self.answers / task.corpus / task.question / (task.name.replace("/", "__") + ".txt")

    def base_of(self, task: Task) -> Result | None:
        return self.results.get(("", task.corpus, task.question, task.name))

    def seconds_of_base(self, task: Task) -> float:
        """On average: programs beside it make it now faster, now slower."""
        place = (task.corpus, task.question, task.name)
        results = [self.results.get((name, *place)) for name in ["", *REPEATS]]
        seconds = [result.seconds for result in results if result is not None]
        return sum(seconds) / len(seconds) if seconds else 0.0

    def result_of(self, task: Task) -> Result | None:
        """The answer without engines is that with them where none of these was asked."""
        base = self.base_of(task)
        if (
            base is not None
            and task.engine not in REPEATS
            and not set(base.asked).intersection(names_in(task.engine))
        ):
            return base
        return self.results.get((task.engine, task.corpus, task.question, task.name))

    def needs(self, task: Task) -> bool:
        """Whether there is something to run: not where there is nothing to compare with."""
        if not task.engine:
            return self.base_of(task) is None
        base = self.base_of(task)
        return base is not None and base.status == "ok" and self.result_of(task) is None

    def run(self, task: Task) -> Result:
        if self.stopped:
            raise Stopped
        result = Result(task.engine, task.corpus, task.question, task.name)
        answer = self.answer_path(task)
        output = answer if not task.engine else answer.with_suffix(f".{threading.get_ident()}.tmp")
        output.parent.mkdir(parents=True, exist_ok=True)
        asked = answer.with_suffix(".asked")
        with output.open("wb") as file:
            status, result.seconds = self._execute(task, file.fileno(), asked)
        if self.stopped:
            raise Stopped
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            timed_out = number in (signal.SIGXCPU, signal.SIGKILL)
            result.status = f"more than {self.seconds} s" if timed_out else signal.Signals(number).name
        else:
            result.code = os.WEXITSTATUS(status)
            base = self.base_of(task) if task.engine else result
            if base is None or result.code != base.code:
                result.status = f"ended with {result.code}, probably out of memory"
        if result.status == "ok":
            lines = output.read_text(errors="replace").splitlines()
            count_answer(lines, result)
            if not task.engine:
                result.asked = asked.read_text().split() if asked.exists() else []
            else:
                before = collections.Counter(answer.read_text(errors="replace").splitlines())
                after = collections.Counter(lines)
                result.gone = sum((before - after).values())
                result.new = sum((after - before).values())
        if task.engine:
            output.unlink()
        with self.lock:
            self.results[result.key()] = result
            with self.record.open("a") as file_of_results:
                file_of_results.write(json.dumps(asdict(result)) + "\n")
        return result

    def _execute(self, task: Task, output: int, asked: pathlib.Path) -> tuple[int, float]:
        """The status of the program's end, and the seconds that it took."""
        environment = dict(os.environ)
        environment.pop("XLA_INDEXING_WITHOUT", None)
        environment.pop("XLA_INDEXING_ASKED", None)
        if task.engine:
            environment["XLA_INDEXING_WITHOUT"] = ",".join(names_in(task.engine))
        else:
            environment["XLA_INDEXING_ASKED"] = str(asked)
        question = [*QUESTIONS[task.question], "--direction=both", "--jobs=1"]
        command = [str(self.program), *question, str(task.path)]
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL, env=environment
        )
        with self.lock:
            self.running.add(process.pid)
        with contextlib.suppress(ProcessLookupError):  # It may have ended.
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (self.seconds, self.seconds + 1))
            resource.prlimit(process.pid, resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        with self.lock:
            self.running.discard(process.pid)
        return status, usage.ru_utime

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            for pid in self.running:
                os.kill(pid, signal.SIGKILL)


class Progress:
    """What is being done, on one line of a terminal, or on a line for each engine."""

    def __init__(self, total: int):
        self.total = total
        self.done = 0
        self.start = time.monotonic()
        self.is_terminal = sys.stderr.isatty()

    def step(self, what: str) -> None:
        self.done += 1
        if self.is_terminal:
            print(
                f"\r\033[K[{self.done}/{self.total}] {self._left()} left: {what}",
                end="",
                file=sys.stderr,
                flush=True,
            )

    def engine(self, row: str) -> None:
        print(
            ("\r\033[K" if self.is_terminal else "") + f"[{self.done}/{self.total}] {row}",
            file=sys.stderr,
            flush=True,
        )

    def _left(self) -> str:
        left = (time.monotonic() - self.start) / max(self.done, 1) * (self.total - self.done)
        return f"{left / 60:.0f} min"


def tasks_of(engine: str, corpora: list[Corpus], questions: Iterable[str]) -> Iterator[Task]:
    for corpus in corpora:
        for path in corpus.files():
            for question in questions:
                yield Task(engine, corpus.name, question, path, path.relative_to(corpus.directory).as_posix())


# --- Rows


@dataclass
class Sums:
    files: int = 0
    lines: int = 0
    maps: int = 0
    weak: int = 0
    unknown: int = 0
    gone: int = 0
    new: int = 0
    seconds: float = 0.0

    def add(self, result: Result) -> None:
        self.files += 1
        self.lines += result.lines
        self.maps += result.maps
        self.weak += result.weak
        self.unknown += result.unknown
        self.gone += result.gone
        self.new += result.new
        self.seconds += result.seconds


@dataclass
class Row:
    """An engine, over the files that have an answer with it and without it."""

    engine: str
    without: Sums = field(default_factory=Sums)
    base: Sums = field(default_factory=Sums)
    # Of the files in which it is asked.
    seconds_without: float = 0.0
    seconds_base: float = 0.0
    asked: int = 0
    failed: list[str] = field(default_factory=list)
    missing: int = 0


def row_of(engine: str, runner: Runner, tasks: Iterable[Task]) -> Row:
    row = Row(engine)
    for task in tasks:
        base = runner.base_of(task)
        without = runner.result_of(replace(task, engine=engine))
        if base is None or base.status != "ok":
            row.missing += base is None
        elif without is None:
            row.missing += 1
        elif without.status != "ok":
            row.failed.append(f"{task.corpus}/{task.name} ({task.question}): {without.status}")
        else:
            row.base.add(base)
            row.without.add(without)
            if without is not base:
                row.asked += 1
                row.seconds_without += without.seconds
                row.seconds_base += runner.seconds_of_base(task)
    return row


def changed(row: Row) -> str:
    if row.missing and not row.asked:
        return "not run"
    if row.without.gone == row.without.new:
        return f"{row.without.gone:,}" if row.without.gone else "="
    return f"{row.without.gone:,} gone, {row.without.new:,} new"


def difference(after: int, before: int) -> str:
    return f"{after - before:+,}" if after != before else "="


def ratio(row: Row) -> str:
    if not row.asked:
        return "not run" if row.missing else "not asked"
    return f"{row.seconds_without / row.seconds_base:.2f}" if row.seconds_base > 0 else "?"


def names_in(engine: str) -> list[str]:
    return [] if engine in REPEATS else engine.split("+")


def in_short(row: Row) -> str:
    labels = difference(row.without.weak, row.base.weak)
    failed = f"; {len(row.failed)} without answer" if row.failed else ""
    maps = difference(row.without.maps, row.base.maps)
    parts = [f"lines {changed(row)}", f"maps {maps}", f"labels {labels}", f"time {ratio(row)}"]
    return f"{row.engine}: {'; '.join(parts)}{failed}"


# --- The page


def markdown(header: list[str], rows: list[list[str]]) -> str:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(header), line(["---"] * len(header)), *map(line, rows)]) + "\n"


def tables(rows: list[Row], engines: list[Engine], runner: Runner, corpora: list[Corpus]) -> str:
    questions = {engine.name: engine.question for engine in engines}
    main, where = [], []
    for row in rows:
        names = names_in(row.engine)
        unknown = row.without.unknown - row.base.unknown
        labels = difference(row.without.weak, row.base.weak) + (f", unknown {unknown:+,}" if unknown else "")
        question = questions.get(row.engine, "together")
        if row.failed:
            question += f" *{len(row.failed)} answers not compared.*"
        if row.missing and row.asked:
            question += f" *{row.missing} not run.*"
        cells = [f"`{row.engine}`", question, f"{lines_of(names, engines):,}", changed(row)]
        main.append([*cells, difference(row.without.maps, row.base.maps), labels, ratio(row)])
        if row.without.gone == row.without.new == 0 and not row.failed:
            continue
        parts = []
        for corpus in corpora:
            for question in QUESTIONS:
                part = row_of(row.engine, runner, tasks_of(row.engine, [corpus], [question]))
                maps = difference(part.without.maps, part.base.maps)
                text = f"{changed(part)}; {maps}; {difference(part.without.weak, part.base.weak)}"
                parts.append("=" if text == "=; =; =" else text)
        where.append([f"`{row.engine}`", *parts])
    header = ["engine", "the question that it answers", "lines of code", "lines of answers that differ"]
    text = markdown([*header, "maps", "over-approximate", "time"], main)
    places = [f"{corpus.name}, {question}" for corpus in corpora for question in QUESTIONS]
    text += "\nWhere: lines that differ; maps; over-approximate lines.\n\n"
    return text + markdown(["engine", *places], where)


def described(runner: Runner, corpora: list[Corpus]) -> str:
    rows = []
    for corpus in corpora:
        for question in QUESTIONS:
            sums = Sums()
            failed = []
            for task in tasks_of("", [corpus], [question]):
                result = runner.base_of(task)
                if result is not None and result.status == "ok":
                    sums.add(result)
                elif result is not None:
                    failed.append(f"{task.name}: {result.status}")
            cells = [
                f"{corpus.name}, files up to {corpus.kilobytes:,} kB",
                question,
                f"{sums.files:,}",
                f"{sums.lines:,}",
            ]
            out = "; ".join(failed) or "none"
            rows.append([*cells, f"{sums.maps:,}", f"{sums.weak:,}", f"{sums.seconds:,.0f} s", out])
    header = ["programs", "question", "files", "lines", "maps", "over-approximate", "user time", "left out"]
    return markdown(header, rows)


# What is before the first of these lines, and what is behind the last one, is written by hand.
BEGIN = "<!-- written by scripts/board.py: begin -->"
END = "<!-- written by scripts/board.py: end -->"


def write_page(
    rows: list[Row], engines: list[Engine], runner: Runner, corpora: list[Corpus], path: pathlib.Path
) -> None:
    text = "## The programs\n\n" + described(runner, corpora)
    text += "\n## The table\n\n" + tables(rows, engines, runner, corpora)
    failed = [f"- `{row.engine}`: {'; '.join(row.failed)}" for row in rows if row.failed]
    if failed:
        text += (
            "\nNot compared, as there was no answer in time without the engine:\n\n"
            + "\n".join(failed)
            + "\n"
        )
    page = path.read_text() if path.exists() else f"{BEGIN}\n{END}\n"
    before, _, rest = page.partition(BEGIN)
    path.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{rest.partition(END)[2]}")


# --- The command


def corpus_of(text: str) -> Corpus:
    name, _, kilobytes = text.partition(":")
    directory = pathlib.Path(name).expanduser()
    if not directory.is_dir() or "/" not in name:
        directory = ROOT.parent / "shared" / name
    if not directory.is_dir():
        raise argparse.ArgumentTypeError(f"there is no directory {name}, nor {directory}")
    return Corpus(directory.name, directory.resolve(), int(kilobytes or 100))


def build() -> pathlib.Path:
    if not (BUILD / "CMakeCache.txt").exists():
        subprocess.run(["cmake", "--preset", "board"], cwd=ROOT, check=True)
    subprocess.run(
        ["cmake", "--build", "--preset", "board", "--target", "print-indexing"], cwd=ROOT, check=True
    )
    return BUILD / "bin/print-indexing"


def run_all(runner: Runner, engines: list[str], corpora: list[Corpus], processes: int) -> None:
    """Every engine over every file; those without an answer when no engine is off are left out."""
    base = list(tasks_of("", corpora, QUESTIONS))
    order = [""]
    for i, engine in enumerate(engines):
        if i % ENGINES_PER_REPEAT == 0 and i // ENGINES_PER_REPEAT < len(REPEATS):
            order.append(REPEATS[i // ENGINES_PER_REPEAT])
        order.append(engine)
    progress = Progress(len(base) * len(order))
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        try:
            for engine in order:
                tasks = tasks_of(engine, corpora, QUESTIONS)
                waiting = {pool.submit(runner.run, task): task for task in tasks if runner.needs(task)}
                progress.done += len(base) - len(waiting)
                for done in concurrent.futures.as_completed(waiting):
                    done.result()
                    progress.step(f"{engine or 'nothing off'}: {waiting[done].name}")
                if engine:
                    progress.engine(in_short(row_of(engine, runner, base)))
        except BaseException:
            runner.stop()
            pool.shutdown(cancel_futures=True)
            raise


def main(arguments: list[str]) -> int:
    description, _, examples = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=description, epilog=examples, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--list", action="store_true", help="the engines and their lines of code, and nothing else"
    )
    parser.add_argument(
        "--program", type=pathlib.Path, help="a print-indexing with XLA_INDEXING_BOARD; built otherwise"
    )
    parser.add_argument(
        "--engines", nargs="+", metavar="NAME", help="those to switch off; A+B: both at a time"
    )
    parser.add_argument(
        "--corpora",
        nargs="+",
        type=corpus_of,
        metavar="DIRECTORY[:KB]",
        default=[corpus_of(c) for c in CORPORA],
        help=f"of ../shared, or others; files up to so many kB (default: {' '.join(CORPORA)})",
    )
    parser.add_argument("--show", action="store_true", help="run nothing; what is known is printed")
    parser.add_argument("--processes", type=int, default=1, help="how many run at a time (default: 1)")
    parser.add_argument(
        "--seconds", type=int, default=20, help="of processor time for one file (default: 20)"
    )
    parser.add_argument("--write", action="store_true", help="write docs/board.md")
    parser.add_argument(
        "--output", type=pathlib.Path, default=PAGE, help="where --write writes (default: docs/board.md)"
    )
    options = parser.parse_args(arguments)
    engines = read_engines()
    known = [engine.name for engine in engines]
    if options.list:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # for `| head`
        for engine in engines:
            print(f"{engine.name:24}{lines_of([engine.name], engines):6}  {engine.question}")
        return 0
    chosen: list[str] = options.engines or known
    unknown = sorted({name for row in chosen for name in names_in(row)} - set(known))
    if unknown:
        parser.error(f"no such engines: {', '.join(unknown)}. There are: {', '.join(known)}")
    program = options.program.resolve() if options.program else build()
    runner = Runner(program, options.seconds, BUILD / "results")
    tasks = list(tasks_of("", options.corpora, QUESTIONS))
    try:
        if not options.show:
            run_all(runner, chosen, options.corpora, options.processes)
    except (KeyboardInterrupt, Stopped):
        print("\nboard: stopped; what is done is kept, and the next run goes on from here", file=sys.stderr)
        return 130
    rows = [row_of(name, runner, tasks) for name in chosen]
    print(described(runner, options.corpora))
    print(tables(rows, engines, runner, options.corpora))
    for row in rows:
        for why in row.failed:
            print(f"board: not compared without {row.engine}: {why}")
    if options.write:
        write_page(rows, engines, runner, options.corpora, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
