"""The files of mlir/ are lit tests of the plugin in mlir-opt.

    lit --param plugin=FILE --param tools=DIRECTORY [--param output=DIRECTORY] tests/plugin

where the second directory has mlir-opt and FileCheck, and the third is written to. RUN lines may say

    %opt        mlir-opt with the plugin's dialect and passes
    %python     the Python that lit runs in
    FileCheck   LLVM's
"""

import os
import sys
import tempfile

import lit.formats

config.name = "plugin"
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.abspath(
    lit_config.params.get("output") or os.path.join(tempfile.gettempdir(), "xla-indexing-plugin-lit"))
config.test_format = lit.formats.ShTest(execute_external=True)

tools = lit_config.params["tools"]
plugin = os.path.abspath(lit_config.params["plugin"])
config.substitutions.append(
    ("%opt", f"{tools}/mlir-opt --load-dialect-plugin={plugin} --load-pass-plugin={plugin}"))
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("FileCheck", f"{tools}/FileCheck"))
