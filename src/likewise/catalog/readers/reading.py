"""What every reader returns: coverage first, then rows for the catalog and whatever further tables the data set has."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

BOX_COLUMNS = ("x1", "y1", "x2", "y2")
"""A box in pixels of the picture as stored: left, top, right and bottom edge."""


@dataclass(frozen=True)
class MalformedLine:
    """One line (or entry of a JSON list) that does not fit its layout and was left out; from 1, 0 for a file."""

    file: str
    line: int
    unit: str
    expected: str
    found: str

    def __str__(self) -> str:
        where = f"{self.file}, {self.unit} {self.line}" if self.line else f"{self.unit} {self.file}"
        return f"{where}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True)
class SourceFile:
    """One annotation file that was read, with its number of lines or entries (malformed ones included)."""

    file: str
    rows: int


@dataclass(frozen=True)
class Coverage:
    """How much of a data set is really there; a missing picture or a malformed line does not stop a reader."""

    files: tuple[SourceFile, ...] = ()
    found: int = 0
    missing: tuple[str, ...] = ()
    malformed: tuple[MalformedLine, ...] = ()
    remarks: tuple[str, ...] = ()
    root: Path = Path()

    @property
    def rows(self) -> int:
        """Lines and entries in all annotation files."""
        return sum(source.rows for source in self.files)

    @property
    def images(self) -> int:
        """Different pictures that the rows name."""
        return self.found + len(self.missing)

    def counts(self) -> dict[str, int]:
        return {
            "rows": self.rows,
            "images": self.images,
            "found": self.found,
            "missing": len(self.missing),
            "malformed": len(self.malformed),
        }

    def as_dict(self, listed: int = 100) -> dict[str, Any]:
        """For JSON: all counts, and the first `listed` missing pictures and malformed lines."""
        return {
            **self.counts(),
            "root": str(self.root),
            "files": [{"file": source.file, "rows": source.rows} for source in self.files],
            "missing_images": list(self.missing[:listed]),
            "malformed_lines": [str(line) for line in self.malformed[:listed]],
            "remarks": list(self.remarks),
        }


@dataclass(frozen=True)
class Reading:
    """Rows with at least `image` (relative to `root`) and `row` (where in the source it stood), and tables by name."""

    rows: pl.DataFrame
    root: Path
    coverage: Coverage = field(default_factory=Coverage)
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)

    def settings(self, path: Path, root: Path | None, item_pattern: str | None = None) -> dict[str, Any]:
        """What workspace.json notes: what was asked for, so that it can be asked again, and what was found."""
        asked = {"path": str(path.resolve())} | ({} if root is None else {"root": str(root.resolve())})
        asked |= {} if item_pattern is None else {"item_pattern": item_pattern}
        return asked | {"coverage": self.coverage.counts(), "tables": sorted(self.tables)}


def find_missing(keys: Iterable[str], root: Path) -> tuple[int, tuple[str, ...]]:
    """How many different pictures lie under `root`, and the keys of those that do not."""
    different = dict.fromkeys(keys)
    missing = tuple(key for key in different if not os.path.isfile(os.path.join(root, key)))  # noqa: PTH113, PTH118
    return len(different) - len(missing), missing
