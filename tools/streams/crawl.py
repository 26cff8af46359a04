# SPDX-License-Identifier: Apache-2.0
"""The streaming workload of paper 004 §6: entities in a crawl's pages by host and hour."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from streams import traces
from streams.trial import Input

HOSTS = 20_000
MINUTES_PER_BATCH = 6


def pages(batches: int, rows: int, seed: int) -> Iterator[Input]:
    """Pages by host, ten batches an hour; other hosts are hot in every hour.

    The cost of a page is its length: log-normal around a length that its host is given to.
    """
    law = traces.Zipf(1.0, seed, keys=HOSTS, every=10)
    random = np.random.default_rng(seed)
    habit = np.exp(random.normal(0, 0.5, HOSTS))
    for number, hosts in enumerate(law.batches(batches, rows)):
        length = habit[hosts] * np.exp(random.normal(0, 1, rows)) * 1000
        minute = number * MINUTES_PER_BATCH
        yield Input(
            {
                "k": hosts,
                "cost": np.minimum(length, 50_000).astype(np.int64),
                "second": np.full(rows, minute * 60, np.int64),
            }
        )
