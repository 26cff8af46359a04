# SPDX-License-Identifier: Apache-2.0
"""Streams whose state may move: the state store provider, the routing log, adopt and release."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenkeel import errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PROVIDER_KEY = "spark.sql.streaming.stateStore.providerClass"
_SPARK = "org.apache.spark.sql.execution.streaming.state."
_OURS = "org.apache.spark.sql.evenkeel.state."
SPARK_DEFAULT = f"{_SPARK}HDFSBackedStateStoreProvider"
#: Spark's providers, and ours that write the same files.
PROVIDERS = {
    SPARK_DEFAULT: f"{_OURS}HDFSBackedMigratingStateStoreProvider",
    f"{_SPARK}RocksDBStateStoreProvider": f"{_OURS}RocksDBMigratingStateStoreProvider",
}


@dataclass(frozen=True)
class ProviderChange:
    """What `adopt` or `release` did.

    Attributes:
        batch: the entry of the offset log that names the provider.
        before: the provider that it named.
        after: the provider that it names now.
        changed: false if there was nothing to do.
        backup: where the entry as it was can be found; empty if there was nothing to do.
    """

    batch: int
    before: str
    after: str
    changed: bool
    backup: str


def provider_for(chosen: str | None) -> str | None:
    """Our provider for the backend that the user chose, Spark's default if none.

    None, with a warning, for a provider of somebody else's: such streams run as they are.
    """
    provider = chosen or SPARK_DEFAULT
    if provider in PROVIDERS.values():
        return provider
    if provider not in PROVIDERS:
        warnings.warn(str(errors.state_provider_left_alone(provider)), stacklevel=3)
        return None
    return PROVIDERS[provider]


def routing(spark: SparkSession, checkpoint: str) -> DataFrame:
    """The routing log of a stream: a row for each operator and epoch, oldest first.

    The query may be running. Works on Spark Connect. Columns: operator, batch, partitions, hosts,
    plain, heavy_keys (hash, name, share, partition), moved_share, scanned_rows, moved_rows,
    task_ms, reason.

    Args:
        spark: a session with Evenkeel.
        checkpoint: the query's checkpointLocation.
    """
    return spark.sql("SELECT * FROM evenkeel_routing(:checkpoint)", args={"checkpoint": checkpoint})


def adopt(spark: SparkSession, checkpoint: str, *, settle_seconds: float = 0) -> ProviderChange:
    """Makes the checkpoint of a stopped plain Spark query one whose state may move.

    Rewrites the provider's name in the latest entry of the offset log, and nothing else. May be
    run again at any time.

    Args:
        spark: a session with Evenkeel.
        checkpoint: the query's checkpointLocation.
        settle_seconds: how long to watch that nobody writes to it.
    """
    return _change("adopt", spark, checkpoint, settle_seconds)


def release(spark: SparkSession, checkpoint: str, *, settle_seconds: float = 0) -> ProviderChange:
    """Makes the checkpoint of a stopped query plain Spark's again.

    Refuses while any state lies elsewhere than plain hashing says: run the query with
    `spark.evenkeel.streaming.repartition=release` first.

    Args:
        spark: a session with Evenkeel.
        checkpoint: the query's checkpointLocation.
        settle_seconds: how long to watch that nobody writes to it.
    """
    return _change("release", spark, checkpoint, settle_seconds)


def _change(
    command: str, spark: SparkSession, checkpoint: str, settle_seconds: float
) -> ProviderChange:
    jvm: Any = getattr(spark, "_jvm", None)
    if jvm is None:
        raise errors.checkpoint_needs_jvm(command)
    commands = jvm.org.apache.spark.sql.evenkeel.state.checkpoint.CheckpointCommands
    session: Any = spark
    answer = getattr(commands, command)(
        session._jsparkSession, checkpoint, int(settle_seconds * 1000)
    )
    told: dict[str, Any] = json.loads(answer)
    if "condition" in told:
        raise errors.EvenkeelError.told(told["condition"], told["message"])
    return ProviderChange(
        told["batch"], told["from"], told["to"], told["changed"], told.get("backup") or ""
    )
