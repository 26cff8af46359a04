# SPDX-License-Identifier: Apache-2.0
"""The `evenkeel` command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from evenkeel import demo as flights
from evenkeel import doctor as checks
from evenkeel import (
    errors,
    installation,
    router_demo,
    simulator,
    stream_commands,
    stream_demo,
)

app = typer.Typer(
    help="Skew-proof keyed work for Apache Spark.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
screen = Console()

# Every word after `simulate`, --help included, belongs to the simulator.
PASS_THROUGH = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


@app.command(context_settings=PASS_THROUGH)
def simulate(context: typer.Context) -> None:
    """Replay a key trace through routers: balance, fragments, cost (`simulate --help`)."""
    raise typer.Exit(simulator.run(context.args))


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the data and the plot.")] = Path("out"),
    copies: Annotated[int, typer.Option(min=1, help="How often each flight is taken.")] = 10,
) -> None:
    """Run a skewed join and group-by on real flights, plain and routed: tables and a plot."""
    flights.run(screen, out=out, copies=copies)


@app.command()
def demo_routers(
    out: Annotated[Path, typer.Option(help="Folder for the word stream and the plot.")] = Path(
        "out"
    ),
    targets: Annotated[int, typer.Option(min=1, help="Number of targets.")] = 64,
    rows: Annotated[int, typer.Option(min=1000, help="Words in the stream.")] = 500_000,
) -> None:
    """Simulate all routers on a skewed word stream: a table and a plot."""
    router_demo.run(screen, out=out, targets=targets, rows=rows)


@app.command()
def demo_stream(
    seconds: Annotated[float, typer.Option(min=0, help="How long the streams run.")] = 75.0,
) -> None:
    """Run a stream whose hot keys change, plain and with state that moves: live bars, a table."""
    stream_demo.run(screen, seconds=seconds)


@app.command()
def doctor() -> None:
    """Show what is installed and what is wrong with it; exit code 1 if something is."""
    table = Table(box=None, show_header=False, pad_edge=False)
    findings = checks.examine()
    for finding in findings:
        sign = "[red]wrong[/]" if finding.remedy else "[green]ok[/]"
        table.add_row(sign, finding.subject, finding.state)
        if finding.remedy:
            table.add_row("", "", f"[bold]{finding.remedy}[/]")
    screen.print(table, soft_wrap=True)
    if any(finding.remedy for finding in findings):
        raise typer.Exit(1)


Checkpoint = Annotated[str, typer.Argument(help="The query's checkpointLocation.")]
Settle = Annotated[
    float, typer.Option(min=0, help="Seconds to watch that nobody writes to the checkpoint.")
]


@app.command()
def routing(
    checkpoint: Checkpoint,
    as_json: Annotated[bool, typer.Option("--json", help="One object per epoch.")] = False,
) -> None:
    """Show the routing log of a stream: epochs, heavy keys, moved state rows."""
    stream_commands.show_routing(screen, checkpoint, as_json=as_json)


@app.command()
def adopt(checkpoint: Checkpoint, settle: Settle = 5.0) -> None:
    """Let the state of a stopped plain Spark query move from its next start on."""
    stream_commands.change(screen, "adopt", checkpoint, settle_seconds=settle)


@app.command()
def release(checkpoint: Checkpoint, settle: Settle = 5.0) -> None:
    """Give a stopped query back to plain Spark, if its state lies by plain hash again."""
    stream_commands.change(screen, "release", checkpoint, settle_seconds=settle)


@app.command()
def version() -> None:
    """Print the version."""
    screen.print(installation.VERSION, highlight=False)


def main() -> None:
    """Runs the command; a user's mistake is one sentence and exit code 2, not a stack trace."""
    try:
        app()
    except errors.EvenkeelError as error:
        Console(stderr=True).print(f"[red]{error.problem}[/] {error.remedy}", soft_wrap=True)
        raise SystemExit(2) from None
