"""Thumbnails: every picture is embedded once, as an SVG symbol that the page uses wherever it is shown."""

import base64
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import polars as pl

from likewise.catalog import load_image

SIDE = 136
QUALITY = 80
MISSING = "p-missing"
THREADS = 2  # decoding releases the interpreter's lock


@dataclass(frozen=True)
class Symbol:
    """One embedded thumbnail."""

    id: str
    width: int
    height: int
    data: str


class Album:
    """Hands out a symbol's id for every picture the page wants to show, and embeds them all at the end."""

    def __init__(self, root: Path, catalog: pl.DataFrame) -> None:
        self._root = root
        self._category = dict(catalog.select("image", "category").iter_rows())
        self._wanted: dict[str, str] = {}
        self._symbols: dict[str, Symbol | None] = {}

    def want(self, image: str) -> None:
        self._wanted.setdefault(image, f"p{len(self._wanted)}")

    @property
    def n_wanted(self) -> int:
        return len(self._wanted)

    def embed(self, on_progress: Callable[[int, int], None] | None = None) -> None:
        """Decode and shrink everything wanted so far."""
        with ThreadPoolExecutor(THREADS) as pool:
            shrunk = pool.map(lambda image: _shrink(self._root / image), self._wanted)
            for done, (image, made) in enumerate(zip(self._wanted, shrunk, strict=True), start=1):
                self._symbols[image] = None if made is None else Symbol(self._wanted[image], *made)
                if on_progress:
                    on_progress(done, len(self._wanted))

    @property
    def symbols(self) -> list[Symbol]:
        return [symbol for symbol in self._symbols.values() if symbol is not None]

    @property
    def n_missing(self) -> int:
        return sum(symbol is None for symbol in self._symbols.values())

    def id_of(self, image: str) -> str:
        """The symbol to use for an image; the placeholder's where it could not be read."""
        symbol = self._symbols.get(image)
        return MISSING if symbol is None else symbol.id

    def alt(self, image: str) -> str:
        """Words for those who do not see the picture."""
        category = self._category.get(image)
        missing = ", picture missing" if self.id_of(image) == MISSING else ""
        return f"{image} ({category}){missing}" if category else f"{image}{missing}"

    def category(self, image: str) -> str | None:
        return self._category.get(image)


def _shrink(path: Path) -> tuple[int, int, str] | None:
    """Width, height and JPEG in base64, or None for a picture that cannot be read any more."""
    try:
        picture = load_image(path, at_least=SIDE)
        picture.thumbnail((SIDE, SIDE))
    except Exception:  # Pillow's plugins raise nearly anything on damaged files
        return None
    file = BytesIO()
    picture.save(file, "JPEG", quality=QUALITY, optimize=True)
    return picture.width, picture.height, base64.b64encode(file.getvalue()).decode("ascii")
