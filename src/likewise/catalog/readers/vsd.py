"""VSD-Fashion, the benchmark of visual similarity discovery: the JSON files of its four tasks, known by content.

    metadata    {"images": [{"id", "path", "phase", "bbox"?, "category"?, "color"?}]}
    manifest    {"images": [{"path"}]}                 the pictures of a task that has a train and a test part
    seeds       {"seeds": [path]}                      the queries
    tags        [{"key": [seed, candidate], "value": 0|1}]
    examples    [{"query", "gallery", "value", "rank_<model>", "sim_<model>", …}]

Any of the objects may carry `gallery_phases` (the wild task does): only pictures of these phases are candidates.
`bbox` is `[x, y, h, w]` in the benchmark's description and `{x1, y1, x2, y2}` in its code; both become x1, y1, x2, y2
in pixels. A file belongs to the task whose name its path contains, and to the train or test part that its name
mentions. Metadata that several tasks share may lie in a folder above theirs. Without metadata the rows are the
pictures that the labels name. `domain` is wild for customers' photos (`comsumer_01.jpg`), else shop; in the wild task
only shop pictures are candidates, also where no file says so.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog.readers.locations import choose_root, find_files, folder_of
from likewise.catalog.readers.parsing import (
    AnnotationParser,
    box_from_size,
    parse_flag,
    parse_key,
    parse_number,
    parse_text,
    read_json,
    to_table,
)
from likewise.catalog.readers.reading import BOX_COLUMNS, Reading
from likewise.errors import LikewiseError

TASKS = (
    "in_catalog_retrieval_zero_shot",
    "in_catalog_open_catalog",
    "in_catalog_closed_catalog",
    "consumer-catalog_wild_zero_shot",
)
WILD = TASKS[3]
LEVELS_ABOVE = 2
IMAGE_SCHEMA = {
    "row": pl.Int64,
    **dict.fromkeys(("image", "item", "category", "color", "split"), pl.String),
    **dict.fromkeys(BOX_COLUMNS, pl.Float64),
}
LABEL_SCHEMA = {"query": pl.String, "candidate": pl.String, "label": pl.Int8, "split": pl.String, "task": pl.String}
QUERY_SCHEMA = dict.fromkeys(("image", "split", "task"), pl.String)


@dataclass
class VsdContent:
    """What the files of a folder say, as they are read one after the other."""

    images: list[tuple[Any, ...]] = field(default_factory=list)
    seeds: list[tuple[str, str | None, str | None]] = field(default_factory=list)
    manifest: set[str] = field(default_factory=set)
    labels: list[pl.DataFrame] = field(default_factory=list)
    gallery_phases: set[str] = field(default_factory=set)
    tasks: set[str] = field(default_factory=set)


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per picture with item, category, phase as split, box, is_query and is_gallery; labels and queries."""
    parser, found = AnnotationParser(folder_of(path)), VsdContent()
    for file in find_files(path, ("*.json",), "one of VSD-Fashion's tasks"):
        _add_file(file, found, parser)
    if not found.images:
        for file in _shared_metadata(path):
            _add_file(file, found, parser)
    labels = pl.concat(found.labels, how="diagonal") if found.labels else to_table([], LABEL_SCHEMA)
    if not found.images and labels.is_empty():
        raise LikewiseError(f"{path} is not VSD-Fashion: none of its JSON files holds images, seeds or tags.")
    if len(found.tasks) > 1:
        parser.add_remark(
            "several tasks: is_query and is_gallery are those of all together; give one task's folder for its own"
        )
    queries = to_table(found.seeds, QUERY_SCHEMA) if found.seeds else _queries_of(labels)
    numbered = ((n, *values) for n, values in enumerate(found.images, 1))
    rows = to_table(numbered, IMAGE_SCHEMA) if found.images else _with_names_from_paths(labels)
    rows = _with_roles(rows.unique("image", keep="first", maintain_order=True), queries, found)
    base = choose_root(rows["image"], path, root, ("datasets", "..", "../datasets", "../..", "../../datasets"))
    return parser.to_reading(rows, base, {"queries": queries.unique(maintain_order=True), "labels": labels})


def _shared_metadata(path: Path) -> list[Path]:
    """Metadata in the nearest folder above a task's that has any; a folder of no task has none above."""
    if _task(path) is None:
        return []
    for folder in list(folder_of(path).resolve().parents)[:LEVELS_ABOVE]:
        found = [file for file in sorted(folder.glob("*.json")) if _is_metadata(file)]
        if found:
            return found
    return []


def _is_metadata(file: Path) -> bool:
    """Files above a task's folder may be anybody's."""
    try:
        return _kind(read_json(file)) == "metadata"
    except LikewiseError:
        return False


def _add_file(file: Path, found: VsdContent, parser: AnnotationParser) -> None:
    """Add one file's content; a file that holds something else is passed over."""
    content, task, part = read_json(file), _task(file), _part(file)
    kind = _kind(content)
    if kind and task:
        found.tasks.add(task)
    if isinstance(content, dict):
        listed = content.get("gallery_phases") or []
        phases = list(enumerate(listed, 1)) if isinstance(listed, list) else [(1, None)]
        found.gallery_phases |= {
            name for _, name in parser.parse_each(file, "phase", phases, parse_text, "a name", counted=False)
        }
    if kind == "metadata":
        images = parser.parse_entries(
            file, _image, "an image with id, path and phase", inside="images", content=content
        )
        found.images += [values for _, values in images]
    elif kind == "manifest" and part != "train":
        listed_images = parser.parse_entries(file, _path, "an image with a path", inside="images", content=content)
        found.manifest |= {key for _, key in listed_images}
    elif kind == "seeds":
        seeds = parser.parse_entries(file, parse_key, "a path", inside="seeds", content=content)
        found.seeds += [(key, part, task) for _, key in seeds]
    elif kind == "tags":
        tags = parser.parse_entries(file, _tag, '{"key": [seed, candidate], "value": 0|1}', content=content)
        found.labels.append(to_table(((*values, part, task) for _, values in tags), LABEL_SCHEMA))
    elif kind == "examples":
        found.labels.append(_examples(file, parser))


