"""Which of the twenty categories a shop's own word for a thing means.

Data sets call things by hundreds of names ("Ankle Booties", "T-Shirt"). A word that is not known here stays unsorted
and is counted: people sort it on the labelling site, or the owner adds it to a mapping.
"""

import re
from collections.abc import Mapping

import polars as pl

from likewise.errors import LikewiseError
from likewise.outfits.rules import CATEGORIES, CATEGORY_INDEX

CATEGORY_WORDS: dict[str, tuple[str, ...]] = {
    "tops": ("top", "t-shirt", "tshirt", "tee", "shirt", "blouse", "sweater", "pullover", "hoodie", "sweatshirt",
             "polo", "tank", "longsleeve", "undershirt", "camisole", "cami", "tunic", "bodysuit", "body",
             "knitwear", "bodie"),
    "skirts": ("skirt",),
    "pants": ("pant", "trouser", "jean", "legging", "sweatpant", "shorts", "short", "bottom"),
    "outwear": ("outerwear", "coat", "jacket", "blazer", "cardigan", "vest", "parka", "cape", "trench", "poncho"),
    "dresses": ("dress", "gown"),
    "jumpsuits": ("jumpsuit", "romper", "playsuit", "overall"),
    "shoes": ("shoe", "boot", "bootie", "sneaker", "sandal", "pump", "heel", "loafer", "flat", "clog", "oxford",
              "espadrille", "trainer", "flip-flop", "slipper"),
    "bags": ("bag", "handbag", "clutch", "tote", "backpack", "purse", "satchel", "wallet"),
    "earrings": ("earring",),
    "necklaces": ("necklace", "pendant", "choker"),
    "rings": ("ring",),
    "bracelets": ("bracelet", "bangle", "anklet"),
    "watches": ("watch",),
    "hats": ("hat", "cap", "beanie", "beret", "fedora"),
    "eyewear": ("sunglasses", "glasses", "eyeglasses", "sunglass"),
    "gloves": ("glove", "mitten"),
    "legwear": ("tights", "sock", "stocking", "hosiery"),
    "neckwear": ("scarf", "tie", "bowtie", "scarves", "shawl", "bandana"),
    "hair wear": ("hair accessory", "headband", "hairband", "tiara", "hair accessories"),
    "brooch": ("brooches", "pin", "badge"),
}  # fmt: skip
EXCLUDED_WORDS = ("lingerie", "swim", "swimsuit", "pyjama", "underwear")
_CATEGORY_BY_WORD = {word: category for category, words in CATEGORY_WORDS.items() for word in (*words, category)}


def map_category(word: str | None, mapping: Mapping[str, str] | None = None) -> str | None:
    """One of the twenty categories, or None: by the mapping, the whole word, or its last part ("Ankle Booties")."""
    if word is None:
        return None
    if mapping and word in mapping:
        return mapping[word]
    name = word.strip().lower().replace("_", " ")
    parts = [name, *reversed(re.split(r"[\s/>,&]+", name))]
    if any(part in EXCLUDED_WORDS for part in parts):
        return None
    for part in parts:
        for form in (part, part.removesuffix("s"), part.removesuffix("es")):
            if form in _CATEGORY_BY_WORD:
                return _CATEGORY_BY_WORD[form]
    return None


def check_mapping(pairs: Mapping[str, str]) -> dict[str, str]:
    """A user's `word=category` pairs, each category one of the twenty."""
    for word, category in pairs.items():
        if category not in CATEGORY_INDEX:
            raise LikewiseError(f"{word}={category}: {category!r} is none of {', '.join(CATEGORIES)}.")
    return dict(pairs)


def categorize_items(
    catalog: pl.DataFrame, mapping: Mapping[str, str] | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One row per item (its first picture) with one of the twenty categories, and what was left out, by word."""
    if "category" not in catalog.columns:
        raise LikewiseError("the catalog has no column category: outfits need one, or sort the images on the site.")
    finest = "fine_category" if "fine_category" in catalog.columns else "category"
    named = catalog.select("item", "image", pl.coalesce(finest, "category").cast(pl.String).alias("category"))
    items = named.sort("image").unique("item", keep="first", maintain_order=True)
    words = items["category"].unique().to_list()
    meaning = pl.DataFrame(
        [(word, map_category(word, mapping)) for word in words],
        schema={"category": pl.String, "sorted": pl.String},
        orient="row",
    )
    joined = items.join(meaning, on="category", how="left", nulls_equal=True, maintain_order="left")
    left_out = joined.filter(pl.col("sorted").is_null()).group_by("category").agg(pl.len().alias("n_items"))
    kept = joined.filter(pl.col("sorted").is_not_null()).select("item", "image", pl.col("sorted").alias("category"))
    return kept.sort("item"), left_out.sort("n_items", "category", descending=[True, False])
