"""Digests of files: whether weights, vectors or an image are still what they were."""

import hashlib
from pathlib import Path


def file_digest(*paths: Path) -> str:
    """Of the content of files, in the order of their names."""
    digest = hashlib.blake2b(digest_size=12)
    for path in sorted(paths, key=lambda path: path.name):
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def content_digest(path: Path) -> str:
    """Changes whenever the content of a file does; empty where it cannot be opened."""
    try:
        return hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()
    except OSError:
        return ""