def _kind(content: Any) -> str | None:
    if isinstance(content, dict) and isinstance(content.get("images"), list):
        full = any(isinstance(entry, dict) and "phase" in entry for entry in content["images"])
        return "metadata" if full else "manifest"
    if isinstance(content, dict) and "seeds" in content:
        return "seeds"
    if isinstance(content, list) and any(isinstance(entry, dict) and "key" in entry for entry in content):
        return "tags"
    if isinstance(content, list) and any(
        isinstance(entry, dict) and {"query", "gallery"} <= entry.keys() for entry in content
    ):
        return "examples"
    return None


def _task(file: Path) -> str | None:
    return next((task for task in TASKS if task in file.as_posix()), None)


def _part(file: Path) -> str | None:
    return next((part for part in re.findall(r"train|test", file.stem.lower())), None)


def _image(entry: dict[str, Any]) -> tuple[Any, ...]:
    named = (entry.get(name) for name in ("category", "color"))
    described = (parse_text(value) if value else None for value in named)
    return (_path(entry), parse_text(entry["id"]), *described, parse_text(entry["phase"]), *_box(entry.get("bbox")))


def _box(box: Any) -> tuple[float | None, ...]:
    """In either spelling; an empty box is none, so that its picture stays."""
    if isinstance(box, dict):
        edges = tuple(parse_number(box[corner]) for corner in BOX_COLUMNS)
    elif box:
        x, y, height, width = box
        edges = box_from_size(x, y, width, height)
    else:
        edges = ()
    empty = not edges or edges[2] <= edges[0] or edges[3] <= edges[1]
    return (None,) * len(BOX_COLUMNS) if empty else edges


def _path(entry: dict[str, Any]) -> str:
    return parse_key(entry["path"])


def _tag(entry: dict[str, Any]) -> tuple[str, str, int]:
    query, candidate = entry["key"]
    return parse_key(query), parse_key(candidate), int(parse_flag(entry["value"]))


def _examples(file: Path, parser: AnnotationParser) -> pl.DataFrame:
    """Labelled pairs with the rank (zero-based) and similarity that some models gave them."""

    def parse(entry: dict[str, Any]) -> dict[str, Any]:
        scores = {name: float(value) for name, value in entry.items() if name.startswith(("rank_", "sim_"))}
        pair = {"query": parse_key(entry["query"]), "candidate": parse_key(entry["gallery"])}
        return {**pair, "label": int(parse_flag(entry["value"])), **scores}

    found = parser.parse_entries(file, parse, "an object with query, gallery and value")
    pairs = pl.from_dicts([values for _, values in found], infer_schema_length=None)
    return pairs.drop("rank_std", strict=False).with_columns(
        pl.col("label").cast(pl.Int8),
        pl.col(r"^rank_.*$").cast(pl.Int64),
        pl.lit(f"{file.parent.name}/{file.stem}").alias("source"),
    )


def _queries_of(labels: pl.DataFrame) -> pl.DataFrame:
    names = [name for name in QUERY_SCHEMA if name in labels.columns]
    return labels.select(pl.col("query").alias("image"), *names).unique(maintain_order=True)


def _with_names_from_paths(labels: pl.DataFrame) -> pl.DataFrame:
    """DeepFashion's paths tell item and category: img/WOMEN/Dresses/id_00000002/02_1_front.jpg."""
    images = pl.concat([labels["query"], labels["candidate"]]).unique(maintain_order=True)
    rows = []
    for n, image in enumerate(images, 1):
        found = re.search(r"([^/]+)/(id_\d+)/[^/]+$", image)
        item = "/".join(image.split("/")[:-1]) if found else None  # both benchmarks count their ids from 1
        rows.append((n, image, item, found[1] if found else None, None, None, *(None,) * len(BOX_COLUMNS)))
    return to_table(rows, IMAGE_SCHEMA).drop(*BOX_COLUMNS, "color", "split")


def _with_roles(rows: pl.DataFrame, queries: pl.DataFrame, found: VsdContent) -> pl.DataFrame:
    """Queries are the seeds that are not of the training part; candidates the manifest's pictures of gallery phases."""
    asked = queries.filter(pl.col("split").ne_missing("train")) if "split" in queries.columns else queries
    taken_by_customer = pl.col("image").str.contains(r"co[mn]sumer_[^/]*$")
    rows = rows.with_columns(pl.when(taken_by_customer).then(pl.lit("wild")).otherwise(pl.lit("shop")).alias("domain"))
    candidate = pl.col("image").is_in(list(found.manifest)) if found.manifest else pl.lit(True)
    if found.gallery_phases and "split" in rows.columns:
        candidate &= pl.col("split").is_in(list(found.gallery_phases))
    elif found.tasks == {WILD}:
        candidate &= pl.col("domain") == "shop"
    return rows.with_columns(
        pl.col("image").is_in(asked["image"].to_list()).alias("is_query"), candidate.alias("is_gallery")
    )
