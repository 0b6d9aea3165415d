#!/usr/bin/env python3
"""Opens reports in a browser and compares what they show with what print-indexing says.

    page_test.py PRINT_INDEXING PAGE_POINTS CORPUS CORPUS_JAX SCREENSHOTS

Needs chromium (XLA_INDEXING_CHROMIUM names another than the one in PATH) and playwright; without them it ends with
code 77, which ctest shows as skipped. Screenshots are left in SCREENSHOTS for a look.

The judge of what is lit up is written here: it reads maps' texts as Python expressions and tries all values of range
variables, and shares nothing with the page's evaluator.
"""

import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

CHROMIUM = os.environ.get("XLA_INDEXING_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PAGE = SOURCE / "xla_indexing" / "report" / "page"


def module_text(*names):
    """Modules of the page as one script, as the build puts them together."""
    text = "".join((PAGE / name).read_text() + "\n" for name in names)
    text = re.sub(r"^import [^\n]*;", "", text, flags=re.MULTILINE)
    return re.sub(r"^export ", "", text, flags=re.MULTILINE)


class Map:
    """The judge's reading of a map: Python's // and % are floordiv and mod."""

    def __init__(self, text, runtime_variables=()):
        self.elements = [Map(variable["map"]) for variable in runtime_variables]
        head, _, domain = text.partition(", domain: ")
        variables, _, results = head.partition(" -> ")
        groups = re.fullmatch(r"\((.*?)\)(?:\[(.*?)\])?(?:\{(.*?)\})?", variables).groups()
        self.dims, self.ranges, self.runtimes = [g.split(", ") if g else [] for g in groups]
        names = self.dims + self.ranges + self.runtimes
        python = lambda e: e.replace("floordiv", "//").replace("mod", "%")
        self.results = eval(f"lambda {', '.join(names)}: [{python(results[1:-1])}]")  # of our own program
        parts = re.findall(r"(.*?) in \[(-?\w+), (-?\w+)\](?:, |$)", domain)
        end = lambda e: float(e) if "inf" in e else int(e)
        self.bounds = [(end(low), end(high)) for _, low, high in parts[:len(names)]]
        self.constraints = [(eval(f"lambda {', '.join(names)}: {python(e)}"), end(low), end(high))
                            for e, low, high in parts[len(names):]]

    def points(self):
        size = 1
        for low, high in self.bounds[len(self.dims):len(self.dims) + len(self.ranges)]:
            size *= high - low + 1
        return size

    def image(self, dims):
        """Of an element. Values that only the running program knows count up from their least one along the array that
        they are read from, as the page makes them up."""
        first, last = len(self.dims), len(self.dims) + len(self.ranges)
        if any(not low <= d <= high for d, (low, high) in zip(dims, self.bounds)):
            return set()
        found = set()
        for ranges in itertools.product(*(range(low, high + 1) for low, high in self.bounds[first:last])):
            point = [*dims, *ranges]
            for (low, high), element in zip(self.bounds[last:], self.elements):
                values = dict(zip(self.dims + self.ranges + self.runtimes, point))
                read = element.results(*(values[name] for name in element.dims + element.ranges + element.runtimes))
                point.append(low + sum(read) % (high - low + 1))
            if all(low <= e(*point) <= high for e, low, high in self.constraints):
                found.add(tuple(self.results(*point)))
        return found


class InBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.playwright = sync_playwright().start()
        cls.browser = cls.playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        cls.reports = {}
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()
        cls.directory.cleanup()

    def report(self, hlo, *flags):
        """The page of an HLO file."""
        hlo = pathlib.Path(hlo)
        if (hlo, flags) not in self.reports:
            page = pathlib.Path(self.directory.name) / f"{len(self.reports)}.html"
            subprocess.run([PRINT_INDEXING, "--assume=unfused", f"--report={page}", *flags, str(hlo)], check=True, timeout=120)
            self.reports[hlo, flags] = page
        return self.reports[hlo, flags]

    def open(self, hlo, fragment="", width=1366, height=768, scheme="light", flags=()):
        context = self.browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        page = context.new_page()
        self.problems, self.requests = [], []
        # The browser warns of pixels that are read often, which these tests do and the page does not.
        page.on("console", lambda message: self.problems.append(message.text)
                if message.type in ("error", "warning") and "willReadFrequently" not in message.text else None)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))
        started = time.monotonic()
        page.goto(f"file://{self.report(hlo, *flags)}{fragment}")
        page.wait_for_selector("[role=tablist]")
        self.seconds = time.monotonic() - started
        self.addCleanup(context.close)
        return page

    def tearDown(self):
        problems, self.problems = getattr(self, "problems", []), []
        self.assertEqual(problems, [])
        self.assertLessEqual(len(getattr(self, "requests", [])), 1)

    def most_reads(self, page):
        """In the tab `reads`, of the first operand, once that is counted."""
        page.wait_for_selector("#panel canvas[data-most]")
        return page.locator("#panel canvas").first.get_attribute("data-most")

    def keep(self, page, name):
        page.screenshot(path=str(SCREENSHOTS / f"{name}.png"))


