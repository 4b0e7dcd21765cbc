"""Which of the twenty categories a shop's own word for a thing means.

Data sets call things by hundreds of names ("Ankle Booties", "T-Shirt"). A word that is not known here stays unsorted
and is counted: people sort it on the labelling site, or the owner adds it to a mapping.
"""

import re
from collections.abc import Mapping
from itertools import pairwise

import polars as pl

from likewise.errors import LikewiseError
from likewise.outfits.rules import CATEGORIES, CATEGORY_INDEX

CATEGORY_WORDS: dict[str, tuple[str, ...]] = {
    "tops": ("top", "t-shirt", "tshirt", "t shirt", "tee", "shirt", "blouse", "sweater", "pullover", "hoodie", "hoody",
             "sweatshirt", "polo", "tank", "longsleeve", "camisole", "cami", "tunic", "bodysuit", "body", "knitwear",
             "bodie", "jumper", "turtleneck", "henley", "jersey", "corset", "bustier", "kurta", "kurti", "knit",
             "crop top", "tube top", "halter"),
    "skirts": ("skirt", "skort", "miniskirt", "kilt", "lehenga"),
    "pants": ("pant", "trouser", "jean", "legging", "sweatpant", "shorts", "short", "bottom", "jogger", "chino",
              "slack", "cargo", "capri", "culotte", "palazzo", "jegging", "bermuda", "khaki", "corduroy", "denim",
              "salwar", "churidar", "patiala", "trackpant"),
    "outwear": ("outerwear", "coat", "jacket", "blazer", "cardigan", "vest", "parka", "cape", "trench", "poncho",
                "overcoat", "waistcoat", "gilet", "anorak", "windbreaker", "bomber", "kimono", "shrug", "bolero",
                "shacket", "fleece", "puffer", "peacoat", "cloak", "sherwani"),
    "dresses": ("dress", "gown", "saree", "sari", "sundress", "minidress", "abaya", "kaftan", "caftan", "frock"),
    "jumpsuits": ("jumpsuit", "romper", "playsuit", "overall", "dungaree", "onesie", "catsuit", "boilersuit"),
    "shoes": ("shoe", "boot", "bootie", "sneaker", "sandal", "pump", "heel", "loafer", "flat", "clog", "oxford",
              "espadrille", "trainer", "flip-flop", "flip flop", "slipper", "mule", "footwear", "brogue", "moccasin",
              "ballerina", "stiletto", "wedge", "slide", "derby", "slingback", "plimsoll", "mary jane", "platform",
              "ballet flat", "thong sandal", "slip-on", "slip on"),
    "bags": ("bag", "handbag", "clutch", "tote", "backpack", "purse", "satchel", "wallet", "rucksack", "pouch",
             "duffel", "crossbody", "shopper", "hobo", "messenger", "briefcase", "bucket bag", "bumbag",
             "fanny pack", "baguette"),
    "earrings": ("earring", "ear cuff", "hoop", "ear stud"),
    "necklaces": ("necklace", "pendant", "choker", "chain", "locket"),
    "rings": ("ring", "signet"),
    "bracelets": ("bracelet", "bangle", "anklet", "wristband", "cuff"),
    "watches": ("watch", "smartwatch", "wristwatch"),
    "hats": ("hat", "cap", "beanie", "beret", "fedora", "headwear", "bucket hat", "panama", "visor", "turban"),
    "eyewear": ("sunglasses", "glasses", "eyeglasses", "sunglass", "spectacle", "goggle", "shades"),
    "gloves": ("glove", "mitten"),
    "legwear": ("tights", "tight", "sock", "stocking", "hosiery", "pantyhose", "legwarmer", "leg warmer"),
    "neckwear": ("scarf", "tie", "bowtie", "scarves", "shawl", "bandana", "necktie", "bow tie", "muffler", "stole",
                 "dupatta", "foulard", "kerchief", "neckerchief", "snood", "pashmina", "cravat"),
    "hair wear": ("hair accessory", "headband", "hairband", "tiara", "hair accessories", "scrunchie", "hair clip",
                  "hairclip", "barrette", "hair tie", "hairpin", "hair pin", "hair band"),
    "brooch": ("brooches", "pin", "badge", "lapel pin"),
}  # fmt: skip
EXCLUDED_WORDS = frozenset(
    (
        "lingerie", "swim", "swimwear", "swimsuit", "bikini", "beachwear", "pyjama", "pajama", "nightwear", "sleepwear",
        "night", "nightdress", "nightgown", "nightshirt", "nightie", "underwear", "innerwear", "intimate",
        "bra", "brief", "boxer", "trunk", "panty", "panties", "shapewear", "slip", "robe", "bathrobe", "loungewear",
        "baby doll", "set", "tracksuit", "gift", "kit", "belt", "suspender", "cufflink", "umbrella",
        "accessory", "accessories", "care", "colour", "color", "cosmetic", "makeup", "beauty", "perfume", "fragrance",
        "fragance", "mist", "lotion", "cream", "polish", "lipstick", "gloss", "liner", "wash", "nail", "lip", "eye",
        "mask", "toner", "deodorant", "case", "holder", "mobile", "phone", "tablet", "laptop sleeve", "bottle",
        "decoration", "deco", "bedding", "glassware", "towel", "cushion", "tie pin", "tie clip",
    )
)  # fmt: skip
"""Things that outfits are not made of, sets of several things, and words that would mislead ("Body Lotion")."""
MIN_SUFFIX = 4
_CATEGORY_BY_WORD = {word: category for category, words in CATEGORY_WORDS.items() for word in (*words, category)}
_SUFFIXES = sorted((word for word in _CATEGORY_BY_WORD if len(word) >= MIN_SUFFIX and " " not in word), key=len)[::-1]
EXACT_COLUMNS = ("type", "articleType", "article_type", "subcategory", "subCategory", "product_type")
"""Columns that may say more exactly what a thing is, where its category says too little ("Jewellery")."""


