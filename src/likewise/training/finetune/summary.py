"""The facts around `likewise train finetune`, `runs/<name>/summary.json`: for its card, the report and the command."""

from dataclasses import asdict, dataclass
from typing import Any

from likewise.training.finetune.targets import FinetuneTask


@dataclass(frozen=True)
class FinetuneSummary:
    """What was learned from; `settings` are all of them and the catalog's fingerprint."""

    settings: dict[str, Any]
    learned_from: FinetuneTask
    n_images: int
    n_classes: dict[str, int]
    loss_first: float
    loss_last: float

    def to_dict(self) -> dict[str, Any]:
        """As in summary.json: the settings stand beside the rest."""
        return {**self.settings, **{key: value for key, value in asdict(self).items() if key != "settings"}}
