"""DeepFashion In-shop Clothes Retrieval: `Eval/list_eval_partition.txt`, pictures below the same folder.

Line 1 is the count, line 2 the header, then `image_name item_id evaluation_status` padded with spaces;
the category is the folder under WOMEN or MEN (`img/WOMEN/Dresses/id_00000002/02_1_front.jpg`).
`Anno/list_bbox_inshop.txt`, where it is there, adds clothes_type, pose_type and the box x1, y1, x2, y2 in pixels.
"""

from pathlib import Path

import polars as pl

from likewise.catalog.readers.deepfashion import HEADER_LINES, PARTITION, with_boxes
from likewise.catalog.readers.locations import choose_root, find_file
from likewise.catalog.readers.parsing import AnnotationParser, parse_key, to_table
from likewise.catalog.readers.reading import Reading

STATUSES = ("train", "query", "gallery")
SCHEMA = {"row": pl.Int64} | dict.fromkeys(("image", "item", "category", "split", "gender"), pl.String)


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per line of the partition file, with item, category, gender and split (train, query, gallery)."""
    file = find_file(path, PARTITION, "In-shop")
    folder = path if path.is_dir() else file.parent
    parser = AnnotationParser(folder)
    lines = parser.parse_lines(file, _parse, f"`image_name item_id {'|'.join(STATUSES)}`", skip=HEADER_LINES)
    rows = to_table(((number, *values) for number, values in lines), SCHEMA)
    rows = with_boxes(rows, folder, "list_bbox_inshop.txt", "pose_type", parser)
    queries = rows.filter(pl.col("split") == "query").select("image", "item")
    return parser.to_reading(rows, choose_root(rows["image"], folder, root, ("Img", "..")), {"queries": queries})


def _parse(line: str) -> tuple[str, str, str | None, str, str | None]:
    image, item, split = line.split()
    if split not in STATUSES:
        raise ValueError(split)
    key = parse_key(image)
    parts = key.split("/")
    gender, category = (parts[1], parts[2]) if len(parts) > 4 else (None, None)
    return key, item, category, split, gender
