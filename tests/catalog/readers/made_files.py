"""Files of made data sets: pictures of one colour, lines with chosen ends, JSON."""

import json
from pathlib import Path
from typing import Any

from PIL import Image

BOM = "\ufeff"


def picture(path: Path, colour: str = "teal", size: tuple[int, int] = (24, 16)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path)


def write(path: Path, *lines: str, end: str = "\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((end.join(lines) + end).encode())


def write_json(path: Path, content: Any, start: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(start + json.dumps(content), encoding="utf-8")
