#!/usr/bin/env python3
"""Tests layers.py: each of its rules finds the include that breaks it."""

import pathlib
import tempfile
import unittest

import layers


class LayersTest(unittest.TestCase):
    def findings(self, files, public=(), rooms=None):
        """What is found in a tree of these files (below xla_indexing/, or from the root), whose includes are given.

        A layer that `rooms` does not name has the rooms that its files are in, in alphabetical order.
        """
        with tempfile.TemporaryDirectory() as directory:
            source = pathlib.Path(directory)
            used = {}
            for name, includes in files.items():
                in_library = not name.startswith(("python/", "tests/"))
                path = source / "xla_indexing" / name if in_library else source / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("".join(f'#include "{include}"\n' for include in includes))
                layer, *folders = pathlib.PurePath(name).parent.parts
                if in_library and layer in layers.DEPENDS:
                    used.setdefault(layer, set()).add("/".join(folders) or ".")
            for layer, names in used.items():
                listed = (rooms or {}).get(layer, sorted(names))
                table = "".join(f"| `{name}/` | what is there |\n" for name in listed)
                (source / "xla_indexing" / layer / "README.md").write_text(table)
            (source / "cmake").mkdir()
            (source / "cmake/XlaIndexingHeaders.cmake").write_text(
                "set(XLA_INDEXING_PUBLIC_HEADERS\n" + "".join(f"  {header}\n" for header in public) + ")\n"
            )
            return list(layers.findings(source))

    def test_includes_along_the_arrows_are_right(self):
        self.assertEqual(
            self.findings(
                {
                    "base/a.h": ["cstdint"],
                    "map/m.h": ["xla_indexing/base/a.h", "mlir/IR/AffineExpr.h"],
                    "map/m.cc": ["xla_indexing/map/m.h", "xla_indexing/map/sets/p.h"],
                    "map/sets/p.h": ["xla_indexing/base/a.h"],
                    "tools/t.h": ["xla_indexing/map/sets/p.h"],
                },
                public=["base/a.h", "map/m.h"],
                rooms={"map": ["sets", "."]},
            ),
            [],
        )

    def test_an_include_against_the_arrows_is_found(self):
        self.assertEqual(
            self.findings({"hlo/h.cc": ["xla_indexing/map/m.h"]}),
            ["xla_indexing/hlo/h.cc: hlo may not include map: xla_indexing/map/m.h"],
        )

    def test_a_room_that_includes_a_later_one_is_found(self):
        self.assertEqual(
            self.findings(
                {"map/sets/s.h": ["xla_indexing/map/count/c.h"], "map/count/c.h": []}, rooms={"map": ["sets", "count"]}
            ),
            [
                "xla_indexing/map/sets/s.h: xla_indexing/map/sets may not include xla_indexing/map/count, "
                "which comes after it: xla_indexing/map/count/c.h"
            ],
        )

    def test_a_room_that_is_not_listed_and_a_listed_one_without_files_are_found(self):
        self.assertEqual(
            self.findings({"map/sets/s.h": [], "map/m.h": []}, rooms={"map": [".", "count"]}),
            [
                "xla_indexing/map/sets: is no room in the table of xla_indexing/map/README.md",
                "xla_indexing/map/count: is in the table of xla_indexing/map/README.md and has no files",
            ],
        )

    def test_a_room_with_too_many_files_is_found(self):
        count = layers.MOST_FILES + 1
        self.assertEqual(
            self.findings({f"base/f{number}.h": [] for number in range(count)}),
            [f"xla_indexing/base: has {count} files, more than {layers.MOST_FILES}"],
        )

    def test_tests_that_mirror_no_room_are_found(self):
        self.assertEqual(
            self.findings(
                {"map/sets/s.h": [], "tests/map/sets/s_test.cc": [], "tests/map/other/o_test.cc": []},
            ),
            ["tests/map/other: mirrors no room of xla_indexing/map"],
        )

    def test_the_python_package_includes_public_headers_only(self):
        self.assertEqual(
            self.findings(
                {
                    "map/m.h": [],
                    "python/src/p.cc": [
                        "xla_indexing/map/m.h",
                        "xla_indexing/map/sets/q.h",
                        "xla_indexing/tools/t.h",
                        "mlir/IR/AffineExpr.h",
                    ],
                },
                public=["map/m.h"],
            ),
            [
                "python/src/p.cc: the Python package includes public headers only: xla_indexing/map/sets/q.h",
                "python/src/p.cc: the Python package includes public headers only: xla_indexing/tools/t.h",
            ],
        )

    def test_a_circle_in_the_python_package_is_found(self):
        self.assertEqual(
            self.findings(
                {"map/m.h": [], "python/src/a.h": ["python/src/b.h"], "python/src/b.cc": ["python/src/a.h"]}
            ),
            ["a circle of files: python/src/a, python/src/b"],
        )

    def test_mlir_below_affine_is_found(self):
        self.assertEqual(
            self.findings({"base/b.h": ["llvm/ADT/ArrayRef.h"]}),
            ["xla_indexing/base/b.h: base uses no MLIR: llvm/ADT/ArrayRef.h"],
        )

    def test_a_public_header_that_includes_another_is_found(self):
        self.assertEqual(
            self.findings({"map/m.h": ["xla_indexing/map/p.h"], "map/p.h": []}, public=["map/m.h"]),
            ["xla_indexing/map/m.h: a public header may not include xla_indexing/map/p.h"],
        )

    def test_a_public_header_that_is_not_there_is_found(self):
        self.assertEqual(
            self.findings({"map/m.h": []}, public=["map/n.h"]),
            ["xla_indexing/map/n.h: is in cmake/XlaIndexingHeaders.cmake and does not exist"],
        )

    def test_a_circle_through_source_files_is_found(self):
        self.assertEqual(
            self.findings(
                {
                    "base/a.h": [],
                    "base/a.cc": ["xla_indexing/base/a.h", "xla_indexing/base/b.h"],
                    "base/b.h": ["xla_indexing/base/a.h"],
                }
            ),
            ["a circle of files: xla_indexing/base/a, xla_indexing/base/b"],
        )

    def test_an_unknown_layer_and_an_empty_tree_are_found(self):
        self.assertEqual(
            self.findings({"other/o.h": []}), ["xla_indexing/other/o.h: is in no layer that tests/layers.py knows"]
        )
        self.assertEqual(len(self.findings({})), 1)


if __name__ == "__main__":
    unittest.main()
