"""Early stopping: the average Recall@1 of a composer on questions that are not trained on, with features of now.

Questions are templates with a gallery each, or whole splits (CIRR's validation) that share one.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from likewise.conditional.composers import ComposerMethod
from likewise.conditional.evaluate import TaskResults, score_templates
from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.protocol import Composer, Features
from likewise.conditional.recall import recall_at_k
from likewise.conditional.splits import SharedGalleryBenchmark, score_split, split_features
from likewise.conditional.towers import TwoTower
from likewise.conditional.trainable import TrainableEncoder
from likewise.encoders.networks.device import to_numpy
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional
from likewise.workspace import WorkspaceFolder

ValidationSet = pl.DataFrame | Sequence[SharedGalleryBenchmark]
IMAGES_PER_BATCH = 512


def validation_size(validation: ValidationSet) -> int:
    if isinstance(validation, pl.DataFrame):
        return validation.height
    return sum(split.queries.height for split in validation)


class Validator:
    """Holds the questions and what the encoder reads for them."""

    def __init__(
        self,
        workspace: WorkspaceFolder,
        tower: TwoTower,
        validation: ValidationSet,
        tuned: TrainableEncoder | None = None,
        tune: Sequence[str] = (),
    ) -> None:
        self.validation, self.tuned, self.tune = validation, tuned, tune
        if isinstance(validation, pl.DataFrame):
            self.features = ImageTextFeatures.load(workspace, tower, validation)
            if self.features.with_all_features(validation).is_empty():
                raise LikewiseError("no validation template has all its images in this catalog: name other templates.")
        else:
            self.features = split_features(workspace, tower, validation)
        self.inputs = None
        if tuned is not None and "image" in tune:
            self.inputs = tuned.image_inputs(workspace, self.features.images)

    def recall(self, composer: Composer) -> float:
        """Average Recall@1 over tasks or splits; a tie counts by its chance."""
        found = self._score(ComposerMethod(composer), self._current_features())[composer.name]
        return float(np.mean([np.nanmean(recall_at_k(each.ranks, 1)) for each in found.values()]))

    def _score(self, method: ComposerMethod, features: ImageTextFeatures) -> TaskResults:
        if isinstance(self.validation, pl.DataFrame):
            return score_templates(self.validation, features, [method])
        together: TaskResults = {method.name: {}}
        for split in self.validation:
            together[method.name] |= score_split(split, features, [method])[method.name]
        return together

    def _current_features(self) -> ImageTextFeatures:
        if self.tuned is None:
            return self.features
        torch = import_optional("torch", "training")
        images, texts = self.features.image_features, self.features.text_features
        with torch.inference_mode():
            if self.inputs is not None:
                starts = range(0, len(self.inputs), IMAGES_PER_BATCH)
                parts = [self.tuned.image(self.inputs[start : start + IMAGES_PER_BATCH]) for start in starts]
                images = _rows(parts)
            if "text" in self.tune:
                texts = _rows([self.tuned.text(self.features.texts)])
        return ImageTextFeatures(self.features.images, images, self.features.texts, texts)


def _rows(parts: Sequence[object]) -> Features:
    torch = import_optional("torch", "training")
    return to_numpy(torch.cat(list(parts)).float())
