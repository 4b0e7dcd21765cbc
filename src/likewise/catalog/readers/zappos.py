"""UT-Zappos50K: pictures by category and brand, `meta-data.csv`, and the triplets of Conditional Similarity Networks.

    ut-zap50k-images(-square)/Boots/Ankle/Bogs Kids/7968714.72.jpg
    ut-zap50k-data/meta-data.csv     CID,Category,SubCategory,HeelHeight,Insole,Closure,Gender,Material,ToeStyle
    filenames.json                   one path a line (not JSON), the first has number 0
    tripletlists/{class,closure,gender,heel}_tripletlist_{train,val,test}.txt

A line of a triplet list is `anchor far close` (in this order: the last looks more like the first); the table has them
as anchor, close, far, with the condition and the split. A picture's CID is its name with `-` for the dot.
"""

import re
from pathlib import Path

import polars as pl

from likewise.catalog.readers.locations import list_images
from likewise.catalog.readers.parsing import AnnotationParser, parse_integer, parse_key, to_table
from likewise.catalog.readers.reading import Reading
from likewise.catalog.readers.table import read_table
from likewise.errors import LikewiseError

PICTURES = ("ut-zap50k-images-square", "ut-zap50k-images", "images", ".")
META = ("ut-zap50k-data/meta-data.csv", "meta-data.csv", "ut-zap50k-images-square/meta-data.csv")
NAMES = {"CID": "item", "Category": "category"}
TRIPLET_SCHEMA = dict.fromkeys(("anchor", "close", "far", "condition", "split"), pl.String)
LIST_NAME = re.compile(r"(?P<condition>.+)_tripletlist_(?P<split>[^_]+)$")


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per picture on disk or named by the files, with CID as item and the shoe's attributes; triplets."""
    parser = AnnotationParser(path)
    base = root or path
    below = next((folder for folder in PICTURES if (base / folder).is_dir()), ".")
    on_disk = [(base / below / picture).relative_to(base).as_posix() for picture in list_images(base / below)]
    meta_file = next((path / name for name in META if (path / name).is_file()), None)
    listed_file = path / "filenames.json"
    if meta_file is None and not listed_file.is_file() and not (on_disk and on_disk[0].count("/") >= 3):
        raise LikewiseError(f"{path} holds neither {META[0]} nor filenames.json: give the folder of UT-Zappos50K.")
    listed = parser.parse_lines(listed_file, parse_key, "a path") if listed_file.is_file() else []
    place = {"/".join(key.split("/")[-4:]): key for key in on_disk}
    named = [place.get("/".join(name.split("/")[-4:]), name) for _, name in listed]
    keys = list(dict.fromkeys([*named, *on_disk]))
    rows = to_table(
        ((n, key, Path(key).stem.replace(".", "-"), *_folders(key)) for n, key in enumerate(keys, 1)),
        {"row": pl.Int64, **dict.fromkeys(("image", "item", "category", "subcategory", "brand"), pl.String)},
    )
    if meta_file is not None:
        rows = _with_meta(rows, meta_file, parser)
    triplets = _triplets(path, named, parser)
    return parser.to_reading(rows, base, {"triplets": triplets})


def _folders(key: str) -> tuple[str | None, ...]:
    parts = key.split("/")
    return tuple(parts[-4:-1]) if len(parts) >= 4 else (None, None, None)


def _with_meta(rows: pl.DataFrame, file: Path, parser: AnnotationParser) -> pl.DataFrame:
    """Attributes by CID; a shoe of the table without a picture is named by what its path would end in."""
    meta = read_table(file, parser)
    if "CID" not in meta.columns:
        raise LikewiseError(f"{file} is not UT-Zappos50K's meta-data.csv: it has no column CID.")
    meta = meta.rename({**NAMES, "SubCategory": "subcategory"}, strict=False).with_columns(
        pl.col("item").cast(pl.String)
    )
    meta = meta.unique("item", keep="first", maintain_order=True)
    further = [column for column in meta.columns if column not in ("category", "subcategory")]
    joined = rows.join(meta.select(further), on="item", how="left", maintain_order="left")
    without = meta.join(rows, on="item", how="anti").with_columns(
        pl.format("{}.jpg", pl.col("item").str.replace("-", ".", literal=True)).alias("image")
    )
    both = pl.concat([joined, without], how="diagonal_relaxed")
    return both.with_columns(pl.int_range(1, len(both) + 1, dtype=pl.Int64).alias("row"))


def _triplets(path: Path, named: list[str], parser: AnnotationParser) -> pl.DataFrame:
    files = sorted((path / "tripletlists").glob("*_tripletlist_*.txt")) or sorted(path.glob("*_tripletlist_*.txt"))
    if files and not named:
        parser.add_remark("filenames.json is not there: the triplet lists cannot be read")
        files = []

    def parse(line: str) -> tuple[str, str, str]:
        anchor, far, close = map(parse_integer, line.split())
        if min(anchor, far, close) < 0:
            raise ValueError(line)
        return named[anchor], named[close], named[far]

    found = []
    for file in files:
        about = LIST_NAME.match(file.stem)
        lines = parser.parse_lines(file, parse, f"`anchor far close`, numbers below {len(named)}")
        found += [(*values, *(about.groups() if about else (None, None))) for _, values in lines]
    return to_table(found, TRIPLET_SCHEMA)
