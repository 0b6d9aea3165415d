#!/usr/bin/env python3
"""Inputs that are too large or too deep to stand in files: print-indexing answers each within two minutes,
with the maps or with an error that has a place, and is never ended by a signal.

    hostile_input_test.py PRINT_INDEXING
"""

import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import unittest

from sanitized import is_sanitized

PROGRAM = sys.argv[1]
DEPTH = 100000
SANITIZED = is_sanitized(PROGRAM)


def run(*arguments, stdin):
    data = stdin if isinstance(stdin, bytes) else stdin.encode()
    result = subprocess.run([PROGRAM, *arguments], input=data, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, timeout=120, check=False)
    return result.returncode, result.stdout.decode(), result.stderr.decode()


class HostileInput(unittest.TestCase):
    def assert_refused(self, text, *flags):
        code, output, errors = run(*(flags or ("--instruction=all", "--direction=both", "-")),
                                   stdin=text)
        self.assertEqual((code, output), (1, ""), errors[:1000])
        first, _, caret = errors.splitlines()[:3]
        self.assertRegex(first, r"^<stdin>:\d+:\d+: error: .")
        self.assertEqual(caret.strip(), "^")
        self.assertLess(len(errors), 2 * len(text) + 1000)

    def assert_printed(self, text, *flags):
        code, output, errors = run(*flags, "-", stdin=text)
        self.assertEqual((code, errors[:1000]), (0, ""))
        return output

    def test_thread_maps_whose_parts_are_nearly_all_empty(self):
        transpose = "ENTRY e { p = f32[1024,1024] parameter(0) ROOT n = f32[1024,1024] transpose(p), dimensions={1,0} }"
        for loop in ("s0 in [-9223372036854775808, 9223372036854775807], s0 floordiv 7 in [0, 100000000]",
                     "s0 in [-9223372036854775808, 2], s0 mod 1000003 in [5, 70]"):
            output = self.assert_printed(
                transpose, "--query=coalescing", "--thread_map=(d0, d1)[s0] -> (d1, s0 floordiv "
                f"36028797018963968 + 300), domain: d0 in [0, 127], d1 in [0, 1023], {loop}")
            self.assertIn("; bounds", output)

    def test_deep_tuple_shapes(self):
        self.assert_refused("p = " + "(" * DEPTH + "f32[]" + ")" * DEPTH + " parameter(0)")
        self.assert_refused("p = " + "(" * DEPTH)

    def test_deep_literals(self):
        self.assert_refused("c = f32[1] constant(" + "{" * DEPTH + "1" + "}" * DEPTH + ")")
        self.assert_refused("c = f32[" + ",".join("1" * 500) + "] constant(" + "{" * 500 + "1")

    def test_deep_operands(self):
        self.assert_refused("n = f32[] " + "negate(f32[] " * DEPTH + "p" + ")" * DEPTH)

    def test_deep_attributes(self):
        self.assert_refused("p = f32[] parameter(0), backend_config=" + "{" * DEPTH)

    def test_deep_maps(self):
        domain = ", domain: d0 in [0, 9]"
        for expression in ("(" * DEPTH + "d0" + ")" * DEPTH, 
                           "(" * 300 + "d0" + " floordiv 2)" * 300,
                           " + ".join(["d0 mod 7"] + [f"d0 mod {i}" for i in range(2, DEPTH)])):
            self.assert_refused(f"(d0) -> ({expression}){domain}", "--map=-")
        self.assert_refused("(" * DEPTH, "--map=-")
        code, output, _ = run("--map=-", stdin=f"(d0) -> ({'-' * DEPTH}d0){domain}")
        self.assertEqual((code, output), (0, f"(d0) -> (d0){domain}\n"))
        self.assert_refused("(" + ", ".join(f"d{i}" for i in range(DEPTH)) + ") -> ()", "--map=-")

    def test_numbers_past_64_bits(self):
        digits = "9" * 10000
        self.assert_refused(f"p = f32[{digits}] parameter(0)")
        self.assert_refused(f"p = f32[4] parameter({digits})")
        self.assert_refused(f"c = s32[] constant({digits})")
        self.assert_refused(f"(d0) -> (d0 * {digits}), domain: d0 in [0, 1]", "--map=-")
        self.assert_refused(f"(d0) -> (d0), domain: d0 in [0, {digits}]", "--map=-")

    def test_a_rank_of_thousands(self):
        self.assert_refused("p = f32[" + ",".join("2" * 5000) + "] parameter(0)")
        output = self.assert_printed("p = f32[" + ",".join("1" * 2000) + "] parameter(0)\n"
                                     "n = f32[" + ",".join("1" * 2000) + "] negate(p)")
        self.assertEqual(output.count("d1999"), 3)

    def test_huge_literals(self):
        numbers = ", ".join(str(i % 10) for i in range(1000000))
        output = self.assert_printed(
            f"c = s32[1000000] constant({{{numbers}}})\nROOT n = s32[1000000] negate(c)")
        self.assertEqual(output.splitlines()[1],
                         "(d0) -> (d0), domain: d0 in [0, 999999]")
        self.assert_refused(f"c = s32[1000001] constant({{{numbers}}})")
        self.assert_refused(f"c = s32[999999] constant({{{numbers}}})")

    def test_a_chain_of_forty_thousand(self):
        lines = ["ENTRY main {", "  x0 = f32[8,9] parameter(0)"]
        for i in range(1, 40000):
            a, b = ("8,9", "9,8") if i % 2 == 0 else ("9,8", "8,9")
            lines.append(f"  x{i} = f32[{a}] transpose(x{i - 1}), dimensions={{1,0}}")
        text = "\n".join([*lines, "}"])
        self.assertEqual(
            self.assert_printed(text, "--fuse"),
            "Output 0 operand 0:\n(d0, d1) -> (d1, d0), domain: d0 in [0, 8], d1 in [0, 7]\n")
        output = self.assert_printed(text, "--instruction=all", "--direction=both")
        self.assertEqual(output.count("Output 0 operand 0:"), 39999)

    def test_many_errors(self):
        text = "// -----\n".join(f"m{i} = f32[4] no-such-opcode\n" for i in range(20000))
        code, output, errors = run("-", stdin=text)
        self.assertEqual((code, output), (1, ""))
        self.assertEqual(errors.count("error: "), 20000)
        self.assertRegex(errors.splitlines()[-3], r"^<stdin>:39999:\d+: error: ")

    def run_with_memory(self, limit, *arguments, stdin=subprocess.DEVNULL):
        """Exit code, number of bytes printed and standard error, with an address space of `limit`."""
        result = subprocess.run(
            [PROGRAM, *arguments], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
            check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        return result.returncode, len(result.stdout), result.stderr.decode()

    def test_endless_input_is_refused(self):
        if not os.path.exists("/dev/zero") or SANITIZED:
            self.skipTest("no /dev/zero, or a sanitizer, which needs address space")
        # What is kept of it is bounded by 2^30 bytes, and half as many while they are moved.
        limit = 1700 << 20
        for arguments, code in ((["/dev/zero"], 1), (["--map=/dev/zero"], 1),
                                (["--compare", "/dev/zero", "/dev/zero"], 2)):
            self.assertEqual(self.run_with_memory(limit, *arguments),
                             (code, 0, "/dev/zero: error: cannot read it: it has more than 2^30 bytes\n"))
        with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as yes:
            self.assertEqual(self.run_with_memory(limit, "-", stdin=yes.stdout),
                             (1, 0, "<stdin>: error: cannot read it: it has more than 2^30 bytes\n"))
            yes.stdout.close()
            yes.terminate()

    def test_memory_that_cannot_be_had_is_an_error(self):
        if not os.path.exists("/dev/zero") or SANITIZED:
            self.skipTest("no /dev/zero, or a sanitizer, which needs address space")
        message = "print-indexing: error: out of memory\n"
        # The standard library runs out of memory.
        for jobs in ("--jobs=1", "--jobs=8"):
            self.assertEqual(self.run_with_memory(512 << 20, jobs, "/dev/zero"), (1, 0, message))
        self.assertEqual(self.run_with_memory(512 << 20, "--compare", "/dev/zero", "/dev/zero"),
                         (2, 0, message))
        # MLIR's allocators and threads run out of memory, with 40,000 entries. Where the C library finds no room for a
        # thread's heap it maps a page for every allocation of that thread, so that more would take minutes.
        count = 200
        parameters = "".join(f"  p{i} = f32[4] parameter({i})\n" for i in range(count))
        operands = ", ".join(f"p{i}" for i in range(count))
        text = ("ENTRY e {\n" + parameters + "  ROOT c = (" + ", ".join(["f32[4]"] * count) +
                f') custom-call({operands}), custom_call_target="t"\n}}\n')
        with tempfile.NamedTemporaryFile("w", suffix=".hlo") as file:
            file.write(text)
            file.flush()
            codes = set()
            # With less than its own size the program cannot be loaded, and the kernel ends it.
            least = os.path.getsize(PROGRAM) >> 20
            for megabytes in [*range(least, least + 16), *range(least + 16, 400, 16)]:
                code, _, errors = self.run_with_memory(megabytes << 20, "--jobs=4", "--instruction=all",
                                                       "--direction=both", file.name)
                # With less the program cannot be loaded.
                if code == 127 or "error while loading" in errors:
                    continue
                self.assertIn((code, errors), ((0, ""), (1, message)), megabytes)
                codes.add(code)
            self.assertIn(1, codes)

    def test_any_prefix_and_any_damage(self):
        text = """HloModule m, is_scheduled=true
add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
ENTRY %main (p: f32[4,6], q: (s32[], f32[2])) -> f32[] {
  %p = f32[4,6]{1,0:T(8,128)} parameter(0), metadata={op_name="a\\"b" source_line=3}
  %q = (s32[], f32[2]) parameter(1)
  %i = s32[] get-tuple-element(%q), index=0
  %d = f32[2,6] dynamic-slice(%p, %i, %i), dynamic_slice_sizes={2,6}
  %c = f32[2,6] constant({{1,2,3,4,5,6},{-inf,nan,1e9,2.5,0,1}})
  %z = f32[] constant(0)
  %w = f32[1,3] reduce-window(%d, %z), window={size=2x2 stride=1x2}, to_apply=add
  ROOT %r = f32[] reduce(%d, %z), dimensions={0,1}, to_apply=add
}
"""
        self.assert_printed(text)
        generator = random.Random(1)
        broken = [text[:end] for end in range(0, len(text), 7)]
        for _ in range(150):
            damaged = bytearray(text.encode())
            for _ in range(generator.randrange(1, 5)):
                damaged[generator.randrange(len(damaged))] = generator.randrange(256)
            broken.append(bytes(damaged))
        for piece in broken:
            code, _, errors = run("--instruction=all", "--direction=both", "--no-verify",
                                  "--query=utilization,coalescing,tiling", "-", stdin=piece)
            self.assertIn(code, (0, 1), piece)
            self.assertEqual(code == 1, ": error: " in errors, piece)
            code, output, errors = run("--instruction=all", "--direction=both", "-", stdin=piece)
            self.assertIn(code, (0, 1), piece)
            # A damaged opcode is one that is not known, which is a warning.
            self.assertEqual(code == 1, ": error: " in errors, piece)
            if code == 1:
                self.assertEqual(output, "", piece)
                self.assertTrue(re.match(r"<stdin>:\d+:\d+: error: .", errors), (piece, errors))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
