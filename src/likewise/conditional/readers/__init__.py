"""Data sets of composed queries, objects with attributes, and captions to mine."""

from likewise.catalog.readers.layouts import Layout

LAYOUTS = {
    "coco_panoptic": Layout("COCO panoptic: annotations/panoptic_*.json", ("objects",)),
    "vaw": Layout("Visual Attributes in the Wild: train_part*.json, val.json, test.json", ("objects", "attributes")),
    "genecis": Layout("GeneCIS: {focus,change}_{object,attribute}.json", ("templates", "candidates")),
    "cirr": Layout("CIRR: cap.rc2.*.json and split.rc2.*.json", ("templates",)),
    "fashioniq": Layout("FashionIQ: cap.*.json and split.*.json", ("templates",)),
    "mit_states": Layout("MIT-States: images/<adjective> <noun>/*.jpg", ("queries",)),
    "cc3m": Layout("Conceptual Captions: lines `caption<TAB>url`, no pictures", ("captions",)),
    "sbu": Layout("SBU captions: JSON with image_urls and captions, no pictures", ("captions",)),
}
