#!/usr/bin/env python3
"""Tests that the table of engines, their switches and their files agree, and how scripts/board.py reads them."""

import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import board  # noqa: E402

SWITCH = re.compile(r"IsOff\((?:internal::)?Engine::k(\w+)\)")


class EnginesTest(unittest.TestCase):
    def setUp(self):
        self.engines = board.read_engines()

    def test_all_rows_are_read(self):
        rows = re.findall(r"^XLA_INDEXING_ENGINE\(", board.TABLE.read_text(), re.MULTILINE)
        self.assertGreater(len(rows), 0)
        self.assertEqual(len(self.engines), len(rows))

    def test_names_are_unique_and_questions_are_said(self):
        names = [engine.name for engine in self.engines]
        self.assertEqual(len(names), len(set(names)))
        for engine in self.engines:
            self.assertTrue(engine.question, engine.name)

    def test_every_engine_has_a_switch_and_every_switch_an_engine(self):
        asked = set()
        for file in sorted((ROOT / "xla_indexing").rglob("*.cc")) + sorted(
            (ROOT / "xla_indexing").rglob("*.h")
        ):
            if file.name != "engines.h":
                asked.update(SWITCH.findall(file.read_text()))
        self.assertEqual(asked, {engine.name for engine in self.engines})

    def test_files_and_functions_of_engines_are_found(self):
        for engine in self.engines:
            self.assertTrue(engine.files, engine.name)
            for pattern in engine.files:
                with self.subTest(engine=engine.name, file=pattern):
                    one = board.Engine(engine.name, engine.question, [pattern])
                    self.assertGreater(board.lines_of([engine.name], [one]), 0)

    def test_lines_of_a_function_are_those_of_its_definition_with_its_comment(self):
        text = """// Declared here.
int Find(int x);

// Says
// what it does.
int Find(int x) {
  if (x > 0) {
    return Find(x - 1);
  }
  return 0;
}

class Search {
 public:
  int Go();
};
"""
        self.assertEqual(sorted(board.definition_lines(text, "Find")), [3, 4, 5, 6, 7, 8, 9, 10])
        self.assertEqual(sorted(board.definition_lines(text, "Search")), [12, 13, 14, 15])


class RowsTest(unittest.TestCase):
    def test_a_row_is_over_files_with_an_answer_both_ways(self):
        tasks = [board.Task("", "c", "fused", pathlib.Path(name), name) for name in ("a", "b", "c", "d")]
        with tempfile.TemporaryDirectory() as directory:
            program = pathlib.Path(directory, "program")
            program.touch()
            runner = board.Runner(program, 20, pathlib.Path(directory, "results"))
            for engine, name, status, maps, asked in [
                ("", "a", "ok", 4, ["E"]),
                ("E", "a", "ok", 6, []),
                ("", "b", "ok", 1, ["E"]),
                ("E", "b", "more than 20 s", 0, []),
                ("", "c", "ok", 1, ["E"]),
                ("", "d", "ok", 5, ["F"]),
            ]:
                result = board.Result(engine, "c", "fused", name, status, maps=maps, asked=asked)
                runner.results[result.key()] = result
            row = board.row_of("E", runner, tasks)
        # Where it is not asked there is nothing to run.
        self.assertEqual((row.base.maps, row.without.maps, row.asked, row.missing), (9, 11, 1, 1))
        self.assertEqual(row.failed, ["c/b (fused): more than 20 s"])


if __name__ == "__main__":
    unittest.main()
