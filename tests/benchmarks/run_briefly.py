#!/usr/bin/env python3
"""Runs a benchmark program as briefly as it goes and fails where one of its benchmarks has an error; one
whose HLO file is missing has none. Times do not matter.

    run_briefly.py COMPARE PROGRAM [FILTER]
"""

import os
import subprocess
import sys
import tempfile


def main():
    compare, program, *chosen = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        run = os.path.join(directory, "run.json")
        subprocess.run(
            [program, "--benchmark_min_time=0.0001", f"--benchmark_out={run}",
             "--benchmark_out_format=json", *(f"--benchmark_filter={one}" for one in chosen)],
            check=True)
        return subprocess.run([sys.executable, compare, "--check", run], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
