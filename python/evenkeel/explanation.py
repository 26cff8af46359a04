# SPDX-License-Identifier: Apache-2.0
"""What Evenkeel did with a query, and why not.

Read from the section that the extension adds to EXPLAIN, so it works on Spark Connect as well.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from evenkeel import errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

_TITLE = "== Extended Information (Evenkeel) =="
_LINE = re.compile(r"- (?P<operator>.+?) keys=\[(?P<keys>.*)\]: (?P<outcome>.+)")
_PLAIN = re.compile(r"plain Spark \((?P<code>[A-Z_]+): (?P<text>.*)\)")

_GREEN, _YELLOW, _BOLD, _END = "\033[32m", "\033[33m", "\033[1m", "\033[0m"


@dataclass(frozen=True)
class Decision:
    """What was decided for one keyed operator.

    `code` is empty for an operator that Evenkeel changes; else it names the reason for plain Spark.
    """

    operator: str
    keys: str
    code: str
    text: str

    @property
    def routed(self) -> bool:
        """Whether its rows are routed; those of a sliding window may be combined instead."""
        return self.text.startswith("routed by ")


def decisions(df: DataFrame) -> list[Decision]:
    """What was decided for each keyed operator of the query, outermost first."""
    return [_parse(line) for line in _section(df) if line.startswith("- ")]


def why_not(df: DataFrame) -> list[Decision]:
    """The operators that run as plain Spark, each with the reason."""
    return [decision for decision in decisions(df) if decision.code]


def explain(df: DataFrame, *, out: TextIO | None = None) -> None:
    """Prints the physical plan and Evenkeel's decisions, in colour on a terminal."""
    stream = out or sys.stdout
    colour = stream.isatty()

    def paint(style: str, text: str) -> str:
        return f"{style}{text}{_END}" if colour else text

    plan = _explained(df).split(_TITLE)[0]
    for line in plan.rstrip().splitlines():
        routed = re.search(r"\b\w+Exchange keys=\[", line) is not None
        stream.write((paint(_GREEN, line) if routed else line) + "\n")
    stream.write("\n" + paint(_BOLD, "Evenkeel") + "\n")
    found = decisions(df)
    for decision in found:
        style = _YELLOW if decision.code else _GREEN
        reason = f"plain Spark: {decision.text}" if decision.code else decision.text
        line = f"  {decision.operator} by [{decision.keys}]: "
        code = f" ({decision.code})" if decision.code else ""
        stream.write(line + paint(style, reason) + code + "\n")
    if not found:
        stream.write("  no keyed operator\n")


def report(source: SparkSession | DataFrame, *, last: int = 10) -> list[Row]:
    """What the last routed exchanges of this application did, a row each, newest last.

    Of a session, or that of a DataFrame, run or not. Over Spark Connect those of the client's own
    session.

    Rows in the fullest and the average target, imbalance, heavy and split keys, fragments, time and
    bytes; the figures of keys are estimates.
    """
    from pyspark.sql import DataFrame

    spark = source.sparkSession if isinstance(source, DataFrame) else source
    return spark.sql("SELECT * FROM evenkeel_report()").collect()[-last:]


def _section(df: DataFrame) -> list[str]:
    text = _explained(df)
    if _TITLE not in text:
        raise errors.no_explanation()
    return text.split(_TITLE, 1)[1].split("\n== ", 1)[0].splitlines()


def _explained(df: DataFrame) -> str:
    captured = io.StringIO()
    with contextlib.redirect_stdout(captured):
        df.explain()
    return captured.getvalue()


def _parse(line: str) -> Decision:
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise ValueError(f"not a decision: {line}")
    plain = _PLAIN.fullmatch(match["outcome"])
    code, text = (plain["code"], plain["text"]) if plain else ("", match["outcome"])
    return Decision(match["operator"], match["keys"], code, text)
