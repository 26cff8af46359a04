# SPDX-License-Identifier: Apache-2.0
"""One aggregate in each form: count, sum, least and greatest value of a column."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import evenkeel

STATE = "n long, total long, least long, greatest long"
OUTPUT = "n long, mean double, spread long"


def in_pandas(column: str = "v") -> evenkeel.Aggregator:
    def partial(rows: Any, keys: list[str]) -> Any:
        return rows.groupby(keys, dropna=False, as_index=False).agg(
            n=(column, "count"),
            total=(column, "sum"),
            least=(column, "min"),
            greatest=(column, "max"),
        )

    def merge(states: Any, keys: list[str]) -> Any:
        how = {"n": "sum", "total": "sum", "least": "min", "greatest": "max"}
        return states.groupby(keys, dropna=False, as_index=False).agg(how)

    def finish(states: Any) -> Any:
        return states.assign(mean=states.total / states.n, spread=states.greatest - states.least)

    return evenkeel.aggregator(
        partial=partial, merge=merge, finish=finish, state=STATE, output=OUTPUT
    )


def in_arrow(column: str = "v") -> evenkeel.Aggregator:
    def grouped(rows: Any, keys: list[str], how: list[tuple[str, str]]) -> Any:
        return (
            rows.group_by(keys)
            .aggregate(how)
            .rename_columns([*keys, "n", "total", "least", "greatest"])
        )

    def partial(rows: Any, keys: list[str]) -> Any:
        return grouped(rows, keys, [(column, how) for how in ("count", "sum", "min", "max")])

    def merge(states: Any, keys: list[str]) -> Any:
        how = [("n", "sum"), ("total", "sum"), ("least", "min"), ("greatest", "max")]
        return grouped(states, keys, how)

    def finish(states: Any) -> Any:
        n, total = (states.column(c).cast(pa.float64()) for c in ("n", "total"))
        spread = pc.subtract(states.column("greatest"), states.column("least"))
        return states.append_column("mean", pc.divide(total, n)).append_column("spread", spread)

    return evenkeel.aggregator(
        partial=partial,
        merge=merge,
        finish=finish,
        state=STATE,
        output=OUTPUT,
        form="arrow",
        columns=[column],
    )


def per_key(column: str = "v") -> evenkeel.Aggregator:
    def partial(rows: Any) -> dict[str, Any]:
        v = rows[column]
        return {"n": v.count(), "total": v.sum(), "least": v.min(), "greatest": v.max()}

    def merge(states: Any) -> dict[str, Any]:
        return {
            "n": states.n.sum(),
            "total": states.total.sum(),
            "least": states.least.min(),
            "greatest": states.greatest.max(),
        }

    def finish(state: dict[str, Any]) -> dict[str, Any]:
        return {
            "n": state["n"],
            "mean": state["total"] / state["n"],
            "spread": state["greatest"] - state["least"],
        }

    return evenkeel.aggregator(
        partial=partial, merge=merge, finish=finish, state=STATE, output=OUTPUT, per_key=True
    )


FORMS = {"pandas": in_pandas, "arrow": in_arrow, "per_key": per_key}
