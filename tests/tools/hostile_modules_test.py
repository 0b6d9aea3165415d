#!/usr/bin/env python3
"""Every module of hostile_modules.py ends within its time and its memory, and with an answer. Each is asked in
two of the ways, which take turns; with XLA_INDEXING_ALL_WAYS in the environment, in all of them.

    hostile_modules_test.py PRINT_INDEXING

The aim is 10 seconds of one processor and 1 GB for a module under 100 kB. The limits here leave room for
builds that are slower than a release build, and for address space that is not memory.
"""

import os
import sys
import tempfile
import unittest

import hostile_modules

PROGRAM = sys.argv[1]
SECONDS = 60
MEGABYTES = 3000
# Answers with as many bytes as there are pairs of leaves take longer to write than they are worth here.
QUADRATIC = {"custom_call_4500", "custom_call_of_arrays"}
WAYS = ("all", "fuse", "fuse-exact", "utilization-fuse", "compare")
SKIPPED = 77


def ways_of(number):
    if os.environ.get("XLA_INDEXING_ALL_WAYS"):
        return WAYS
    return (WAYS[number % len(WAYS)], WAYS[(number + 2) % len(WAYS)])


class HostileModules(unittest.TestCase):
    pass


def check(name, text, ways):
    def test(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, name + ".hlo")
            with open(file, "w", encoding="utf-8") as out:
                out.write(text)
            for way, flags in [*hostile_modules.WAYS, hostile_modules.COMPARE]:
                if way not in ways or name in QUADRATIC:
                    continue
                files = [file, file] if way == "compare" else [file]
                with self.subTest(way=way):
                    seconds, megabytes, code, written, errors = hostile_modules.run(
                        PROGRAM, ["--jobs=1", *flags, *files], SECONDS, MEGABYTES)
                    self.assertIn(code, (0, 3) if way == "compare" else (0,), errors[:1000])
                    # Of computations that read nothing there is nothing to compare.
                    self.assertTrue(written > 0 or way == "compare")
                    self.assertEqual(errors, "")
                    self.assertLess(megabytes, 1500)
    return test


for module_number, (module_name, module_text) in enumerate(hostile_modules.MODULES):
    setattr(HostileModules, "test_" + module_name, check(module_name, module_text, ways_of(module_number)))


if __name__ == "__main__":
    with open(PROGRAM, "rb") as program:
        if b"__asan_init" in program.read():
            print("skipped: the address sanitizer reserves more address space than the test allows")
            sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
