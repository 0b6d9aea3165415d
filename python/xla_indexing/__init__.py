"""Symbolic indexing maps of XLA HLO: which elements of one tensor does an element of another depend on?

    >>> import xla_indexing as xi
    >>> m = xi.load("ENTRY e { p = f32[3,4] parameter(0)  ROOT t = f32[4,3] transpose(p), dimensions={1,0} }")
    >>> print(m.entry.indexing()[0].maps[0])
    (d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 2]
"""

from __future__ import annotations

from ._load import analyze, load, load_all
from ._native import (
    INPUT_TO_OUTPUT,
    OUTPUT_TO_INPUT,
    Computation,
    Constraint,
    CorrespondingDims,
    Direction,
    Entry,
    Equivalence,
    Error,
    FusionView,
    Image,
    Indexing,
    IndexingMap,
    Instruction,
    Interval,
    Layout,
    LeafComparison,
    LeafDim,
    Module,
    OperandIndexing,
    OperandUtilization,
    PairOfOne,
    ParseError,
    RuntimeVariable,
    Shape,
    Utilization,
    Variable,
    __version__,
    equivalent,
)

__all__ = [
    "INPUT_TO_OUTPUT",
    "OUTPUT_TO_INPUT",
    "Computation",
    "Constraint",
    "CorrespondingDims",
    "Direction",
    "Entry",
    "Equivalence",
    "Error",
    "FusionView",
    "Image",
    "Indexing",
    "IndexingMap",
    "Instruction",
    "Interval",
    "Layout",
    "LeafComparison",
    "LeafDim",
    "Module",
    "OperandIndexing",
    "OperandUtilization",
    "PairOfOne",
    "ParseError",
    "RuntimeVariable",
    "Shape",
    "Utilization",
    "Variable",
    "__version__",
    "analyze",
    "equivalent",
    "load",
    "load_all",
]
