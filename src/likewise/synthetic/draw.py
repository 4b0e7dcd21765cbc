"""Draws one item: ``draw_item`` as a shop would show it, ``draw_wild`` as a customer would photograph it.

Both are pure: the picture depends on the attributes, the item's identity (keys ``item`` and ``line`` of the
attributes, if there), the view and the seed. Pose, light and background never depend on the attributes, so an item
drawn again with one attribute changed differs in that attribute only (a new length also moves it to the middle).
"""

from collections.abc import Mapping

import numpy as np
from PIL import Image, ImageFilter

from likewise.errors import LikewiseError
from likewise.synthetic.drawing import scene
from likewise.synthetic.drawing.canvas import Canvas, Plane, Pose
from likewise.synthetic.drawing.cues import draw_cues
from likewise.synthetic.drawing.garments import DRAWERS
from likewise.synthetic.drawing.look import generator, make_look
from likewise.synthetic.vocabulary import check_attributes

DEFAULT_SIZE = 224


def draw_item(attributes: Mapping[str, str | None], view: int, seed: int, *, size: int = DEFAULT_SIZE) -> Image.Image:
    """A shop photo of the item: view 0 from the front, 1 turned, 2 close and cropped, 3 and on mixed."""
    _check(view, size)
    identity = _identity(attributes)
    rng = generator("shop", identity, view, seed)
    pose = scene.centred(scene.shop_pose(rng, view, size), str(attributes.get("category")), attributes.get("length"))
    back = scene.shop_backdrop(rng, size)
    colour, cover = _render(attributes, identity, pose, size)
    picture = scene.draw_item_on_background(back, colour, cover, pose, depth=0.34)
    return scene.to_image(scene.expose(picture, rng, 1.0))


def draw_wild(attributes: Mapping[str, str | None], view: int, seed: int, *, size: int = DEFAULT_SIZE) -> Image.Image:
    """A customer's photo: clutter, tilt, something in front, odd light, blur and noise."""
    _check(view, size)
    identity = _identity(attributes)
    rng = generator("wild", identity, view, seed)
    pose = scene.centred(scene.wild_pose(rng, size), str(attributes.get("category")), attributes.get("length"))
    back = scene.wild_backdrop(rng, size)
    colour, cover = _render(attributes, identity, pose, size)
    picture = scene.draw_item_on_background(back, colour, cover, pose, depth=0.5)
    picture = scene.occlude(picture, rng)
    picture = scene.expose(picture, rng, 2.6)
    image = scene.to_image(picture).filter(ImageFilter.GaussianBlur(float(rng.uniform(0.2, 1.3))))
    noise = rng.normal(0, rng.uniform(2, 7), (size, size)).astype(np.float32)
    return scene.to_image(scene.to_planes(image) + noise)


def _check(view: int, size: int) -> None:
    if view < 0:
        raise LikewiseError(f"view is {view}; views are counted from 0")
    if size < 32:
        raise LikewiseError(f"size is {size} pixels; an item needs at least 32")


def _identity(attributes: Mapping[str, str | None]) -> str:
    return str(attributes.get("item") or attributes.get("category"))


def _render(attributes: Mapping[str, str | None], identity: str, pose: Pose, size: int) -> tuple[Plane, Plane]:
    values = check_attributes(attributes)
    look = make_look(values, identity, str(attributes.get("line") or identity))
    canvas = Canvas(size, pose, generator("hair", identity))
    anchors = DRAWERS[values["category"]](canvas, look)
    draw_cues(canvas, look, anchors)
    return canvas.colour, canvas.cover
