"""The texts that a two-tower encoder learns from, drawn once per picture, with their vectors by a sentence encoder.

A sentence encoder is slow beside the two layers that are trained, so every picture gets a few texts for the whole
training, and their vectors are kept in `features/sentences/` for the next one.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.conditional.caption_sampling import CaptionTexts
from likewise.conditional.protocol import Features
from likewise.conditional.towers import FEATURES_FOLDER
from likewise.encoders.families.sentences import encode_sentences, sentence_digest
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, read_parquet, write_parquet

TEXTS_PER_IMAGE = 8
SENTENCES_FOLDER = "sentences"


def draw_texts(texts_of_images: Sequence[CaptionTexts], n: int = TEXTS_PER_IMAGE) -> list[tuple[str, ...]]:
    """Different texts of every picture, at most `n`: every whole text, then phrases; the same for every seed."""
    rng = np.random.default_rng(0)
    drawn = []
    for one in texts_of_images:
        phrases = [one.sample(rng) for _ in range(2 * n)]
        short = [text for text in phrases if text != one.caption]  # all captions in a row are slow, and no sentence
        drawn.append(tuple(dict.fromkeys([*one.texts, *short]))[: max(n, len(one.texts) + n // 2)])
    return drawn


def sentence_vectors(
    workspace: WorkspaceFolder, sentences: str, texts: Sequence[str], on_progress: ProgressCallback | None = None
) -> Features:
    """(len(texts), dim) by the sentence encoder; what was asked for before is read from the workspace."""
    path = workspace.path / FEATURES_FOLDER / SENTENCES_FOLDER / f"{sentence_digest(sentences)[:16]}.parquet"
    known = read_parquet(path, "likewise condition two-tower") if path.exists() else None
    stored = set(known["text"]) if known is not None else set()
    new = sorted(set(texts) - stored)
    if new or known is None:

        def report(done: int, total: int) -> None:
            if on_progress:
                on_progress("captions to vectors", done, total)

        made = encode_sentences(sentences, new, report)
        added = pl.DataFrame({"text": new, "vector": pl.Series(made, dtype=pl.Array(pl.Float32, made.shape[1]))})
        known = added if known is None else pl.concat([known, added])
        write_parquet(known, path)
    place = {text: row for row, text in enumerate(known["text"])}
    vectors: NDArray[np.float32] = known["vector"].to_numpy()
    return vectors[[place[text] for text in texts]]
