"""A Hugging Face data set on disk: the folder of `save_to_disk`, or Parquet files as the hub stores them.

    dataset_dict.json                 {"splits": ["train", "test"]}, only when there are several
    train/state.json                  {"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_split": …}
    train/dataset_info.json           {"features": {"image": {"_type": "Image"}, "label": {"names": […]}}}
    train/data-00000-of-00001.arrow   Arrow stream, one column per feature, pictures as {bytes, path}

Pictures kept as bytes are written to `root` as `<split>/<row>.<ending>`; those kept as a path stay where they are.
A column of class labels becomes its names; the first such column is the category, unless one is called `category`.
"""

from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.notes import Notes, read_json
from likewise.catalog.readers.pictures import relative_keys, write_picture
from likewise.catalog.readers.reading import Reading, SourceFile
from likewise.errors import LikewiseError


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per picture, with every column that a Parquet file of plain values can hold."""
    notes = Notes(path)
    parts: list[pl.DataFrame] = []
    for split, files, features in _splits(path):
        n_rows = 0
        for file in files:
            part = pl.read_ipc_stream(file) if file.suffix == ".arrow" else pl.read_parquet(file)
            notes.files.append(SourceFile(notes.name(file), len(part)))
            parts.append(_part(part, split, features, n_rows, file, root, notes))
            n_rows += len(part)
    rows = pl.concat(parts, how="diagonal_relaxed")
    rows = rows.with_columns(pl.int_range(1, len(rows) + 1, dtype=pl.Int64).alias("row"))
    keys, common = relative_keys(rows["image"].to_list(), root)
    rows = rows.with_columns(pl.Series("image", keys, pl.String))
    return notes.reading(rows.select("row", "image", pl.exclude("row", "image")), common or root or path)


def _splits(path: Path) -> list[tuple[str | None, list[Path], dict[str, Any]]]:
    """(split, data files, features) for each part of the data set."""
    if (path / "dataset_dict.json").is_file():
        names = [str(name) for name in read_json(path / "dataset_dict.json").get("splits", [])]
        return [(name, *_saved(path / name)) for name in names]
    if (path / "state.json").is_file():
        split = read_json(path / "state.json").get("_split")
        return [(split, *_saved(path))]
    parquet = [path] if path.suffix == ".parquet" else sorted(path.rglob("*.parquet"))
    if not parquet:
        raise LikewiseError(
            f"{path} holds neither state.json nor dataset_dict.json nor Parquet files: "
            "give a folder written by `datasets.save_to_disk`."
        )
    by_split: dict[str, list[Path]] = {}
    for file in parquet:  # the hub names them train-00000-of-00002.parquet
        by_split.setdefault(file.stem.split("-")[0], []).append(file)
    return [(split, files, {}) for split, files in by_split.items()]


def _saved(folder: Path) -> tuple[list[Path], dict[str, Any]]:
    files = [folder / str(file["filename"]) for file in read_json(folder / "state.json")["_data_files"]]
    if absent := [file for file in files if not file.is_file()]:
        raise LikewiseError(f"{folder / 'state.json'} names {absent[0].name}, which is not there: copy it again.")
    info = folder / "dataset_info.json"
    return files, (read_json(info).get("features") or {}) if info.is_file() else {}


def _part(
    part: pl.DataFrame,
    split: str | None,
    features: dict[str, Any],
    n_before: int,
    file: Path,
    root: Path | None,
    notes: Notes,
) -> pl.DataFrame:
    """The rows of one file: pictures written or pointed to, labels by name, the rest as it is."""
    column = _image_column(part, features, file)

    def fits(picture: dict[str, Any]) -> tuple[bytes | None, str]:
        if not picture.get("bytes") and not picture.get("path"):
            raise ValueError("no picture")
        return picture.get("bytes"), str(picture.get("path") or "")

    numbered = list(enumerate(part[column].to_list(), n_before + 1))
    pictures = notes.each(file, "row", numbered, fits, "a picture as bytes or path", counted=False)
    keys = [
        path if content is None else write_picture(content, path, root, split or "images", number)
        for number, (content, path) in pictures
    ]
    kept = part.with_row_index("row", offset=n_before + 1).filter(pl.col("row").is_in([n for n, _ in pictures]))
    plain = [c for c in kept.columns if c != column and not _holds_bytes(kept.schema[c])]
    rows = kept.select(plain).with_columns(
        pl.Series("image", keys, pl.String), pl.lit(split, pl.String).alias("split" if "split" not in plain else "part")
    )
    return _with_label_names(rows, features)


def _image_column(part: pl.DataFrame, features: dict[str, Any], file: Path) -> str:
    typed = [
        name for name, feature in features.items() if isinstance(feature, dict) and feature.get("_type") == "Image"
    ]
    structs = [
        name
        for name, dtype in part.schema.items()
        if isinstance(dtype, pl.Struct) and {"bytes", "path"} <= {field.name for field in dtype.fields}
    ]
    found = [name for name in (*typed, *structs) if name in part.columns]
    if not found:
        raise LikewiseError(f"{file} has no column of pictures (it has: {', '.join(part.columns)}).")
    return found[0]


def _holds_bytes(dtype: pl.DataType) -> bool:
    return dtype == pl.Binary or (isinstance(dtype, pl.Struct) and any(_holds_bytes(f.dtype) for f in dtype.fields))  # type: ignore[arg-type]


def _with_label_names(rows: pl.DataFrame, features: dict[str, Any]) -> pl.DataFrame:
    labels = {
        name: feature["names"]
        for name, feature in features.items()
        if isinstance(feature, dict) and feature.get("names") and name in rows.columns
    }
    for name, names in labels.items():
        rows = rows.with_columns(
            pl.col(name).replace_strict(dict(enumerate(names)), default=None, return_dtype=pl.String)
        )
    if labels and "category" not in rows.columns:
        rows = rows.with_columns(pl.col(next(iter(labels))).alias("category"))
    return rows