class Evaluator(InBrowser):
    def test_maps_are_evaluated_as_the_library_does(self):
        lines = subprocess.run([PAGE_POINTS, "20000"], check=True, capture_output=True, text=True).stdout.splitlines()
        self.assertEqual(len(lines), 20000)
        page = self.browser.new_page()
        self.addCleanup(page.close)
        page.add_script_tag(content=module_text("maps.js") + """
            const read = (text) => {
              const big = BigInt(text);
              return Number.isSafeInteger(Number(big)) ? Number(big) : big;
            };
            window.check = (lines) => {
              const wrong = [];
              let big = 0, inside = 0;
              for (const line of lines) {
                const {map: text, points} = JSON.parse(line);
                const map = parseMap(text);
                for (const point of points) {
                  const values = point.values.map(read);
                  const results = evaluate(map, values);
                  const is = contains(map, values);
                  if (results.some((r) => typeof r === 'bigint')) ++big;
                  if (is) ++inside;
                  if (results.some((r) => Object.is(r, -0))) wrong.push(`${text} at ${point.values}: -0`);
                  if (point.results && results.map(String).join() !== point.results.join())
                    wrong.push(`${text} at ${point.values}: ${results} and not ${point.results}`);
                  if (point.contains !== null && is !== point.contains)
                    wrong.push(`${text} at ${point.values}: contains is ${is}`);
                }
              }
              return {wrong, big, inside};
            };""")
        total = {"big": 0, "inside": 0}
        for first in range(0, len(lines), 2000):
            answer = page.evaluate("(lines) => window.check(lines)", lines[first:first + 2000])
            self.assertEqual(answer["wrong"][:5], [])
            for key in total:
                total[key] += answer[key]
        # The points are worth something: many in domains, many past what numbers hold.
        self.assertGreater(total["inside"], 10000)
        self.assertGreater(total["big"], 1000)

    def test_what_is_no_map_is_an_error(self):
        page = self.browser.new_page()
        self.addCleanup(page.close)
        page.add_script_tag(content=module_text("maps.js") + """
            window.fails = (text) => { try { parseMap(text); return false; } catch (e) { return true; } };""")
        for text in ("", "(d0) -> (d1)", "(d0) -> (d0", "(d0) -> (d0), domain: d0 in [0, 1", "(d0) -> (d0) x",
                     "(d0, d1) -> (d0), domain: d1 in [0, 1], d0 in [0, 1]"):
            self.assertTrue(page.evaluate("(text) => window.fails(text)", text), text)
        self.assertFalse(page.evaluate("window.fails('(d0)[s0]{rt0} -> (-d0 floordiv 2 - (s0 mod 3) * rt0)')"))



