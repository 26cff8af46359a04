# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sections

HEAD = ["| data | ms |", "|---|--:|"]


def test_rows_that_were_not_measured_again_stay_in_their_places() -> None:
    page = "\n".join(["Goals.", "", *HEAD, "| a | 1 |", "| b | 2 |", "", "Alone."])
    measured = [*HEAD, "| b | 3 |", "| c | 4 |"]
    assert sections.with_old_rows(page, measured) == [*HEAD, "| a | 1 |", "| b | 3 |", "| c | 4 |"]


def test_a_table_with_another_head_or_with_rows_that_begin_alike_is_measured_as_a_whole() -> None:
    page = "\n".join([*HEAD, "| a | 1 |"])
    other = ["| data | s |", "|---|--:|", "| b | 3 |"]
    assert sections.with_old_rows(page, other) == other
    alike = [*HEAD, "| b | 3 |", "| b | 4 |"]
    assert sections.with_old_rows(page, alike) == alike
