# SPDX-License-Identifier: Apache-2.0
"""What the tasks of a query cost, for the demo and the benchmarks (classic sessions only)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Stage:
    """The tasks of one stage: seconds, rows read from an exchange, CPU seconds of each."""

    seconds: list[float]
    rows: list[int]
    cpus: list[float]

    @property
    def cpu(self) -> float:
        """CPU seconds of all tasks."""
        return sum(self.cpus)

    @property
    def longest(self) -> float:
        """Seconds of the longest task."""
        return max(self.seconds, default=0.0)

    @property
    def fullest(self) -> float:
        """Rows of the fullest task, as a multiple of the average."""
        return max(self.rows) * len(self.rows) / sum(self.rows) if sum(self.rows) else 0.0


@dataclass(frozen=True)
class Execution:
    """One run of a query."""

    wall: float
    stages: list[Stage] = field(default_factory=list)

    @property
    def cpu(self) -> float:
        """CPU seconds of all tasks."""
        return sum(stage.cpu for stage in self.stages)

    @property
    def longest(self) -> float:
        """Seconds of the longest task."""
        return max((stage.longest for stage in self.stages), default=0.0)

    @property
    def critical(self) -> float:
        """The least it could take on any number of cores: the longest task of each stage."""
        return sum(stage.longest for stage in self.stages)

    @property
    def keyed(self) -> Stage:
        """Where the keyed work runs: the last stage that reads most of the rows by an exchange."""
        most = max(sum(stage.rows) for stage in self.stages)
        return [stage for stage in self.stages if 2 * sum(stage.rows) >= most][-1]


def execute(df: DataFrame) -> Execution:
    """Runs a query into nowhere and collects what its tasks cost."""
    context = df.sparkSession.sparkContext
    group = f"evenkeel-{time.monotonic_ns()}"
    context.setJobGroup(group, "evenkeel")
    start = time.perf_counter()
    df.write.format("noop").mode("overwrite").save()
    wall = time.perf_counter() - start
    return Execution(wall, stages_of(context, group, set()))


def stages_of(context: SparkContext, group: str, seen: set[int]) -> list[Stage]:
    """The stages that ran in a job group, but for the jobs in `seen`, to which theirs are added."""
    scala: Any = context._jsc.sc()
    scala.listenerBus().waitUntilEmpty()
    tracker = context.statusTracker()
    fresh = [job for job in tracker.getJobIdsForGroup(group) if job not in seen]
    seen.update(fresh)
    jobs = [tracker.getJobInfo(job) for job in fresh]
    ids = sorted({stage for job in jobs if job is not None for stage in job.stageIds})
    stages = []
    for stage in ids:
        info = tracker.getStageInfo(stage)
        if info is not None and info.numCompletedTasks > 0:
            stages.append(_stage(scala.statusStore(), stage))
    return stages


def _stage(store: Any, stage: int) -> Stage:
    data = store.lastStageAttempt(stage)
    tasks = store.taskList(stage, data.attemptId(), 100_000)
    listed = [tasks.apply(i) for i in range(tasks.size())]
    done = sorted((t for t in listed if t.taskMetrics().isDefined()), key=lambda t: t.index())
    metrics = [task.taskMetrics().get() for task in done]
    return Stage(
        [m.executorRunTime() / 1000 for m in metrics],
        [m.shuffleReadMetrics().recordsRead() for m in metrics],
        [m.executorCpuTime() / 1e9 for m in metrics],
    )
