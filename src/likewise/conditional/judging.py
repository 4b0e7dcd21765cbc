"""Early stopping: the average R@1 of a composer on questions that are not trained on, with features as they are now.

Questions are templates with a gallery each, or whole splits (CIRR's validation) that share one.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from likewise.conditional.composed import Composed
from likewise.conditional.evaluate import Answers, answer
from likewise.conditional.protocol import Composer, Features
from likewise.conditional.recall import hits
from likewise.conditional.sides import Sides
from likewise.conditional.splits import WholeSplit, answer_split, split_sides
from likewise.conditional.towers import TwoTower
from likewise.conditional.tuning import Tunable
from likewise.errors import LikewiseError
from likewise.optional_dependencies import needed
from likewise.workspace import Workspace

Validation = pl.DataFrame | Sequence[WholeSplit]
ROWS_AT_ONCE = 512


def n_questions(validation: Validation) -> int:
    if isinstance(validation, pl.DataFrame):
        return validation.height
    return sum(split.questions.height for split in validation)


class Judge:
    """Holds the questions and what the encoder reads for them."""

    def __init__(
        self,
        workspace: Workspace,
        tower: TwoTower,
        validation: Validation,
        tuned: Tunable | None = None,
        tune: Sequence[str] = (),
    ) -> None:
        self.validation, self.tuned, self.tune = validation, tuned, tune
        if isinstance(validation, pl.DataFrame):
            self.sides = Sides.of(workspace, tower, validation)
            if self.sides.answerable(validation).is_empty():
                raise LikewiseError("no validation template has all its images in this catalog: name other templates.")
        else:
            self.sides = split_sides(workspace, tower, validation)
        self.inputs = None
        if tuned is not None and "image" in tune:
            self.inputs = tuned.image_inputs(workspace, self.sides.images)

    def recall(self, composer: Composer) -> float:
        """Average R@1 over tasks or splits; a tie counts by its chance."""
        found = self._answers(Composed(composer), self._now())[composer.name]
        return float(np.mean([np.nanmean(hits(each.found, 1)) for each in found.values()]))

    def _answers(self, method: Composed, sides: Sides) -> Answers:
        if isinstance(self.validation, pl.DataFrame):
            return answer(self.validation, sides, [method])
        together: Answers = {method.name: {}}
        for split in self.validation:
            together[method.name] |= answer_split(split, sides, [method])[method.name]
        return together

    def _now(self) -> Sides:
        if self.tuned is None:
            return self.sides
        torch = needed("torch", "training")
        images, texts = self.sides.image_features, self.sides.text_features
        with torch.inference_mode():
            if self.inputs is not None:
                starts = range(0, len(self.inputs), ROWS_AT_ONCE)
                parts = [self.tuned.image(self.inputs[start : start + ROWS_AT_ONCE]) for start in starts]
                images = _rows(parts)
            if "text" in self.tune:
                texts = _rows([self.tuned.text(self.sides.texts)])
        return Sides(self.sides.images, images, self.sides.texts, texts)


def _rows(parts: Sequence[object]) -> Features:
    torch = needed("torch", "training")
    rows: Features = torch.cat(list(parts)).float().numpy()
    return rows
