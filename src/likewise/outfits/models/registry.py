"""Models by text: `random`, `mean-cosine:colour+shape`, the folder or name of a trained one, `NAME@EPOCH` for an
epoch.

Importing this module is light; torch comes with the first trained network.
"""

from dataclasses import replace
from pathlib import Path

from likewise.encoders.model_cards import DEFAULT_ENCODERS
from likewise.errors import LikewiseError
from likewise.lineage.files import read_model_lineage
from likewise.outfits.models.card import OutfitModelCard, read_arrays, read_model_card, weights_file
from likewise.outfits.models.feature_source import FeatureSource, joined_vectors
from likewise.outfits.protocol import OutfitModel

TRAINABLE_KINDS: dict[str, str] = {
    "bi-lstm": "reads an outfit forwards and backwards, like a sentence (Han et al. 2017)",
    "type-aware": "distances in a space per pair of types, called CSN in A100 (Vasileva et al. 2018)",
    "sce-net": "distances under learned conditions that the pair chooses (Tan et al. 2019)",
    "fhn": "binary codes of items and users (Lu et al. 2019); an unknown user is the mean user",
    "ngnn": "messages between categories (Cui et al. 2019)",
    "ngnn-agreement": "ngnn, and the agreement of an item with its messages (ours)",
    "set-transformer": "attention over items with types (ours)",
    "popular": "how often items occur in training outfits, whatever they are combined with",
}
BASELINE_KINDS: dict[str, str] = {
    "random": "random choice, by the names of the items: random, or random:SEED",
    "mean-cosine": "how alike the items look: mean-cosine:ENCODERS",
}
MODEL_KINDS: dict[str, str] = BASELINE_KINDS | TRAINABLE_KINDS


def open_model(text: str, features: FeatureSource, folder: Path | None = None) -> OutfitModel:
    """The model that `text` names, which reads `features`; names of trained ones are looked for in `folder`."""
    kind, _, rest = text.partition(":")
    if kind == "random":
        from likewise.outfits.models.random import RandomModel

        if rest and not rest.isdecimal():
            raise LikewiseError(f"{text!r}: after random: comes a seed, a whole number.")
        return RandomModel(int(rest or 0), text)
    if kind == "mean-cosine":
        from likewise.outfits.models.mean_cosine import MeanCosineModel

        encoders = rest or DEFAULT_ENCODERS[0]
        return MeanCosineModel(joined_vectors(features, encoders), text, features.lineage(encoders))
    place, epoch = find_model(text, folder)
    return load_model(place, features, epoch, name=None if epoch is None else f"{read_model_card(place).name}@{epoch}")


def find_model(text: str, folder: Path | None) -> tuple[Path, int | None]:
    """The folder of a trained model and the epoch asked for, None for the chosen one."""
    name, at, number = text.rpartition("@")
    tried = [(text, None)] + ([(name, int(number))] if at and number.isdecimal() else [])
    for path, epoch in tried:
        for place in (folder / path if folder else None, Path(path)):
            if place is not None and (place / "card.json").exists():
                return place, epoch
    if text in TRAINABLE_KINDS:
        raise LikewiseError(f"{text} has to be trained first: `likewise outfits train WORKSPACE --model {text}`.")
    known = ", ".join(trained_models(folder)) if folder else ""
    raise LikewiseError(
        f"there is no model {text!r}: use random, mean-cosine:ENCODERS, or a trained one"
        f"{f' ({known})' if known else ''}, by name or folder."
    )


def load_model(folder: Path, features: FeatureSource, epoch: int | None = None, name: str | None = None) -> OutfitModel:
    """A trained model from its folder."""
    card = read_model_card(folder)
    card = replace(card, name=name or card.name)
    if card.kind not in TRAINABLE_KINDS:
        raise LikewiseError(
            f"{folder / 'card.json'} names the kind {card.kind!r}; known are {', '.join(TRAINABLE_KINDS)}."
        )
    if card.kind == "popular":
        return _popular(card, folder, features)
    from likewise.optional_dependencies import import_optional

    import_optional("torch", card.kind)
    from likewise.outfits.models.trained_model import TrainedOutfitModel, load_net

    lineage = read_model_lineage(folder, card.name)
    return TrainedOutfitModel(card, load_net(card, folder, epoch), features, lineage)


def _popular(card: OutfitModelCard, folder: Path, features: FeatureSource) -> OutfitModel:
    from likewise.outfits.models.popular import ItemCounts, PopularityModel

    stored = read_arrays(weights_file(folder))
    categories = tuple(card.types[number] for number in stored["types"].tolist())
    counted = ItemCounts(categories, stored["counts"], stored["vectors"])
    lineage = read_model_lineage(folder, card.name)
    return PopularityModel(counted, joined_vectors(features, card.encoders), card.name, lineage)


def trained_models(folder: Path) -> dict[str, OutfitModelCard]:
    """Names and cards of the models below a folder."""
    return {path.parent.name: read_model_card(path.parent) for path in sorted(folder.glob("*/card.json"))}


__all__ = [
    "BASELINE_KINDS",
    "MODEL_KINDS",
    "TRAINABLE_KINDS",
    "find_model",
    "load_model",
    "open_model",
    "trained_models",
]
