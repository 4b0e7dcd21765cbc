"""Parts of images as pictures of their own: the attribute tasks ask about one object, cut out with some room around it.

The box grows by `DILATION` of its size, and the cut is padded to a square with black.  `centred` grows it on all sides
alike; `official` does what the published code does and grows it only up and to the left: a box of width and height
100 at (400, 400) gets the corners (330, 330) and (500, 500).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import polars as pl
from PIL import Image

from likewise.catalog.images import load_image, write_picture
from likewise.catalog.make import make_catalog
from likewise.catalog.readers.stored_tables import read_stored_table
from likewise.conditional.protocol import images_of
from likewise.conditional.templates.files import (
    boxes_file,
    read_templates,
    template_settings,
    templates_file,
    write_templates,
)
from likewise.errors import LikewiseError
from likewise.files import finish_writing
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, read_parquet

DILATION = 0.7
CropMode = Literal["centred", "official"]
Box = tuple[float, float, float, float]
Corners = tuple[int, int, int, int]
JPEG_QUALITY = 95
CROPS = "crops"  # the source of a catalog of cut-out pictures


def parse_crop_mode(text: str) -> CropMode:
    """A crop mode by its name."""
    for mode in get_args(CropMode):
        if mode == text:
            found: CropMode = mode
            return found
    raise LikewiseError(f"there is no crop mode {text!r}: use {' or '.join(get_args(CropMode))}.")


def dilate_box(box: Box, size: tuple[int, int], mode: CropMode = "centred") -> Corners:
    """Corners x1, y1, x2, y2 grown by DILATION and kept inside a picture of `size`."""
    x1, y1, x2, y2 = box
    width, height = x2 - x1, y2 - y1
    more_x, more_y = DILATION * width, DILATION * height
    if mode == "official":
        grown = (x1 - more_x, y1 - more_y, x2, y2)
    else:
        grown = (x1 - more_x / 2, y1 - more_y / 2, x2 + more_x / 2, y2 + more_y / 2)
    left, top = max(0, round(grown[0])), max(0, round(grown[1]))
    return left, top, min(size[0], max(left + 1, round(grown[2]))), min(size[1], max(top + 1, round(grown[3])))


def crop_square(picture: Image.Image, box: Box, mode: CropMode = "centred") -> Image.Image:
    """The grown box, padded with black to a square."""
    part = picture.crop(dilate_box(box, picture.size, mode))
    side = max(part.size)
    square = Image.new("RGB", (side, side))
    square.paste(part, ((side - part.width) // 2, (side - part.height) // 2))
    return square


@dataclass(frozen=True)
class CroppedTemplates:
    """A new workspace of cut-out pictures with the templates that name them."""

    n_pictures: int
    n_templates: int
    n_left_out: int


def crop_templates(
    source: WorkspaceFolder,
    target: WorkspaceFolder,
    name: str | None = None,
    *,
    mode: CropMode = "centred",
    on_progress: ProgressCallback | None = None,
) -> CroppedTemplates:
    """Cut every picture that a set of templates names, and make a workspace of them with the same templates."""
    name, templates = read_templates(source, name)
    finish_writing(target.path)
    interrupted = target.settings_file.exists() and not templates_file(target, name).exists()
    if target.settings_file.exists() and not (interrupted and target.settings()["source"] == CROPS):
        raise LikewiseError(f"{target.path} already holds a workspace: choose another folder.")
    templates, boxes = template_crops(source, name, templates)
    rows = []
    root = target.path / "pictures"
    for done, row in enumerate(boxes.iter_rows(named=True)):
        place = root / row["file"]
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists():
            _write(source.root / row["source"], place, row, mode)
        rows.append({"image": row["file"], "item": row["source"]})
        if on_progress and done % 64 == 0:
            on_progress("cutting", done, len(boxes))
    catalog = pl.DataFrame(rows).unique("image", maintain_order=True)
    made = make_catalog(target, catalog, root, CROPS, replace=interrupted)
    write_templates(target, name, templates, template_settings(source, name) | {"crop": mode, "from": str(source.path)})
    return CroppedTemplates(len(made.catalog), len(templates), made.n_left_out)


def _write(source: Path, place: Path, row: dict[str, object], mode: CropMode) -> None:
    try:
        picture = load_image(source)
    except (OSError, ValueError):
        return  # the new catalog says that it is missing
    corners = [row[name] for name in ("x1", "y1", "x2", "y2")]
    if any(corner is None for corner in corners):
        write_picture(picture, place, quality=JPEG_QUALITY)
        return
    x1, y1, x2, y2 = (float(str(corner)) for corner in corners)
    write_picture(crop_square(picture, (x1, y1, x2, y2), mode), place, quality=JPEG_QUALITY)


def template_crops(source: WorkspaceFolder, name: str, templates: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Templates whose images are parts' file names, and those parts: file, source, x1, y1, x2, y2."""
    stored = boxes_file(source, name)
    if stored.exists():
        boxes = read_parquet(stored, f"likewise condition build {source.quoted}")
        wanted = boxes.filter(pl.col("image").is_in(images_of(templates)))
        files = {image: _file(image) for image in wanted["image"]}
        return _renamed(templates, files), wanted.with_columns(pl.col("image").replace_strict(files).alias("file"))
    if templates_file(source, name).exists():
        raise LikewiseError(f"the templates {name} of {source.path} ask about whole images: there is nothing to cut.")
    return _published(templates, read_stored_table(source, "candidates"))


