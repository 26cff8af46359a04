# SPDX-License-Identifier: Apache-2.0
"""`evenkeel demo-routers`: all routers on one skewed word stream, as a table and a plot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from evenkeel import simulator
from evenkeel.words import write_words

SEED = 7


def run(screen: Console, *, out: Path, targets: int, rows: int) -> None:
    """Writes the words, simulates, prints the table and writes the plot."""
    out.mkdir(parents=True, exist_ok=True)
    trace = out / "words.txt.gz"
    with screen.status(f"Writing {rows:,} words"):
        shape = write_words(trace, rows=rows, seed=SEED)
    screen.print(
        f"{rows:,} words to {targets} targets. The commonest word, '{shape.top_word}', is "
        f"{shape.top_share:.1%} of them, {shape.top_share * targets:.1f} times a fair share."
    )
    window = max(1000, rows // 5)
    results = simulator.results(
        [
            *("--router", "all"),
            *("--trace", str(trace)),
            *("--targets", str(targets)),
            *("--window", str(window), "--slide", str(window // 10)),
            *("--seed", str(SEED)),
        ]
    )
    (out / "routers.json").write_text(json.dumps(results, indent=1) + "\n")
    screen.print(_table(results))
    screen.print(
        "[dim]imbalance: how much fuller the fullest target is than the average, 0 is ideal. "
        "fragments per key: targets that share a key, 1 is ideal.[/]"
    )
    plot = out / "routers.png"
    try:
        _plot(results, targets, plot)
    except ModuleNotFoundError:
        screen.print("No plot: matplotlib is not installed. Run `pip install 'evenkeel[plot]'`.")
    else:
        screen.print(f"Plot: [bold]{plot}[/]   word stream: [bold]{trace}[/]")


def _table(results: list[dict[str, Any]]) -> Table:
    table = Table()
    table.add_column("router")
    for title in (
        "imbalance",
        "fullest / average",
        "fragments per key",
        "most fragments",
        "ns / row",
    ):
        table.add_column(title, justify="right")
    for row in results:
        table.add_row(
            row["router"],
            f"{row['imbalance']:.3f}",
            f"{row['max_over_avg']:.2f}",
            f"{row['gamma_per_key']:.3f}",
            f"{row['max_fragments']:.0f}",
            f"{row['ns_per_row']:.0f}",
            style="bold green" if row["router"].startswith("keel") else None,
        )
    return table


def _plot(results: list[dict[str, Any]], targets: int, file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    # Two panels of bars: as points, the routers that never split would lie on top of each other.
    names = [row["router"].split("(")[0] for row in results]
    colours = ["#1b7f5c" if name.startswith("keel") else "#8796a5" for name in names]
    panels = {
        "imbalance: fullest target above the average": [row["imbalance"] for row in results],
        "extra fragments per key": [row["gamma_per_key"] - 1 for row in results],
    }
    figure, axes = pyplot.subplots(
        1, 2, sharey=True, figsize=(9, 1.2 + 0.28 * len(names)), layout="constrained"
    )
    for panel, (title, values) in zip(axes, panels.items(), strict=True):
        bars = panel.barh(names, values, color=colours)
        panel.bar_label(bars, fmt="%.3f", padding=3, fontsize=8)
        panel.set_title(title, fontsize=10)
        panel.margins(x=0.15)
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].invert_yaxis()
    figure.suptitle(
        f"A skewed word stream over {targets} targets: short bars on both sides are good"
    )
    figure.savefig(file, dpi=150)
    pyplot.close(figure)
