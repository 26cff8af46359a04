# SPDX-License-Identifier: Apache-2.0
"""`evenkeel routing`, `adopt` and `release`: the commands for checkpoints of streams."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from evenkeel import errors, spark_session, streaming

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

_SHOWN_KEYS = 5


def show_routing(screen: Console, checkpoint: str, *, as_json: bool) -> None:
    """Prints the routing log, an epoch a line."""
    epochs = _epochs(checkpoint)
    if as_json:
        for epoch in epochs:
            screen.print(json.dumps(epoch.asDict(recursive=True)), soft_wrap=True, highlight=False)
    elif not epochs:
        screen.print("No state has moved: every operator uses plain hashing.")
    else:
        table = Table(box=None, pad_edge=False)
        for title in ("operator", "batch", "table", "heaviest keys", "state rows moved", "why"):
            table.add_column(title)
        for epoch in epochs:
            table.add_row(*_cells(epoch))
        screen.print(table)


def _epochs(checkpoint: str) -> list[Row]:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        return streaming.routing(_session(), checkpoint).collect()
    except (PySparkException, Py4JJavaError) as error:
        told = re.search(r"\[(EVENKEEL_[A-Z_]+)\] ([^\n]+)", str(error))
        if told is None:
            raise
        raise errors.EvenkeelError.told(told[1], told[2]) from None


def change(screen: Console, command: str, checkpoint: str, *, settle_seconds: float) -> None:
    """Adopts or releases, and says what was done."""
    act = streaming.adopt if command == "adopt" else streaming.release
    done = act(_session(), checkpoint, settle_seconds=settle_seconds)
    name = done.after.rsplit(".", 1)[-1]
    if done.changed:
        text = f"From batch {done.batch + 1} on the state store is {name}."
        screen.print(f"{text} The old entry is kept in {done.backup}.", soft_wrap=True)
    else:
        screen.print(f"Nothing to do: the state store already is {name}.", soft_wrap=True)


def _cells(epoch: Row) -> list[str]:
    keys = epoch["heavy_keys"]
    shown = [
        f"{key['name'] or hex(key['hash'] & (2**64 - 1))} {key['share']:.1%} -> {key['partition']}"
        for key in keys[:_SHOWN_KEYS]
    ]
    more = [f"and {len(keys) - _SHOWN_KEYS} more"] if len(keys) > _SHOWN_KEYS else []
    moved = "?" if epoch["moved_rows"] is None else f"{epoch['moved_rows']:,}"
    return [
        str(epoch["operator"]),
        str(epoch["batch"]),
        "plain" if epoch["plain"] else f"{len(keys)} homes, {epoch['hosts']} hosts",
        "\n".join(shown + more),
        f"{moved} ({epoch['moved_share']:.1%} forecast)",
        epoch["reason"],
    ]


def _session() -> SparkSession:
    quiet = {"spark.ui.enabled": False, "spark.log.level": "ERROR"}
    return spark_session.session(app="evenkeel", master="local[1]", conf=quiet)
