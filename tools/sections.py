# SPDX-License-Identifier: Apache-2.0
"""Pages whose parts are measured apart: what was not measured this time stays as it was."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

HEADING = "## "


def write(page: Path, head: str, measured: dict[str, list[str]], order: Iterable[str]) -> None:
    """Puts sections, by their title, into a page; those of the page that are not new stay.

    Sections come in the given order. One whose title is not in it is no longer measured and goes.
    """
    bodies = read(page) | {title: "\n".join(lines).strip() for title, lines in measured.items()}
    kept = [f"{HEADING}{title}\n\n{bodies[title]}\n" for title in order if title in bodies]
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join([head.strip() + "\n", *kept]))


def read(page: Path) -> dict[str, str]:
    """What stands under each heading of a page; nothing if there is no page yet."""
    if not page.is_file():
        return {}
    parts = ("\n" + page.read_text()).split("\n" + HEADING)[1:]
    titled = (part.partition("\n") for part in parts)
    return {title: body.strip() for title, _, body in titled}


def with_old_rows(body: str, table: list[str]) -> list[str]:
    """A table, with those rows of the body's table of the same head that it does not have anew.

    A row is known by its first cell; where several begin alike, the table is measured as a whole.
    Old rows keep their places.
    """
    old = [line for line in body.splitlines() if line.startswith("|")]
    new = {_first(row): row for row in table[2:]}
    if old[:2] != table[:2] or len(new) < len(table) - 2:
        return table
    kept = [new.pop(_first(row), row) for row in old[2:]]
    return [*table[:2], *kept, *new.values()]


def _first(row: str) -> str:
    return row.split("|")[1].strip()
