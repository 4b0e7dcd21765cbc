"""Pictures that come inside a table: written out once, under names that say where they stood."""

import os
import re
from pathlib import Path

from likewise.errors import LikewiseError
from likewise.workspace import discard_result, write_atomically

NOT_IN_NAMES = re.compile(r"[^\w-]")  # a split's name cannot lead out of the folder
FILE_SIGNATURES = {
    b"\xff\xd8\xff": ".jpg",
    b"\x89PNG": ".png",
    b"GIF8": ".gif",
    b"RIFF": ".webp",
    b"BM": ".bmp",
    b"II*\x00": ".tif",
    b"MM\x00*": ".tif",
}


def write_image(content: bytes, name: str, root: Path | None, folder: str, number: int) -> str:
    """Write one picture below `root` unless it is already there, and return its absolute path."""
    if root is None:
        raise LikewiseError("the pictures are stored inside the data: say with `root` where to write them.")
    ending = next((e for start, e in FILE_SIGNATURES.items() if content.startswith(start)), Path(name).suffix or ".img")
    file = root.absolute() / NOT_IN_NAMES.sub("_", folder) / f"{number:07d}{ending}"
    if not file.is_file() or file.stat().st_size != len(content) or file.read_bytes() != content:
        write_atomically(file, lambda out: discard_result(out.write(content)))
    return str(file)


def relative_keys(paths: list[str], root: Path) -> tuple[list[str], Path]:
    """Absolute paths as keys relative to `root`, where all lie in it, else to the folder that they share."""
    base = root.absolute() if all(Path(path).is_relative_to(root.absolute()) for path in paths) else None
    base = base or Path(os.path.commonpath([Path(path).parent for path in paths]))
    return [Path(path).relative_to(base).as_posix() for path in paths], base
