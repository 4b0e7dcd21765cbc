"""A Hugging Face data set on disk: the folder of `save_to_disk`, or Parquet files as the hub stores them.

    dataset_dict.json                 {"splits": ["train", "test"]}, only when there are several
    train/state.json                  {"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_split": …}
    train/dataset_info.json           {"features": {"image": {"_type": "Image"}, "label": {"names": […]}}}
    train/data-00000-of-00001.arrow   Arrow stream, one column per feature, pictures as {bytes, path}

Pictures kept as bytes are written to `root` as `<split>/<row>.<ending>`; those kept as a path stay where they are.
A column of class labels becomes its names; `label`, or the first such column, is the category, unless one is
called `category`.
"""

from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.embedded_images import relative_keys, write_image
from likewise.catalog.readers.locations import folder_of
from likewise.catalog.readers.parsing import PARSE_ERRORS, AnnotationParser, read_json
from likewise.catalog.readers.reading import MalformedLine, Reading, SourceFile
from likewise.catalog.readers.table import with_numbers
from likewise.errors import LikewiseError
from likewise.untrusted import read_untrusted_parquet

IMAGES_PER_BATCH = 256


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per picture, with every column that a Parquet file of plain values can hold."""
    base = folder_of(path).absolute()
    parser = AnnotationParser(base)
    parts: list[pl.DataFrame] = []
    for split, files, features in _splits(path):
        n_rows = 0
        for file in files:
            part = _load(file)
            parser.files.append(SourceFile(parser.name(file), len(part)))
            parts.append(_part(part, split, features, n_rows, file, (base, root), parser))
            n_rows += len(part)
    if not parts:
        raise LikewiseError(f"{path} lists no data files: copy the folder again.")
    rows = pl.concat(parts, how="diagonal_relaxed")
    rows = rows.with_columns(pl.int_range(1, len(rows) + 1, dtype=pl.Int64).alias("row"))
    keys, shared = relative_keys(rows["image"].to_list(), root or base)
    rows = rows.with_columns(pl.Series("image", keys, pl.String))
    return parser.to_reading(rows.select("row", "image", pl.exclude("row", "image")), shared)


def _splits(path: Path) -> list[tuple[str | None, list[Path], dict[str, Any]]]:
    """(split, data files, features) for each part of the data set."""
    if (path / "dataset_dict.json").is_file():
        content = read_json(path / "dataset_dict.json")
        names = content.get("splits") if isinstance(content, dict) else None
        if not isinstance(names, list) or not names:
            raise LikewiseError(f"{path / 'dataset_dict.json'} is not of this layout: it lists no `splits`.")
        return [(str(name), *_saved(path / str(name))) for name in names]
    if (path / "state.json").is_file():
        files, features = _saved(path)
        split = read_json(path / "state.json").get("_split")
        return [(str(split) if split else None, files, features)]
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


def _load(file: Path) -> pl.DataFrame:
    if file.suffix != ".arrow":
        return read_untrusted_parquet(file, str(file))
    try:
        return pl.read_ipc_stream(file)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise LikewiseError(f"{file} cannot be read ({str(error).splitlines()[0]}): copy it again.") from error


def _saved(folder: Path) -> tuple[list[Path], dict[str, Any]]:
    try:
        files = [folder / str(file["filename"]) for file in read_json(folder / "state.json")["_data_files"]]
    except PARSE_ERRORS as error:
        raise LikewiseError(f"{folder / 'state.json'} is not of this layout: it lists no `_data_files`.") from error
    if absent := [file for file in files if not file.is_file()]:
        raise LikewiseError(f"{folder / 'state.json'} names {absent[0].name}, which is not there: copy it again.")
    info = read_json(folder / "dataset_info.json") if (folder / "dataset_info.json").is_file() else {}
    features = info.get("features") if isinstance(info, dict) else {}
    return files, features if isinstance(features, dict) else {}


def _part(
    part: pl.DataFrame,
    split: str | None,
    features: dict[str, Any],
    n_before: int,
    file: Path,
    places: tuple[Path, Path | None],
    parser: AnnotationParser,
) -> pl.DataFrame:
    """The rows of one file: pictures written or pointed to, labels by name, the rest as it is."""
    column = _image_column(part, features, file)
    base, root = places
    keys: list[tuple[int, str]] = []
    values = (value for piece in part.iter_slices(IMAGES_PER_BATCH) for value in piece[column].to_list())
    for number, value in enumerate(values, n_before + 1):
        content, path = (value["bytes"], value["path"] or "") if value else (None, "")
        if content:
            keys.append((number, write_image(content, path, root, split or "images", number)))
        elif path:
            keys.append((number, str(base / path if root is None or (base / path).is_file() else root / path)))
        else:
            parser.malformed.append(
                MalformedLine(parser.name(file), number, "row", "a picture as bytes or path", "none")
            )
    kept = with_numbers(part, n_before).drop(column).filter(pl.col("row").is_in([n for n, _ in keys]))
    if "image" in kept.columns:
        kept = kept.rename({"image": "image_in_source"})
    rows = kept.select(name for name, dtype in kept.schema.items() if not _holds_bytes(dtype)).with_columns(
        pl.Series("image", [key for _, key in keys], pl.String),
        pl.lit(split, pl.String).alias("split" if "split" not in kept.columns else "part"),
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
        rows = rows.with_columns(pl.col("label" if "label" in labels else next(iter(labels))).alias("category"))
    return rows
