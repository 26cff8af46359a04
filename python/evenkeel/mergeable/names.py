# SPDX-License-Identifier: Apache-2.0
"""Column names that PySpark's mapInArrow can bear."""

from __future__ import annotations

import re
from collections.abc import Sequence


def names_in_spark(names: Sequence[str]) -> list[str]:
    """The names themselves, or numbers if one of them is not a plain word.

    mapInArrow takes the dot in `s.a` for a field of a struct, ticks or not; so the plan goes by
    number then, and only the functions and the result see the names.
    """
    if all(re.fullmatch(r"\w+", name) for name in names):
        return list(names)
    return [f"_{position}" for position in range(len(names))]
