#!/usr/bin/env python3
"""Tests layers.py: each of its rules finds the include that breaks it."""

import pathlib
import tempfile
import unittest

import layers


class LayersTest(unittest.TestCase):
    def findings(self, **files):
        """What is found in a tree of these files, named with `__` for `/`, whose includes are given."""
        with tempfile.TemporaryDirectory() as directory:
            for name, includes in files.items():
                path = pathlib.Path(directory, "xla_indexing", name.replace("__", "/").replace("_dot_", "."))
                if name.startswith("python"):
                    path = pathlib.Path(directory, name.replace("__", "/").replace("_dot_", "."))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("".join(f'#include "{include}"\n' for include in includes))
            return list(layers.findings(pathlib.Path(directory)))

    def test_includes_along_the_arrows_are_right(self):
        self.assertEqual(
            self.findings(
                base__a_dot_h=["cstdint"],
                map__m_dot_h=["xla_indexing/base/a.h", "mlir/IR/AffineExpr.h"],
                map__m_dot_cc=["xla_indexing/map/m.h", "xla_indexing/map/internal/p.h"],
                map__internal__p_dot_h=["xla_indexing/base/a.h"],
                tools__t_dot_h=["xla_indexing/map/internal/p.h"],
            ),
            [],
        )

    def test_an_include_against_the_arrows_is_found(self):
        self.assertEqual(
            self.findings(hlo__h_dot_cc=["xla_indexing/map/m.h"]),
            ["xla_indexing/hlo/h.cc: hlo may not include map: xla_indexing/map/m.h"],
        )

    def test_the_python_package_includes_public_headers_only(self):
        self.assertEqual(
            self.findings(
                map__m_dot_h=[],
                python__src__p_dot_cc=[
                    "xla_indexing/map/m.h",
                    "xla_indexing/map/internal/q.h",
                    "xla_indexing/tools/t.h",
                    "mlir/IR/AffineExpr.h",
                ],
            ),
            [
                "python/src/p.cc: the Python package includes public headers only: xla_indexing/map/internal/q.h",
                "python/src/p.cc: the Python package includes public headers only: xla_indexing/tools/t.h",
            ],
        )

    def test_a_circle_in_the_python_package_is_found(self):
        self.assertEqual(
            self.findings(
                map__m_dot_h=[], python__src__a_dot_h=["python/src/b.h"], python__src__b_dot_cc=["python/src/a.h"]
            ),
            ["a circle of files: python/src/a, python/src/b"],
        )

    def test_mlir_below_affine_is_found(self):
        self.assertEqual(
            self.findings(base__b_dot_h=["llvm/ADT/ArrayRef.h"]),
            ["xla_indexing/base/b.h: base uses no MLIR: llvm/ADT/ArrayRef.h"],
        )

    def test_a_public_header_that_includes_an_internal_one_is_found(self):
        self.assertEqual(
            self.findings(map__m_dot_h=["xla_indexing/map/internal/p.h"]),
            ["xla_indexing/map/m.h: a public header may not include xla_indexing/map/internal/p.h"],
        )

    def test_a_circle_through_source_files_is_found(self):
        self.assertEqual(
            self.findings(
                base__a_dot_h=[],
                base__a_dot_cc=["xla_indexing/base/a.h", "xla_indexing/base/b.h"],
                base__b_dot_h=["xla_indexing/base/a.h"],
            ),
            ["a circle of files: xla_indexing/base/a, xla_indexing/base/b"],
        )

    def test_an_unknown_layer_and_an_empty_tree_are_found(self):
        self.assertEqual(
            self.findings(other__o_dot_h=[]), ["xla_indexing/other/o.h: is in no layer that tests/layers.py knows"]
        )
        self.assertEqual(len(self.findings()), 1)


if __name__ == "__main__":
    unittest.main()
