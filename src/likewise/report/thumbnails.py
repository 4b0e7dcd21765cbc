"""Thumbnails: every picture is embedded once, as an SVG symbol that the page uses wherever it is shown."""

import base64
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import polars as pl

from likewise.catalog.file_cards import load_shown, read_titles
from likewise.progress import ProgressCallback

MAX_SIDE_PIXELS = 136
QUALITY = 80
MISSING = "p-missing"
THREADS = 2  # decoding releases the interpreter's lock


@dataclass(frozen=True)
class ThumbnailSymbol:
    """One embedded thumbnail."""

    id: str
    width: int
    height: int
    data: str


class EmbeddedThumbnails:
    """Hands out a symbol's id for every picture that the page shows, and embeds them all at the end."""

    def __init__(self, root: Path, catalog: pl.DataFrame, max_side_pixels: int = MAX_SIDE_PIXELS) -> None:
        self._root = root
        self._max_side_pixels = max_side_pixels
        self._category = dict(catalog.select("image", "category").iter_rows())
        self._titles = read_titles(catalog)
        self._ids: dict[str, str] = {}
        self._symbols: dict[str, ThumbnailSymbol | None] = {}

    def add(self, image: str) -> None:
        self._ids.setdefault(image, f"p{len(self._ids)}")

    @property
    def n_images(self) -> int:
        return len(self._ids)

    def embed(self, on_progress: ProgressCallback | None = None) -> None:
        """Decode and shrink everything added so far."""
        with ThreadPoolExecutor(THREADS) as pool:
            shrunk = pool.map(self._shrink, self._ids)
            for done, (image, made) in enumerate(zip(self._ids, shrunk, strict=True), start=1):
                self._symbols[image] = None if made is None else ThumbnailSymbol(self._ids[image], *made)
                if on_progress:
                    on_progress("thumbnails", done, len(self._ids))

    def _shrink(self, image: str) -> tuple[int, int, str] | None:
        return _shrink(self._root / image, self._max_side_pixels, self._titles.get(image))

    @property
    def symbols(self) -> list[ThumbnailSymbol]:
        return [symbol for symbol in self._symbols.values() if symbol is not None]

    @property
    def n_missing(self) -> int:
        return sum(symbol is None for symbol in self._symbols.values())

    def symbol_id(self, image: str) -> str:
        """The symbol to use for an image; the placeholder's where it could not be read."""
        symbol = self._symbols.get(image)
        return MISSING if symbol is None else symbol.id

    def alt(self, image: str) -> str:
        """Words for those who do not see the picture."""
        category = self._category.get(image)
        missing = ", picture missing" if self.symbol_id(image) == MISSING else ""
        return f"{image} ({category}){missing}" if category else f"{image}{missing}"

    def category(self, image: str) -> str | None:
        return self._category.get(image)


def _shrink(path: Path, max_side_pixels: int, title: str | None) -> tuple[int, int, str] | None:
    """Width, height and JPEG in base64, or None for a picture that cannot be read any more."""
    try:
        picture = load_shown(path, title, max_side_pixels)
        picture.thumbnail((max_side_pixels, max_side_pixels))
    except Exception:  # Pillow's plugins raise nearly anything on damaged files
        return None
    file = BytesIO()
    picture.save(file, "JPEG", quality=QUALITY, optimize=True)
    return picture.width, picture.height, base64.b64encode(file.getvalue()).decode("ascii")
