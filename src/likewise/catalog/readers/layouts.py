"""The layouts of data sets: what each reader expects to be given, and which tables it gives beside the rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from likewise.extensions import extensions


@dataclass(frozen=True)
class DatasetLayout:
    """One reader, for people who choose one."""

    expects: str
    tables: tuple[str, ...] = ()
    module: str = ""
    """Where its function `read(path, root)` is; by default in the module of its name, beside the list."""
    writes_pictures: bool = False
    """Pictures come inside the files and are written to `root` (in a workspace: its folder `images`)."""


LAYOUTS = {
    "folder": DatasetLayout("a folder of pictures; its first level of sub-folders are the categories"),
    "table": DatasetLayout(
        "a CSV, TSV, Parquet or JSONL file with a column `image`, paths relative to the file or to --root"
    ),
    "files": DatasetLayout(
        "any files, pictures or not: a folder, or a table with a column `image`; vectors are brought along"
    ),
    "triplets": DatasetLayout("a folder with catalog.csv and triplets.csv, or such a triplets file", ("triplets",)),
    "oml": DatasetLayout("open-metric-learning's CSV: label, path, split, is_query, is_gallery", ("queries",)),
    "hf": DatasetLayout(
        "a folder written by Hugging Face `datasets` (save_to_disk), or Parquet files from the hub",
        writes_pictures=True,
    ),
    "hub": DatasetLayout(
        "a benchmark in MTEB's layout (corpus, queries, qrels), as `bundle benchmark --to hub` writes it",
        ("queries", "labels"),
        writes_pictures=True,
    ),
    "coco": DatasetLayout("COCO detection JSON: images, annotations, categories", ("objects",)),
    "fiftyone": DatasetLayout("a FiftyOne export: samples.json, or labels.json and data/", ("objects",)),
    "inshop": DatasetLayout(
        "DeepFashion In-shop: Eval/list_eval_partition.txt, Anno/list_bbox_inshop.txt", ("queries",)
    ),
    "consumer2shop": DatasetLayout("DeepFashion Consumer-to-shop: Eval/list_eval_partition.txt", ("queries", "pairs")),
    "vsd": DatasetLayout("VSD-Fashion: the JSON files of one of its four tasks, or of several", ("queries", "labels")),
    "cub": DatasetLayout("CUB-200-2011: images.txt and its companions, or class folders"),
    "cars": DatasetLayout("Cars196: cars_annos.mat, devkit/*.mat, or class folders"),
    "sop": DatasetLayout("Stanford Online Products: Ebay_train.txt, Ebay_test.txt"),
    "zappos": DatasetLayout("UT-Zappos50K: meta-data.csv; filenames.json and tripletlists/ of CSN", ("triplets",)),
}


@cache
def layouts() -> dict[str, DatasetLayout]:
    """By the name of the reader: those of the core, then those of installed extensions."""
    found = _beside("likewise.catalog.readers", LAYOUTS)
    for extension in extensions():
        if extension.readers:
            found |= _beside(extension.readers.partition(":")[0], extension.load(extension.readers))
    return found


def _beside(package: str, listed: Mapping[str, DatasetLayout]) -> dict[str, DatasetLayout]:
    return {name: replace(each, module=each.module or f"{package}.{name}") for name, each in listed.items()}
