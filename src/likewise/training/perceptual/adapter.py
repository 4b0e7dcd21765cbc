"""The way over frozen encoders: a learned metric over their stored vectors, folded into the layers of an encoder."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from likewise.encoders.families.run_files import RunFile, write_run
from likewise.training.perceptual.answers import Answers
from likewise.training.perceptual.features import Pictures
from likewise.training.perceptual.folds import Unseen
from likewise.training.perceptual.learn import HIDDEN, choose, learn
from likewise.training.perceptual.ways import Taught, Tell


@dataclass(frozen=True)
class Adapter:
    """Learns over the vectors of `pictures`; `hidden` are the sizes of the hidden layer to try, 0 for none."""

    pictures: Pictures
    hidden: Sequence[int] = HIDDEN

    @property
    def bases(self) -> list[str]:
        return list(self.pictures.encoders)

    def teach(
        self, answers: Answers, unseen: Unseen, *, seed: int, folds_seed: int, tell: Tell | None = None
    ) -> Taught:
        chosen = choose(self.pictures, answers, unseen, seed=folds_seed, hidden=self.hidden, tell=tell)
        learned = learn(self.pictures, answers, chosen.choice, seed)

        def write(folder: Path, about: Mapping[str, Any]) -> RunFile:
            return write_run(folder, "adapter", self.bases, learned.layers(), dim=learned.features.dim + 1, about=about)

        vectors, surprise = learned.vectors(self.pictures.vectors), learned.metric.surprise
        return Taught(vectors, asdict(chosen.choice), chosen.tried, chosen.scores, surprise, write)
