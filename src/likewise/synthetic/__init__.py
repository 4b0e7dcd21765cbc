"""The wardrobe: a drawn fashion world, deterministic from a seed, in which every attribute that counts is visible.

Twenty categories of items in designers' lines, shop views and wild photos of each, captions, a graded similarity
between items and a compatibility of outfits. What shows what:

==============  =====================================================================================
attribute       visible as
==============  =====================================================================================
colour          the cloth; the dial of a watch; the stone or enamel of jewellery; the rim of glasses
second_colour   the pattern's other colour; trims, collars, waistbands, soles, straps, accent stones; lenses
pattern         stripes, pinstripes, checks, dots, blossoms, zigzag, leopard rosettes, clipped to the cloth
material        surface: knit stitches, denim twill and orange seams, leather gloss, satin sheen, lace holes,
                velvet rim, linen slubs, wool flecks, fur hairs, quilted diamonds, canvas and straw weave, polished
                metal, pearl lustre, wood grain
silhouette      the outline (see ``VALUES_OF`` for those of each category)
length          how far it reaches: hem, leg, glove cuff, sock, necklace, earring
sleeve          none, short, long with cuff, ballooned with band, flared
neckline        the opening, collar, lapels, hood or rolled neck
style           modern: a bar; streetwear: a box logo; vintage: scalloped lace; sweet: a bow; sporty: racing stripes;
                elegant: pearls; rock: studs; boho: fringe
season          spring: a sprig; summer: eyelets; autumn: a leather patch; winter: fluffy trim
occasion        formal: satin piping; cocktail: sequins; smart casual: buttons; casual: topstitching; outdoor: a zip
==============  =====================================================================================

Style is drawn first for a line and prefers materials, patterns, colours and occasions; material and cut prefer seasons
(``preferences.py``), so the words of an item agree with each other.
"""

from likewise.synthetic.build import build_wardrobe
from likewise.synthetic.captions import caption
from likewise.synthetic.compatibility import (
    BASE_TASTE,
    DIMENSIONS,
    Compatibility,
    Taste,
    compatibility,
    compatibility_many,
    sample_taste,
)
from likewise.synthetic.draw import DEFAULT_SIZE, draw_item, draw_wild
from likewise.synthetic.items import make_items
from likewise.synthetic.sheet import contact_sheet
from likewise.synthetic.similarity import (
    BASE_WEIGHTS,
    SIMILAR_AT,
    component_names,
    similarity,
    similarity_components,
)
from likewise.synthetic.vocabulary import ATTRIBUTE_NAMES, ATTRIBUTES, ATTRIBUTES_OF, CATEGORIES, VALUES_OF

__all__ = [
    "ATTRIBUTES",
    "ATTRIBUTES_OF",
    "ATTRIBUTE_NAMES",
    "BASE_TASTE",
    "BASE_WEIGHTS",
    "CATEGORIES",
    "DEFAULT_SIZE",
    "DIMENSIONS",
    "SIMILAR_AT",
    "VALUES_OF",
    "Compatibility",
    "Taste",
    "build_wardrobe",
    "caption",
    "compatibility",
    "compatibility_many",
    "component_names",
    "contact_sheet",
    "draw_item",
    "draw_wild",
    "make_items",
    "sample_taste",
    "similarity",
    "similarity_components",
]
