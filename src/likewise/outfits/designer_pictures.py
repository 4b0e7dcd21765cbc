"""Pictures that designers bring along for their AAT questions: items beside the catalog's, kept in the workspace."""

import hashlib
import re
from pathlib import Path

from sqlalchemy import Engine

from likewise.errors import LikewiseError
from likewise.labeling.store.expert_notes import add_note, read_notes
from likewise.outfits.protocol import Item
from likewise.outfits.rules import CATEGORIES
from likewise.outfits.step import outfits_folder
from likewise.workspace import WorkspaceFolder, discard_result, write_atomically

PICTURE = "aat-picture"
FOLDER = "designer_pictures"
NAME = re.compile(r"design-[0-9a-f]{16}")
MAX_PICTURES = 200  # of one designer: a test needs a hundred questions


def picture_path(workspace: WorkspaceFolder, name: str) -> Path:
    """The file of a designer's picture; a name never becomes any other path."""
    path = outfits_folder(workspace) / FOLDER / f"{name}.jpg"
    if NAME.fullmatch(name) is None or not path.is_file():
        raise LikewiseError("there is no such picture.")
    return path


def image_path(workspace: WorkspaceFolder, image: str) -> Path:
    """The file of an image of a question: a designer's picture, or one of the catalog."""
    folder, _, name = image.rpartition("/")
    if folder == FOLDER and NAME.fullmatch(name.removesuffix(".jpg")):
        return picture_path(workspace, name.removesuffix(".jpg"))
    return workspace.root / image


def designer_items(workspace: WorkspaceFolder, engine: Engine, author: str | None = None) -> dict[str, Item]:
    """The items that designers (or one of them) brought along and did not take back, the newest first."""
    found = {}
    for note in reversed(read_notes(engine, PICTURE)):
        if note.body is None or author not in (None, note.author):
            continue
        if (outfits_folder(workspace) / FOLDER / f"{note.key}.jpg").is_file():
            found[note.key] = Item(note.key, str(note.body["category"]), f"{FOLDER}/{note.key}.jpg")
    return found


def add_designer_picture(
    workspace: WorkspaceFolder, engine: Engine, expert: int | None, author: str, content: bytes, category: str
) -> Item:
    """Keep a picture (a JPEG that was checked) as an item of one of the twenty categories."""
    if category not in CATEGORIES:
        raise LikewiseError(f"{category!r} is not one of the twenty categories.")
    name = f"design-{hashlib.blake2b(f'{author}/{category}/'.encode() + content, digest_size=8).hexdigest()}"
    mine = {note.key for note in read_notes(engine, PICTURE) if note.author == author and note.body is not None}
    if name not in mine and len(mine) >= MAX_PICTURES:
        raise LikewiseError(f"you have brought {MAX_PICTURES} pictures already: take one back first.")
    path = outfits_folder(workspace) / FOLDER / f"{name}.jpg"
    write_atomically(path, lambda file: discard_result(file.write(content)))
    add_note(engine, PICTURE, name, expert, {"category": category})
    return Item(name, category, f"{FOLDER}/{name}.jpg")


def remove_designer_picture(
    workspace: WorkspaceFolder, engine: Engine, expert: int | None, author: str, name: str, used: set[str]
) -> None:
    """Take one's own picture back, unless a question shows it."""
    mine = {note.key for note in read_notes(engine, PICTURE) if note.author == author and note.body is not None}
    if name not in mine:
        raise LikewiseError("you have no such picture.")
    if name in used:
        raise LikewiseError("a question shows this picture: withdraw the question first.")
    add_note(engine, PICTURE, name, expert, None)
    picture_path(workspace, name).unlink()
