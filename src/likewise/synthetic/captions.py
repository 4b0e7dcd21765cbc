"""Captions that say what is drawn, in the words of the vocabulary."""

from collections.abc import Mapping

# category -> (article and noun, plural?); the silhouette replaces the noun where it is a thing of its own.
_NOUNS = {
    "tops": "top",
    "skirts": "skirt",
    "pants": "pair of pants",
    "outwear": "coat",
    "dresses": "dress",
    "jumpsuits": "jumpsuit",
    "earrings": "pair of earrings",
    "necklaces": "necklace",
    "rings": "ring",
    "bracelets": "bracelet",
    "watches": "watch",
    "eyewear": "pair of glasses",
    "gloves": "pair of gloves",
    "legwear": "pair of socks",
    "brooch": "brooch",
}
_THINGS = {
    "pump": "pair of pumps",
    "boot": "pair of boots",
    "sneaker": "pair of sneakers",
    "sandal": "pair of sandals",
    "loafer": "pair of loafers",
    "ballet flat": "pair of ballet flats",
    "tote": "tote bag",
    "bucket": "bucket hat",
    "satchel": "satchel bag",
    "crossbody": "crossbody bag",
    "clutch": "clutch bag",
    "wide-brim": "wide-brim hat",
    "clip": "hair clip",
    "bow": "hair bow",
}
_SLEEVES = {
    "sleeveless": "without sleeves",
    "short": "with short sleeves",
    "long": "with long sleeves",
    "puff": "with puff sleeves",
    "bell": "with bell sleeves",
}
_PATTERNS = {
    "solid": "",
    "stripes": "striped",
    "pinstripes": "pinstriped",
    "checks": "checked",
    "dots": "dotted",
    "floral": "floral",
    "zigzag": "zigzag",
    "leopard": "leopard-print",
}
_LENGTHS = {"short": "short", "medium": "mid-length", "long": "long"}
_NAMED_BY_SHAPE = ("shoes", "bags", "hats", "neckwear", "hair wear")


def caption(attributes: Mapping[str, str | None]) -> str:
    """For example: "a long red striped knit top, fitted, with long sleeves and a v-neck, white details, casual ..."."""
    category = attributes["category"] or ""
    silhouette = attributes["silhouette"] or ""
    pattern = attributes.get("pattern") or "solid"
    words = [
        _LENGTHS.get(attributes.get("length") or "", ""),
        attributes["colour"] or "",
        _PATTERNS[pattern],
        attributes["material"] or "",
    ]
    by_shape = category in _NAMED_BY_SHAPE
    if by_shape:
        noun = "bucket bag" if (category, silhouette) == ("bags", "bucket") else _THINGS.get(silhouette, silhouette)
    else:
        noun = f"{silhouette} {_NOUNS[category]}"
    phrase = " ".join(word for word in words if word)
    text = f"{_article(phrase)} {phrase} {noun}"
    if attributes.get("sleeve"):
        text += f" {_SLEEVES[attributes['sleeve'] or '']} and {_neck(attributes['neckline'] or '')}"
    text += f", {attributes['second_colour']} details, {attributes['style']} style, {attributes['occasion']}"
    return text + (f", for {attributes['season']}" if attributes.get("season") else "")


def _article(phrase: str) -> str:
    return "an" if phrase[:1] in "aeiou" else "a"


def _neck(neckline: str) -> str:
    return {"round": "a round neck", "square": "a square neck"}.get(neckline, f"a {neckline}")
