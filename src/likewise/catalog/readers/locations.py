"""Where the pictures of a data set lie: people unpack archives into folders of their own making."""

import os
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from likewise.catalog.images import IMAGE_ENDINGS
from likewise.catalog.keys import is_usable_name
from likewise.errors import LikewiseError

MAX_KEYS_TRIED = 200


def find_file(path: Path, names: Sequence[str], what: str) -> Path:
    """The first of `names` that exists in the folder `path` (or `path` itself, when it is that file)."""
    if path.is_file():
        return path
    found = next((path / name for name in names if (path / name).is_file()), None)
    if found is None:
        raise LikewiseError(f"{path} holds no {names[0]}: give the folder that {what} was unpacked to.")
    return found


def find_files(path: Path, patterns: Sequence[str], what: str) -> list[Path]:
    """Files below the folder `path` that match, sorted; `path` itself when it is a file."""
    if path.is_file():
        return [path]
    found = sorted({file for pattern in patterns for file in path.rglob(pattern) if file.is_file()})
    if not found:
        raise LikewiseError(f"{path} holds no {' or '.join(patterns)}, also not below: give the folder of {what}.")
    return found


def folder_of(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def choose_root(keys: Iterable[str], path: Path, root: Path | None, below: Sequence[str] = ()) -> Path:
    """`root` when given; else the folder (`path` or one of those `below` it) that holds most of the first keys."""
    if root is not None:
        return root
    base = folder_of(path)
    tried = list(islice(keys, MAX_KEYS_TRIED))
    candidates = [base, *(base / name for name in below)]
    counts = [sum((candidate / key).is_file() for key in tried) for candidate in candidates]
    return candidates[counts.index(max(counts))]


def list_images(folder: Path) -> list[Path]:
    """The pictures in and below a folder whose names can be keys, relative to it and sorted; hidden ones left out."""
    return [picture for picture in walk_images(folder) if is_usable_name(picture)]


def walk_images(folder: Path) -> list[Path]:
    """All pictures in and below a folder, relative to it and sorted; hidden files and folders are passed over."""
    found = []
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if not name.startswith(".") and Path(name).suffix.lower() in IMAGE_ENDINGS:
                found.append(Path(here, name).relative_to(folder))
    return sorted(found)


class ImageFinder:
    """Finds pictures by bare name in a few known folders, each listed only once."""

    def __init__(self, root: Path, folders: Sequence[str], endings: Sequence[str] = ("",)) -> None:
        self.folders, self.endings = folders, endings
        self.listed = {folder: self._list(root / folder) for folder in folders}

    @staticmethod
    def _list(folder: Path) -> set[str]:
        return set(os.listdir(folder)) if folder.is_dir() else set()  # noqa: PTH208 (names only, and many)

    def find_key(self, name: str) -> str:
        """The key of the picture: where it was found, else in the first folder with the first ending."""
        for folder in self.folders:
            for ending in self.endings:
                if f"{name}{ending}" in self.listed[folder]:
                    return _join(folder, f"{name}{ending}")
        return _join(self.folders[0], f"{name}{self.endings[0]}")


def _join(folder: str, name: str) -> str:
    return name if folder in ("", ".") else f"{folder}/{name}"