def map_category(word: str | None, mapping: Mapping[str, str] | None = None) -> str | None:
    """One of the twenty categories, or None: by the mapping, the whole word, its parts from the last one on ("Ankle
    Booties"), or the end of a compound ("Overcoats")."""
    if word is None:
        return None
    if mapping and word in mapping:
        return mapping[word]
    name = word.strip().lower().replace("_", " ")
    if found := _known(name):
        return found
    parts = [part for part in re.split(r"[\s/>,&]+", name) if part not in ("", "and", "or", "with")]
    pairs = [" ".join(pair) for pair in pairwise(parts)]
    if any(form in EXCLUDED_WORDS for part in (name, *parts, *pairs) for form in _forms(part)):
        return None
    kinds = {found for segment in re.split(r"[/>,&]+|\band\b|\bor\b", name) if (found := _last_known(segment.split()))}
    if kinds:
        return kinds.pop() if len(kinds) == 1 else None  # "Hats, scarves and gloves" are three kinds
    last = _forms(parts[-1])[1] if parts else ""
    return next((_CATEGORY_BY_WORD[word] for word in _SUFFIXES if last.endswith(word)), None)


def _forms(part: str) -> tuple[str, ...]:
    return (part, part.removesuffix("s"), part.removesuffix("es"))


def _last_known(parts: list[str]) -> str | None:
    """What the last word, or pair of words, that is known means."""
    pairs = [" ".join(pair) for pair in pairwise(parts)]
    return next((found for part in (*reversed(pairs), *reversed(parts)) if (found := _known(part))), None)


def _known(part: str) -> str | None:
    return next((_CATEGORY_BY_WORD[form] for form in _forms(part) if form in _CATEGORY_BY_WORD), None)


def map_items(catalog: pl.DataFrame, mapping: Mapping[str, str] | None = None) -> pl.Series:
    """One of the twenty categories of every row, or null: by the finest category, else by a more exact column."""
    columns = [name for name in ("fine_category", "category", *EXACT_COLUMNS) if name in catalog.columns]
    found = [
        catalog.select(
            pl.col(name)
            .cast(pl.String)
            .replace_strict({word: map_category(word, mapping) for word in catalog[name].cast(pl.String).unique()})
        ).to_series()
        for name in columns
    ]
    return pl.select(pl.coalesce(*found).alias("slot")).to_series()


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
    word = pl.coalesce(finest, "category").cast(pl.String).alias("category")
    named = catalog.select("item", "image", word, map_items(catalog, mapping).alias("sorted"))
    joined = named.sort("image").unique("item", keep="first", maintain_order=True)
    left_out = joined.filter(pl.col("sorted").is_null()).group_by("category").agg(pl.len().alias("n_items"))
    kept = joined.filter(pl.col("sorted").is_not_null()).select("item", "image", pl.col("sorted").alias("category"))
    return kept.sort("item"), left_out.sort("n_items", "category", descending=[True, False])
