"""What each of eight devices reads of the others, against what running the programs on eight devices shows.

The compiled program of a sharded one is that of a single device, with the shapes of its shards; its maps
have replica maps, from the device that reads to the device whose shard is read. With where the shards lie
they say which elements of the whole arguments an element of a whole result is computed from: as on one
device, and that is compared.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import pytest

pytest.importorskip("jax")

import jax
import numpy as np
from perturbation import perturb
from programs import Program, each
from relations import points_of, table

import xla_indexing as xi

DEVICES = 8
SHARDED = [program for program in each() if program.sharded]


def offsets(sharding: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Returns where the shard of each device starts, an integer array [devices, dimensions]."""
    slices = sharding.devices_indices_map(shape)
    starts = {device.id: [s.start or 0 for s in index] for device, index in slices.items()}
    return np.array([starts[device] for device in sorted(starts)]).reshape(len(starts), len(shape))


class Reads(NamedTuple):
    """Which local elements are paired where a device reads, the device that it reads from, and if that is exact."""

    starts: np.ndarray
    ends: np.ndarray
    source: np.ndarray
    is_exact: bool


def reads_of(indexing: Any, device: int) -> Reads:
    """Returns what a map says where `device` reads; offsets that are computed from its number take all values."""
    points = points_of(indexing, {})
    assert points is not None
    results, valid = table(indexing.map, points.rows)
    dimensions = len(indexing.map.dimensions)
    source = np.full((len(points.rows), 1), device)
    if indexing.replica_map is not None:
        with_device = np.insert(points.rows, dimensions, device, axis=1)
        source, has_source = table(indexing.replica_map, with_device)
        valid = valid & has_source
    is_exact = indexing.is_exact and points.known
    return Reads(points.rows[valid, :dimensions], results[valid], source[valid, 0], is_exact)


def wrong_devices(program: Program, shift: int = 0) -> list[str]:
    """Returns where maps and runs differ; with the devices that are read from shifted by so many."""
    runs = perturb(program)
    entries = xi.load(program.compiled).entry.indexing()
    wrong = []
    for number, name in enumerate(program.used_names()):
        argument = runs[0].arguments[name]
        starts_in = offsets(program.compiled.input_shardings[0][number], argument.shape)
        for leaf, result in enumerate(runs[0].results):
            sharding = jax.tree.leaves(program.compiled.output_shardings)[leaf]
            starts_out, shard = offsets(sharding, result.shape), sharding.shard_shape(result.shape)
            seen = np.any([run.changed[name][leaf] for run in runs], axis=0)
            maps = [e.maps for e in entries if (e.operand, e.output_leaf) == (number, leaf)]
            for device in range(DEVICES):
                named, is_exact = np.zeros_like(seen), True
                for reads in (reads_of(indexing, device) for indexing in itertools.chain(*maps)):
                    ends = reads.ends + starts_in[(reads.source + shift) % DEVICES]
                    named[tuple(np.concatenate([reads.starts + starts_out[device], ends], axis=1).T)] = True
                    is_exact &= reads.is_exact
                region = tuple(slice(s, s + size) for s, size in zip(starts_out[device], shard))
                missing = seen[region] & ~named[region]
                if np.any(missing) or (is_exact and not np.array_equal(named[region], seen[region])):
                    wrong.append(f"{name}, result {leaf}, device {device}")
    return wrong


def sharded(*names: str) -> Any:
    marked = [
        pytest.param(p, marks=pytest.mark.xdist_group(p.name), id=p.name)
        for p in SHARDED
        if not names or p.name in names
    ]
    return pytest.mark.parametrize("program", marked)


@sharded()
def test_devices_read_what_the_replica_maps_say(program: Program) -> None:
    assert wrong_devices(program) == []


@sharded("sharded_gradient", "sharded_matmul")
def test_the_comparison_finds_wrong_devices(program: Program) -> None:
    assert wrong_devices(program, shift=1)


def test_there_are_replica_maps_to_judge() -> None:
    found = [
        indexing.replica_map
        for program in SHARDED
        for entry in xi.load(program.compiled).entry.indexing()
        for indexing in entry.maps
    ]
    assert sum(replica_map is not None for replica_map in found) > 10
