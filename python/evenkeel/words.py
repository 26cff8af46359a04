# SPDX-License-Identifier: Apache-2.0
"""A word stream as skewed as English, made up on the spot and the same on every machine."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

# The commonest English words, most common first.
COMMON = """
the of and to a in is that it was for on with as be at by he this had not are but from or have an
they which one you were her all she there would their we him been has when who will more no if out
so said what up its about into than them can only other new some could time these two may then do
first any my now such like our over man me even most made after also did many before must through
back years where much your way well down should because each just those people how too little
state good very make world still own see men work long get here between both life being under
never day same another know while last might us great old year off come since against go came
right used take three
"""


@dataclass(frozen=True)
class Shape:
    """What a routing algorithm will notice of a stream."""

    top_word: str
    top_share: float


def write_words(file: Path, *, rows: int, seed: int, vocabulary: int = 30_000) -> Shape:
    """Writes `rows` words, one a line, and returns the stream's shape.

    The word of rank r is drawn in proportion to 1 / (r + 1.7) ** 1.1 (Zipf with Mandelbrot's
    shift), which puts the top word at about 6 %, as "the" is in English text.
    """
    words = list(islice(_words(), vocabulary))
    weights = [(rank + 2.7) ** -1.1 for rank in range(vocabulary)]
    stream = random.Random(seed).choices(words, weights, k=rows)  # noqa: S311
    fresh = file.with_suffix(".new")
    with gzip.open(fresh, "wt", compresslevel=1, encoding="utf-8") as out:
        out.write("\n".join(stream) + "\n")
    fresh.replace(file)
    return Shape(words[0], stream.count(words[0]) / rows)


def _words() -> Iterator[str]:
    """English as far as the list goes, then pronounceable inventions such as "bakuta"."""
    yield from COMMON.split()
    syllables = [a + b for a, b in product("bdfgklmnprstvz", "aeiou")]
    for length in (3, 4):
        for parts in product(syllables, repeat=length):
            yield "".join(parts)
