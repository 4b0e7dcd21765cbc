"""The list of layouts: what each reader expects to be given, and which tables it gives beside the catalog's rows."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """One reader, for people who choose one."""

    expects: str
    tables: tuple[str, ...] = ()
    writes_pictures: bool = False
    """Pictures come inside the files and are written to `root` (in a workspace: its folder `images`)."""


LAYOUTS = {
    "folder": Layout("a folder of pictures; its first level of sub-folders are the categories"),
    "table": Layout("a CSV, TSV, Parquet or JSONL file with a column `image`, paths relative to the file or to --root"),
    "triplets": Layout("a folder with catalog.csv and triplets.csv, or such a triplets file", ("triplets",)),
    "oml": Layout("open-metric-learning's CSV: label, path, split, is_query, is_gallery", ("queries",)),
    "hf": Layout(
        "a folder written by Hugging Face `datasets` (save_to_disk), or Parquet files from the hub",
        writes_pictures=True,
    ),
    "inshop": Layout("DeepFashion In-shop: Eval/list_eval_partition.txt, Anno/list_bbox_inshop.txt", ("queries",)),
    "consumer2shop": Layout("DeepFashion Consumer-to-shop: Eval/list_eval_partition.txt", ("queries", "pairs")),
    "vsd": Layout("VSD-Fashion: the JSON files of one of its four tasks, or of several", ("queries", "labels")),
    "cub": Layout("CUB-200-2011: images.txt and its companions, or class folders"),
    "cars": Layout("Cars196: cars_annos.mat, devkit/*.mat, or class folders"),
    "sop": Layout("Stanford Online Products: Ebay_train.txt, Ebay_test.txt"),
    "zappos": Layout("UT-Zappos50K: meta-data.csv; filenames.json and tripletlists/ of CSN", ("triplets",)),
    "coco_panoptic": Layout("COCO panoptic: annotations/panoptic_*.json", ("objects",)),
    "vaw": Layout("Visual Attributes in the Wild: train_part*.json, val.json, test.json", ("objects", "attributes")),
    "genecis": Layout("GeneCIS: {focus,change}_{object,attribute}.json", ("templates", "candidates")),
    "cirr": Layout("CIRR: cap.rc2.*.json and split.rc2.*.json", ("templates",)),
    "fashioniq": Layout("FashionIQ: cap.*.json and split.*.json", ("templates",)),
    "mit_states": Layout("MIT-States: images/<adjective> <noun>/*.jpg", ("queries",)),
    "cc3m": Layout("Conceptual Captions: lines `caption<TAB>url`, no pictures", ("captions",)),
    "sbu": Layout("SBU captions: JSON with image_urls and captions, no pictures", ("captions",)),
    "maryland": Layout(
        "Maryland Polyvore: *_no_dup.json, fill_in_blank_test.json, fashion_compatibility_prediction.txt",
        ("outfits", "questions", "compatibility"),
    ),
    "polyvore_outfits": Layout(
        "Polyvore Outfits: train/valid/test.json, fill_in_blank_*.json, compatibility_*.txt",
        ("outfits", "questions", "compatibility"),
    ),
    "polyvore630": Layout(
        "Polyvore-630, -519, -53, -32: image_list_*, tuples_*, fill_in_blank_test",
        ("outfits", "questions", "compatibility"),
    ),
    "fashionvc": Layout("FashionVC: gnd_top_bottom_pairs.csv", ("pairs", "outfits")),
    "outfits": Layout("any table of outfits: columns outfit, item, and position if known", ("outfits",)),
}