class Elements(InBrowser):
    """What is lit is what print-indexing says."""

    def maps_of(self, hlo):
        """The maps of all instructions by computation, instruction, direction, output leaf, operand and its leaf."""
        text = subprocess.run([PRINT_INDEXING, "--instruction=all", "--format=json", str(hlo)], check=True,
                              capture_output=True, text=True, timeout=300).stdout
        maps = {}
        for line in text.splitlines():
            for entry in json.loads(line)["indexing"]:
                if "output_id" not in entry:
                    continue
                key = (entry["computation"], entry["instruction"])
                place = (entry["output_id"], entry["operand_id"], entry["operand_leaf"])
                maps.setdefault(key, {})[place] = [(m["map"], m["runtime_variables"]) for m in entry["maps"]]
        return maps

    def test_elements_of_fusions(self):
        chance = random.Random(7)
        files = [SOURCE / "examples/softmax.hlo", SOURCE / "examples/row_norms.hlo"]
        files += [path for path in (JAX / f"{name}.opt.hlo" for name in (
            "tf_train_adamw", "hf_t5", "wave_fd_grad", "conv_fwd_bwd", "stencil_heat")) if path.exists()]
        fusions = elements = 0
        for hlo in files:
            page = self.open(hlo)
            maps = self.maps_of(hlo)
            rows = page.evaluate("""() => xlaReport.reports[0].kernels.map((row, i) => ({i, analysis: row.analysis,
                computation: row.computation, instruction: row.instruction, opcode: row.opcode}))""")
            seen = set()
            chosen = []
            for row in rows:
                if row["opcode"] == "fusion" and row["analysis"] not in seen:
                    seen.add(row["analysis"])
                    chosen.append(row)
            chance.shuffle(chosen)
            of_file = 0
            for row in chosen:
                if of_file >= 16:
                    break
                page.evaluate("(i) => xlaReport.choose(i)", row["i"])
                arrays = page.evaluate("(i) => xlaReport.reports[0].analyses[i].drawing.arrays", row["analysis"])
                expected = {place: [Map(*text) for text in texts if text[0]]
                            for place, texts in maps.get((row["computation"], row["instruction"]), {}).items()}
                if any(m.points() > 20000 for ms in expected.values() for m in ms):
                    continue
                # The judge makes up a value for each map, the page one that all maps share, within what each allows.
                if any(len({tuple(m.bounds[len(m.dims) + len(m.ranges):]) for m in ms}) > 1 for ms in expected.values()):
                    continue
                results = [n for n, array in enumerate(arrays) if array["operand"] < 0 and 0 not in array["dimensions"]]
                if not results:
                    continue
                of_file += 1
                fusions += 1
                for _ in range(40):
                    result = chance.choice(results)
                    element = [chance.randrange(size) for size in arrays[result]["dimensions"]]
                    page.evaluate("([array, element]) => xlaReport.point(array, element)", [result, element])
                    lit = {}
                    for part in page.evaluate("() => xlaReport.lit()"):
                        self.assertTrue(part["isAll"], part["text"])
                        lit.setdefault(part["array"], set()).update(map(tuple, part["elements"]))
                    for number, array in enumerate(arrays):
                        if array["operand"] < 0:
                            continue
                        place = (arrays[result]["leaf"], array["operand"], array["leaf"])
                        wanted = set().union(*(m.image(element) for m in expected.get(place, [])))
                        self.assertEqual(lit.get(number, set()), wanted, (hlo, row, place, element))
                    elements += 1
        print(f"{elements} elements of {fusions} fusions are lit as they should be")
        if JAX.exists():
            self.assertGreaterEqual(fusions, 50)
            self.assertGreaterEqual(elements, 2000)

    def test_what_an_operand_lights_up_is_the_converse(self):
        page = self.open(SOURCE / "examples/softmax.hlo")
        for element in ([0, 0, 0], [1, 64, 124], [1, 3, 60]):
            page.evaluate("(element) => xlaReport.point(1, element)", element)
            lit = set()
            for part in page.evaluate("() => xlaReport.lit()"):
                self.assertEqual(part["array"], 0)
                lit |= set(map(tuple, part["elements"]))
            self.assertEqual(lit, {(element[0], element[1], i) for i in range(125)})


