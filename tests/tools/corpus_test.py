#!/usr/bin/env python3
"""Runs print-indexing over a directory of real HLO files, every instruction in both directions.

    corpus_test.py PRINT_INDEXING VARIABLE DIRECTORY [MODULES]

Skipped (exit code 77), and says so, where there is no such directory; VARIABLE is how CMake names it. Without
a number of modules there must be some.
"""

import json
import os
import subprocess
import sys
import time

from sanitized import is_sanitized

# Under sanitizers files of more bytes are left out.
LONGEST = 50_000
# The files with pieces that are no valid HLO: cut off from their module, begun with a stray line, a text
# protocol buffer.
NOT_HLO = {
    "hlo/translate/hlo_to_mhlo/tests/case_conditional.hlo",
    "hlo/translate/hlo_to_mhlo/tests/if_conditional.hlo",
    "hlo/translate/hlo_to_mhlo/tests/module_attributes.hlo",
    "hlo/translate/hlo_to_mhlo/tests/simple.hlo",
    "hlo/translate/hlo_to_mhlo/tests/spmd_module_sharding.hlo",
}
# The files with pieces in which shapes contradict each other: operands that are not of the shape of the
# parameters they are passed for, a dot without contracted dimensions as one with, a convolution with
# another batch size than its input, a concatenation of arrays of different sizes.
CONTRADICTING = {
    "hlo/tools/tests/generate_hlo_test_checks_test_input.hlo",
    "hlo/transforms/tests/operand_upcaster.hlo",
    "hlo/transforms/tests/rewrite_bf16_conv_to_onednn.hlo",
    "tools/print_indexing_test.hlo",
    "tools/tests/data/invalid_concat.hlo",
}


def main():
    program, variable, corpus, *module_count = sys.argv[1:]
    if not os.path.isdir(corpus):
        print(f"NOT TESTED: no directory of HLO files at {corpus}; set {variable}")
        return 77
    files = sorted(os.path.join(directory, name) for directory, _, names in os.walk(corpus)
                   for name in names if name.endswith(".hlo"))
    if is_sanitized(program):
        files = [file for file in files if os.path.getsize(file) <= LONGEST]
        module_count = []
    failed = modules = entries = 0
    slowest = (0.0, "")
    for file in files:
        started = time.monotonic()
        result = subprocess.run(
            [program, "--instruction=all", "--direction=both", "--format=json", file],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600,
            check=False)
        slowest = max(slowest, (time.monotonic() - started, file))
        expected = 1 if os.path.relpath(file, corpus) in NOT_HLO | CONTRADICTING else 0
        if result.returncode != expected or (result.stderr != b"") != (expected == 1):
            failed += 1
            print(f"{file}: exit code {result.returncode}, expected {expected}")
            print(result.stderr.decode("utf-8", "replace")[:2000])
        for line in result.stdout.splitlines():
            module = json.loads(line)
            modules += 1
            entries += len(module["indexing"])
            unknown = [entry for entry in module["indexing"] if entry["exactness"] == "unknown"]
            if unknown:
                failed += 1
                print(f"{file}: {len(unknown)} unknown, as {unknown[0]}")
    print(f"{len(files)} files, {modules} modules, {entries} entries, {failed} failures; the slowest: "
          f"{slowest[0]:.1f} s for {slowest[1]}")
    as_many = modules == int(module_count[0]) if module_count else modules > 0
    if not as_many:
        print(f"expected {' '.join(module_count) or 'some'} modules")
    return 0 if as_many and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
