"""Any files: a folder of them, whose first level of sub-folders are the categories, or a table that names them.

They need not be pictures: sounds, texts, molecules. Their vectors are brought along (`likewise encode --import`).
"""

import os
from pathlib import Path

from likewise.catalog.keys import is_usable_name
from likewise.catalog.readers import table
from likewise.catalog.readers.folder import SCHEMA, unusable_names
from likewise.catalog.readers.parsing import AnnotationParser, to_table
from likewise.catalog.readers.reading import Reading
from likewise.errors import LikewiseError


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per file; hidden files and folders are passed over."""
    if path.is_file():
        return table.read(path, root)
    found = []
    for here, folders, names in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(here, name).relative_to(path) for name in names if not name.startswith(".")]
    files = sorted(file for file in found if is_usable_name(file))
    if not files:
        raise LikewiseError(f"{path} holds no files: check the path.")
    categories = (file.parts[0] if len(file.parts) > 1 else None for file in files)
    rows = zip(range(1, len(files) + 1), (file.as_posix() for file in files), categories, strict=True)
    parser = AnnotationParser(path)
    if remark := unusable_names(sorted(found)):
        parser.add_remark(remark)
    return parser.to_reading(to_table(rows, SCHEMA), root or path)