def without_uncropped(source: WorkspaceFolder, name: str, templates: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Templates about whole images, and a sentence for those that ask about parts which are not cut out yet."""
    tasks = templates["task"].unique().sort().to_list()
    if not boxes_file(source, name).exists():
        tasks = _tasks_about_parts(source, name)
    left = templates.filter(~pl.col("task").is_in(tasks))
    n = templates.height - left.height
    if not n:
        return templates, []
    said = (
        f"{n:,} templates of {' and '.join(tasks)} ask about objects that must be cut out of their images: "
        f"run `likewise condition crops {source.quoted} NEW --templates {name}` and evaluate NEW"
    )
    if left.is_empty():
        raise LikewiseError(f"{said}.")
    return left, [f"not measured: {said}."]


def name_by_part(source: WorkspaceFolder, name: str, templates: pl.DataFrame) -> pl.DataFrame:
    """Published templates with each part under a name of its own: two boxes of one picture are two candidates."""
    tasks = _tasks_about_parts(source, name)
    if not tasks:
        return templates
    about_parts = pl.col("task").is_in(tasks)
    parts = _published(templates.filter(about_parts), read_stored_table(source, "candidates"))[0]
    return pl.concat([parts, templates.filter(~about_parts)])


def _tasks_about_parts(source: WorkspaceFolder, name: str) -> list[str]:
    """Tasks of a published set whose pictures are boxes in images."""
    if templates_file(source, name).exists() or not (source.tables_folder / "candidates.parquet").exists():
        return []
    cut = read_stored_table(source, "candidates").filter(pl.col("x1").is_not_null())
    return cut["task"].unique().sort().to_list()


def _published(templates: pl.DataFrame, candidates: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """GeneCIS' own files: the same image may be cut in several ways, so every part gets a name by its box."""
    corners = ["x1", "y1", "x2", "y2"]
    numbers = pl.concat_str([pl.col(name).round(0).cast(pl.Int64).cast(pl.String) for name in corners], separator="-")
    stem = pl.col("image").str.replace(r"\.\w+$", "")
    file = pl.when(pl.col("x1").is_null()).then(stem + ".jpg").otherwise(stem + "/" + numbers + ".jpg")
    parts = candidates.with_columns(file.alias("file")).sort("task", "template", "position", nulls_last=False)
    key = ["task", "template"]
    by_role = {
        role: parts.filter(role=role).select(*key, pl.col("file").alias(role)) for role in ("reference", "target")
    }
    gallery = parts.filter(role="distractor").group_by(*key, maintain_order=True).agg(pl.col("file").alias("gallery"))
    named = templates.drop("reference", "target", "gallery")
    for table in (by_role["reference"], by_role["target"], gallery):
        named = named.join(table, on=key, how="left", maintain_order="left")
    boxes = parts.select("file", pl.col("image").alias("source"), *corners).unique("file", maintain_order=True)
    return named.select(templates.columns), boxes


def _file(key: str) -> str:
    image, _, part = key.rpartition("#")
    return f"{image.rsplit('.', 1)[0]}/{part}.jpg"


def _renamed(templates: pl.DataFrame, files: dict[str, str]) -> pl.DataFrame:
    return templates.with_columns(
        pl.col("reference", "target").replace_strict(files),
        pl.col("gallery").list.eval(pl.element().replace_strict(files)),
    )
