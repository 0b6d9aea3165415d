#!/usr/bin/env python3
"""Tests of print-indexing that take more than one file: command lines, inputs, JSON, maps, threads.

    program_test.py PRINT_INDEXING VERSION
"""

import gzip
import json
import os
import pty
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

from sanitized import is_sanitized

PROGRAM, VERSION = sys.argv[1:3]

NEGATE = """HloModule m
ENTRY main {
  p = f32[4] parameter(0)
  ROOT n = f32[4] negate(p)
}
"""
NEGATE_MAPS = "Output 0 operand 0:\n(d0) -> (d0), domain: d0 in [0, 3]\n"

DYNAMIC_SLICE = """HloModule m
ENTRY main {
  src = f32[8,8] parameter(0)
  of1 = s32[] parameter(1)
  of2 = s32[] parameter(2)
  ROOT ds = f32[4,8] dynamic-slice(src, of1, of2), dynamic_slice_sizes={4,8}
}
"""


def run(*arguments, stdin=""):
    """Exit code, standard output and standard error."""
    data = stdin if isinstance(stdin, bytes) else stdin.encode()
    result = subprocess.run([PROGRAM, *arguments], input=data, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, timeout=300, check=False)
    return result.returncode, result.stdout.decode(), result.stderr.decode()


class Program(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def file(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        return path


class ManyPairs(Program):
    """A custom call of 600 operands and 600 results, of which 437 results list 262,200 pairs."""
    LEAVES = 600
    LISTED = 437 * LEAVES
    NOT_LISTED = LEAVES * LEAVES - LISTED
    WHY = "more than 262144 pairs of leaves"

    def setUp(self):
        super().setUp()
        shapes = ", ".join(["f32[2]"] * self.LEAVES)
        self.module = self.file("m.hlo", f"ENTRY e {{ p = ({shapes}) parameter(0) ROOT c = ({shapes}) "
                                         "custom-call(p), custom_call_target=\"f\" }\n")

    def test_pairs_that_are_not_listed_are_counted_in_a_line(self):
        code, output, errors = run("--direction=both", self.module)
        self.assertEqual((code, errors), (0, ""))
        lines = output.splitlines()
        said = f"{self.NOT_LISTED} pairs of leaves not listed (unknown: {self.WHY})"
        self.assertEqual(lines[2 * self.LISTED], "Output to input: " + said)
        self.assertEqual(lines[-1], "Input to output: " + said)
        self.assertEqual(len(lines), 2 * (2 * self.LISTED + 1))

    def test_all_of_one_output_are_listed(self):
        output = run("--output_id=599", self.module)[1]
        self.assertEqual(len(output.splitlines()), 2 * self.LEAVES)

    @unittest.skipIf(is_sanitized(PROGRAM), "other tests list as many pairs under sanitizers")
    def test_pairs_that_are_not_listed_are_an_object_of_the_json(self):
        entries = json.loads(run("--format=json", self.module)[1])["indexing"]
        self.assertEqual(len(entries), self.LISTED + 1)
        self.assertEqual(entries[-1], {
            "computation": "e", "instruction": "c", "opcode": "custom-call", "scope": "instruction",
            "direction": "output-to-input", "pairs_not_listed": self.NOT_LISTED,
            "exactness": "unknown", "reason": self.WHY})

    @unittest.skipIf(is_sanitized(PROGRAM), "other tests list as many pairs under sanitizers")
    def test_pairs_that_are_not_listed_are_in_the_summary(self):
        output = run("--summary", self.module)[1]
        self.assertIn("output-to-input: 360000 entries, 0 exact", output)
        self.assertIn(f"{self.NOT_LISTED} custom-call: unknown: {self.WHY}", output)

    @unittest.skipIf(is_sanitized(PROGRAM), "other tests list as many pairs under sanitizers")
    def test_pairs_that_are_not_listed_leave_sums_open(self):
        output = run("--query=utilization", self.module)[1]
        self.assertIn("Total of e: [0, inf] bytes in reads, [0, inf] with a perfect cache, "
                      "4800 written\n", output)

    @unittest.skipIf(is_sanitized(PROGRAM), "other tests list as many pairs under sanitizers")
    def test_pairs_of_other_instructions_are_still_listed_where_they_are_few(self):
        with open(self.module, encoding="utf-8") as stream:
            text = stream.read()
        shapes = ", ".join(["f32[2]"] * self.LEAVES)
        text = text.replace("ROOT c", "c").replace(
            "}\n", f" d = ({shapes}) custom-call(c), custom_call_target=\"f\" g = f32[2] "
                   "get-tuple-element(d), index=3 ROOT n = f32[2] negate(g) }\n")
        output = run("--instruction=all", self.file("more.hlo", text))[1]
        self.assertIn("e/n:\nOutput 0 operand 0:\n(d0) -> (d0), domain: d0 in [0, 1]\n", output)
        self.assertEqual(output.count("not listed"), 2)
        self.assertEqual(run("--instruction=all", "--jobs=3", self.file("more.hlo", text))[1], output)

    def test_pairs_that_are_not_compared_are_not_decided(self):
        code, output, errors = run("--compare", self.module, self.module)
        self.assertEqual((code, errors), (3, ""))
        self.assertTrue(output.endswith(f"\n{self.NOT_LISTED} pairs of leaves not compared: more than "
                                        "262144\nWhat is read: not decided\nWhat meets: not compared\n"))
        output = run("--compare", "--format=json", self.module, self.module)[1]
        self.assertEqual(json.loads(output)["pairs_not_compared"], self.NOT_LISTED)


class Summaries(Program):
    def test_counts_entries_of_all_files_by_exactness(self):
        pad = self.file("pad.hlo", "p = f32[4,4] parameter(0)\nv = f32[] parameter(1)\n"
                                   "q = f32[6,6] pad(p, v), padding=1_1x1_1\n")
        negate = self.file("negate.hlo", NEGATE)
        reason = "elements that come from the operand do not read the padding value"
        code, output, errors = run("--summary", pad, negate, pad)
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(output, "output-to-input: 5 entries, 3 exact (60.00%)\n"
                                 f"  2 pad: over-approximate: {reason}\n")
        code, output, errors = run("--summary", "--exact", "--direction=input-to-output", pad)
        self.assertEqual((code, output), (0, "input-to-output: 2 entries, 2 exact (100.00%)\n"))

    def test_goes_with_text_only(self):
        code, output, errors = run("--summary", "--format=json", self.file("m.hlo", NEGATE))
        self.assertEqual((code, output), (2, ""))
        self.assertIn("--summary", errors)


class Queries(Program):
    SLICE = """HloModule m
ENTRY main {
  p = f32[8] parameter(0)
  ROOT s = f32[3] slice(p), slice={[1:6:2]}
}
"""

    def test_utilization_is_a_line_below_the_maps_and_a_total_at_the_end(self):
        code, output, errors = run("--query=utilization", self.file("m.hlo", self.SLICE))
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(output, "Output 0 operand 0:\n"
                                 "(d0) -> (d0 * 2 + 1), domain: d0 in [0, 2]\n"
                                 "  utilization: 3 of 8 elements (37.50%), 3 reads (1.00 an element); "
                                 "12 of 32 bytes, 12 in reads\n"
                                 "Total of main: 12 bytes in reads, 12 with a perfect cache, 12 written\n")

    def test_utilization_is_a_field_of_entries_and_totals_one_of_modules(self):
        file = self.file("m.hlo", self.SLICE)
        module = json.loads(run("--query=utilization", "--format=json", file)[1])
        self.assertEqual(module["indexing"][0]["utilization"],
                         {"elements_read": 3, "elements": 8, "reads": 3, "bytes_read": 12, "bytes": 32,
                          "bytes_of_reads": 12, "buffer_bytes": 32, "used_fraction": 0.375, "reads_per_element": 1,
                          "runtime_values": "none", "exact": True})
        self.assertEqual(module["totals"],
                         [{"computation": "main", "scope": "instruction", "bytes_of_reads": 12,
                           "bytes_read": 12, "bytes_written": 12, "exact": True}])
        self.assertNotIn("totals", json.loads(run("--format=json", file)[1]))

    def test_the_padding_of_a_tiled_layout_is_reported(self):
        text = ("HloModule m\nENTRY main {\n  p = f32[8,1]{1,0:T(8,128)} parameter(0)\n"
                "  ROOT n = f32[8,1]{1,0:T(8,128)} negate(p)\n}\n")
        output = run("--query=utilization", self.file("m.hlo", text))[1]
        self.assertIn("; 32 of 32 bytes, 32 in reads; the buffer has 4096 bytes, 128.00 times those of its "
                      "elements\n", output)
        module = json.loads(run("--query=utilization", "--format=json", self.file("m.hlo", text))[1])
        self.assertEqual(module["indexing"][0]["utilization"]["buffer_bytes"], 4096)
        text = text.replace("{1,0:T(8,128)}", "{1,0:SC(0:4)}")
        module = json.loads(run("--query=utilization", "--format=json", self.file("m.hlo", text))[1])
        self.assertIsNone(module["indexing"][0]["utilization"]["buffer_bytes"])

    def test_what_depends_on_runtime_values_is_a_least_and_a_most(self):
        text = ("HloModule m\nENTRY main {\n  t = f32[100] parameter(0)\n  i = s32[5,1] parameter(1)\n"
                "  ROOT g = f32[5,1] gather(t, i), offset_dims={1}, collapsed_slice_dims={}, "
                "start_index_map={0}, index_vector_dim=1, slice_sizes={1}\n}\n")
        module = json.loads(run("--query=utilization", "--format=json", self.file("m.hlo", text))[1])
        table, indices = [entry["utilization"] for entry in module["indexing"]]
        self.assertEqual((table["elements_read"], table["reads"]), ({"least": 1, "most": 5}, 5))
        self.assertEqual((table["runtime_values"], table["exact"]), ("bounds", False))
        self.assertEqual((indices["elements_read"], indices["exact"]), (5, True))

    def test_totals_are_of_all_instructions_of_a_computation_whatever_the_threads(self):
        text = self.SLICE.replace("ROOT s", "s") .replace("}\n}", "}\n  ROOT n = f32[3] negate(s)\n}")
        file = self.file("m.hlo", text)
        one = run("--query=utilization", "--instruction=all", "--jobs=1", file)
        self.assertTrue(one[1].endswith(
            "Total of main: 24 bytes in reads, 24 with a perfect cache, 24 written\n"), one[1])
        self.assertEqual(run("--query=utilization", "--instruction=all", "--jobs=4", file), one)

    def test_totals_leave_out_what_is_another_name_for_memory(self):
        text = ("HloModule m\nENTRY main {\n  p = f32[8] parameter(0)\n  b = f32[2,4] bitcast(p)\n"
                "  n = f32[2,4] negate(b)\n  ROOT t = (f32[2,4], f32[8]) tuple(n, p)\n}\n")
        output = run("--query=utilization", "--instruction=all", self.file("m.hlo", text))[1]
        self.assertTrue(output.endswith(
            "Total of main: 32 bytes in reads, 32 with a perfect cache, 32 written\n"), output[-300:])

    def test_a_report_that_takes_long_shows_on_a_terminal_how_far_it_is(self):
        # All kernels differ. The fewer take less than the second after which something is shown.
        is_quick = is_sanitized(PROGRAM) or os.environ.get("XLA_INDEXING_EFFORT", "quick") in ("quick", "third")
        count = 1000 if is_quick else 20000
        lines = ["HloModule many", "ENTRY e {"]
        for i in range(count):
            lines += [f"p{i} = f32[{i + 8},64] parameter({i})",
                      f"t{i} = f32[64,{i + 8}] transpose(p{i}), dimensions={{1,0}}"]
        file = self.file("many.hlo", "\n".join([*lines, "}"]))
        terminal, its_end = pty.openpty()
        start = time.monotonic()
        with subprocess.Popen([PROGRAM, "--report", "--top=0", file], stdout=subprocess.DEVNULL, stderr=its_end) as process:
            os.close(its_end)
            shown = b""
            while True:
                try:
                    part = os.read(terminal, 4096)
                except OSError:  # nobody writes to it any more
                    break
                if not part:
                    break
                shown += part
        os.close(terminal)
        self.assertEqual(process.returncode, 0)
        # A second and more on kernels alone, where all of it takes several; nothing stays on the line.
        if time.monotonic() - start > 4:
            self.assertRegex(shown, rb"\r\x1b\[Kreport: \d+ of \d+ kernels")
        self.assertTrue(not shown or shown.endswith(b"\r\x1b[K"), shown[-80:])
        # No terminal, no line.
        self.assertEqual(run("--report", "--top=0", file)[2], "")

    def test_a_report_is_a_table_or_a_file(self):
        file = self.file("m.hlo", self.SLICE)
        code, output, errors = run("--report", "--assume=unfused", file)
        self.assertEqual((code, errors), (0, ""))
        self.assertTrue(output.startswith("module m: 1 kernel, 1 distinct\n  compiled for: not known"), output)
        self.assertIn("\n  read 12 B, written 12 B, ", output)
        self.assertIn("\n  no fusions in this module: fused as XLA would, approximately", run("--report", file)[1])
        text = ("HloModule m\nENTRY e {\n  p = f32[8,4]{1,0} parameter(0)\n"
                "  ROOT t = f32[4,8]{0,1} transpose(p), dimensions={1,0}\n}\n")
        self.assertIn("(--assume=fused); in row-major layouts, not in those that it states",
                      run("--report", self.file("stated.hlo", text))[1])
        name = file + ".json"
        self.assertEqual(run(f"--report={name}", file), (0, "", ""))
        with open(name, encoding="utf-8") as report:
            kernels = json.load(report)["kernels"]
        self.assertEqual([(k["computation"], k["instruction"], k["opcode"], k["runs"], k["operands"]) for k in kernels],
                         [("main", "s", "slice", 1, ["p"])])
        code, output, errors = run("--report=/nowhere/r.json", file)
        self.assertEqual((code, output), (1, ""))
        self.assertIn("/nowhere/r.json: error: cannot be written", errors)

    def test_a_module_without_fusions_can_be_fused(self):
        file = self.file("m.hlo", "ENTRY main { p = f32[4] parameter(0) n = f32[4] negate(p) ROOT e = f32[4] exponential(n) }")
        code, output, errors = run("--emit=hlo", "--assume=fused", file)
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("ROOT %e_fusion = f32[4] fusion(%p), kind=kLoop, calls=%fused_e\n", output)
        self.assertNotIn("fusion(", run("--emit=hlo", file)[1])

    def test_a_picture_is_of_what_is_selected(self):
        file = self.file("m.hlo", self.SLICE)
        code, output, errors = run("--picture=-", "--instruction=s", file)
        self.assertEqual((code, errors), (0, ""))
        self.assertIn(">s: f32[3]; element (1). p: f32[8]: 1 element.</desc>", output)
        self.assertEqual(run("--picture=-", "--instruction=none", file)[0], 2)

    def test_a_picture_of_an_entry_whose_root_is_a_tuple_is_of_what_its_leaf_reads(self):
        entry = ("ENTRY main { p = f32[4] parameter(0) q = f32[2,3] parameter(1) "
                 "r = f32[4] reverse(p), dimensions={0} t = f32[3,2] transpose(q), dimensions={1,0} ")
        pair = "pair = (f32[4], f32[3,2]) tuple(r, t)"
        tuples = self.file("tuple.hlo", entry + "ROOT " + pair + " }")
        element = self.file("element.hlo", entry + pair + " ROOT g = f32[3,2] get-tuple-element(pair), index=1 }")
        exchanged = "(d0, d1) -&gt; (d1, d0)"
        for flags, words, map_of, file in (
                ([], "pair leaf 0: f32[4]; element (2). p: f32[4]: 1 element.", "(d0) -&gt; (-d0 + 3)", tuples),
                (["--output_id=1"], "pair leaf 1: f32[3,2]; element (1, 1). q: f32[2,3]: 1 element.", exchanged, tuples),
                ([], "g: f32[3,2]; element (1, 1). q: f32[2,3]: 1 element.", exchanged, element)):
            code, output, errors = run("--picture=-", *flags, file)
            self.assertEqual((code, errors), (0, ""))
            self.assertIn(f">{words}</desc>", output)
            self.assertIn(map_of, output)
        # What is named is drawn by itself.
        self.assertIn("pair leaf 1: f32[3,2]: 1 element.</desc>", run("--picture=-", "--instruction=g", element)[1])

    def test_coalescing_is_a_field_of_maps_and_of_outputs(self):
        # Every other float of 6: bytes 4, 12 and 20. The output's 12 bytes. One warp, one sector.
        module = json.loads(run("--query=coalescing", "--format=json", self.file("m.hlo", self.SLICE))[1])
        read = module["indexing"][0]["maps"][0]["coalescing"]
        self.assertEqual(read, {
            "requests": 1, "sectors": 1, "least_sectors": 1, "lines": 1, "efficiency": 1,
            "coalesced": True, "exact": True,
            "worst": {"sectors": 1, "least_sectors": 1, "block": [0], "loops": [], "symbols": [],
                      "threads": [0, 1, 2], "addresses": [4, 12, 20]}})
        [output] = module["outputs"]
        self.assertEqual([output[key] for key in ("computation", "instruction", "output_id")],
                         ["main", "s", 0])
        self.assertEqual(output["writes"]["worst"]["addresses"], [0, 4, 8])
        self.assertNotIn("outputs", json.loads(run("--format=json", self.file("m.hlo", self.SLICE))[1]))

    def test_writes_are_of_what_a_launch_writes(self):
        text = ("HloModule m\nENTRY main {\n  p = (f32[8], f32[8]) parameter(0)\n"
                "  c = f32[8] constant(0)\n  g = f32[8] get-tuple-element(p), index=1\n"
                "  b = f32[2,4] bitcast(g)\n  n = f32[2,4] negate(b)\n"
                "  ROOT t = (f32[2,4], f32[8]) tuple(n, c)\n}\n")
        file = self.file("m.hlo", text)
        flags = ("--query=coalescing", "--instruction=all")
        lines = run(*flags, file)[1].splitlines()
        written = [lines[:i] for i, line in enumerate(lines) if line.endswith(" writes:")]
        self.assertEqual([[line for line in before if "/" in line][-1] for before in written],
                         ["main/n:"])
        outputs = json.loads(run(*flags, "--format=json", file)[1])["outputs"]
        self.assertEqual([output["instruction"] for output in outputs], ["n"])
        # One fusion writes all that its root is.
        output = run("--query=coalescing", "--fuse", file)[1]
        self.assertEqual([line for line in output.splitlines() if line.endswith(" writes:")],
                         ["Output 0 writes:", "Output 1 writes:"])

    def test_what_is_lost_stands_beside_the_margin(self):
        # 40 floats from byte 24 on: lanes 0 to 31 are bytes 24 to 151, in 5 sectors where 4 would do,
        # 32 to 39 bytes 152 to 183, in 2 where 1 would do. Together 7 of 5.
        text = ("HloModule m\nENTRY main {\n  p = f32[64] parameter(0)\n"
                "  ROOT s = f32[40] slice(p), slice={[6:46]}\n}\n")
        file = self.file("m.hlo", text)
        start = "  coalescing: 2 requests, 7 sectors of 5 at least (efficiency 0.71), 3 lines; "
        flags = ("--query=coalescing", "--instruction=s")
        self.assertIn(start + "not coalesced: 7 sectors where 5 would do, 40% more; the margin is 1.25 "
                      "a request\n", run(*flags, file)[1])
        # What is lost within the margin is said too.
        self.assertIn(start + "coalesced: 7 sectors where 5 would do, 40% more; the margin is 2 a "
                      "request\n", run(*flags, "--coalescing_factor=2", file)[1])
        self.assertIn("Output 0 writes:\n  coalescing: 2 requests, 5 sectors of 5 at least (efficiency "
                      "1.00), 2 lines; coalesced\n", run(*flags, file)[1])

    def test_coalescing_factors_are_finite_decimal_numbers(self):
        file = self.file("m.hlo", self.SLICE)
        for factor in ("nan", "inf", "-inf", "0x2", "1e400", "0.99", "-2", "", " 2", "2,5", "1e309"):
            code, output, errors = run("--query=coalescing", "--coalescing_factor=" + factor, file)
            self.assertEqual((code, output), (2, ""), factor)
            self.assertIn("the value is a decimal number from 1 to 1e308\n", errors)
        for factor in ("1", "1.0", "1.5e2", "1e308", "2."):
            self.assertEqual(run("--query=coalescing", "--coalescing_factor=" + factor, file)[0], 0, factor)

    def test_a_thread_map_of_more_threads_than_can_be_counted_says_so(self):
        for bounds in ("[0, 9223372036854775807]", "[0, +inf]", "[0, inf]"):
            code, output, errors = run(
                "--query=coalescing", f"--thread_map=(d0) -> (d0), domain: d0 in {bounds}",
                self.file("m.hlo", self.SLICE))
            self.assertEqual((code, output), (2, ""))
            if "inf" not in bounds:
                self.assertTrue(errors.startswith(
                    f"print-indexing: error: --thread_map: thread mapping: d0 is in {bounds}, which is "
                    "more than int64 counts\n"), errors)

    def test_the_output_does_not_depend_on_the_threads(self):
        text = self.SLICE.replace("ROOT s", "s") .replace("}\n}", "}\n  ROOT n = f32[3] negate(s)\n}")
        file = self.file("m.hlo", text)
        for format in ("text", "json"):
            flags = ("--query=coalescing", "--instruction=all", "--format=" + format)
            self.assertEqual(run(*flags, "--jobs=1", file), run(*flags, "--jobs=4", file))

    def test_a_thread_map_has_to_fit_something_that_is_selected(self):
        flags = ("--query=coalescing", "--thread_map=(d0) -> (d0, d0), domain: d0 in [0, 2]")
        code, output, errors = run(*flags, self.file("m.hlo", self.SLICE))
        self.assertEqual((code, output), (2, ""))
        self.assertEqual(errors, "print-indexing: error: --thread_map: s: thread mapping: it has 2 "
                                 "results, and f32[3] has rank 1\n")
        # With several instructions, those that the map does not fit say so.
        other = NEGATE.replace("f32[4]", "f32[3,3]")
        code, output, errors = run(*flags, self.file("m.hlo", self.SLICE), self.file("o.hlo", other))
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("  coalescing: unknown: thread mapping: it has 2 results, and f32[3] has rank 1\n",
                      output)

    def test_a_thread_map_that_leaves_elements_out_says_how_many(self):
        output = run("--query=coalescing", "--format=json",
                     "--thread_map=(d0) -> (d0), domain: d0 in [0, 1]", self.file("m.hlo", self.SLICE))[1]
        self.assertEqual(json.loads(output)["outputs"][0]["writes"]["thread_map"],
                         {"elements": 3, "computed": 2, "computations": 2})

    def test_the_kernel_of_an_emitter_is_a_field_of_the_module(self):
        file = self.file("m.hlo", self.SLICE)
        flags = ("--query=coalescing", "--mapping=emitter", "--format=json")
        module = json.loads(run(*flags, file)[1])
        self.assertNotIn("coalescing", module["indexing"][0]["maps"][0])
        kernel, = module["kernels"]
        self.assertEqual((kernel["kind"], kernel["hero"], kernel["threads_per_block"], kernel["blocks"]),
                         ("loop", "s", 3, 1))
        read, write = kernel["accesses"]
        # Elements 1, 3 and 5 of 8 floats.
        self.assertEqual((read["access"], read["operand_id"], read["array"]), ("read", 0, "s"))
        self.assertEqual(read["maps"][0]["coalescing"]["worst"]["addresses"], [4, 12, 20])
        self.assertEqual((write["access"], write["output_id"]), ("write", 0))
        # Nobody writes a parameter.
        self.assertNotIn("kernels", json.loads(run(*flags, "--instruction=p", file)[1]))

    def test_queries_beside_nothing_to_ask_are_refused(self):
        file = self.file("m.hlo", self.SLICE)
        for flags in (["--query=speed"], ["--query="], ["--query=utilization", "--summary"],
                      ["--query=utilization", "--direction=input-to-output"],
                      ["--query=coalescing", "--warp_size=31"], ["--warp_size=32"],
                      ["--query=coalescing", "--thread_map=(d0)"]):
            code, output, errors = run(*flags, file)
            self.assertEqual((code, output), (2, ""), flags)
            self.assertTrue(errors.startswith("print-indexing: error: "), errors)


class Comparisons(Program):
    REVERSE = """HloModule m
ENTRY main {
  p = f32[4] parameter(0)
  r = f32[4] reverse(p), dimensions={0}
  ROOT s = f32[4] add(p, r)
}
"""

    def test_equal_readings_are_exit_code_0(self):
        a = self.file("a.hlo", self.REVERSE)
        b = self.file("b.hlo", self.REVERSE.replace("add(p, r)", "multiply(r, p)"))
        self.assertEqual(run("--compare", a, b), (0, "Output 0 operand 0: same\nWhat is read: same\nWhat meets: same\n", ""))

    def test_different_ones_are_exit_code_1_and_show_the_first_difference(self):
        a = self.file("a.hlo", self.REVERSE)
        b = self.file("b.hlo", NEGATE)
        self.assertEqual(run("--compare", a, b), (1, "Output 0 operand 0: different\n"
                                                     "  first: (0) reads (3) in the first alone\n"
                                                     "What is read: different\nWhat meets: not compared\n", ""))
        report = json.loads(run("--compare", "--format=json", b, a)[1])
        self.assertEqual(report["answer"], "different")
        self.assertEqual(report["leaves"][0]["difference"],
                         {"read_by": "second", "output_element": [0], "operand_element": [3],
                          "runtime_values": [], "is_first": True})
        wider = self.file("wider.hlo", NEGATE.replace("[4]", "[5]"))
        self.assertEqual(run("--compare", b, wider),
                         (1, "different: parameter 0 is f32[4] in one and f32[5] in the other\n", ""))

    def test_bad_command_lines_and_inputs_are_exit_code_2(self):
        a = self.file("a.hlo", NEGATE)
        for arguments in ([a], [a, "no such file"], [a, self.file("bad.hlo", "ENTRY e {")],
                          [a, self.file("two.hlo", NEGATE + "// -----\n" + NEGATE)],
                          ["--computation=main,none", a]):
            code, output, errors = run("--compare", *arguments)
            self.assertEqual((code, output), (2, ""), arguments)
            self.assertTrue(errors, arguments)

    def test_an_answer_that_cannot_be_written_is_exit_code_2(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([PROGRAM, "--compare", *[self.file("m.hlo", NEGATE)] * 2],
                                    stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"could not be written", result.stderr)

    def test_what_is_not_known_is_exit_code_3(self):
        call = ("HloModule m\nENTRY main {\n  p = f32[4] parameter(0)\n"
                "  ROOT c = f32[4] custom-call(p), custom_call_target=\"%s\"\n}\n")
        code, output, _ = run("--compare", self.file("a.hlo", call % "f"), self.file("b.hlo", call % "g"))
        self.assertEqual(code, 3)
        self.assertTrue(output.startswith("Output 0 operand 0: not decided: over-approximate: "), output)

    def test_two_computations_of_one_file(self):
        text = """HloModule m
f {
  p = f32[2,3] parameter(0)
  ROOT t = f32[3,2] transpose(p), dimensions={1,0}
}
g {
  p = f32[2,3] parameter(0)
  ROOT r = f32[3,2] reshape(p)
}
ENTRY main {
  p = f32[2,3] parameter(0)
  a = f32[3,2] call(p), to_apply=f
  b = f32[3,2] call(p), to_apply=g
  ROOT s = f32[3,2] add(a, b)
}
"""
        # Element (0, 1) is p[1, 0] transposed, and the second of p in row-major order reshaped.
        self.assertEqual(run("--compare", "--computation=f,g", self.file("m.hlo", text)),
                         (1, "Output 0 operand 0: different\n"
                             "  first: (0, 1) reads (0, 1) in the second alone\n"
                             "What is read: different\nWhat meets: not compared\n", ""))


class CommandLines(Program):
    def assert_refused(self, *arguments, message):
        code, output, errors = run(*arguments)
        self.assertEqual((code, output), (2, ""), arguments)
        self.assertTrue(errors.startswith("print-indexing: error: " + message), errors)
        self.assertIn("--help", errors)

    def test_help_names_every_flag_and_the_exit_codes(self):
        code, output, errors = run("--help")
        self.assertEqual((code, errors), (0, ""))
        for flag in ("instruction", "computation", "fuse", "direction", "output_id", "operand_id",
                     "exact", "simplify", "format", "jobs", "map", "broadcast", "emit", "query",
                     "tile_sizes", "budget", "mapping", "thread_map", "compare", "summary", "help",
                     "version", "no-verify",
                     "names", "coalescing_factor"):
            self.assertIn("--" + flag, output)
        self.assertIn("Exit codes", output)
        self.assertEqual(run("-h")[1], output)

    def test_version_is_that_of_the_project(self):
        self.assertEqual(run("--version"), (0, f"print-indexing {VERSION}\n", ""))

    def test_wrong_command_lines_are_refused(self):
        self.assert_refused(message="no FILE is given")
        self.assert_refused("--direction=both", message="no FILE is given")
        self.assert_refused("--direction=up", "a.hlo", message="--direction=up: the value is ")
        self.assert_refused("--operand_id=-1", "a.hlo", message="--operand_id=-1: the value is ")
        self.assert_refused("--jobs=0", "a.hlo", message="--jobs=0: the value is ")
        self.assert_refused("--exact=perhaps", "a.hlo", message="--exact=perhaps: the value is ")
        self.assert_refused("--instruction=", "a.hlo", message="--instruction=: the value is ")
        self.assert_refused("a.hlo", "--format", message="--format needs a value")
        self.assert_refused("--fuse", "--computation=f", "a.hlo", message="--fuse")
        self.assert_refused("-", "-", message="standard input")
        for arguments in ([""], ["a.hlo", ""], ["--compare", "", "a.hlo"], ["--instruction=all", ""]):
            self.assert_refused(*arguments, message="a FILE has an empty name\n")
        self.assert_refused("--map=", message="--map=: the value is ")
        self.assert_refused("--map=-", "a.hlo", message="--map")
        self.assert_refused("--map=-", "--format=json", message="--map")

        self.assert_refused("--broadcast", message="--broadcast needs a SHAPE")
        self.assert_refused("--broadcast", "--exact", "f32[2]", message="--broadcast says how")
        self.assert_refused("--broadcast", "--emit=hlo", "--format=json", "f32[2]",
                            message="--broadcast says how")
        self.assert_refused("--map=-", "--broadcast", "f32[2]", message="--broadcast says how")
        self.assert_refused("--broadcast", "f32[2]", "--map=-", message="--broadcast says how")
        self.assert_refused("--broadcast", "--emit=mlir", "f32[2]", message="--emit=mlir prints the ENTRY")
        self.assert_refused("--broadcast", "--emit=llvm", "f32[2]", message="--emit=llvm: the value")
        self.assert_refused("--emit=promoted-hlo", "a.hlo", message="--emit=promoted-hlo prints")

    def test_tile_sizes_have_to_fit_something_that_is_selected(self):
        path = self.file("m.hlo", NEGATE)
        for sizes, why in (("2,2", "n: more than 1 tile sizes; the dimensions are d0"),
                           ("d1=2", "n: there is no dimension 'd1' to tile; there are d0"),
                           ("d0=2,d0=2", "n: the tile size of d0 is given twice"),
                           ("", "n: no tile size for d0; the dimensions are d0")):
            code, output, errors = run("--query=tiling", "--tile_sizes=" + sizes, path)
            self.assertEqual((code, output), (2, ""))
            self.assertEqual(errors, f"print-indexing: error: --tile_sizes: {why}\n")
        code, output, errors = run("--query=tiling", "--tile_sizes=3", path)
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("  tile: offsets (0), sizes (3), strides (1); exact\n", output)
        # One tile that is larger than the array is masked.
        code, output, errors = run("--query=tiling", "--tile_sizes=5", path)
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("    p: parameter, offset (0), size (5), dimension 0 within [0, 3]\n", output)
        # With several instructions, those that they do not fit say so.
        other = self.file("o.hlo", NEGATE.replace("f32[4]", "f32[2,2]"))
        code, output, errors = run("--query=tiling", "--tile_sizes=3", path, other)
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("  tile: none: no tile size for d1; the dimensions are d0, d1\n", output)

    def test_a_bad_input_does_not_take_what_sizes_do_not_fit_away(self):
        good = self.file("m.hlo", NEGATE)
        bad = self.file("bad.hlo", "ENTRY main {")
        for files in ([good, bad], [bad, good]):
            code, output, errors = run("--query=tiling", "--tile_sizes=2,2", *files)
            self.assertEqual(code, 1)
            self.assertIn("module m:\nmain/n:\n" + NEGATE_MAPS, output)
            self.assertIn("  tile: none: more than 1 tile sizes; the dimensions are d0\n", output)
            self.assertEqual(errors.count("error: "), 1)

    def test_queries_of_what_has_no_arrays_have_no_answers(self):
        path = self.file("m.hlo", "HloModule m\nENTRY main {\n  p = f32[4] parameter(0)\n"
                         "  t = token[] after-all()\n  ROOT o = token[] outfeed(p, t)\n}\n")
        for query in ("tiling", "coalescing", "utilization"):
            code, output, errors = run("--query=" + query, path)
            self.assertEqual((code, errors), (0, ""), query)
            self.assertIn("(nothing read)\n", output)
        self.assertIn("  utilization: 0 of 4 elements (0.00%), 0 reads;", output)

    def test_names_of_operands_stand_behind_their_numbers(self):
        path = self.file("m.hlo", "HloModule m\nENTRY main {\n  w.12 = (f32[4], f32[]) parameter(0)\n"
                         "  x = f32[4] get-tuple-element(w.12), index=0\n"
                         "  ROOT n = f32[4] negate(x)\n}\n")
        identity = "(d0) -> (d0), domain: d0 in [0, 3]\n"
        self.assertEqual(run("--names", "--direction=both", path)[1],
                         f"Output 0 operand 0 (x):\n{identity}Input 0 (x) output 0:\n{identity}")
        self.assertEqual(run("--names", "--direction=both", "--fuse", path)[1],
                         f"Output 0 operand 0 (w.12) leaf 0:\n{identity}"
                         "Output 0 operand 0 (w.12) leaf 1:\n(nothing read)\n"
                         f"Input 0 (w.12) leaf 0 output 0:\n{identity}"
                         "Input 0 (w.12) leaf 1 output 0:\n(nothing read)\n")
        self.assertEqual(run("--names", "--format=json", path), run("--format=json", path))
        self.assertEqual(run("--names=false", path), (0, "Output 0 operand 0:\n" + identity, ""))

    def test_unknown_flags_come_with_the_nearest_one(self):
        self.assert_refused("--instuction=all", "a.hlo",
                            message="unknown flag '--instuction=all'; did you mean '--instruction'?")
        self.assert_refused("--operand-id=0", "a.hlo",
                            message="unknown flag '--operand-id=0'; did you mean '--operand_id'?")
        self.assert_refused("-exact", "a.hlo",
                            message="unknown flag '-exact'; did you mean '--exact'?")
        self.assert_refused("--colour", "a.hlo", message="unknown flag '--colour'\n")

    def test_values_stand_behind_equals_signs_or_spaces(self):
        path = self.file("m.hlo", NEGATE)
        self.assertEqual(run("--instruction=n", path), (0, NEGATE_MAPS, ""))
        self.assertEqual(run("--instruction", "%n", "--computation", "%main", path),
                         (0, NEGATE_MAPS, ""))
        self.assertEqual(run("--fuse=true", "--exact=false", "--", path), (0, NEGATE_MAPS, ""))


class Inputs(Program):
    def test_standard_input_is_read(self):
        self.assertEqual(run("-", stdin=NEGATE), (0, NEGATE_MAPS, ""))

    def test_errors_of_standard_input_have_places(self):
        code, output, errors = run("-", stdin=NEGATE.replace("negate(p)", "negate(q)"))
        self.assertEqual((code, output), (1, ""))
        self.assertTrue(errors.startswith("<stdin>:4:26: error: "), errors)
        self.assertEqual(errors.splitlines()[1:],
                         ["  ROOT n = f32[4] negate(q)", " " * 25 + "^"])

    def test_an_input_that_cannot_be_read_does_not_stop_the_others(self):
        path = self.file("m.hlo", NEGATE)
        missing = os.path.join(self.directory, "missing.hlo")
        code, output, errors = run(missing, path, self.directory)
        self.assertEqual(code, 1)
        self.assertEqual(output, "module m:\nmain/n:\n" + NEGATE_MAPS)
        self.assertEqual([line.split(": error: ")[0] for line in errors.splitlines()],
                         [missing, self.directory])

    def test_an_empty_input_is_no_module(self):
        self.assertEqual(run("-"), (0, "", ""))

    def test_a_name_may_be_in_one_file_of_several(self):
        first = self.file("a.hlo", NEGATE)
        second = self.file("b.hlo", NEGATE.replace("ROOT n", "ROOT x"))
        code, output, errors = run("--instruction=x", first, second)
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(output, "module m:\nmodule m:\nmain/x:\n" + NEGATE_MAPS)

    def test_a_name_that_may_be_in_a_bad_input_is_no_wrong_command_line(self):
        good = self.file("a.hlo", NEGATE)
        bad = self.file("b.hlo", "ENTRY main {")
        code, output, _ = run("--instruction=x", good, bad)
        self.assertEqual((code, output), (1, ""))

    def test_output_that_cannot_be_written_is_an_error(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([PROGRAM, self.file("m.hlo", NEGATE)], stdout=full,
                                    stderr=subprocess.PIPE, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"could not be written", result.stderr)


class InputsByContent(Program):
    """Text, protocol buffers and gzip of either are told apart by what they hold, never by names."""
    PROTOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hlo", "protos")

    def setUp(self):
        super().setUp()
        self.message, self.text = self.read("frames.hlo.pb"), self.read("frames.hlo")

    def read(self, name):
        with open(os.path.join(self.PROTOS, name), "rb") as stream:
            return stream.read()

    def test_a_protocol_buffer_gives_what_its_text_gives(self):
        for name in os.listdir(self.PROTOS):
            if not name.endswith(".pb"):
                continue
            flags = ["--instruction=all", "--direction=both", "--format=json", "-"]
            of_text = run(*flags, stdin=self.read(name[:-len(".pb")]))
            self.assertEqual(of_text[0], 0, name)
            self.assertEqual(run(*flags, stdin=self.read(name)), of_text, name)

    def test_names_of_files_do_not_count(self):
        expected = run("--fuse", "-", stdin=self.text)
        self.assertEqual(expected[0], 0)
        for data in (self.text, self.message):
            for name in ("a.hlo", "b.hlo.pb", "c.gz"):
                path = os.path.join(self.directory, name)
                with open(path, "wb") as stream:
                    stream.write(data)
                self.assertEqual(run("--fuse", path), expected, name)

    def test_gzip_of_either_is_read(self):
        expected = run("--fuse", "-", stdin=self.text)
        for data in (self.text, self.message):
            half = len(data) // 2
            self.assertEqual(run("--fuse", "-", stdin=gzip.compress(data)), expected)
            self.assertEqual(
                run("--fuse", "-", stdin=gzip.compress(data[:half]) + gzip.compress(data[half:])),
                expected)

    def test_maps_may_be_compressed(self):
        line = "(d0) -> (d0 + 0), domain: d0 in [0, 3]\n"
        self.assertEqual(run("--map=-", stdin=gzip.compress(line.encode())),
                         run("--map=-", stdin=line))

    def test_gzip_that_is_damaged_is_an_error(self):
        data = gzip.compress(self.text)
        for damaged in (data[:-1], data[:20], data[:2], data + b"x", data[:30] + b"xxxx" + data[34:]):
            code, output, errors = run("-", stdin=damaged)
            self.assertEqual((code, output), (1, ""))
            self.assertTrue(errors.startswith("<stdin>: error: cannot read it: its gzip data is "),
                            errors)

    def test_gzip_of_too_much_is_an_error(self):
        compress = zlib.compressobj(1, zlib.DEFLATED, 31)
        zeros = bytes(1 << 20)
        data = b"".join(compress.compress(zeros) for _ in range(1025)) + compress.flush()
        code, output, errors = run("-", stdin=data)
        self.assertEqual((code, output), (1, ""))
        self.assertEqual(errors, "<stdin>: error: cannot read it: it has more than 1073741824 bytes "
                                 "when it is decompressed\n")

    def test_a_protocol_buffer_that_is_cut_off_is_an_error_with_its_place(self):
        code, output, errors = run("-", stdin=self.message[:100])
        self.assertEqual((code, output), (1, ""))
        self.assertRegex(errors, r"^<stdin>: error: byte \d+, HloModuleProto: field \d+ ends after its "
                                 r"message\n$")

    def test_what_is_not_valid_in_a_protocol_buffer_names_the_instruction(self):
        # The second shape f32[4] is that of the addition, which becomes f32[5].
        shape = b"\x10\x0b\x1a\x01\x04"
        at = self.message.index(shape, self.message.index(shape) + 1)
        wrong = self.message[:at] + shape[:-1] + b"\x05" + self.message[at + len(shape):]
        code, output, errors = run("-", stdin=wrong)
        self.assertEqual((code, output), (1, ""))
        message = "instruction 'a' (add) has shape f32[5] but its operands and attributes give f32[4]"
        self.assertEqual(errors.splitlines()[0], f"<stdin>: error: {message}")
        code, output, errors = run("--no-verify", "-", stdin=wrong)
        self.assertEqual(code, 0)
        self.assertEqual(errors.splitlines()[0],
                         f"<stdin>: warning: {message}; what it reads is unknown")


class Unverified(Program):
    """--no-verify: what is right in a module that is not valid."""

    # XLA's own print_indexing_test.hlo, made small: the fusion is given f32[4] for f32[].
    FUSION = """c {
  a = f32[4] parameter(0)
  b = f32[] parameter(1)
  d = f32[4] broadcast(b), dimensions={}
  ROOT m = f32[4] multiply(a, d)
}
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  ROOT f = f32[4] fusion(x, y), kind=kLoop, calls=c
}
"""
    FUSION_MAPS = ("Output 0 operand 0:\n(d0) -> (d0), domain: d0 in [0, 3]\n"
                   "Output 0 operand 1:\n(d0) -> (), domain: d0 in [0, 3]\n")
    # t is wrong, and what is computed from it is known as far as it.
    CHAIN = """ENTRY e {
  p = f32[2,3] parameter(0)
  q = f32[2,3] parameter(1)
  t = f32[2,3] transpose(p), dimensions={1,0}
  s = f32[2,3] add(t, q)
  ROOT r = (f32[2,3], f32[2,3]) tuple(s, q)
}
"""
    WHY = ("instruction 't' (transpose) has shape f32[2,3] but its operands and attributes give "
           "f32[3,2]")
    IDENTITY = "(d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 2]\n"

    def test_a_fusion_of_other_operands_has_the_maps_of_its_computation(self):
        file = self.file("m.hlo", self.FUSION)
        code, output, errors = run(file)
        self.assertEqual((code, output), (1, ""))
        code, output, errors = run("--no-verify", file)
        self.assertEqual((code, output), (0, self.FUSION_MAPS))
        lines = errors.splitlines()
        self.assertEqual(lines[1:], ["  ROOT f = f32[4] fusion(x, y), kind=kLoop, calls=c",
                                     "       ^"])
        self.assertTrue(lines[0].startswith(f"{file}:10:8: warning: f: fusion of "), lines[0])
        self.assertTrue(lines[0].endswith("lead to its parameters"), lines[0])
        [entry] = json.loads(run("--no-verify", "--operand_id=1", "--format=json", file)[1])["indexing"]
        self.assertEqual((entry["opcode"], entry["operand"]), ("fusion", "y"))
        # For the whole entry nothing is known about y; the parameter that stands for it is not an
        # instruction.
        code, output, _ = run("--no-verify", "--fuse", file)
        self.assertIn("Output 0 operand 1:\nunknown: f: fusion of ", output)
        self.assertIn("Output 0 operand 0:\n(d0) -> (d0), domain: d0 in [0, 3]\n", output)
        code, output, _ = run("--no-verify", "--instruction=all", "--computation=e", file)
        self.assertEqual(output, "module module_e:\ne/x:\ne/y:\ne/f:\n" + self.FUSION_MAPS)

    def test_nothing_is_known_about_a_wrong_instruction_but_why(self):
        file = self.file("m.hlo", self.CHAIN)
        code, output, errors = run("--no-verify", "--instruction=all", file)
        self.assertEqual(code, 0)
        self.assertEqual(errors.splitlines()[0],
                         f"{file}:4:3: warning: {self.WHY}; what it reads is unknown")
        self.assertEqual(output, "module module_e:\ne/p:\ne/q:\ne/t:\n"
                                 f"Output 0 operand 0:\nunknown: {self.WHY}\n"
                                 "e/s:\n"
                                 f"Output 0 operand 0:\n{self.IDENTITY}"
                                 f"Output 0 operand 1:\n{self.IDENTITY}"
                                 "e/r:\n"
                                 f"Output 0 operand 0:\n{self.IDENTITY}"
                                 f"Output 1 operand 1:\n{self.IDENTITY}")
        code, output, _ = run("--no-verify", "--fuse", file)
        self.assertEqual(output, f"Output 0 operand 0:\nunknown: {self.WHY}\n"
                                 f"Output 0 operand 1:\n{self.IDENTITY}"
                                 f"Output 1 operand 1:\n{self.IDENTITY}")
        code, output, _ = run("--no-verify", "--summary", "--instruction=t", file)
        self.assertIn(f"  1 transpose: unknown: {self.WHY}\n", output)

    def test_many_warnings_are_counted(self):
        lines = [f"  t{i} = f32[2,3] transpose(p), dimensions={{1,0}}\n" for i in range(50)]
        file = self.file("m.hlo", "ENTRY e {\n  p = f32[2,3] parameter(0)\n" + "".join(lines) + "}\n")
        code, _, errors = run("--no-verify", file)
        self.assertEqual((code, errors.count(": warning: ")), (0, 21))
        self.assertEqual(errors.splitlines()[-1], f"{file}: warning: 30 more instructions are not valid")

    def test_a_module_that_verifies_is_analysed_as_without_it(self):
        file = self.file("m.hlo", NEGATE)
        self.assertEqual(run("--no-verify", file), (0, NEGATE_MAPS, ""))

    def test_text_that_is_no_module_stays_an_error(self):
        code, output, errors = run("--no-verify", "-", stdin="ENTRY e { ROOT n = no-such() }")
        self.assertEqual((code, output), (1, ""))
        self.assertIn("<stdin>:1:20: error: ", errors)

    def test_the_error_of_a_module_that_can_be_analysed_says_how(self):
        note = "note: with --no-verify what is right in the module is analysed\n"
        file = self.file("wrong.hlo", "ENTRY e { p = f32[4] parameter(0) ROOT n = f32[5] negate(p) }")
        code, output, errors = run(file)
        self.assertEqual((code, output), (1, ""))
        self.assertTrue(errors.endswith(f"{file}: {note}"), errors)
        # Nothing helps where text is no module, or its parts do not hang together.
        for text in ("ENTRY e { ROOT n = no-such() }",
                     "HloModule m, entry_computation_layout={()->f32[]}\nENTRY e { ROOT p = f32[] parameter(0) }"):
            code, output, errors = run("-", stdin=text)
            self.assertEqual((code, output), (1, ""))
            self.assertNotIn("--no-verify", errors)

    def test_opcodes_that_are_not_known_are_warned_of(self):
        text = "ENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[2] frobnicate(p), level=3\n}\n"
        code, output, errors = run("-", stdin=text)
        self.assertEqual((code, output), (0, (
            "Output 0 operand 0:\n(d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 3]  "
            "(over-approximate: whole operand: the opcode frobnicate is not known)\n")))
        self.assertEqual(errors, (
            "<stdin>:3:8: warning: instruction 'r' has the opcode 'frobnicate', which is not known; "
            "everything that it yields may be made of all of its operands\n"
            "  ROOT r = f32[2] frobnicate(p), level=3\n       ^\n"))
        many = "".join(f"  x{i} = f32[4] frobnicate(p)\n" for i in range(50))
        code, output, errors = run("-", stdin=f"ENTRY e {{\n  p = f32[4] parameter(0)\n{many}}}\n")
        self.assertEqual((code, errors.count(": warning: ")), (0, 21))
        self.assertEqual(errors.splitlines()[-1],
                         "<stdin>: warning: 30 more instructions have opcodes that are not known")

    def test_a_collective_that_is_wrong_is_not_taken_for_the_devices_own(self):
        body = ("b {\n  s = (f32[4]) parameter(0)\n  x = f32[4] get-tuple-element(s), index=0\n"
                "  g = f32[4] all-gather(x), dimensions={7}, replica_groups={{0,1}}\n"
                "  ROOT n = (f32[4]) tuple(g)\n}\n"
                "c {\n  s = (f32[4]) parameter(0)\n  ROOT t = pred[] constant(true)\n}\n")
        file = self.file("m.hlo", "HloModule m, replica_count=2\n" + body + "ENTRY e {\n"
                         "  p = (f32[4]) parameter(0)\n"
                         "  ROOT w = (f32[4]) while(p), condition=c, body=b\n}\n")
        code, output, _ = run("--no-verify", file)
        self.assertEqual(code, 0)
        self.assertIn("unknown: ", output)

    def test_a_collective_that_is_wrong_is_unknown_where_calls_are_not_looked_into(self):
        # Calls that nest deeper than 64 are read whole, but on which device is not known of this one.
        for dimensions, expected in (("{7}", "unknown: "), ("{0}", "unknown: "), (None, "(d0)[s0] -> ")):
            gather = (f"all-gather(x), dimensions={dimensions}, replica_groups={{{{0,1}}}}" if dimensions
                      else "concatenate(x, x), dimensions={0}")
            text = (f"HloModule m, replica_count=2\nc0 {{\n  x = f32[4] parameter(0)\n"
                    f"  ROOT g = f32[8] {gather}\n}}\n")
            for i in range(1, 70):
                text += (f"c{i} {{\n  x = f32[4] parameter(0)\n"
                         f"  ROOT g = f32[8] call(x), to_apply=c{i - 1}\n}}\n")
            text += ("ENTRY e {\n  x = f32[4] parameter(0)\n"
                     "  ROOT g = f32[8] call(x), to_apply=c69\n}\n")
            code, output, _ = run("--no-verify", "-", stdin=text)
            self.assertEqual(code, 0)
            self.assertTrue(output.splitlines()[1].startswith(expected), (dimensions, output))

    def test_goes_with_hlo_only(self):
        for arguments in (["--map=-"], ["--broadcast", "f32[4]"], ["--compare", "a", "b"]):
            self.assertEqual(run("--no-verify", *arguments)[0], 2, arguments)


class Json(Program):
    def modules(self, text, *flags):
        code, output, errors = run("--format=json", *flags, "-", stdin=text)
        self.assertEqual((code, errors), (0, ""))
        return [json.loads(line) for line in output.splitlines()]

    def test_the_example_of_the_command_line_contract(self):
        element = "(d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 7]"
        head = {"computation": "main", "instruction": "ds", "opcode": "dynamic-slice",
                "scope": "instruction", "direction": "output-to-input", "output_id": 0}
        exact = {"exactness": "exact", "reason": ""}
        offset = {"operand_leaf": 0, **exact, "maps": [
            {"map": element, **exact, "runtime_variables": [], "replica_map": ""}]}
        self.assertEqual(self.modules(DYNAMIC_SLICE), [{"module": "m", "indexing": [
            {**head, "operand_id": 0, "operand": "src", "operand_leaf": 0, **exact, "maps": [
                {"map": "(d0, d1){rt0, rt1} -> (d0 + rt0, d1 + rt1), domain: d0 in [0, 3], "
                        "d1 in [0, 7], rt0 in [0, 4], rt1 in [0, 0]",
                 **exact,
                 "runtime_variables": [
                     {"name": "rt0", "call_path": [], "computation": "main", "instruction": "of1",
                      "leaf": 0, "value": "clamp [0, 4]", "map": element},
                     {"name": "rt1", "call_path": [], "computation": "main", "instruction": "of2",
                      "leaf": 0, "value": "clamp [0, 0]", "map": element}],
                 "replica_map": ""}]},
            {**head, "operand_id": 1, "operand": "of1", **offset},
            {**head, "operand_id": 2, "operand": "of2", **offset},
        ]}])

    def test_keys_are_in_the_order_of_the_contract(self):
        entry = self.modules(DYNAMIC_SLICE)[0]["indexing"][0]
        self.assertEqual(list(entry), [
            "computation", "instruction", "opcode", "scope", "direction", "output_id", "operand_id",
            "operand", "operand_leaf", "exactness", "reason", "maps"])
        self.assertEqual(list(entry["maps"][0]), [
            "map", "exactness", "reason", "runtime_variables", "replica_map"])

    def test_what_is_over_approximate_says_why(self):
        (module,) = self.modules("p = f32[4,4] parameter(0)\n v = f32[] parameter(1)\n"
                                 "ROOT pad = f32[6,6] pad(p, v), padding=1_1x1_1", "--operand_id=1")
        (entry,) = module["indexing"]
        reason = "elements that come from the operand do not read the padding value"
        self.assertEqual((entry["exactness"], entry["reason"]), ("over-approximate", reason))
        (only,) = entry["maps"]
        self.assertEqual((only["map"], only["exactness"], only["reason"]),
                         ("(d0, d1) -> (), domain: d0 in [0, 5], d1 in [0, 5]", "over-approximate", reason))

    def test_an_operand_that_is_not_read_has_no_maps(self):
        (module,) = self.modules("p = (f32[4], s32[]) parameter(0)\n"
                                 "ROOT e = s32[] get-tuple-element(p), index=1", "--direction=both")
        self.assertEqual(
            [(entry["direction"], entry["operand_leaf"], entry["output_id"],
              [map_["map"] for map_ in entry["maps"]]) for entry in module["indexing"]],
            [("output-to-input", 0, 0, []), ("output-to-input", 1, 0, ["() -> ()"]),
             ("input-to-output", 0, 0, []), ("input-to-output", 1, 0, ["() -> ()"])])
        self.assertEqual(module["indexing"][0]["exactness"], "exact")

    def test_a_computation_has_its_parameters_for_operands(self):
        text = """HloModule m
            f {
              q = f32[2,3] parameter(1)
              p = f32[3,2] parameter(0)
              t = f32[2,3] transpose(p), dimensions={1,0}
              ROOT a = f32[2,3] add(q, t)
            }
            ENTRY main {
              x = f32[3,2] parameter(0)
              y = f32[2,3] parameter(1)
              ROOT fusion = f32[2,3] fusion(x, y), kind=kLoop, calls=f
            }"""
        (module,) = self.modules(text, "--computation=f")
        self.assertEqual(
            [(entry["scope"], entry["computation"], entry["instruction"], entry["operand_id"],
              entry["operand"]) for entry in module["indexing"]],
            [("fusion", "f", "a", 0, "p"), ("fusion", "f", "a", 1, "q")])
        (module,) = self.modules(text)
        self.assertEqual(
            [(entry["scope"], entry["computation"], entry["instruction"], entry["operand_id"],
              entry["operand"]) for entry in module["indexing"]],
            [("instruction", "main", "fusion", 0, "x"), ("instruction", "main", "fusion", 1, "y")])

    def test_the_call_path_names_the_callers(self):
        text = """HloModule m
            inner {
              p = f32[10] parameter(0)
              i = s32[] parameter(1)
              j = s32[] multiply(i, i)
              ROOT s = f32[4] dynamic-slice(p, j), dynamic_slice_sizes={4}
            }
            outer {
              p = f32[10] parameter(0)
              i = s32[] parameter(1)
              ROOT c = f32[4] call(p, i), to_apply=inner
            }
            ENTRY main {
              p = f32[10] parameter(0)
              i = s32[] parameter(1)
              ROOT fusion = f32[4] fusion(p, i), kind=kLoop, calls=outer
            }"""
        (module,) = self.modules(text, "--operand_id=0")
        (variable,) = module["indexing"][0]["maps"][0]["runtime_variables"]
        self.assertEqual((variable["call_path"], variable["computation"], variable["instruction"]),
                         (["fusion", "c"], "inner", "j"))
        _, output, _ = run("--operand_id=0", "-", stdin=text)
        self.assertIn("\n  rt0: fusion/c/inner/j, clamp [0, 6]; (d0) -> (), domain: d0 in [0, 3]\n",
                      output)

    def test_each_module_is_one_line(self):
        lines = self.modules(NEGATE + "// -----\n" + NEGATE.replace("HloModule m", "HloModule k"))
        self.assertEqual([line["module"] for line in lines], ["m", "k"])
        lines = self.modules(NEGATE, "--instruction=p")
        self.assertEqual(lines, [{"module": "m", "indexing": []}])


class Maps(Program):
    def simplified(self, *lines):
        code, output, errors = run("--map=-", stdin="".join(line + "\n" for line in lines))
        self.assertEqual((code, errors), (0, ""))
        return output.splitlines()

    def test_expressions_of_the_document(self):
        self.assertEqual(self.simplified(
            "(d0, d1) -> (d0 + d1 floordiv 16, d1 mod 16), domain: d0 in [0, 6], d1 in [0, 14]",
            "(d0, d1, d2) -> ((d0 * 100 + d1 * 10 + d2) floordiv 100, "
            "((d0 * 100 + d1 * 10 + d2) mod 100) floordiv 10, d2 mod 10), "
            "domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
            "(d0, d1, d2) -> ((d0 * 16 + d1 * 4 + d2) floordiv 8, (d0 * 16 + d1 * 4 + d2) mod 8), "
            "domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
            "(d0, d1) -> (-((-d0 * 11 - d1 + 109) floordiv 11) + 9), "
            "domain: d0 in [0, 9], d1 in [0, 10]"), [
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 6], d1 in [0, 14]",
                "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
                "(d0, d1, d2) -> (d0 * 2 + (d1 * 4 + d2) floordiv 8, (d1 * 4 + d2) mod 8), "
                "domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
                "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 10]"])

    def test_constraints_of_the_document(self):
        self.assertEqual(self.simplified(
            "(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 9], "
            "(d0 + s0) floordiv 8 + 1 in [1, 1]",
            "(d0)[s0] -> (d0, s0), domain: d0 in [0, 5], s0 in [1, 3], d0 + s0 in [0, 20]",
            "(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 9], "
            "d0 + s0 + (d0 floordiv 16) in [2, 7]"), [
                "(d0)[s0] -> (d0, s0), domain: d0 in [0, 7], s0 in [0, 7], d0 + s0 in [0, 7]",
                "(d0)[s0] -> (d0, s0), domain: d0 in [0, 5], s0 in [1, 3]",
                "(d0)[s0] -> (d0, s0), domain: d0 in [0, 7], s0 in [0, 7], d0 + s0 in [2, 7]"])

    def test_empty_domains_and_variables_of_one_value(self):
        self.assertEqual(self.simplified(
            "(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 3], s0 in [0, 1], "
            "d0 + d1 in [7, 9]",
            "(d0, d1) -> (d0 + d1), domain: d0 in [2, 2], d1 in [0, 3]",
            "() -> ()"), [
                "KNOWN EMPTY (d0, d1) -> 2 results",
                "(d0, d1) -> (d1 + 2), domain: d0 in [2, 2], d1 in [0, 3]",
                "() -> ()"])

    def test_a_bad_line_is_reported_and_the_others_go_on(self):
        path = self.file("maps.txt", "(d0) -> (d0), domain: d0 in [0, 3]\n"
                                     "\n"
                                     "(d0) -> (d1), domain: d0 in [0, 3]\n"
                                     "(d0) -> (d0 floordiv 0), domain: d0 in [0, 3]\r\n"
                                     "(d0) -> (-d0), domain: d0 in [0, 3]")
        code, output, errors = run("--map", path)
        self.assertEqual(code, 1)
        self.assertEqual(output, "(d0) -> (d0), domain: d0 in [0, 3]\n"
                                 "(d0) -> (-d0), domain: d0 in [0, 3]\n")
        lines = errors.splitlines()
        self.assertEqual(len(lines), 6, errors)
        self.assertTrue(lines[0].startswith(path + ":3:10: error: "), lines[0])
        self.assertEqual(lines[1:3], ["(d0) -> (d1), domain: d0 in [0, 3]", " " * 9 + "^"])
        self.assertTrue(lines[3].startswith(path + ":4:22: error: "), lines[3])

    def test_a_byte_order_mark_is_passed_over(self):
        mark, text = "\ufeff", "(d0) -> (d0), domain: d0 in [0, 9]\n"
        self.assertEqual(run("--map=-", stdin=mark + text), (0, text, ""))
        self.assertEqual(run("--map=" + self.file("m", mark + text)), (0, text, ""))
        # Only at the beginning, and places count from behind it.
        code, output, errors = run("--map=-", stdin=mark + "(d0) -> (d1)\n" + mark + text)
        self.assertEqual((code, output), (1, ""))
        self.assertEqual([line.split(" error")[0] for line in errors.splitlines() if "error" in line],
                         ["<stdin>:1:10:", "<stdin>:2:1:"])

    def test_a_file_that_cannot_be_read_is_an_error(self):
        code, output, errors = run("--map=" + os.path.join(self.directory, "missing"))
        self.assertEqual((code, output), (1, ""))
        self.assertIn("missing: error: ", errors)

    def test_a_map_in_the_place_of_a_file_says_where_maps_are_read_from(self):
        self.assertEqual(run("--map=(d0) -> (d0)"),
                         (1, "", "(d0) -> (d0): error: cannot read it: No such file or directory; "
                                 "--map=- reads maps from standard input\n"))

    def test_printed_maps_read_back_as_themselves(self):
        _, output, _ = run("-", "--direction=both", stdin=DYNAMIC_SLICE)
        maps = [line for line in output.splitlines() if line.startswith("(")]
        self.assertEqual(len(maps), 6)
        once = self.simplified(*maps)
        self.assertEqual(self.simplified(*once), once)


class Broadcasts(Program):
    def test_json_is_that_of_the_documented_form(self):
        code, output, errors = run("--broadcast", "f32[10,1]", "f32[6,8,1,5]", "--format=json")
        self.assertEqual((code, errors, output.count("\n")), (0, "", 1))
        domain = "d0 in [0, 5], d1 in [0, 7], d2 in [0, 9], d3 in [0, 4]"
        self.assertEqual(json.loads(output), {
            "result": "f32[6,8,10,5]",
            "operands": [
                {"shape": "f32[10,1]", "broadcast_dimensions": [2, 3],
                 "map": f"(d0, d1, d2, d3) -> (d2, 0), domain: {domain}",
                 "inverse": "(d0, d1)[s0, s1, s2] -> (s0, s1, d0, s2), domain: d0 in [0, 9], "
                            "d1 in [0, 0], s0 in [0, 5], s1 in [0, 7], s2 in [0, 4]"},
                {"shape": "f32[6,8,1,5]", "broadcast_dimensions": [0, 1, 2, 3],
                 "map": f"(d0, d1, d2, d3) -> (d0, d1, 0, d3), domain: {domain}",
                 "inverse": "(d0, d1, d2, d3)[s0] -> (d0, d1, s0, d3), domain: d0 in [0, 5], "
                            "d1 in [0, 7], d2 in [0, 0], d3 in [0, 4], s0 in [0, 9]"}]})

    def test_json_has_guards_and_cases_where_sizes_are_open(self):
        code, output, _ = run("--broadcast", "--format=json", "f32[?]", "f32[4]")
        self.assertEqual(code, 0)
        broadcast = json.loads(output)
        self.assertEqual(broadcast["guards"], ["operand 0 dimension 0 (?): size 1 or 4"])
        self.assertEqual(broadcast["operands"][0], {
            "shape": "f32[?]", "broadcast_dimensions": [0], "cases": [
                {"where": "dimension 0 has size 1", "map": "(d0) -> (0), domain: d0 in [0, 3]",
                 "inverse": "(d0)[s0] -> (s0), domain: d0 in [0, 0], s0 in [0, 3]"},
                {"where": "dimension 0 has size 4", "map": "(d0) -> (d0), domain: d0 in [0, 3]",
                 "inverse": "(d0) -> (d0), domain: d0 in [0, 3]"}]})

    def test_every_map_of_json_reads_back(self):
        for shapes in (["f32[0]", "f32[3,1]"], ["f32[]", "f32[]"], ["f32[?,?]", "f32[5]", "f32[?]"],
                       ["f32[" + ",".join("?" * 9) + "]", "f32[" + ",".join("2" * 9) + "]"]):
            code, output, _ = run("--broadcast", "--format=json", *shapes)
            self.assertEqual(code, 0)
            maps = [case[key] for operand in json.loads(output)["operands"]
                    for case in operand.get("cases", [operand]) for key in ("map", "inverse")]
            code, _, errors = run("--map=-", stdin="".join(line + "\n" for line in maps))
            self.assertEqual((code, errors), (0, ""), shapes)

    def test_a_module_that_is_emitted_has_the_same_maps(self):
        shapes = ["f32[10,1]", "f32[6,8,1,5]", "f32[5]"]
        broadcast = json.loads(run("--broadcast", "--format=json", *shapes)[1])
        for form in ("hlo", "promoted-hlo"):
            code, module, errors = run("--broadcast", "--emit=" + form, *shapes)
            self.assertEqual((code, errors), (0, ""))
            for number, operand in enumerate(broadcast["operands"]):
                for key, direction in (("map", "output-to-input"), ("inverse", "input-to-output")):
                    _, maps, _ = run("--fuse", f"--operand_id={number}", "--direction=" + direction,
                                     "-", stdin=module)
                    self.assertEqual(maps.splitlines()[1:],
                                     run("--map=-", stdin=operand[key])[1].splitlines())

    def test_operands_of_different_types_are_emitted_as_a_tuple(self):
        code, module, _ = run("--broadcast", "--emit=hlo", "pred[2,1]", "f32[3]")
        self.assertEqual(code, 0)
        self.assertIn("(pred[2,3], f32[2,3]) tuple(", module)

    def test_shapes_that_do_not_go_together_are_errors(self):
        def assert_error(*shapes, message, code=1):
            self.assertEqual(run("--broadcast", *shapes),
                             (code, "", "print-indexing: error: " + message + "\n"))

        assert_error("f32[3]", "f32[2]",
                     message="operand 1, f32[2], dimension 0: size 2 does not go with size 3 of "
                             "operand 0, f32[3], dimension 0")
        assert_error("f32[2]", "f32[*]", message="operand 1 has no rank; its dimensions and sizes "
                                                 "must be known here")
        assert_error("(f32[2])", message="operand 0, (f32[2]), is not an array")
        assert_error("f32[2]", "f32[2", code=2,
                     message="operand 1, 'f32[2', is no shape: column 6: expected ']', found the end "
                             "of the text")
        assert_error("f32[2]", "x[*]", code=2,
                     message="operand 1, 'x[*]', is no shape: column 1: expected an element type, "
                             "found 'x'")
        code, output, errors = run("--broadcast", "f32[" + ",".join("1" * 65) + "]")
        self.assertEqual((code, output), (1, ""))
        self.assertIn("has rank 65; at most 64 dimensions", errors)
        code, output, errors = run("--broadcast", "--emit=hlo", "f32[<=5]", "f32[3]")
        self.assertEqual((code, output), (1, ""))
        self.assertIn("no reshape and broadcast makes size <=5 the size 3", errors)


    def test_arguments_that_are_no_shapes_are_refused(self):
        for text in ("", "f32", "f32[", "f32[2", "f32[-1]", "f32[9223372036854775808]", "f32[?,",
                     "f32[<=]", "f32[2]x", "[2]", "f32[*,2]", "[*]", "f32[4294967296,4294967296]",
                     "(" * 50000, "f32[" + "1," * 50000, "\x01\x7f"):
            code, output, errors = run("--broadcast", "f32[2]", text)
            self.assertEqual((code, output), (2, ""), text[:80])
            self.assertIn("operand 1, '", errors)
            self.assertIn("is no shape", errors)
            self.assertLess(len(errors), 300)

    def test_large_sizes_are_sizes(self):
        code, output, _ = run("--broadcast", "f32[9223372036854775807]", "f32[1,1]")
        self.assertEqual(code, 0)
        self.assertIn("result f32[1,9223372036854775807]\n", output)
        code, output, errors = run("--broadcast", "--emit=hlo", "f32[4611686018427387904,1]", "f32[4]")
        self.assertEqual((code, output), (1, ""))
        self.assertIn("does not fit 64 bits", errors)


class Threads(Program):
    def test_the_output_does_not_depend_on_the_number_of_threads(self):
        lines = ["HloModule many", "ENTRY main {", "  x0 = f32[6,4] parameter(0)"]
        for i in range(1, 3000):
            opcode = ("reshape", "negate")[i % 2]
            sizes = "[6,4]" if (i // 2) % 2 == 0 else "[3,8]"
            lines.append(f"  x{i} = f32{sizes} {opcode}(x{i - 1})")
        text = "\n".join([*lines, "}", ""])
        first = self.file("a.hlo", text)
        second = self.file("b.hlo", NEGATE + "// -----\n" + text)
        for form in ("text", "json"):
            flags = ("--instruction=all", "--direction=both", "--format=" + form, first, second)
            alone = run("--jobs=1", *flags)
            self.assertEqual(alone[0], 0)
            self.assertEqual(run("--jobs=7", *flags), alone)

    def test_maps_do_not_depend_on_the_number_of_threads(self):
        text = "".join(f"(d0) -> ((d0 + {i}) mod {i + 7}), domain: d0 in [0, {i % 11}]\n"
                       if i % 100 else "no map\n" for i in range(12000))
        alone = run("--map=-", "--jobs=1", stdin=text)
        self.assertEqual(alone[0], 1)
        self.assertEqual(alone[2].count("error: "), 120)
        self.assertEqual(run("--map=-", "--jobs=7", stdin=text), alone)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
