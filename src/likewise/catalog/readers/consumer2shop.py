"""DeepFashion Consumer-to-shop Clothes Retrieval: `Eval/list_eval_partition.txt` of pairs.

Line 1 is the count, line 2 the header, then `image_pair_name_1 image_pair_name_2 item_id evaluation_status`: a
customer's photo, the shop's picture of the same item, and train, val or test. Pictures are
`img/DRESSES/Skirt/id_00000001/comsumer_01.jpg` (really spelt so) and `…/shop_01.jpg`.
`Anno/list_bbox_consumer2shop.txt` adds clothes_type, source_type and the box x1, y1, x2, y2 in pixels.

Each picture is one row, `domain` wild (customers) or shop, at its first line. Table `pairs`: `first` is the customer's
photo, `second` the shop's; table `queries`: the customers' photos.
"""

from pathlib import Path

import polars as pl

from likewise.catalog.readers.deepfashion import HEADER_LINES, PARTITION, with_boxes
from likewise.catalog.readers.locations import choose_root, find_file
from likewise.catalog.readers.parsing import AnnotationParser, parse_key, to_table
from likewise.catalog.readers.reading import Reading

STATUSES = ("train", "val", "test")
SCHEMA = {"row": pl.Int64} | dict.fromkeys(("image", "item", "category", "split", "group", "domain"), pl.String)


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per picture, with item, category, group (DRESSES …), split and domain; the pairs as a table."""
    file = find_file(path, PARTITION, "Consumer-to-shop")
    folder = path if path.is_dir() else file.parent
    parser = AnnotationParser(folder)
    lines = parser.parse_lines(
        file, _parse, f"`consumer_image shop_image item_id {'|'.join(STATUSES)}`", skip=HEADER_LINES
    )
    pairs = to_table((values for _, values in lines), dict.fromkeys(("first", "second", "item", "split"), pl.String))
    seen = (
        (number, image, item, _folder(image, 2), split, _folder(image, 1), domain)
        for number, (consumer, shop, item, split) in lines
        for image, domain in ((consumer, "wild"), (shop, "shop"))
    )
    rows = to_table(seen, SCHEMA).unique("image", keep="first", maintain_order=True)
    rows = with_boxes(rows, folder, "list_bbox_consumer2shop.txt", "source_type", parser)
    queries = rows.filter(pl.col("domain") == "wild").select("image", "item", "split")
    return parser.to_reading(
        rows, choose_root(rows["image"], folder, root, ("Img", "..")), {"queries": queries, "pairs": pairs}
    )


def _parse(line: str) -> tuple[str, str, str, str]:
    consumer, shop, item, split = line.split()
    if split not in STATUSES:
        raise ValueError(split)
    return parse_key(consumer), parse_key(shop), item, split


def _folder(image: str, level: int) -> str | None:
    parts = image.split("/")
    return parts[level] if len(parts) > 4 else None
