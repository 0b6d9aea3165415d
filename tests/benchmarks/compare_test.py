#!/usr/bin/env python3
"""Tests benchmarks/compare.py on small runs that are made up.

    compare_test.py COMPARE
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

COMPARE = sys.argv.pop(1)


class CompareTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def write(self, name, value):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file)
        return path

    def run_of(self, name, *rows):
        return self.write(name, {"context": {}, "benchmarks": list(rows)})

    def compare(self, *arguments):
        run = subprocess.run([sys.executable, COMPARE, *arguments], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, universal_newlines=True, check=False)
        return run.returncode, run.stdout

    def test_equal_runs_pass(self):
        baseline = self.write("baseline", {"a": 10, "b": 20})
        run = self.run_of("run", {"name": "a", "U": 12.9}, {"name": "b", "U": 15.5})
        self.assertEqual(self.compare(baseline, run), (
            0, "2 compared, 0 slower by more than 1.3x; 0 of the baseline not run, 0 new\n"))

    def test_shows_what_became_slower_and_fails(self):
        baseline = self.write("baseline", {"a": 10, "b": 20, "faster": 30, "gone": 1})
        run = self.run_of("run", {"name": "a", "U": 13.1}, {"name": "b", "U": 20},
                          {"name": "faster", "U": 15}, {"name": "new", "U": 7})
        code, output = self.compare(baseline, run)
        self.assertEqual(code, 1)
        self.assertEqual([line.split() for line in output.splitlines()], [
            "benchmark U before U now ratio".split(),
            "a 10 13.1 1.31 slower".split(),
            "faster 30 15 0.50 faster".split(),
            "3 compared, 1 slower by more than 1.3x; 1 of the baseline not run, 1 new".split()])

    def test_what_became_faster_passes(self):
        baseline = self.write("baseline", {"a": 10})
        self.assertEqual(self.compare(baseline, self.run_of("run", {"name": "a", "U": 1}))[0], 0)

    def test_the_threshold_can_be_set(self):
        baseline = self.write("baseline", {"a": 10})
        run = self.run_of("run", {"name": "a", "U": 15})
        self.assertEqual(self.compare(baseline, run)[0], 1)
        self.assertEqual(self.compare("--threshold=2", baseline, run)[0], 0)
        self.assertEqual(self.compare("--threshold=0.5", baseline, run)[0], 2)

    def test_takes_the_median_of_several_runs(self):
        baseline = self.write("baseline", {"a": 10})
        first = self.run_of("first", {"name": "a", "U": 11}, {"name": "a", "U": 90})
        second = self.run_of("second", {"name": "a", "U": 9},
                             {"name": "a_mean", "run_type": "aggregate", "U": 36})
        code, output = self.compare(baseline, first, second)
        self.assertEqual(code, 0, output)
        self.assertIn("1 compared", output)
        self.assertIn("0 new", output)

    def test_rows_without_the_unit_are_left_out(self):
        baseline = self.write("baseline", {"a": 10})
        code, output = self.compare(baseline, self.run_of("run", {"name": "bytes"}))
        self.assertEqual(code, 0)
        self.assertIn("0 compared, 0 slower by more than 1.3x; 1 of the baseline not run", output)

    def test_writes_a_baseline_that_its_run_agrees_with(self):
        path = os.path.join(self.directory, "baseline")
        run = self.run_of("run", {"name": "b", "U": 123.456}, {"name": "a", "U": 2})
        self.assertEqual(self.compare("--write", path, run), (0, ""))
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), '{\n "a": 2.0,\n "b": 123.5\n}\n')
        self.assertEqual(self.compare(path, run)[0], 0)

    def test_errors_fail_but_for_missing_files(self):
        fine = {"name": "a", "U": 1}
        missing = {"name": "b", "error_occurred": True, "error_message": "NOT MEASURED: no file x"}
        broken = {"name": "c", "error_occurred": True, "error_message": "it does not parse"}
        self.assertEqual(self.compare("--check", self.run_of("run", fine, missing)), (0, ""))
        code, output = self.compare("--check", self.run_of("run", fine, missing, broken))
        self.assertEqual((code, output), (1, "c: error: it does not parse\n"))
        baseline = self.write("baseline", {"a": 1})
        self.assertEqual(self.compare(baseline, self.run_of("run", fine, broken))[0], 1)

    def test_a_run_of_nothing_fails_the_check(self):
        self.assertEqual(self.compare("--check", self.run_of("run"))[0], 1)

    def test_a_run_is_needed(self):
        self.assertEqual(self.compare(self.write("baseline", {}))[0], 2)


if __name__ == "__main__":
    unittest.main()
