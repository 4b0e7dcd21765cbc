"""The words of the wardrobe: categories, attributes, the values each category may take, and the colours.

Everything else (drawing, captions, similarity, compatibility) speaks in these words only.
"""

from collections.abc import Mapping

from likewise.errors import LikewiseError

CATEGORIES: tuple[str, ...] = (
    "tops",
    "skirts",
    "pants",
    "outwear",
    "dresses",
    "jumpsuits",
    "shoes",
    "bags",
    "earrings",
    "necklaces",
    "rings",
    "bracelets",
    "watches",
    "hats",
    "eyewear",
    "gloves",
    "legwear",
    "neckwear",
    "hair wear",
    "brooch",
)

RGB: dict[str, tuple[int, int, int]] = {
    "black": (34, 34, 38),
    "white": (244, 242, 236),
    "grey": (142, 144, 150),
    "navy": (30, 42, 88),
    "blue": (44, 96, 188),
    "light blue": (148, 192, 232),
    "teal": (18, 126, 128),
    "green": (52, 138, 70),
    "olive": (112, 114, 52),
    "yellow": (240, 204, 66),
    "orange": (232, 124, 40),
    "red": (196, 36, 44),
    "burgundy": (110, 22, 46),
    "pink": (240, 158, 184),
    "purple": (118, 70, 158),
    "brown": (112, 70, 42),
    "beige": (214, 188, 150),
}
COLOURS = tuple(RGB)

PATTERNS = ("solid", "stripes", "pinstripes", "checks", "dots", "floral", "zigzag", "leopard")
STYLES = ("modern", "streetwear", "vintage", "sweet", "sporty", "elegant", "rock", "boho")
SEASONS = ("spring", "summer", "autumn", "winter")
OCCASIONS = ("formal", "cocktail", "smart casual", "casual", "outdoor")
LENGTHS = ("short", "medium", "long")
SLEEVES = ("sleeveless", "short", "long", "puff", "bell")
NECKLINES = ("round", "v-neck", "square", "shirt collar", "turtleneck")
COAT_NECKLINES = ("lapel", "hood", "shirt collar", "round")
PRECIOUS = ("gold", "silver", "pearl", "wood", "plastic")

_BODY = ("cotton", "knit", "denim", "leather", "satin", "lace", "velvet", "linen")

# What may differ between categories: silhouette and material for all, the cut for some.
_SHAPES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "tops": (("fitted", "straight", "oversized", "peplum"), _BODY),
    "skirts": (("pencil", "a-line", "pleated", "full", "wrap"), _BODY),
    "pants": (("skinny", "straight", "wide", "flared", "tapered"), _BODY),
    "outwear": (
        ("fitted", "straight", "oversized", "belted"),
        ("cotton", "knit", "denim", "leather", "wool", "fur", "velvet", "quilted"),
    ),
    "dresses": (("fitted", "straight", "a-line", "full", "wrap"), _BODY),
    "jumpsuits": (("skinny", "straight", "wide", "flared"), _BODY),
    "shoes": (
        ("pump", "boot", "sneaker", "sandal", "loafer", "ballet flat"),
        ("leather", "canvas", "satin", "suede", "velvet", "denim"),
    ),
    "bags": (
        ("tote", "clutch", "backpack", "satchel", "crossbody", "bucket"),
        ("leather", "canvas", "straw", "satin", "denim", "fur", "quilted"),
    ),
    "earrings": (("stud", "hoop", "drop", "chandelier"), PRECIOUS),
    "necklaces": (("chain", "pendant", "collar", "beaded"), PRECIOUS),
    "rings": (("band", "solitaire", "signet", "cluster"), PRECIOUS),
    "bracelets": (("bangle", "chain", "cuff", "beaded"), PRECIOUS),
    "watches": (("round", "square", "tonneau"), ("gold", "silver", "leather", "plastic", "canvas")),
    "hats": (
        ("beanie", "fedora", "cap", "bucket", "beret", "wide-brim"),
        ("wool", "knit", "cotton", "straw", "leather", "denim", "fur"),
    ),
    "eyewear": (("round", "aviator", "cat-eye", "square"), ("plastic", "gold", "silver", "wood")),
    "gloves": (
        ("fitted", "mitten", "fingerless", "gauntlet"),
        ("leather", "knit", "wool", "satin", "lace", "suede", "fur"),
    ),
    "legwear": (("smooth", "slouchy", "cuffed"), ("cotton", "knit", "lace", "wool", "satin")),
    "neckwear": (
        ("scarf", "tie", "bow tie", "neckerchief"),
        ("satin", "wool", "knit", "cotton", "linen", "lace", "fur"),
    ),
    "hair wear": (
        ("headband", "bow", "clip", "scrunchie"),
        ("satin", "velvet", "cotton", "gold", "silver", "pearl", "plastic"),
    ),
    "brooch": (("flower", "bar", "cameo", "butterfly", "star"), PRECIOUS),
}

_CLOTHES = ("tops", "skirts", "pants", "outwear", "dresses", "jumpsuits")
_WITH_PATTERN = (*_CLOTHES, "shoes", "bags", "hats", "gloves", "legwear", "neckwear")
_WITH_LENGTH = (*_CLOTHES, "earrings", "necklaces", "gloves", "legwear")
_WITH_SLEEVE = ("tops", "outwear", "dresses", "jumpsuits")


def _values(category: str) -> dict[str, tuple[str, ...]]:
    silhouettes, materials = _SHAPES[category]
    values: dict[str, tuple[str, ...]] = {"colour": COLOURS, "second_colour": COLOURS}
    if category in _WITH_PATTERN:
        values["pattern"] = PATTERNS
    values["material"] = materials
    values["silhouette"] = silhouettes
    if category in _WITH_LENGTH:
        values["length"] = LENGTHS
    if category in _WITH_SLEEVE:
        values["sleeve"] = SLEEVES
        values["neckline"] = COAT_NECKLINES if category == "outwear" else NECKLINES
    values["style"] = STYLES
    if category in _WITH_PATTERN:
        values["season"] = SEASONS
    values["occasion"] = OCCASIONS
    return values


VALUES_OF: dict[str, dict[str, tuple[str, ...]]] = {category: _values(category) for category in CATEGORIES}
"""category -> attribute -> the values that are legal there."""

ATTRIBUTES_OF: dict[str, tuple[str, ...]] = {category: tuple(VALUES_OF[category]) for category in CATEGORIES}
"""category -> the attributes that apply to it; the others are null."""

ATTRIBUTE_NAMES: tuple[str, ...] = (
    "colour",
    "second_colour",
    "pattern",
    "material",
    "silhouette",
    "length",
    "sleeve",
    "neckline",
    "style",
    "season",
    "occasion",
)

ATTRIBUTES: dict[str, tuple[str, ...]] = {
    name: tuple(dict.fromkeys(value for category in CATEGORIES for value in VALUES_OF[category].get(name, ())))
    for name in ATTRIBUTE_NAMES
}
"""attribute -> every value it takes in some category, in a fixed order."""


def check_attributes(attributes: Mapping[str, str | None]) -> dict[str, str]:
    """The attributes that apply to the item's category, all present and legal; other keys are ignored."""
    category = attributes.get("category")
    if category not in VALUES_OF:
        raise LikewiseError(f"unknown category {category!r}; the wardrobe has {', '.join(CATEGORIES)}")
    checked = {"category": category}
    for name, legal in VALUES_OF[category].items():
        value = attributes.get(name)
        if value is None or value not in legal:
            raise LikewiseError(f"{category}: {name} is {value!r}; choose one of {', '.join(legal)}")
        checked[name] = value
    return checked
