"""Files that are no pictures (sounds, texts, molecules), as cards that stand wherever a picture would.

A card shows the title of a file (the catalog's column `title` or `caption`), the beginning of a text, or the file's
name; a sound has a play sign. What such a file looks like to a model is for vectors that its owner brings along.
"""

import textwrap
from collections.abc import Collection
from pathlib import Path

import polars as pl
from PIL import Image, ImageDraw, ImageFont

from likewise.catalog.images import IMAGE_ENDINGS, load_image

FILES = "files"
"""The reader whose workspaces may hold any file."""
SOUND_TYPES = {
    ".wav": "audio/wav",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".oga": "audio/ogg",
    ".opus": "audio/ogg",
    ".flac": "audio/flac",
    ".m4a": "audio/mp4",
    ".aac": "audio/aac",
}
TEXT_ENDINGS = frozenset({".txt", ".md", ".csv", ".tsv", ".json", ".smi", ".mol", ".sdf", ".pdb", ".xml", ".html"})
TITLE_COLUMNS = ("title", "caption")
CARD_SIDE, MARGIN, LINES, LETTERS = 480, 28, 14, 34
INK, PAPER, ACCENT = (31, 36, 48), (246, 244, 238), (0, 121, 107)
MAX_TEXT_BYTES = 4000


def is_sound(name: str) -> bool:
    return Path(name).suffix.lower() in SOUND_TYPES


def is_no_picture(path: Path) -> bool:
    """By its name: what does not end as pictures do."""
    return path.suffix.lower() not in IMAGE_ENDINGS


def read_titles(catalog: pl.DataFrame) -> dict[str, str]:
    """What the catalog calls its files, by key; empty where it has no titles."""
    column = next((name for name in TITLE_COLUMNS if name in catalog.columns), None)
    if column is None:
        return {}
    named = catalog.filter(pl.col(column).is_not_null())
    return dict(zip(named["image"], named[column].cast(pl.String), strict=True))


def load_shown(path: Path, title: str | None = None, at_least: int | None = None) -> Image.Image:
    """The picture of a file, or its card; a picture that cannot be read is an error as before."""
    if not is_no_picture(path):
        return load_image(path, at_least=at_least)
    if not path.is_file():
        raise FileNotFoundError(path)
    beginning = _beginning(path)
    shown = beginning if title is None else f"{title}\n\n{beginning}" if beginning else title
    return draw_card(shown or path.stem, sound=is_sound(path.name))


def kind_of_files(names: Collection[str]) -> str:
    """`sounds` where all files are, `files` where no file is a picture, otherwise `pictures`."""
    if names and all(map(is_sound, names)):
        return "sounds"
    return "files" if names and all(is_no_picture(Path(name)) for name in names) else "pictures"


def draw_card(text: str, *, sound: bool = False) -> Image.Image:
    """A square with the text, as much as fits; a sound has a play sign above it."""
    card = Image.new("RGB", (CARD_SIDE, CARD_SIDE), PAPER)
    pen = ImageDraw.Draw(card)
    top = MARGIN
    if sound:
        middle, size = CARD_SIDE // 2, 70
        pen.ellipse((middle - size, top, middle + size, top + 2 * size), fill=ACCENT)
        corners = [(middle - 22, top + size - 36), (middle - 22, top + size + 36), (middle + 40, top + size)]
        pen.polygon(corners, fill=PAPER)
        top += 2 * size + MARGIN
    font = ImageFont.load_default(size=24)
    lines = [line for part in text.splitlines() for line in textwrap.wrap(part, LETTERS) or [""]]
    room = LINES - (6 if sound else 0)
    if len(lines) > room:
        lines = [*lines[: room - 1], lines[room - 1][: LETTERS - 2] + " …"]
    for place, line in enumerate(lines):
        pen.text((MARGIN, top + place * 30), line, fill=INK, font=font)
    return card


def _beginning(path: Path) -> str:
    """The first lines of a text; empty for anything else."""
    if path.suffix.lower() not in TEXT_ENDINGS:
        return ""
    with path.open("rb") as file:
        return file.read(MAX_TEXT_BYTES).decode("utf-8", errors="replace").strip()
