"""Data sets of outfits: the Polyvore family, FashionVC, POG, and any table of outfits."""

from likewise.catalog.readers.layouts import DatasetLayout

LAYOUTS = {
    "maryland": DatasetLayout(
        "Maryland Polyvore: *_no_dup.json, fill_in_blank_test.json, fashion_compatibility_prediction.txt",
        ("outfits", "questions", "compatibility"),
    ),
    "polyvore_outfits": DatasetLayout(
        "Polyvore Outfits: train/valid/test.json, fill_in_blank_*.json, compatibility_*.txt",
        ("outfits", "questions", "compatibility"),
    ),
    "polyvore630": DatasetLayout(
        "Polyvore-630, -519, -53, -32: image_list_*, tuples_*, fill_in_blank_test",
        ("outfits", "questions", "compatibility"),
    ),
    "fashionvc": DatasetLayout("FashionVC: gnd_top_bottom_pairs.csv", ("pairs", "outfits")),
    "pog": DatasetLayout("POG (Alibaba iFashion): outfit_data.txt, item_data.txt", ("outfits",)),
    "outfits": DatasetLayout("any table of outfits: columns outfit, item, and position if known", ("outfits",)),
}
