"""How each model is trained: `quick` for a look, `usual` (minutes on two cores), `paper` as its authors' code does.

`paper`: sizes, batches, epochs, optimizer and learning rates are those of the published code, one negative per item at
random, no decay towards the start. What stays ours is named in docs/outfits.md.
"""

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from likewise.errors import LikewiseError

FILE_KEYS = {"batch_size": "batch", "n_negatives": "others", "near_share": "near"}


@dataclass(frozen=True)
class Preset:
    """The settings of one training."""

    width: int
    epochs: int = 2
    batch_size: int = 64
    n_negatives: int = 4
    """Negatives per item."""
    near_share: float = 0.5
    """The share of negatives, in whole ones, that are taken among the items most like the one they replace."""
    learning_rate: float = 3e-4
    weight_decay: float = 5.0
    """Towards the weights that training began with."""
    optimizer: Literal["adamw", "sgd"] = "adamw"
    momentum: float = 0.0
    """Of sgd."""

    def with_changes(self, **values: Any) -> "Preset":
        """With those values that are not None."""
        return replace(self, **{name: value for name, value in values.items() if value is not None})

    def as_dict(self) -> dict[str, Any]:
        """With the keys of `card.json` and `job.json`; without an optimizer where it is the usual one, as ever."""
        left_out = {"optimizer", "momentum"} if self.optimizer == "adamw" else set()
        return {FILE_KEYS.get(name, name): value for name, value in asdict(self).items() if name not in left_out}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Preset":
        return cls(
            **{each.name: values[key] for each in fields(cls) if (key := FILE_KEYS.get(each.name, each.name)) in values}
        )


USUAL: dict[str, Preset] = {
    "bi-lstm": Preset(128),
    "type-aware": Preset(64),
    "sce-net": Preset(64),
    "fhn": Preset(128),
    "ngnn": Preset(64, epochs=12, learning_rate=3e-3, weight_decay=0.1),  # starts at random, and must learn all of it
    "ngnn-agreement": Preset(64),
    "set-transformer": Preset(64),
}
PAPER: dict[str, Preset] = {
    "bi-lstm": Preset(512, 20, 10, 1, 0.0, 0.2, 0.0, "sgd"),
    "type-aware": Preset(64, 10, 256, 1, 0.0, 5e-5, 0.0),
    "sce-net": Preset(64, 15, 96, 1, 0.0, 5e-5, 0.0),
    "fhn": Preset(128, 100, 64, 1, 0.0, 0.01, 0.0, "sgd", 0.9),
    "ngnn": Preset(64, 20, 16, 1, 0.0, 1e-3, 0.0),
}
"""The models that have a paper; an agreement or a set transformer of ours has none."""
PRESETS = ("quick", "usual", "paper")


def get_preset(kind: str, name: str) -> Preset:
    """A model's settings by the preset's name."""
    if kind not in USUAL:
        raise LikewiseError(f"there is no model {kind!r} to train: choose one of {', '.join(USUAL)}, popular.")
    if name not in PRESETS:
        raise LikewiseError(f"there is no preset {name!r}: choose one of {', '.join(PRESETS)}.")
    usual = USUAL[kind]
    if name == "quick":
        return replace(usual, epochs=1, n_negatives=2)
    if name == "paper" and kind not in PAPER:
        raise LikewiseError(f"{kind} is ours and has no paper: use the preset usual, or one of {', '.join(PAPER)}.")
    return PAPER[kind] if name == "paper" else usual
