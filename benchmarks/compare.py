#!/usr/bin/env python3
"""Compares runs of the benchmarks with a baseline, in the unit U, so that the machine does not matter.

    compare.py BASELINE RUN...              prints a row for each benchmark that differs by more than
                                            the threshold, and exits 1 if one has become slower
    compare.py --write BASELINE RUN...      makes the baseline of the runs
    compare.py --check RUN...               exits 1 if a benchmark ended with an error, other than
                                            that its HLO file is missing

A run is what a benchmark program writes with --benchmark_out=RUN --benchmark_out_format=json. Where a
benchmark is in it several times (--benchmark_repetitions), the median counts. Benchmarks without U are
not compared. The baseline is a JSON object of U by benchmark, sorted by name, a line each.
"""

import argparse
import json
import statistics
import sys

# How the message of a benchmark begins whose file is missing (benchmark_util.h).
NOT_MEASURED = "NOT MEASURED"


def read_rows(paths):
    """The rows of runs, without those that sum others up."""
    rows = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            run = json.load(file)
        rows += [row for row in run["benchmarks"] if row.get("run_type") != "aggregate"]
    return rows


def errors_of(rows):
    """(name, message) of each benchmark that ended with an error of its own."""
    return [(row["name"], row.get("error_message", "")) for row in rows
            if row.get("error_occurred")
            and not row.get("error_message", "").startswith(NOT_MEASURED)]


def units_of(rows):
    """The median U of each benchmark that has one and was measured."""
    samples = {}
    for row in rows:
        if "U" in row and not row.get("error_occurred"):
            samples.setdefault(row["name"], []).append(row["U"])
    return {name: statistics.median(values) for name, values in samples.items()}


def compare(baseline, units, threshold):
    """Prints what differs; the number of benchmarks that have become slower."""
    slower = 0
    rows = []
    for name, before in sorted(baseline.items()):
        if name not in units:
            continue
        now = units[name]
        ratio = now / before if before > 0 else float("inf")
        if 1 / threshold <= ratio <= threshold:
            continue
        slower += ratio > threshold
        rows.append((name, before, now, ratio, "slower" if ratio > threshold else "faster"))
    if rows:
        width = max(len(row[0]) for row in rows)
        print(f"{'benchmark':{width}}  {'U before':>12}  {'U now':>12}  {'ratio':>7}")
        for name, before, now, ratio, verdict in rows:
            print(f"{name:{width}}  {before:12.4g}  {now:12.4g}  {ratio:7.2f}  {verdict}")
    compared = len(baseline.keys() & units.keys())
    print(f"{compared} compared, {slower} slower by more than {threshold:g}x; "
          f"{len(baseline) - compared} of the baseline not run, {len(units) - compared} new")
    return slower


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--write", action="store_true", help="make the baseline of the runs")
    what.add_argument("--check", action="store_true", help="look for errors only; no baseline")
    parser.add_argument("--threshold", type=float, default=1.3,
                        help="the ratio from which a difference counts (default 1.3)")
    parser.add_argument("files", nargs="+", metavar="FILE", help="the baseline, then the runs")
    arguments = parser.parse_args()
    runs = arguments.files if arguments.check else arguments.files[1:]
    if not runs:
        parser.error("there is no run")
    if arguments.threshold < 1:
        parser.error("the threshold is a ratio of at least 1")

    rows = read_rows(runs)
    errors = errors_of(rows)
    for name, message in errors:
        print(f"{name}: error: {message}", file=sys.stderr)
    if arguments.check:
        if not rows:
            print("the runs hold no benchmark", file=sys.stderr)
        return 1 if errors or not rows else 0
    units = units_of(rows)
    if arguments.write:
        with open(arguments.files[0], "w", encoding="utf-8") as file:
            json.dump({name: float(f"{units[name]:.4g}") for name in sorted(units)}, file, indent=1)
            file.write("\n")
        return 1 if errors else 0
    with open(arguments.files[0], encoding="utf-8") as file:
        baseline = json.load(file)
    return 1 if compare(baseline, units, arguments.threshold) or errors else 0


if __name__ == "__main__":
    sys.exit(main())
