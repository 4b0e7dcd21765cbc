"""Data sets of composed queries, objects with attributes, and captions to mine."""

from likewise.catalog.readers.layouts import DatasetLayout

LAYOUTS = {
    "coco_panoptic": DatasetLayout("COCO panoptic: annotations/panoptic_*.json", ("objects",)),
    "vaw": DatasetLayout(
        "Visual Attributes in the Wild: train_part*.json, val.json, test.json", ("objects", "attributes")
    ),
    "genecis": DatasetLayout("GeneCIS: {focus,change}_{object,attribute}.json", ("templates", "candidates")),
    "cirr": DatasetLayout("CIRR: cap.rc2.*.json and split.rc2.*.json", ("templates",)),
    "circo": DatasetLayout("CIRCO: annotations/{val,test}.json and image_info_unlabeled2017.json", ("templates",)),
    "fashioniq": DatasetLayout("FashionIQ: cap.*.json and split.*.json", ("templates",)),
    "mit_states": DatasetLayout("MIT-States: images/<adjective> <noun>/*.jpg", ("queries",)),
    "cc3m": DatasetLayout("Conceptual Captions: lines `caption<TAB>url`, no pictures", ("captions",)),
    "sbu": DatasetLayout("SBU captions: JSON with image_urls and captions, no pictures", ("captions",)),
}
