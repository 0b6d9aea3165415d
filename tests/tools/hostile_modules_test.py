#!/usr/bin/env python3
"""Every module of hostile_modules.py ends within its time and its memory, and with an answer. Each is asked for
its indices and in one of the other ways, which take turns; with the full effort (XLA_INDEXING_EFFORT) in two of them,
with XLA_INDEXING_ALL_WAYS in the environment in all.

    hostile_modules_test.py PRINT_INDEXING SECONDS

A module under 100 kB may take 1 GB, and SECONDS of processor time, after which it is ended and fails. With a release
build the longest were seen to take 12 seconds; the rest is room for slow and busy machines.
"""

import os
import sys
import tempfile
import unittest

import hostile_modules
from sanitized import is_sanitized

PROGRAM = sys.argv[1]
SECONDS = int(sys.argv[2])
MEGABYTES = 1000
# Address space is more than the memory that is used of it.
MOST_MEGABYTES_OF_ADDRESSES = 3000
WAYS = ("all", "fuse", "fuse-exact", "utilization-fuse", "report", "compare", "tiling-fuse")
ALWAYS = ("indices",)
SKIPPED = 77


def ways_of(number):
    if os.environ.get("XLA_INDEXING_ALL_WAYS"):
        return WAYS + ALWAYS
    if os.environ.get("XLA_INDEXING_EFFORT", "quick") in ("quick", "third"):
        return (WAYS[number % len(WAYS)], *ALWAYS)
    return (WAYS[number % len(WAYS)], WAYS[(number + 2) % len(WAYS)], *ALWAYS)


class HostileModules(unittest.TestCase):
    pass


def check(name, text, ways):
    def test(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, name + ".hlo")
            with open(file, "w", encoding="utf-8") as out:
                out.write(text)
            for way, flags in [*hostile_modules.WAYS, hostile_modules.COMPARE]:
                if way not in ways:
                    continue
                files = [file, file] if way == "compare" else [file]
                with self.subTest(way=way):
                    _, megabytes, code, written, errors = hostile_modules.run(
                        PROGRAM, ["--jobs=1", *flags, *files], SECONDS, MOST_MEGABYTES_OF_ADDRESSES)
                    self.assertIn(code, (0, 3) if way == "compare" else (0,), errors[:1000])
                    # Computations that read nothing have nothing to compare.
                    self.assertTrue(written > 0 or way == "compare")
                    self.assertEqual(errors, "")
                    self.assertLess(megabytes, MEGABYTES)
    return test


for module_number, (module_name, module_text) in enumerate(hostile_modules.MODULES):
    setattr(HostileModules, "test_" + module_name, check(module_name, module_text, ways_of(module_number)))


if __name__ == "__main__":
    if is_sanitized(PROGRAM):
        print("skipped: the address sanitizer reserves more address space than the test allows")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
