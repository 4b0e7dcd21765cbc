"""One drawer per category: draws the item on a canvas and says where its cues belong."""

from collections.abc import Callable

from likewise.synthetic.drawing.canvas import Canvas
from likewise.synthetic.drawing.garments.bags import draw_bag
from likewise.synthetic.drawing.garments.bottoms import draw_pants, draw_skirt
from likewise.synthetic.drawing.garments.brooches import draw_brooch
from likewise.synthetic.drawing.garments.clothes import (
    draw_dress,
    draw_jumpsuit,
    draw_outwear,
    draw_top,
)
from likewise.synthetic.drawing.garments.hands import draw_gloves, draw_legwear
from likewise.synthetic.drawing.garments.hats import draw_hat
from likewise.synthetic.drawing.garments.jewellery import (
    draw_bracelet,
    draw_earrings,
    draw_necklace,
    draw_ring,
)
from likewise.synthetic.drawing.garments.neck_and_hair import draw_hair_wear, draw_neckwear
from likewise.synthetic.drawing.garments.shoes import draw_shoes
from likewise.synthetic.drawing.garments.watches import draw_eyewear, draw_watch
from likewise.synthetic.drawing.look import Anchors, Look

DRAWERS: dict[str, Callable[[Canvas, Look], Anchors]] = {
    "tops": draw_top,
    "skirts": draw_skirt,
    "pants": draw_pants,
    "outwear": draw_outwear,
    "dresses": draw_dress,
    "jumpsuits": draw_jumpsuit,
    "shoes": draw_shoes,
    "bags": draw_bag,
    "earrings": draw_earrings,
    "necklaces": draw_necklace,
    "rings": draw_ring,
    "bracelets": draw_bracelet,
    "watches": draw_watch,
    "hats": draw_hat,
    "eyewear": draw_eyewear,
    "gloves": draw_gloves,
    "legwear": draw_legwear,
    "neckwear": draw_neckwear,
    "hair wear": draw_hair_wear,
    "brooch": draw_brooch,
}
