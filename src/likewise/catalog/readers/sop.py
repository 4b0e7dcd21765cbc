"""Stanford Online Products: `Ebay_train.txt` and `Ebay_test.txt`, header `image_id class_id super_class_id path`.

A class is one product, so it is the item; the super-class is the category, named by the folder
(`bicycle_final/111085122871_0.JPG` is a bicycle). class_id and super_class_id keep the numbers of the files.
"""

from pathlib import Path

import polars as pl

from likewise.catalog.readers.locations import choose_root
from likewise.catalog.readers.parsing import AnnotationParser, parse_integer, parse_key, to_table
from likewise.catalog.readers.reading import Reading
from likewise.errors import LikewiseError

FILES = {"train": "Ebay_train.txt", "test": "Ebay_test.txt"}
SCHEMA = {
    "row": pl.Int64,
    "image": pl.String,
    "item": pl.String,
    "category": pl.String,
    "split": pl.String,
    "class_id": pl.Int64,
    "super_class_id": pl.Int64,
}


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per picture of both files, `row` its image_id."""
    files = {split: path / name for split, name in FILES.items() if (path / name).is_file()}
    if not files:
        raise LikewiseError(f"{path} holds neither {' nor '.join(FILES.values())}: give the folder of Online Products.")
    parser = AnnotationParser(path)
    rows = []
    for split, file in files.items():
        for _, (number, class_id, super_id, image) in parser.parse_lines(
            file, _parse, "`image_id class_id super_class_id path`", skip=1
        ):
            category = image.split("/")[0].removesuffix("_final") if "/" in image else str(super_id)
            rows.append((number, image, str(class_id), category, split, class_id, super_id))
    for split in FILES.keys() - files.keys():
        parser.add_remark(f"{FILES[split]} is not there: no {split} pictures")
    found = to_table(rows, SCHEMA)
    return parser.to_reading(found, choose_root(found["image"], path, root))


def _parse(line: str) -> tuple[int, int, int, str]:
    number, class_id, super_id, image = line.split(maxsplit=3)
    return parse_integer(number), parse_integer(class_id), parse_integer(super_id), parse_key(image)
