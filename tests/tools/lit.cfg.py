"""The files of document/, cases/ and bad_input/ are lit tests of print-indexing: their RUN lines say how
it is run, and FileCheck compares all that it prints with the lines that follow.

    lit --param print_indexing=PROGRAM --param tools=DIRECTORY [--param output=DIRECTORY] tests/tools

where the second directory has FileCheck, and the third is written to. RUN lines may say

    %print-indexing    the program
    %check-output      FileCheck, of whole outputs: a line of output that is not empty and that no line
                       of the file stands for is an error, and spaces count
    %check-errors      FileCheck, of standard error: the same of lines with `error: ` in them

An error of an input comes with its place, the line it is in and a caret below the place: the three lines
are compared.
"""

import os
import tempfile

import lit.formats

config.name = "print-indexing"
config.suffixes = [".hlo"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.abspath(
    lit_config.params.get("output") or os.path.join(tempfile.gettempdir(), "print-indexing-lit"))
# bash, for `$?`.
config.test_format = lit.formats.ShTest(execute_external=True)

file_check = (os.path.join(lit_config.params["tools"], "FileCheck")
              + " --strict-whitespace --match-full-lines %s")
config.substitutions.append(("%print-indexing", os.path.abspath(lit_config.params["print_indexing"])))
config.substitutions.append(("%check-output", file_check + " --implicit-check-not='{{.}}'"))
config.substitutions.append(("%check-errors", file_check + " --implicit-check-not='error: '"))
