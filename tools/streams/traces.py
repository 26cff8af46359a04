# SPDX-License-Identifier: Apache-2.0
"""Keys of generated streams, rebuilt from seed and definition as `Generators.scala` does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

Ints = NDArray[np.int64]
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def splitmix(seed: int, index: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Outputs of the sequence that starts at `seed`."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + (index + np.uint64(1)) * GOLDEN
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return mixed


@dataclass(frozen=True)
class Zipf:
    """Keys by a Zipf law; every `every` batches the `hot` heaviest ranks go to other keys.

    An exponent of 0 is the uniform law, where drift means nothing.
    """

    exponent: float
    seed: int
    keys: int = 100_000
    hot: int = 64
    every: int = 10

    def batches(self, batches: int, rows: int) -> list[Ints]:
        """The keys of each batch."""
        weights = 1.0 / np.power(np.arange(1, self.keys + 1), self.exponent)
        cdf = np.cumsum(weights / weights.sum())
        order = splitmix(self.seed ^ 0x5EED, np.arange(self.keys, dtype=np.uint64))
        ids = np.argsort(order, kind="stable").astype(np.int64)
        out = []
        for batch in range(batches):
            if self.exponent > 0 and batch > 0 and batch % self.every == 0:
                start = (batch // self.every - 1) * self.hot % (self.keys - 2 * self.hot)
                self._swap(ids, self.hot + start)
            at = np.arange(batch * rows, (batch + 1) * rows, dtype=np.uint64)
            uniform = (splitmix(self.seed, at) >> np.uint64(11)) / float(1 << 53)
            ranks = np.minimum(np.searchsorted(cdf, uniform, side="right"), self.keys - 1)
            out.append(ids[ranks])
        return out

    def _swap(self, ids: Ints, at: int) -> None:
        head = ids[: self.hot].copy()
        ids[: self.hot] = ids[at : at + self.hot]
        ids[at : at + self.hot] = head


def write(folder: Path, columns: dict[str, Ints], files: int) -> list[Path]:
    """One batch as Parquet, in as many files as there shall be map tasks."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = len(next(iter(columns.values())))
    bounds = np.linspace(0, rows, files + 1, dtype=np.int64)
    out = []
    for i in range(files):
        part = {name: pa.array(c[bounds[i] : bounds[i + 1]]) for name, c in columns.items()}
        path = folder / f"{i}.parquet"
        pq.write_table(pa.table(part), path)
        out.append(path)
    return out


def heaviest(keys: Ints) -> int:
    """Rows of the heaviest key."""
    return int(np.unique(keys, return_counts=True)[1].max())


def spark_partition(keys: Ints, partitions: int) -> Ints:
    """Where Spark's hash partitioning sends BIGINT keys: Murmur3 with seed 42."""

    def rotated(x: NDArray[np.uint32], by: int) -> NDArray[np.uint32]:
        turned: NDArray[np.uint32] = (x << np.uint32(by)) | (x >> np.uint32(32 - by))
        return turned

    with np.errstate(over="ignore"):
        h = np.full(len(keys), 42, np.uint32)
        bits = keys.view(np.uint64)
        for half in (bits & np.uint64(0xFFFFFFFF), bits >> np.uint64(32)):
            k = rotated(half.astype(np.uint32) * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
            h = rotated(h ^ k, 13) * np.uint32(5) + np.uint32(0xE6546B64)
        h ^= np.uint32(8)
        h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        h ^= h >> np.uint32(16)
    places: Ints = np.mod(h.view(np.int32), partitions).astype(np.int64)
    return places
