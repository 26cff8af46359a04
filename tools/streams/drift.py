# SPDX-License-Identifier: Apache-2.0
"""Keys that drift, and uniform ones beside them: balance, task times and batch times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenkeel import lockstep
from evenkeel.lockstep import Arm, Build
from streams import traces, trial
from streams.trial import PARTITIONS, Input, median

SEEDS = (1, 2, 3)
ROWS = 40_000
OFFERS = 10_000
HEADER = [
    "| data | adoptions | rows max / max(avg, p1): plain, ours (mean) | longest / mean task: "
    "plain, ours, share | where heavy keys collide: batches, share "
    "| batch, ms: plain, ours, share |",
    "|---|--:|--:|--:|--:|--:|",
]


@dataclass(frozen=True)
class Keyed:
    """A named stream of inputs."""

    name: str
    inputs: Iterable[Input]


def laws() -> dict[str, traces.Zipf]:
    """Three seeds of drifting Zipf 1.0, and uniform keys."""
    found = {f"Zipf 1.0, seed {s}": traces.Zipf(1.0, s) for s in SEEDS}
    return {**found, "uniform": traces.Zipf(0.0, SEEDS[0])}


def zipf(batches: int) -> list[Keyed]:
    """Their events."""
    return [Keyed(name, events(law.batches(batches, ROWS))) for name, law in laws().items()]


def events(batches: Iterable[traces.Ints]) -> Iterator[Input]:
    """Rows that cost one unit each."""
    for keys in batches:
        yield Input({"k": keys, "cost": np.ones(len(keys), np.int64)})


def offers(batches: Iterable[traces.Ints]) -> Iterator[Input]:
    """Events and, for a tenth of the keys in turn, offers to join them with."""
    for number, keys in enumerate(batches):
        offered = np.arange(OFFERS, dtype=np.int64) + number % 10 * OFFERS
        both = np.concatenate([keys, offered])
        side = np.concatenate([np.zeros(len(keys), np.int64), np.ones(OFFERS, np.int64)])
        mixed = np.random.default_rng(number).permutation(len(both))
        yield Input(
            {
                "k": both[mixed],
                "cost": mixed.astype(np.int64),
                "side": side[mixed],
                "second": np.full(len(both), number + 1, np.int64),
            }
        )


def measure(spark: Any, build: Build, streams: Iterable[Keyed], mode: str) -> list[str]:
    """A line for each stream."""
    lines = list(HEADER)
    for stream in streams:
        print(stream.name, flush=True)
        arms = [lockstep.plain(), lockstep.evenkeel()]
        given = trial.run(spark, build, stream.inputs, arms, mode=mode)
        lines.append(line(stream.name, arms[0], arms[1], given))
        print(lines[-1], flush=True)
    return lines


def line(name: str, plain: Arm, ours: Arm, given: list[Input]) -> str:
    """The figures after the second adoption; after warming up where there were fewer."""
    moved = trial.adoptions(ours)
    start = moved[1] + 1 if len(moved) > 1 else trial.WARM_UPS
    later = [
        i for i in range(start, len(given)) if not (plain.batches[i].torn or ours.batches[i].torn)
    ]
    # A migration's own rows pass through the same exchange.
    still = [i for i in later if not ours.batches[i].moves]
    ours_rows = [trial.excess(ours.batches[i], given[i]) for i in still]
    plain_rows = [trial.excess(plain.batches[i], given[i]) for i in still]
    tasks = [(plain.batches[i].longest_to_mean, ours.batches[i].longest_to_mean) for i in later]
    collide = [i for i in later if collides(given[i])]
    share = median(
        ours.batches[i].longest_to_mean / plain.batches[i].longest_to_mean for i in collide
    )
    walls = [median(arm.batches[i].wall_ms for i in later) for arm in (plain, ours)]
    mean = sum(ours_rows) / max(1, len(ours_rows))
    return (
        f"| {name} | {len(moved)} "
        f"| {median(plain_rows):.2f}, {median(ours_rows):.2f} ({mean:.2f}) "
        f"| {median(t[0] for t in tasks):.2f}, {median(t[1] for t in tasks):.2f}, "
        f"{median(t[1] / t[0] for t in tasks):.2f} "
        f"| {len(collide)}" + (f", {share:.2f} " if collide else " ") + "| "
        f"{walls[0]:.0f}, {walls[1]:.0f}, {walls[1] / walls[0]:.3f} |"
    )


def collides(given: Input) -> bool:
    """Whether hashing puts two keys of 1/4 of a fair share or more on the fullest partition."""
    keys, counts = np.unique(given.columns["k"], return_counts=True)
    places = traces.spark_partition(keys, PARTITIONS)
    fullest = int(np.argmax(np.bincount(places, counts, PARTITIONS)))
    heavy = (places == fullest) & (counts * 4 * PARTITIONS >= counts.sum())
    return int(heavy.sum()) > 1
