#!/usr/bin/env python3
"""Makes NAME.hlo.pb of each NAME.hlo beside this file, or of the files that are named.

Needs jaxlib: the protocol buffers are those that XLA itself writes of the texts. The tests read both
and compare, so that what is read of a protocol buffer is judged by what XLA means by it.

    pip install jaxlib==0.10.2
    tests/hlo/protos/make.py
"""

import pathlib
import sys

from jaxlib import _hlo

paths = [pathlib.Path(name) for name in sys.argv[1:]] or sorted(pathlib.Path(__file__).parent.glob("*.hlo"))
for path in paths:
    module = _hlo.hlo_module_from_text(path.read_text())
    path.with_suffix(".hlo.pb").write_bytes(module.as_serialized_hlo_module_proto())
