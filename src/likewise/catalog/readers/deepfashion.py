"""What the two DeepFashion retrieval benchmarks share: padded tables with two lines on top, and boxes.

`list_bbox_*.txt`: line 1 the count, line 2 the header, then `image_name clothes_type pose_type|source_type x_1 y_1 x_2
y_2`, in pixels of the picture (left, top, right, bottom). clothes_type: 1 upper body, 2 lower body, 3 full body.
"""

from pathlib import Path

import polars as pl

from likewise.catalog.readers.parsing import AnnotationParser, parse_integer, parse_key, to_table, valid_box

HEADER_LINES = 2
PARTITION = ("Eval/list_eval_partition.txt", "list_eval_partition.txt", "eval/list_eval_partition.txt")


def with_boxes(rows: pl.DataFrame, folder: Path, name: str, kind: str, parser: AnnotationParser) -> pl.DataFrame:
    """Add `clothes_type`, `kind` and x1, y1, x2, y2 where the box file is there; null for a picture without a line."""
    file = next((folder / below / name for below in ("Anno", ".", "anno") if (folder / below / name).is_file()), None)
    if file is None:
        return rows

    def parse(line: str) -> tuple[object, ...]:
        image, clothes_type, of_kind, x1, y1, x2, y2 = line.split()
        box = [parse_integer(edge) for edge in (x1, y1, x2, y2)]
        return parse_key(image), parse_integer(clothes_type), parse_integer(of_kind), *valid_box(box)

    boxes = parser.parse_lines(file, parse, f"`image clothes_type {kind} x1 y1 x2 y2`", skip=HEADER_LINES)
    columns = {"image": pl.String} | dict.fromkeys(("clothes_type", kind, "x1", "y1", "x2", "y2"), pl.Int64)
    found = to_table((values for _, values in boxes), columns).unique("image", keep="first", maintain_order=True)
    return rows.join(found, on="image", how="left", maintain_order="left")
