"""Models by text: `random`, `mean-cosine:colour+shape`, the folder or name of a trained one, `NAME@EPOCH` for an
epoch.

Importing this module is light; torch comes with the first trained network.
"""

from dataclasses import replace
from pathlib import Path

from likewise.errors import LikewiseError
from likewise.outfits.models.card import Card, read_arrays, read_card, seen_items, weights_file
from likewise.outfits.models.sight import Sight, joined_vectors
from likewise.outfits.protocol import Model

TRAINED: dict[str, str] = {
    "bi-lstm": "reads an outfit forth and back like a sentence (Han et al. 2017)",
    "type-aware": "distances in a space per pair of types, called CSN in A100 (Vasileva et al. 2018)",
    "sce-net": "distances under learned conditions that the pair chooses (Tan et al. 2019)",
    "fhn": "binary codes of items and users (Lu et al. 2019); an unknown user is the mean user",
    "ngnn": "messages between categories (Cui et al. 2019), and how an item agrees with what it hears (ours)",
    "set-transformer": "attention over items with types (ours)",
    "popular": "how often items are worn in training, whatever they are combined with",
}
UNTRAINED: dict[str, str] = {
    "random": "chance, from the names of the items: random, or random:SEED",
    "mean-cosine": "how alike the items look: mean-cosine:ENCODERS",
}
KINDS: dict[str, str] = UNTRAINED | TRAINED


def open_model(text: str, sight: Sight, folder: Path | None = None) -> Model:
    """The model that `text` names, looking through `sight`; names of trained ones are looked for in `folder`."""
    kind, _, rest = text.partition(":")
    if kind == "random":
        from likewise.outfits.models.random import Random

        if rest and not rest.isdecimal():
            raise LikewiseError(f"{text!r}: after random: comes a seed, a whole number.")
        return Random(int(rest or 0), text)
    if kind == "mean-cosine":
        from likewise.outfits.models.mean_cosine import MeanCosine

        return MeanCosine(joined_vectors(sight, rest or "blend"), text)
    place, epoch = find_model(text, folder)
    return load_model(place, sight, epoch, name=None if epoch is None else f"{read_card(place).name}@{epoch}")


def find_model(text: str, folder: Path | None) -> tuple[Path, int | None]:
    """The folder of a trained model and the epoch asked for, None for the chosen one."""
    name, at, number = text.rpartition("@")
    tried = [(text, None)] + ([(name, int(number))] if at and number.isdecimal() else [])
    for path, epoch in tried:
        for place in (folder / path if folder else None, Path(path)):
            if place is not None and (place / "card.json").exists():
                return place, epoch
    if text in TRAINED:
        raise LikewiseError(f"{text} has to be trained first: `likewise outfits train WORKSPACE --model {text}`.")
    there = ", ".join(trained_models(folder)) if folder else ""
    raise LikewiseError(
        f"there is no model {text!r}: use random, mean-cosine:ENCODERS, or a trained one"
        f"{f' ({there})' if there else ''}, by name or folder."
    )


def load_model(folder: Path, sight: Sight, epoch: int | None = None, name: str | None = None) -> Model:
    """A trained model from its folder."""
    card = read_card(folder)
    card = replace(card, name=name or card.name)
    if card.kind not in TRAINED:
        raise LikewiseError(f"{folder / 'card.json'} names the kind {card.kind!r}; known are {', '.join(TRAINED)}.")
    if card.kind == "popular":
        return _popular(card, folder, sight)
    from likewise.optional_dependencies import needed

    needed("torch", card.kind)
    from likewise.outfits.models.trained import Trained, load_net

    return Trained(card, load_net(card, folder, epoch), sight, seen_items(folder))


def _popular(card: Card, folder: Path, sight: Sight) -> Model:
    from likewise.outfits.models.popular import Counted, Popular

    stored = read_arrays(weights_file(folder))
    categories = tuple(card.types[number] for number in stored["types"].tolist())
    counted = Counted(categories, stored["counts"], stored["vectors"])
    return Popular(counted, joined_vectors(sight, card.encoders), card.name, seen_items(folder))


def trained_models(folder: Path) -> dict[str, Card]:
    """Names and cards of the models below a folder."""
    return {path.parent.name: read_card(path.parent) for path in sorted(folder.glob("*/card.json"))}


__all__ = ["KINDS", "TRAINED", "UNTRAINED", "find_model", "load_model", "open_model", "seen_items", "trained_models"]
