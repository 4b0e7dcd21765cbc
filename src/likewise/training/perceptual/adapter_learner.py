"""A learner over frozen encoders: a learned metric over their stored vectors, folded into the layers of an encoder."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from likewise.encoders.families.run_files import TrainedRun, write_run
from likewise.lineage.record import Lineage
from likewise.machine import usable_cores
from likewise.progress import ProgressCallback
from likewise.training.perceptual.adapter import HIDDEN, fit_adapter, select_adapter
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.features import ImageVectors
from likewise.training.perceptual.folds import Unseen
from likewise.training.perceptual.learner import LearnedModel


@dataclass(frozen=True)
class AdapterLearner:
    """Learns over the vectors of `image_vectors`; `hidden` are the sizes of the hidden layer to try, 0 for none."""

    image_vectors: ImageVectors
    hidden: Sequence[int] = HIDDEN

    @property
    def bases(self) -> list[str]:
        return list(self.image_vectors.encoders)

    @property
    def n_threads(self) -> int:
        return usable_cores()

    def fit(
        self,
        answers: Answers,
        unseen: Unseen,
        *,
        seed: int,
        folds_seed: int,
        on_progress: ProgressCallback | None = None,
    ) -> LearnedModel:
        chosen = select_adapter(
            self.image_vectors, answers, unseen, seed=folds_seed, hidden=self.hidden, on_progress=on_progress
        )
        learned = fit_adapter(self.image_vectors, answers, chosen.choice, seed)

        def write(
            folder: Path, summary: Mapping[str, Any], lineage: Lineage, tables: Mapping[str, pl.DataFrame], card: str
        ) -> TrainedRun:
            dim = learned.features.dim + 1
            return write_run(
                folder,
                "adapter",
                self.bases,
                learned.layers(),
                dim=dim,
                lineage=lineage,
                about=summary,
                tables=tables,
                summary=summary,
                card=card,
            )

        vectors, negative_log_likelihood = (
            learned.vectors(self.image_vectors.concatenated),
            learned.metric.negative_log_likelihood,
        )
        return LearnedModel(
            vectors, asdict(chosen.choice), chosen.search_table, chosen.scores, negative_log_likelihood, write
        )
