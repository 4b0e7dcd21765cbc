"""Whose folder it is: one training, known by all that decides its result, goes on there and no other."""

import hashlib
import json
from itertools import chain
from pathlib import Path
from typing import Any

from likewise.errors import LikewiseError
from likewise.files import finish_writing, written_together
from likewise.outfits.training.examples import OutfitExamples
from likewise.workspace import read_json, write_json


def state_file(folder: Path) -> Path:
    return folder / "state.safetensors"


def curves_file(folder: Path) -> Path:
    return folder / "curves.parquet"


def job_file(folder: Path) -> Path:
    return folder / "job.json"


def settings_fingerprint(value: Any) -> str:
    """A short hash of settings or lists of names."""
    return hashlib.blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=8).hexdigest()


def fingerprint_examples(examples: OutfitExamples) -> dict[str, str]:
    """The outfits and captions of a training, as short as a hash; of the JSON text, which is never held as a whole."""
    state = hashlib.blake2b(b"[[", digest_size=8)
    for place, outfit in enumerate(chain(examples.train, examples.valid)):
        state.update((", " * bool(place) + json.dumps([item.image for item in outfit.items])).encode())
    rest = json.dumps([len(examples.train), examples.users, sorted(examples.categories_by_image())])
    state.update(f"], {rest[1:]}".encode())
    return {"outfits": state.hexdigest(), "captions": settings_fingerprint(sorted(examples.captions.items()))}


def claim_folder(folder: Path, job: dict[str, Any], *, force: bool) -> None:
    """Take the folder for this training; another one's folder is refused, or emptied with `force`."""
    finish_writing(folder)
    held = read_json(job_file(folder)) if job_file(folder).exists() else None
    if not force and held != job and (held is not None or (folder / "card.json").exists()):
        raise LikewiseError(
            f"{folder} holds another training (other settings or other outfits): give this one a --name of its own, "
            "or discard that one with --force."
        )
    with written_together(folder) as staged:
        write_json(job, staged.place(job_file(folder)))
        if force:
            ended = (state_file(folder), curves_file(folder), folder / "card.json", folder / "model.safetensors")
            for path in (*ended, folder / "epochs"):
                staged.remove(path)
