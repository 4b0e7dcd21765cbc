"""Stanford Cars (Cars196): `cars_annos.mat`, or the development kit's .mat files, or plain class folders.

    cars_annos.mat                     annotations(relative_im_path, bbox_x1, …, class, test), class_names
    devkit/cars_meta.mat               class_names
    devkit/cars_train_annos.mat        annotations(bbox_x1, …, class, fname), pictures in cars_train/
    devkit/cars_test_annos.mat         the same without class; cars_test_annos_withlabels.mat has it

The class is the category; boxes x1, y1, x2, y2 are in pixels; class_id counts from 1 as in the files.
"""

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.class_folders import read_class_folders
from likewise.catalog.readers.locations import choose_root, folder_of
from likewise.catalog.readers.parsing import AnnotationParser, parse_flag, parse_integer, parse_key, to_table, valid_box
from likewise.catalog.readers.reading import BOX_COLUMNS, Reading
from likewise.errors import LikewiseError

SCHEMA = {
    "row": pl.Int64,
    "image": pl.String,
    "category": pl.String,
    "class_id": pl.Int64,
    "split": pl.String,
    **dict.fromkeys(BOX_COLUMNS, pl.Int64),
}
EXPECTED = "a file name, a class and a box of four whole numbers"


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per annotation, with category, class_id, split (train, test) and box."""
    folder = folder_of(path)
    parser = AnnotationParser(folder)
    if (folder / "cars_annos.mat").is_file():
        content = _load(folder / "cars_annos.mat")
        lines = parser.parse_each(
            folder / "cars_annos.mat", "annotation", _numbered(content, folder / "cars_annos.mat"), _parse_all, EXPECTED
        )
        names = _names(content)
    else:
        kit = folder / "devkit" if (folder / "devkit").is_dir() else folder
        if not (kit / "cars_train_annos.mat").is_file():
            return read_class_folders(folder, root, "cars_annos.mat, devkit/cars_train_annos.mat")
        names = _names(_load(kit / "cars_meta.mat")) if (kit / "cars_meta.mat").is_file() else []
        lines = _devkit(folder, kit, parser)
    rows = to_table(
        (
            (n, image, names[c - 1] if c and 0 < c <= len(names) else None, c, split, *box)
            for n, (_, (image, c, split, box)) in enumerate(lines, 1)
        ),
        SCHEMA,
    )
    return parser.to_reading(rows, choose_root(rows["image"], folder, root, ("..",)))


Line = tuple[str, int | None, str, tuple[float, ...]]


def _devkit(folder: Path, kit: Path, parser: AnnotationParser) -> list[tuple[int, Line]]:
    lines: list[tuple[int, Line]] = []
    labelled = "cars_test_annos_withlabels.mat"
    test = next(
        (place / labelled for place in (kit, folder) if (place / labelled).is_file()), kit / "cars_test_annos.mat"
    )
    for split, file in (("train", kit / "cars_train_annos.mat"), ("test", test)):
        if not file.is_file():
            parser.add_remark(f"{file.name} is not there: no {split} pictures")
            continue
        numbered = _numbered(_load(file), file)
        lines += parser.parse_each(file, "annotation", numbered, partial(_parse_kit, split), EXPECTED)
    return lines


def _parse_all(entry: Any) -> Line:
    split = "test" if parse_flag(_value(entry["test"])) else "train"
    return parse_key(str(_value(entry["relative_im_path"]))), parse_integer(_value(entry["class"])), split, _box(entry)


def _parse_kit(split: str, entry: Any) -> Line:
    class_id = parse_integer(_value(entry["class"])) if "class" in (entry.dtype.names or ()) else None
    return f"cars_{split}/{parse_key(str(_value(entry['fname'])))}", class_id, split, _box(entry)


def _box(entry: Any) -> tuple[float, ...]:
    return valid_box([parse_integer(_value(entry[f"bbox_{corner}"])) for corner in BOX_COLUMNS])


def _value(nested: Any) -> Any:
    """The one value inside MATLAB's arrays of arrays."""
    while getattr(nested, "ndim", 0) > 0:
        if nested.size != 1:
            raise ValueError(nested.shape)
        nested = nested.ravel()[0]
    return nested


def _load(file: Path) -> dict[str, Any]:
    from scipy.io import loadmat

    try:
        content: dict[str, Any] = loadmat(file)
    except Exception as error:  # SciPy raises nearly anything on damaged files
        raise LikewiseError(f"{file} is not a MATLAB file that SciPy can read: get it again.") from error
    return content


def _numbered(content: dict[str, Any], file: Path) -> list[tuple[int, Any]]:
    if "annotations" not in content:
        raise LikewiseError(f"{file} is not of this layout: it has no variable `annotations`.")
    return list(enumerate(content["annotations"].ravel(), 1))


def _names(content: dict[str, Any]) -> list[str]:
    return [str(_value(name)) for name in content["class_names"].ravel()] if "class_names" in content else []