class RuntimeValues(InBrowser):
    """What only the running program knows belongs to the element that is read, and is made up until it is chosen."""

    HLO = """HloModule values
    ENTRY e {
      words = f32[100,8] parameter(0)
      more = f32[100,8] parameter(1)
      tokens = s32[64,1] parameter(2)
      others = s32[64,1] parameter(3)
      row = s32[] parameter(4)
      z = s32[] constant(0)
      a = f32[64,8] gather(words, tokens), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
        index_vector_dim=1, slice_sizes={1,8}
      b = f32[64,8] gather(more, others), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
        index_vector_dim=1, slice_sizes={1,8}
      s = f32[16,8] dynamic-slice(words, row, z), dynamic_slice_sizes={16,8}
      ROOT r = (f32[64,8], f32[64,8], f32[16,8]) tuple(a, b, s)
    }
    """

    def open_kernel(self, name):
        hlo = pathlib.Path(self.directory.name) / "values.hlo"
        hlo.write_text(self.HLO)
        page = self.open(hlo)
        page.evaluate("(name) => xlaReport.choose(xlaReport.reports[0].kernels.findIndex((k) => k.instruction === name))", name)
        return page

    def lit(self, page, array, element, pin=False):
        """The elements that are lit, by the array they are in."""
        page.evaluate("([array, element, pin]) => xlaReport.point(array, element, pin)", [array, element, pin])
        found = {}
        for part in page.evaluate("() => xlaReport.lit()"):
            self.assertTrue(part["isAll"])
            found.setdefault(part["array"], set()).update(map(tuple, part["elements"]))
        return found

    def test_every_row_of_a_gather_has_a_value_of_its_own(self):
        """Arrays: 0 is the result, 1 the operand, 2 the row numbers."""
        page = self.open_kernel("a")
        self.assertEqual(self.lit(page, 0, [3, 5]), {1: {(3, 5)}, 2: {(3, 0)}})
        self.assertIn("tokens[3, 0] = 3", page.locator(".values").text_content())
        # Pinned, it has a slider.
        self.lit(page, 0, [3, 5], pin=True)
        number = page.get_by_label("tokens[3, 0], as a number")
        number.fill("6")
        number.press("Enter")
        self.assertEqual(self.lit(page, 0, [3, 5]), {1: {(6, 5)}, 2: {(3, 0)}})
        # Those of the other rows are as they were, and from the operand everything is seen as well.
        self.assertEqual(self.lit(page, 0, [4, 0]), {1: {(4, 0)}, 2: {(4, 0)}})
        self.assertEqual(self.lit(page, 1, [6, 1]), {0: {(3, 1), (6, 1)}})
        self.assertEqual(self.lit(page, 1, [3, 1]), {})
        self.assertEqual(self.lit(page, 1, [99, 1]), {})
        # Pointing at the row number itself shows its value, too.
        self.lit(page, 2, [9, 0])
        self.assertIn("tokens[9, 0] = 9", page.locator(".values").text_content())
        # Two elements of the result read row 6, which is the first of its square.
        page.click("#tab-reads")
        self.assertEqual(self.most_reads(page), "2")
        self.keep(page, "gather")

    def test_lanes_of_a_warp_have_their_own_values(self):
        page = self.open_kernel("a")
        page.click("#tab-warp")
        page.locator("#panel select").select_option(label="read words: (d0, d1){rt0} -> (rt0, d1)")
        out = page.locator("#panel [data-sectors]")
        # A row of 8 floats is a sector, and a warp has 4 rows.
        self.assertEqual(out.get_attribute("data-sectors"), "4")
        # Two of the four rows of the first warp are one now.
        self.lit(page, 0, [3, 0], pin=True)
        number = page.get_by_label("tokens[3, 0], as a number")
        number.fill("2")
        number.press("Enter")
        self.assertEqual(out.get_attribute("data-sectors"), "3")

    def test_counting_reads_does_not_hold_up_the_page(self):
        """Each of 2304 squares is compared with 60,000 row numbers."""
        hlo = pathlib.Path(self.directory.name) / "long.hlo"
        hlo.write_text("""HloModule long
        ENTRY e {
          words = f32[32000,512] parameter(0)
          tokens = s32[60000,1] parameter(1)
          ROOT a = f32[60000,512] gather(words, tokens), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
            index_vector_dim=1, slice_sizes={1,512}
        }
        """)
        page = self.open(hlo)
        started = time.monotonic()
        page.click("#tab-reads")
        self.assertIn("counting: ", page.locator("#panel .status").first.text_content())
        page.click("#tab-text")
        self.assertLess(time.monotonic() - started, 10)
        self.assertIn("rt0: tokens", page.locator("#panel").text_content())

    def test_equal_kernels_have_their_own_names(self):
        page = self.open_kernel("b")
        self.assertEqual(page.evaluate("new Set(xlaReport.reports[0].kernels.map((k) => k.analysis)).size"), 2)
        self.lit(page, 0, [3, 5])
        self.assertIn("others[3, 0] = 3", page.locator(".values").text_content())
        page.click("#tab-text")
        self.assertIn("rt0: others, clamp [0, 99]; (d0, d1) -> (d0, 0)", page.locator("#panel").text_content())
        self.assertNotIn("tokens", page.locator("article.kernel").text_content())

    def test_a_loop_leads_to_its_body_and_back(self):
        hlo = pathlib.Path(self.directory.name) / "loop.hlo"
        hlo.write_text("""HloModule m
c { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0
    five = s32[] constant(5)  ROOT r = pred[] compare(i, five), direction=LT }
b { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0
    one = s32[] constant(1)  next = s32[] add(i, one)
    x = f32[4] get-tuple-element(s), index=1  back = f32[4] reverse(x), dimensions={0}
    ROOT t = (s32[], f32[4]) tuple(next, back) }
ENTRY e { z = s32[] constant(0)  p = f32[4] parameter(0)  s = (s32[], f32[4]) tuple(z, p)
          ROOT w = (s32[], f32[4]) while(s), condition=c, body=b }
""", encoding="utf-8")
        page = self.open(hlo)
        page.evaluate("xlaReport.choose(xlaReport.reports[0].kernels.findIndex((k) => k.opcode === 'while'))")
        self.assertIn("its body b runs 5 times", page.locator(".notes").text_content())
        self.assertIn("Iterations5", page.locator("article .figures").text_content())
        # Five reversals are one.
        self.assertEqual(self.lit(page, 1, [0]), {3: {(3,)}, 2: {()}})
        page.click(".links button:has-text('back')")
        self.assertEqual(page.locator("article h2").text_content(), "back")
        page.click(".links button:has-text('w')")
        self.assertEqual(page.locator("article h2").text_content(), "w")

    def test_a_start_that_all_elements_share_has_one_slider(self):
        page = self.open_kernel("s")
        self.assertEqual(self.lit(page, 0, [1, 0])[1], {(1, 0)})
        number = page.get_by_label("row, as a number").first
        number.fill("10")
        number.press("Enter")
        self.assertEqual(self.lit(page, 0, [1, 0])[1], {(11, 0)})
        # The same value in the other direction.
        self.assertEqual(self.lit(page, 1, [11, 0]), {0: {(1, 0)}})
        self.assertEqual(self.lit(page, 1, [9, 0]), {})


