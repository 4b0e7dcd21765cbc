"""Measurements that take long are kept in `--work`, so that a page can be filled again without them."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from likewise.workspace import read_json, write_json


def measured_once(description: str | None, name: str, measure: Callable[[Path, Path], Any]) -> Any:
    """What `measure(data, work)` found, by `--data FOLDER --work FOLDER`: made once, then read from `work/name`."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    asked = parser.parse_args()
    return made_once(asked.work / name, lambda: measure(asked.data, asked.work))


def made_once(file: Path, make: Callable[[], Any]) -> Any:
    """What `make` gave, as JSON: made once, then read from the file."""
    if not file.exists():
        write_json(make(), file)
    return read_json(file)
