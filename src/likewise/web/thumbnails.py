"""Small pictures for fast pages: made once, kept in the workspace's `thumbnails` folder."""

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from likewise.catalog import read_catalog
from likewise.catalog.file_cards import SOUND_TYPES, kind_of_files, load_shown, read_titles
from likewise.workspace import WorkspaceFolder, discard_result, write_atomically

MAX_SIDE_PIXELS = 480
SMALL_SIDE_PIXELS = 160
QUALITY = 85
TYPES = {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".jfif": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
    ".gif": "image/gif",
    ".avif": "image/avif",
    **SOUND_TYPES,
}


@dataclass(frozen=True)
class ImageContent:
    """Bytes a browser can show, and the tag by which it knows them again."""

    content: bytes
    media_type: str
    tag: str


class Thumbnails:
    """Pictures of the catalog by key; a key that is not in the catalog is never turned into a path.

    A file that is no picture has a card with its title.
    """

    def __init__(self, workspace: WorkspaceFolder) -> None:
        self.workspace = workspace
        self.folder = workspace.path / "thumbnails"
        self.read_catalog()

    def read_catalog(self) -> None:
        """Know the pictures of the catalog of now."""
        catalog = read_catalog(self.workspace)
        self.root, self.keys, self.titles = self.workspace.root, frozenset(catalog["image"]), read_titles(catalog)
        self.kind = kind_of_files(self.keys)

    def thumbnail(self, key: str, max_side: int = MAX_SIDE_PIXELS) -> ImageContent | None:
        """The picture at most `max_side` pixels long, as JPEG; None if it is gone or cannot be read."""
        original = self._path(key)
        if original is None:
            return None
        tag = _tag(key + self.titles.get(key, ""), original, str(max_side))
        cached = self.folder / tag[:2] / f"{tag}.jpg"
        try:
            return ImageContent(cached.read_bytes(), "image/jpeg", tag)
        except FileNotFoundError:
            pass
        try:
            content = _shrink(original, max_side, self.titles.get(key))
        except (OSError, ValueError):
            return None
        with suppress(OSError):  # a full disk must not hide the picture: it is made again next time
            write_atomically(cached, lambda file: discard_result(file.write(content)))
        return ImageContent(content, "image/jpeg", tag)

    def original(self, key: str) -> ImageContent | None:
        """The picture as it is, where browsers can show its format; otherwise as a full-size JPEG."""
        path = self._path(key)
        if path is None:
            return None
        media_type = TYPES.get(path.suffix.lower())
        try:
            if media_type is None:
                return ImageContent(_shrink(path, None, self.titles.get(key)), "image/jpeg", _tag(key, path, "full"))
            return ImageContent(path.read_bytes(), media_type, _tag(key, path, "full"))
        except (OSError, ValueError):
            return None

    def _path(self, key: str) -> Path | None:
        if key not in self.keys:
            return None
        path = self.root / key
        return path if path.is_file() else None


def _tag(key: str, path: Path, size: str) -> str:
    """Changes when the file does; says nothing about its name."""
    facts = path.stat()
    text = f"{key}\x1f{facts.st_size}\x1f{facts.st_mtime_ns}\x1f{size}"
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _shrink(path: Path, longer_side: int | None, title: str | None = None) -> bytes:
    picture = load_shown(path, title, longer_side)
    if longer_side is not None:
        picture.thumbnail((longer_side, longer_side))
    output = BytesIO()
    picture.save(output, "JPEG", quality=QUALITY, optimize=True)
    return output.getvalue()
