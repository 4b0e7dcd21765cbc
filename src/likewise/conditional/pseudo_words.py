"""A picture as a word: its features become the embedding of one pseudo-word in the sentence "a photo of $, red".

Learned from text alone (LinCIR, Gu et al. 2024): a caption's own features stand for the picture's, so no picture is
needed.  The features of the sentence, by the text side of the encoder, are the query.

    phi(z)      three layers from the common space to the sentence encoder's word embeddings
    query       text side("a photo of $, condition"), the embedding of $ replaced by phi(x / |x|)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.conditional.protocol import Features, Floats, QueryBatch
from likewise.conditional.towers import normalize
from likewise.encoders.families.sentences import MAX_TOKENS, load_sentence_encoder, sentence_folder
from likewise.encoders.families.two_tower import load_towers
from likewise.encoders.networks.device import move_to_device, to_device, to_numpy
from likewise.encoders.spec import parse_spec
from likewise.encoders.stored_specs import check_stored_spec
from likewise.errors import LikewiseError
from likewise.files import finish_writing
from likewise.lineage.files import lineage_file, read_model_lineage, write_lineage
from likewise.lineage.record import NOTHING_LEARNED, Lineage
from likewise.optional_dependencies import import_optional
from likewise.untrusted import check_shape
from likewise.workspace import discard_result, read_json, write_atomically, write_json

if TYPE_CHECKING:
    from torch import nn

FORMAT = 1
SETTINGS, WEIGHTS = "pseudo_words.json", "pseudo_words.safetensors"
PSEUDO_WORDS_FOLDER = "pseudo_words"
"""The folder of a workspace in which they are kept, one folder each."""
PROMPT = "a photo of {}, {}"
QUERIES_PER_BATCH = 256
TITLE = "pseudo-word (text alone)"


def projection(dim: int, width: int, dropout: float = 0.5) -> "nn.Module":
    """phi: the common space to the width of word embeddings."""
    torch = import_optional("torch", "pseudo-words")
    inner = 4 * width
    layers = torch.nn.Sequential(
        torch.nn.Linear(dim, inner),
        torch.nn.GELU(),
        torch.nn.Dropout(dropout),
        torch.nn.Linear(inner, inner),
        torch.nn.GELU(),
        torch.nn.Dropout(dropout),
        torch.nn.Linear(inner, width),
    )
    module: nn.Module = layers
    return module


class SentenceSide:
    """The text side of a two-tower encoder over a sentence encoder, with places for pseudo-words; it does not learn."""

    def __init__(self, tower: str) -> None:
        part = parse_spec(tower)[0]
        config = load_towers(Path(part.target))[0] if part.family == "two-tower" else None
        if config is None or not config.sentences:
            raise LikewiseError(
                f"{tower} has no sentence encoder below its text side: pseudo-words need a two-tower encoder trained "
                "with `--text minilm` (or another sentence encoder)."
            )
        self.side: Any = move_to_device(load_towers(Path(part.target))[2])
        self.tokenizer, self.model = load_sentence_encoder(str(sentence_folder(config.sentences)))
        if self.tokenizer.mask_token is None:
            raise LikewiseError(
                f"the sentence encoder of {tower} has no mask token, whose place pseudo-words take: use another."
            )
        for value in (*self.model.parameters(), *self.side.parameters()):
            value.requires_grad_(False)
        self.dim, self.width = config.dim, int(self.model.get_input_embeddings().weight.shape[1])

    @property
    def blank(self) -> str:
        """What stands in a text where a pseudo-word goes."""
        return str(self.tokenizer.mask_token)

    def features(self, texts: Sequence[str], words: Any = None) -> Any:
        """Unscaled features of texts; every blank of a text is its row of `words`."""
        torch = import_optional("torch", "pseudo-words")
        tokens = self.tokenizer(list(texts), padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
        tokens = tokens.to(next(self.model.parameters()).device)
        embedded = self.model.get_input_embeddings()(tokens["input_ids"])
        if words is not None:
            blank = (tokens["input_ids"] == self.tokenizer.mask_token_id)[..., None]
            embedded = torch.where(blank, words[:, None, :].to(embedded.dtype), embedded)
        found = self.model(inputs_embeds=embedded, attention_mask=tokens["attention_mask"]).last_hidden_state
        there = tokens["attention_mask"][..., None].to(found.dtype)
        mean = (found * there).sum(1) / there.sum(1)
        return self.side(torch.nn.functional.normalize(mean))


@dataclass(frozen=True)
class PseudoWords:
    """A method that `likewise condition train-text` made for one two-tower encoder."""

    module: "nn.Module"
    side: SentenceSide
    tower: str
    """The spec of the encoder whose features it reads."""
    name: str = TITLE
    about: dict[str, Any] = field(default_factory=dict)
    lineage: Lineage = NOTHING_LEARNED

    def scores(self, batch: QueryBatch) -> Floats:
        query = normalize(self.queries(batch.reference, batch.conditions))
        gallery = batch.normalized_gallery
        found = query @ gallery.T if gallery.ndim == 2 else np.einsum("nd,ngd->ng", query, gallery)
        return np.asarray(found, np.float64)

    def queries(self, reference: Features, conditions: Sequence[str]) -> Features:
        """(n, dim): features of "a photo of $, condition" with each reference as its word."""
        torch = import_optional("torch", "pseudo-words")
        if reference.shape[1] != self.side.dim:
            raise LikewiseError(f"these pseudo-words read features of {self.tower}: use them with their encoder.")
        rows = [np.empty((0, self.side.dim), np.float32)]
        module = move_to_device(self.module.eval())
        with torch.inference_mode():
            for start in range(0, len(reference), QUERIES_PER_BATCH):
                part = slice(start, start + QUERIES_PER_BATCH)
                words = module(to_device(normalize(reference[part])))
                texts = [PROMPT.format(self.side.blank, condition) for condition in conditions[part]]
                rows.append(to_numpy(self.side.features(texts, words).float()))
        return np.concatenate(rows)


def write_pseudo_words(folder: Path, found: PseudoWords) -> None:
    """Weights, lineage and description, into a folder where they wait for what belongs to them."""
    from safetensors.numpy import save

    state = {name: to_numpy(value) for name, value in found.module.state_dict().items()}
    write_atomically(folder / WEIGHTS, lambda file: discard_result(file.write(save(state))))
    write_lineage(found.lineage, lineage_file(folder))
    write_json({"format": FORMAT, "tower": found.tower, "about": found.about}, folder / SETTINGS)


def read_pseudo_words(folder: Path, name: str | None = None) -> PseudoWords:
    """What a folder holds."""
    finish_writing(folder)
    path = folder / SETTINGS
    if not path.is_file() or not (folder / WEIGHTS).is_file():
        raise LikewiseError(f"{folder} holds no pseudo-words (no {SETTINGS}): run `likewise condition train-text`.")
    values = read_json(path)
    if values.get("format") != FORMAT:
        raise LikewiseError(f"{path} is of a format this version does not read: train it again.")
    check_shape(values, {"tower": str, "about": {}}, str(path))
    check_stored_spec(values["tower"], path)
    torch = import_optional("torch", "pseudo-words")
    from safetensors.numpy import load_file

    side = SentenceSide(values["tower"])
    module = projection(side.dim, side.width)
    weights = load_file(folder / WEIGHTS)
    try:
        module.load_state_dict({key: torch.from_numpy(value.copy()) for key, value in weights.items()})
    except RuntimeError as error:
        raise LikewiseError(f"{folder / WEIGHTS} does not fit {values['tower']}: train it again.") from error
    lineage = read_model_lineage(folder, folder.name)
    return PseudoWords(module.eval(), side, values["tower"], name or TITLE, values["about"], lineage)
