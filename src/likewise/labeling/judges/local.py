"""Judges that run here: `run:NAME`, an encoder that `likewise train` left, and `python:MODULE:FUNCTION`.

An encoder answers with the cosine of its two vectors. A function gets two RGB pictures and returns a number, higher for
pairs that look more alike, or None.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from likewise.catalog.images import load_image
from likewise.encoders import get_encoder
from likewise.encoders.families.function import find_function
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Vectors
from likewise.encoders.spec import parse_spec
from likewise.errors import LikewiseError
from likewise.labeling.judges.protocol import JudgeReply, PicturePair

BATCH = 32
PICTURE_SIDE = 512
PICTURES_KEPT = 64


@dataclass(frozen=True)
class EncoderJudge:
    """Cosines of an encoder's vectors, made for the pictures that are asked about and stored nowhere."""

    name: str
    spec: str

    @property
    def identity(self) -> str:
        return f"{self.name} {get_encoder(self.spec).version}"

    def ask(self, pairs: Sequence[PicturePair]) -> Iterator[tuple[PicturePair, JudgeReply]]:
        files = sorted({file for pair in pairs for file in (pair.query_file, pair.candidate_file)})
        encoder, vectors = get_encoder(self.spec), dict[Path, Vectors]()
        for start in range(0, len(files), BATCH):
            batch = files[start : start + BATCH]
            prepared = [encoder.prepare(load_image(file, at_least=encoder.pixels)) for file in batch]
            vectors |= dict(zip(batch, unit_rows(encoder.encode(prepared)), strict=True))
        for pair in pairs:
            yield pair, JudgeReply(float(np.dot(vectors[pair.query_file], vectors[pair.candidate_file])))


class FunctionJudge:
    """A function of two pictures."""

    def __init__(self, spec: str) -> None:
        [part] = parse_spec(spec)
        self.name, self.spec = spec, spec
        found = find_function(part)
        if not callable(found):
            raise LikewiseError(f"{part.target} is no function: name one of two pictures that returns a number.")
        self.function: Callable[[Any, Any], Any] = found

    @property
    def identity(self) -> str:
        return self.spec

    def ask(self, pairs: Sequence[PicturePair]) -> Iterator[tuple[PicturePair, JudgeReply]]:
        opened = lru_cache(PICTURES_KEPT)(lambda file: load_image(file, at_least=PICTURE_SIDE))
        for pair in pairs:
            started = perf_counter()
            said = self.function(opened(pair.query_file), opened(pair.candidate_file))
            yield pair, JudgeReply(self._number(said, pair), seconds=perf_counter() - started)

    def _number(self, said: Any, pair: PicturePair) -> float | None:
        if said is None:
            return None
        try:
            value = float(said)
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            raise LikewiseError(
                f"{self.name} answered {said!r} for {pair.query} and {pair.candidate}: a judge returns a finite "
                "number, higher for pairs that look more alike, or None."
            )
        return value
