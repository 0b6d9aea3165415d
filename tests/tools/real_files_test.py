#!/usr/bin/env python3
"""Runs print-indexing on a few real HLO files: what it prints as text and as JSON, and how it ends. What it says of
all of them is tested in tests/corpus.

    real_files_test.py PRINT_INDEXING CORPUS CORPUS_JAX CORPUS_MODELS

Skipped (exit code 77), and says so, where one of the directories is missing.
"""

import json
import os
import re
import subprocess
import sys

# Modules and exit codes. The first two have a piece that is cut off from its module, and an instruction whose shape
# contradicts its operands.
FILES = [
    ("XLA_INDEXING_CORPUS", "hlo/translate/hlo_to_mhlo/tests/case_conditional.hlo", 1, 1),
    ("XLA_INDEXING_CORPUS", "hlo/transforms/tests/rewrite_bf16_conv_to_onednn.hlo", 1, 1),
    ("XLA_INDEXING_CORPUS", "hlo/translate/hlo_to_mhlo/tests/composite_call.hlo", 7, 0),
    ("XLA_INDEXING_CORPUS", "codegen/emitters/tests/loop/mof_reshapes.hlo", 1, 0),
    ("XLA_INDEXING_CORPUS", "tools/data/benchmarking/mobilenet_v2.hlo", 1, 0),
    ("XLA_INDEXING_CORPUS_JAX", "mamba_grad.unopt.hlo", 1, 0),
    ("XLA_INDEXING_CORPUS_MODELS", "mixtral_8x7b_prefill_1gpu.hlo", 1, 0),
]


def main():
    program, *directories = sys.argv[1:]
    variables = ("XLA_INDEXING_CORPUS", "XLA_INDEXING_CORPUS_JAX", "XLA_INDEXING_CORPUS_MODELS")
    directory_of = dict(zip(variables, directories, strict=True))
    for variable, directory in directory_of.items():
        if not os.path.isdir(directory):
            print(f"NOT TESTED: no directory of HLO files at {directory}; set {variable}")
            return 77

    failures = 0

    def expect(is_right, file, message):
        nonlocal failures
        if not is_right:
            failures += 1
            print(f"{file}: {message}")

    for variable, path, modules, code in FILES:
        file = os.path.join(directory_of[variable], path)
        results = {
            form: subprocess.run(
                [program, "--instruction=all", "--direction=both", f"--format={form}", file],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)
            for form in ("text", "json")
        }
        for form, result in results.items():
            expect(result.returncode == code, file, f"{form}: exit code {result.returncode}, expected {code}")
            expect(("error:" in result.stderr) == (code == 1), file, f"{form}: {result.stderr[:2000]}")
            expect(code == 1 or not result.stderr, file, f"{form}: {result.stderr[:2000]}")
        said = [json.loads(line) for line in results["json"].stdout.splitlines()]
        entries = [entry for module in said for entry in module["indexing"]]
        unknown = [entry for entry in entries if entry["exactness"] == "unknown"]
        expect(not unknown, file, f"{len(unknown)} unknown, as {unknown[:1]}")
        expect(len(said) == modules, file, f"{len(said)} modules, expected {modules}")
        expect(bool(entries), file, "no entries")
        # Text and JSON say the same: a heading for each entry, a line for each map.
        text = results["text"].stdout
        headings = re.findall(r"^(?:Output|Input) ", text, flags=re.MULTILINE)
        expect(len(headings) == len(entries), file, f"{len(headings)} headings, {len(entries)} entries")
        lines = set(text.splitlines())
        missing = [line["map"] for entry in entries for line in entry["maps"]
                   if entry["exactness"] == "exact" and line["map"] not in lines]
        expect(not missing, file, f"{len(missing)} maps are not in the text, as {missing[:1]}")
    print(f"{len(FILES)} files, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