class Page(InBrowser):
    SOFTMAX = SOURCE / "examples/softmax.hlo"

    def test_a_mouse_lights_up_and_pins_and_the_address_brings_that_back(self):
        page = self.open(self.SOFTMAX)
        result, operand = page.locator("figure.grid canvas").nth(0), page.locator("figure.grid canvas").nth(1)
        result.hover(position={"x": 61, "y": 41})
        # A whole row of f32[2,65,125] is 42 squares of 3 columns; the element itself is one of them.
        self.assertEqual(operand.get_attribute("data-lit"), "43")
        self.keep(page, "softmax_hover")
        result.click(position={"x": 61, "y": 41})
        self.assertIn("at=0:", page.url)
        page.mouse.move(5, 5)
        self.assertEqual(operand.get_attribute("data-lit"), "43")
        page.click("#tab-reads")
        self.assertEqual(self.most_reads(page), "126")
        address = page.url[page.url.index("#"):]
        again = self.open(self.SOFTMAX, address)
        self.assertEqual(again.locator("figure.grid canvas").nth(1).get_attribute("data-lit"), "43")
        self.assertEqual(again.get_attribute("#tab-reads", "aria-selected"), "true")
        again.keyboard.press("Escape")
        self.assertEqual(again.locator("figure.grid canvas").nth(1).get_attribute("data-lit"), "0")
        self.assertNotIn("at=", again.url)

    def test_addresses_that_say_nonsense_are_left(self):
        for fragment in ("#kernel=99&tab=none&at=7:1.2", "#kernel=-1&at=0:1", "#at=0:99999.0.0", "#%zz", "#kernel=1e9"):
            page = self.open(self.SOFTMAX, fragment)
            self.assertEqual(page.locator("h2").text_content(), "fusion")

    def test_keys_choose_elements_and_tabs(self):
        page = self.open(self.SOFTMAX)
        page.locator("figure.grid canvas").nth(0).focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Shift+ArrowRight")
        self.assertIn("[0, 2, 1]", page.locator("figure.grid .status").nth(0).text_content())
        page.keyboard.press("Enter")
        self.assertIn("at=0:0.2.1", page.url)
        page.focus("#tab-warp")
        page.keyboard.press("ArrowRight")
        self.assertIn("tab=reads", page.url)

    def test_sliders_move_the_slice(self):
        page = self.open(self.SOFTMAX)
        page.locator("figure.grid canvas").nth(0).click(position={"x": 5, "y": 5})
        operand = page.locator("figure.grid").nth(1)
        self.assertEqual(operand.locator("canvas").get_attribute("data-lit"), "43")
        slider = operand.locator("input[type=number]").first
        slider.fill("1")
        slider.press("Enter")
        self.assertEqual(operand.locator("canvas").get_attribute("data-lit"), "0")
        self.assertIn("none in this slice", operand.locator(".status").text_content())

    def test_the_worst_warp_is_that_of_the_query(self):
        """32 lanes, the last three in another row: 2 sectors for 8 bytes."""
        page = self.open(self.SOFTMAX)
        page.click("#tab-warp")
        out = page.locator("#panel [data-sectors]")
        self.assertEqual((out.get_attribute("data-sectors"), out.get_attribute("data-bytes")), ("2", "8"))
        self.keep(page, "softmax_warp")

    def test_warps_cost_what_coalescing_says(self):
        """The worst request of every access takes the sectors that the library counts for it."""
        files = [self.SOFTMAX, SOURCE / "examples/row_norms.hlo"]
        files += [JAX / f"{name}.opt.hlo" for name in ("flax_nnx_transformer", "tf_train_adamw", "hf_vit", "conv_fwd_bwd")]
        compared = 0
        for hlo in filter(pathlib.Path.exists, files):
            page = self.open(hlo)
            answer = page.evaluate("""() => {
                const wrong = [];
                let compared = 0;
                const report = xlaReport.reports[0];
                const seen = new Set();
                report.kernels.forEach((row, i) => {
                  const analysis = report.analyses[row.analysis];
                  if (seen.has(row.analysis) || !analysis.drawing || analysis.drawing.accesses.length === 0) return;
                  seen.add(row.analysis);
                  xlaReport.choose(i);
                  document.getElementById('tab-warp').click();
                  const choice = document.querySelector('#panel select');
                  for (const option of [...choice.options]) {
                    choice.value = option.value;
                    choice.dispatchEvent(new Event('change'));
                    const {worst} = analysis.drawing.accesses[Number(option.value)];
                    const out = document.querySelector('#panel [data-sectors]');
                    if (!worst || !out) continue;
                    ++compared;
                    if (Number(out.dataset.sectors) !== worst.sectors)
                      wrong.push(`${row.instruction}: ${option.text}: ${out.dataset.sectors} and not ${worst.sectors}`);
                  }
                });
                return {wrong, compared};
              }""")
            self.assertEqual(answer["wrong"], [])
            compared += answer["compared"]
        print(f"{compared} requests take the sectors that the library counts")
        self.assertGreater(compared, 2)

    def test_groups_open_and_sums_add_up(self):
        """Equal kernels are one row, whose figures and those of the other tabs are sums of the report."""
        lines = ["HloModule m", "ENTRY e {", "  p = f32[4096,262144]{1,0} parameter(0)"]
        for i in range(12):
            lines.append(f"  n{i} = f32[4096,262144]{{1,0}} negate(p), metadata={{op_name=\"jit(f)/Net/block_{i}/neg\"}}")
        for i in range(150):
            lines.append(f"  s{i} = f32[{i + 1}]{{0}} iota(), iota_dimension=0, metadata={{op_name=\"jit(f)/<b>{i}</b>/iota\"}}")
        hlo = pathlib.Path(self.directory.name) / "groups.hlo"
        hlo.write_text("\n".join([*lines, "}"]))
        page = self.open(hlo)
        self.assertEqual(page.locator("tr.name").count(), 1)
        self.assertEqual(page.locator("tr.name button.open").text_content(), "×12")
        self.assertIn("jit(f)/Net/block_*/neg", page.locator("tr.finding").first.text_content())
        self.assertEqual(page.locator("tr.member").count(), 0)
        page.click("button.open")
        self.assertEqual(page.locator("tr.member").count(), 12)
        page.locator("tr.member button").nth(3).click()
        self.assertEqual(page.locator("h2").text_content(), "n3")
        more = page.locator(".kernels > button")
        self.assertRegex(more.text_content(), "150 more groups: [0-9.]+% of the time")
        page.evaluate("document.querySelector('.kernels > button').click()")
        self.assertEqual(page.locator("tr.name").count(), 151)
        page.click("text=Modules")
        self.assertEqual(page.locator(".sums tbody th").first.text_content(), "Net/block_*12 kernels")
        self.assertEqual(page.locator(".sums b").count(), 0)
        # 12 * 2 * 4096 * 262144 * 4 bytes at 3.35 TB/s, and 12 us to start them.
        self.assertIn("30.8\u00a0ms", page.locator(".sums tbody tr").first.text_content())
        page.click(".sums button")
        report = page.evaluate("() => xlaReport.reports[0]")
        for by in ("by_module", "by_source"):
            self.assertAlmostEqual(sum(of["microseconds"] for of in report[by]), report["totals"]["microseconds"])
        self.assertAlmostEqual(sum(of["totals"]["microseconds"] for of in report["groups"]), report["totals"]["microseconds"])
        for width in (390, 1280, 1920):
            page.set_viewport_size({"width": width, "height": 800})
            for part in ("Kernels", "What is wrong", "Modules", "Source"):
                page.click(f"[role=tab]:has-text('{part}')")
                self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
                self.keep(page, f"groups_{width}_{part.lower().replace(' ', '_')}")

    def test_the_path_of_a_dependence(self):
        """Element 0 of r[1:3] of the reverse r of 4 elements is element 1 of r, and that element 2 of p."""
        hlo = pathlib.Path(self.directory.name) / "path.hlo"
        hlo.write_text("ENTRY e {\n  p = f32[4] parameter(0)\n  r = f32[4] reverse(p), dimensions={0}, "
                       "metadata={op_name=\"jit(f)/<b>rev</b>\" source_file=\"f.py\" source_line=3}\n"
                       "  ROOT s = f32[2] slice(r), slice={[1:3]}\n}\n")
        page = self.open(hlo, flags=("--explain", "--output_element=0", "--operand_element=2"))
        boxes = page.locator(".chain li")
        self.assertEqual([text.split(" ")[0] for text in boxes.all_text_contents()], ["s[0]", "r[1]", "p[2]"])
        self.assertEqual(boxes.nth(1).text_content(), "r[1] reversejit(f)/<b>rev</b>f.py:3")
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
            self.keep(page, f"path_{width}")
        page = self.open(hlo, flags=("--explain", "--output_element=0", "--operand_element=3"))
        self.assertIn("does not depend", page.locator("#part").text_content())

    def test_three_thousand_fusions(self):
        """All differ; the page stays under 20 MB."""
        lines = ["HloModule many"]
        for i in range(3000):
            lines.append(f"f{i} {{ a = f32[{i + 8},64] parameter(0)\n  t = f32[64,{i + 8}] transpose(a), dimensions={{1,0}}\n"
                         f"  n = f32[64,{i + 8}] negate(t)\n  ROOT r = f32[64,{i + 8}] add(n, t) }}")
        lines.append("ENTRY e {")
        for i in range(3000):
            lines.append(f"  p{i} = f32[{i + 8},64] parameter({i})\n  k{i} = f32[64,{i + 8}] fusion(p{i}), kind=kLoop, calls=f{i}")
        lines.append("}")
        hlo = pathlib.Path(self.directory.name) / "many.hlo"
        hlo.write_text("\n".join(lines))
        page = self.open(hlo)
        size = self.report(hlo).stat().st_size
        print(f"3000 fusions: {size} bytes, open after {self.seconds:.2f} s")
        self.assertEqual(page.evaluate("xlaReport.reports[0].analyses.length"), 3000)
        self.assertLess(size, 20_000_000)
        self.assertLess(self.seconds, 10)

    def test_contrast(self):
        """WCAG AA: 4.5 for text, 3 for what is drawn."""
        def luminance(colour):
            parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
            parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

        def contrast(a, b):
            low, high = sorted((luminance(a), luminance(b)))
            return (high + 0.05) / (low + 0.05)

        for scheme in ("light", "dark"):
            page = self.open(self.SOFTMAX, scheme=scheme)
            colour = lambda name: page.evaluate(
                "(n) => getComputedStyle(document.documentElement).getPropertyValue(n).trim()", "--" + name)
            for ground in ("ground", "panel"):
                for text in ("text", "quiet", "accent", "good", "bad"):
                    self.assertGreaterEqual(contrast(colour(text), colour(ground)), 4.5, (scheme, text, ground))
            for number in range(6):
                self.assertGreaterEqual(contrast(colour(f"path-{number}"), colour("cell")), 3, (scheme, number))

    def test_everything_that_can_be_used_has_a_name(self):
        page = self.open(self.SOFTMAX)
        for tab in ("warp", "reads", "tiles", "text"):
            page.click(f"#tab-{tab}")
            unnamed = page.evaluate("""() => [...document.querySelectorAll('input, select, button, canvas, svg[role], [role=tab]')]
                .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length))
                .map((e) => e.outerHTML.slice(0, 100))""")
            self.assertEqual(unnamed, [])

    def test_reports_of_models(self):
        files = {"transformer": JAX / "tf_train_adamw.opt.hlo",
                 "llama31_8b": CORPUS / "tools/benchmarks/hlo/hlo_llama31_8b_bf16_1x8.hlo"}
        for name, hlo in files.items():
            if not hlo.exists():
                print(f"SKIPPED: {hlo} is not there", file=sys.stderr)
                continue
            for scheme in ("light", "dark"):
                page = self.open(hlo, scheme=scheme)
                size = self.report(hlo).stat().st_size
                print(f"{name}: {size} bytes, open after {self.seconds:.2f} s")
                self.assertLess(size, 20_000_000)
                self.assertLess(self.seconds, 10)
                page.locator("figure.grid canvas").first.hover(position={"x": 9, "y": 9})
                self.keep(page, f"{name}_{scheme}")
                for tab in ("warp", "reads", "tiles", "text"):
                    page.click(f"#tab-{tab}")
                    page.evaluate("document.querySelector('.tabs').scrollIntoView()")
                    self.keep(page, f"{name}_{scheme}_{tab}")
            before = page.locator("tr.name").count()
            page.check("#filter-uncoalesced")
            page.fill("#filter-text", "transpose")
            self.assertIn(" of ", page.locator(".filters .note").text_content())
            self.assertLessEqual(page.locator("tr.name").count(), before)
            page.uncheck("#filter-uncoalesced")
            page.fill("#filter-text", "")
            page.click("th.runs button")
            page.click("tr.name button.link")
            page.emulate_media(media="print")
            # Paper is white, whatever the screen was.
            page.wait_for_function("""() => document.querySelector('figure.grid canvas').getContext('2d')
                .getImageData(6, 6, 1, 1).data[0] > 128 || document.querySelector('figure.grid canvas').dataset.lit !== '0'""")
            self.assertEqual(page.evaluate("getComputedStyle(document.querySelector('.legend .swatch')).backgroundColor"),
                             "rgb(0, 96, 168)")
            page.screenshot(path=str(SCREENSHOTS / f"{name}_print.png"), full_page=True)
            page.pdf(path=str(SCREENSHOTS / f"{name}.pdf"), format="A4")

    def test_a_page_is_small(self):
        self.assertLess(self.report(self.SOFTMAX).stat().st_size, 300_000)

    def test_every_kernel_of_a_module_can_be_chosen(self):
        if not JAX.exists():
            self.skipTest("no corpus")
        for name in ("hf_t5", "pjit_moe_a2a", "moe_capacity_scatter", "keras_lstm_attn_grad"):
            page = self.open(JAX / f"{name}.opt.hlo")
            count = page.evaluate("""() => {
                const rows = xlaReport.reports[0].kernels;
                const seen = new Set();
                rows.forEach((row, i) => {
                  if (seen.has(row.analysis)) return;
                  seen.add(row.analysis);
                  xlaReport.choose(i);
                  for (const tab of ['warp', 'reads', 'tiles', 'text']) document.getElementById(`tab-${tab}`).click();
                });
                return seen.size;
              }""")
            self.assertGreater(count, 5)

    def test_names_stay_text(self):
        evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028"
        long = "n" * 10_000
        text = (f"HloModule m\nENTRY e {{\n  p{long} = f32[4,4] parameter(0)\n"
                f"  ROOT {long} = f32[4,4] transpose(p{long}), dimensions={{1,0}}, "
                f'metadata={{op_name="{evil}" source_file="{evil}" source_line=3}}\n}}\n')
        hlo = pathlib.Path(self.directory.name) / "evil.hlo"
        hlo.write_text(text, encoding="utf-8")
        page = self.open(hlo)
        for tab in ("warp", "reads", "tiles", "text"):
            page.click(f"#tab-{tab}")
        self.assertEqual(page.locator("img").count(), 0)
        self.assertEqual(page.locator("script").count(), 2)
        self.assertIn(evil, page.locator(".source").text_content())
        self.assertEqual(page.locator("h2").text_content(), long)
        self.keep(page, "names")
        # Nothing is wider than the window, or than its part of it, on either side of each break.
        for width in (1366, 1320, 1300, 1100, 1010, 990, 640):
            page.set_viewport_size({"width": width, "height": 768})
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
            for tab in ("warp", "reads", "tiles", "text"):
                page.click(f"#tab-{tab}")
                for pane in (".side", ".pane", ".kernels > .scroll"):
                    self.assertTrue(page.evaluate("(p) => { const e = document.querySelector(p); "
                                                  "return e.scrollWidth <= e.clientWidth; }", pane),
                                    f"{pane} of {width} with {tab}")

    def test_a_module_without_kernels(self):
        hlo = pathlib.Path(self.directory.name) / "none.hlo"
        hlo.write_text("HloModule m\nENTRY e { ROOT a = f32[4] parameter(0) }\n")
        page = pathlib.Path(self.directory.name) / "none.html"
        subprocess.run([PRINT_INDEXING, "--assume=unfused", f"--report={page}", str(hlo)], check=True)
        opened = self.browser.new_page()
        self.addCleanup(opened.close)
        opened.goto(f"file://{page}")
        self.assertIn("No kernel", opened.locator("#kernel").text_content())


if __name__ == "__main__":
    PRINT_INDEXING, PAGE_POINTS = sys.argv[1:3]
    CORPUS, JAX, SCREENSHOTS = map(pathlib.Path, sys.argv[3:6])
    if sync_playwright is None or CHROMIUM is None:
        missing = [name for name, there in (("playwright (PyPI)", sync_playwright), ("chromium (Debian)", CHROMIUM)) if not there]
        print(f"SKIPPED: the page of reports is not tested: {' and '.join(missing)} are missing", file=sys.stderr)
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
