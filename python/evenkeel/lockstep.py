# SPDX-License-Identifier: Apache-2.0
"""One stream in several arms that take turns batch by batch, for the demo and the benchmarks."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenkeel.streaming import PROVIDER_KEY, PROVIDERS
from evenkeel.task_times import Execution, Stage, stages_of

HDFS, ROCKSDB = PROVIDERS

#: From a session and the pattern of its input files to the rows that are written nowhere.
Build = Callable[[Any, str], Any]


@dataclass(frozen=True)
class Batch:
    """What one batch of one arm took."""

    wall_ms: int
    add_ms: int
    stages: list[Stage]
    figures: dict[str, int]
    state_rows: int
    #: Whether the input came in two batches, so that its figures say nothing.
    torn: bool = False

    @property
    def keyed(self) -> Stage:
        """The stage of the stateful operator."""
        return Execution(0, self.stages).keyed

    @property
    def cpu(self) -> float:
        """CPU seconds of all tasks."""
        return sum(stage.cpu for stage in self.stages)

    @property
    def longest_to_mean(self) -> float:
        """The longest task of the stateful stage by its mean task, in CPU time."""
        cpus = self.keyed.cpus
        return max(cpus) * len(cpus) / sum(cpus)

    @property
    def fullest(self) -> float:
        """Rows of the fullest partition, as a multiple of a fair share."""
        return self.keyed.fullest

    @property
    def moves(self) -> bool:
        """Whether state moved in this batch."""
        return self.figures.get("evenkeelStateRowsScanned", 0) > 0


@dataclass
class Arm:
    """One way of running a stream: settings over those of the session."""

    name: str
    conf: dict[str, object]
    batches: list[Batch] = field(default_factory=list)

    def start(self, spark: Any, build: Build, folder: Path, mode: str = "update") -> None:
        """Starts the query over an empty folder."""
        session = spark.newSession()
        for key, value in self.conf.items():
            session.conf.set(key, str(value))
        self.context = session.sparkContext
        self.home = folder / self.name.replace(" ", "-")
        (self.home / "in").mkdir(parents=True)
        rows = build(session, str(self.home / "in" / "*"))
        self.checkpoint = str(self.home / "checkpoint")
        writer = rows.writeStream.outputMode(mode).format("noop")
        self.query = writer.option("checkpointLocation", self.checkpoint).start()
        self.seen: set[int] = set()
        self.last = -1

    def feed(self, files: Sequence[Path]) -> Batch:
        """Runs one batch over the files."""
        self.give(files)
        self.query.processAllAvailable()
        told = [json.loads(p.json) for p in self.query.recentProgress]
        fresh = [p for p in told if p["batchId"] > self.last and p["numInputRows"] > 0]
        if not fresh:
            raise AssertionError("no batch for a feed")
        self.last = fresh[-1]["batchId"]
        state = fresh[-1]["stateOperators"]
        figures: dict[str, int] = {}
        for operator in state:
            for name, value in operator.get("customMetrics", {}).items():
                figures[name] = max(figures.get(name, 0), value)
        took = fresh[-1]["durationMs"]
        batch = Batch(
            took["triggerExecution"],
            took["addBatch"],
            stages_of(self.context, str(self.query.runId), self.seen),
            figures,
            sum(o["numRowsTotal"] for o in state),
            # A query with two sources may look at one before and at the other after the files came.
            torn=len(fresh) > 1,
        )
        self.batches.append(batch)
        return batch

    def give(self, files: Sequence[Path]) -> None:
        """Puts files in as one: a batch sees all of them or none."""
        number = len(list((self.home / "in").iterdir()))
        outside = self.home / f"{number:05}"
        outside.mkdir()
        for path in files:
            os.link(path, outside / path.name)
        outside.rename(self.home / "in" / outside.name)

    def stop(self) -> None:
        """Ends the query."""
        self.query.stop()


def plain(provider: str = HDFS, **conf: object) -> Arm:
    """Plain Spark."""
    return Arm("plain", {PROVIDER_KEY: provider, "spark.evenkeel.enabled": "false", **conf})


def evenkeel(name: str = "Evenkeel", provider: str = HDFS, **conf: object) -> Arm:
    """Our provider over the same files; settings without their prefix."""
    ours = {f"spark.evenkeel.streaming.{key}": value for key, value in conf.items()}
    return Arm(name, {PROVIDER_KEY: PROVIDERS[provider], **ours})
