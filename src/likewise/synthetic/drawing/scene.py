"""Where the item is photographed: shop backdrops, the clutter of wild photos, light, shadow and lens."""

import math
from dataclasses import replace

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from likewise.synthetic.drawing.canvas import Plane, Pose
from likewise.synthetic.drawing.geometry import Points
from likewise.synthetic.vocabulary import RGB

_PASTELS = ((236, 228, 220), (222, 230, 236), (238, 222, 224), (226, 234, 224), (232, 228, 240))


def shop_pose(rng: np.random.Generator, view: int, size: int) -> Pose:
    """0: straight from the front; 1: turned and smaller; 2: closer and cropped; 3 and on: anything between."""
    kind = view if view < 3 else int(rng.integers(0, 3))
    if kind == 0:
        turn, zoom, squeeze, shift = rng.uniform(-3, 3), rng.uniform(0.9, 0.98), rng.uniform(0.96, 1.0), 0.01
    elif kind == 1:
        turn, zoom, squeeze, shift = rng.uniform(-16, 16), rng.uniform(0.74, 0.88), rng.uniform(0.76, 0.9), 0.06
    else:
        turn, zoom, squeeze, shift = rng.uniform(-8, 8), rng.uniform(1.12, 1.36), rng.uniform(0.9, 1.0), 0.14
    mirror = -1.0 if kind and rng.random() < 0.4 else 1.0
    bend = rng.uniform(-0.02, 0.02) if kind == 0 else rng.uniform(-0.1, 0.1)
    return _pose(rng, size, turn, zoom, squeeze * mirror, shift, bend)


def wild_pose(rng: np.random.Generator, size: int) -> Pose:
    """Tilted, off centre, foreshortened."""
    mirror = -1.0 if rng.random() < 0.5 else 1.0
    squeeze = mirror * rng.uniform(0.7, 1.0)
    return _pose(rng, size, rng.uniform(-38, 38), rng.uniform(0.66, 1.0), squeeze, 0.14, rng.uniform(-0.16, 0.16))


def _pose(
    rng: np.random.Generator, size: int, turn: float, zoom: float, squeeze: float, shift: float, bend: float
) -> Pose:
    a = math.radians(turn)
    unit = size / 2 * zoom
    rotation = np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
    shear = np.array([[squeeze, rng.uniform(-0.06, 0.06) if abs(squeeze) < 0.95 else 0.0], [0.0, 1.0]])
    centre = size / 2 + rng.uniform(-shift, shift, 2) * size
    light = rng.uniform(200, 310)
    direction = (math.cos(math.radians(light)), math.sin(math.radians(light)))
    return Pose(rotation @ shear * unit, centre, float(bend), direction, float(rng.uniform(0, 1)))


def shop_backdrop(rng: np.random.Generator, size: int) -> Plane:
    """White, a grey sweep with a floor, or a pastel wall with a soft spot of light."""
    at = np.linspace(0, 1, size, dtype=np.float32)
    kind = int(rng.integers(0, 4))
    if kind == 0:
        return np.full((3, size, size), 250, dtype=np.float32)
    if kind == 1:
        horizon = rng.uniform(0.7, 0.82)
        ramp = np.where(at < horizon, 238 - 10 * at, 214 + 26 * (at - horizon) / (1 - horizon))
        ramp = np.convolve(np.pad(ramp, 7, mode="edge"), np.full(15, 1 / 15), "valid").astype(np.float32)
        return np.tile(ramp[:, None], (3, 1, size))
    base = np.asarray(_PASTELS[int(rng.integers(0, len(_PASTELS)))] if kind == 2 else (236, 236, 238), dtype=np.float32)
    cx, cy = rng.uniform(0.25, 0.75), rng.uniform(0.15, 0.5)
    glow = np.exp(-(((at[None, :] - cx) ** 2 + (at[:, None] - cy) ** 2) * 3)).astype(np.float32)
    return np.asarray(base[:, None, None] * (0.9 + 0.13 * glow), dtype=np.float32)


def wild_backdrop(rng: np.random.Generator, size: int) -> Plane:
    """Floor boards, tiles, grass or a cushion, strewn with things in all colours."""
    image = Image.new("RGB", (size, size), (168, 148, 124))
    pen = ImageDraw.Draw(image)
    kind = int(rng.integers(0, 4))
    palette = list(RGB.values())
    if kind == 0:
        for i in range(9):
            tone = rng.uniform(0.75, 1.1)
            wood = tuple(int(c * tone) for c in (166, 122, 84))
            pen.rectangle((0, i * size // 8, size, (i + 1) * size // 8 - 2), fill=wood)
    elif kind == 1:
        step = size // int(rng.integers(4, 7))
        for x in range(0, size, step):
            for y in range(0, size, step):
                grey = int(rng.uniform(150, 205))
                pen.rectangle((x, y, x + step - 3, y + step - 3), fill=(grey, grey - 4, grey - 10))
    elif kind == 2:
        image.paste((92, 124, 62), (0, 0, size, size))
        for _ in range(260):
            x, y, d = rng.uniform(0, size, 3) * np.array([1, 1, 0.06])
            green = (int(rng.uniform(60, 130)), int(rng.uniform(110, 170)), int(rng.uniform(40, 80)))
            pen.line((x, y, x + rng.uniform(-6, 6), y - 4 - d), fill=green, width=2)
    else:
        base = palette[int(rng.integers(0, len(palette)))]
        image.paste(tuple((c + 140) // 2 for c in base), (0, 0, size, size))
        for x in range(-size, size, 22):
            pen.line((x, 0, x + size, size), fill=tuple((c + 90) // 2 for c in base), width=5)
    for _ in range(int(rng.integers(4, 9))):
        colour = palette[int(rng.integers(0, len(palette)))]
        x, y = rng.uniform(-20, size, 2)
        w, h = rng.uniform(0.1, 0.42, 2) * size
        shape = int(rng.integers(0, 3))
        if shape == 0:
            pen.ellipse((x, y, x + w, y + h), fill=colour)
        elif shape == 1:
            pen.polygon([(x, y), (x + w, y + 0.3 * h), (x + 0.8 * w, y + h), (x - 0.1 * w, y + 0.8 * h)], fill=colour)
        else:
            pen.line((x, y, x + w, y + 0.4 * h, x + 0.6 * w, y + h), fill=colour, width=int(rng.integers(4, 12)))
    image = image.filter(ImageFilter.GaussianBlur(float(rng.uniform(0.8, 2.6))))
    return to_planes(image)


def draw_item_on_background(back: Plane, colour: Plane, cover: Plane, pose: Pose, depth: float) -> Plane:
    """The item laid on its background (in place), with a soft drop shadow on the side away from the light."""
    size = cover.shape[0]
    blot = Image.fromarray((cover[::4, ::4] * 255).astype(np.uint8)).filter(ImageFilter.GaussianBlur(2))
    dx, dy = round(-pose.light[0] * 2), round(abs(pose.light[1]) * 2)
    soft = np.roll(np.pad(np.asarray(blot), 3, mode="edge"), (dy, dx), axis=(0, 1))[3:-3, 3:-3]
    grown = Image.fromarray(np.ascontiguousarray(soft)).resize((size, size), Image.Resampling.BILINEAR)
    shadow = np.asarray(grown, dtype=np.float32) * np.float32(1 / 255)
    keep = (1 - np.float32(depth) * shadow) * (1 - cover)
    np.multiply(back, keep, out=back)
    back += colour
    return back


def expose(picture: Plane, rng: np.random.Generator, strength: float) -> Plane:
    """Brightness, warmth and a falling-off of light across the picture."""
    size = picture.shape[1]
    gain = 1 + strength * rng.uniform(-0.10, 0.07)
    warmth = strength * rng.uniform(-0.05, 0.05)
    tint = np.array([gain * (1 + warmth), gain, gain * (1 - warmth)], dtype=np.float32)
    angle = rng.uniform(0, 2 * math.pi)
    at = np.linspace(-1, 1, size, dtype=np.float32)
    slope = np.float32(math.cos(angle)) * at[None, :] + np.float32(math.sin(angle)) * at[:, None]
    fall = 1 + np.float32(0.05 * strength) * slope
    for channel, share in zip(picture, tint, strict=True):  # in place: large temporary arrays cost more than the sums
        channel *= fall * share
    return picture


def occlude(picture: Plane, rng: np.random.Generator) -> Plane:
    """Something in front of the item: fingers from the edge of the picture, or a leaf."""
    size = picture.shape[1]
    image = to_image(picture)
    pen = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(1, 3))):
        edge = rng.uniform(0, 2 * math.pi)
        root = np.array([math.cos(edge), math.sin(edge)]) * 0.72 * size + size / 2
        towards = size / 2 + rng.uniform(-0.22, 0.22, 2) * size - root
        if rng.random() < 0.5:
            _fingers(pen, root, towards, size, _SKINS[int(rng.integers(len(_SKINS)))])
        else:
            _leaf(pen, root + 0.2 * towards, 0.52 * towards, _LEAVES[int(rng.integers(len(_LEAVES)))])
    return to_planes(image)


_SKINS = ((232, 190, 162), (196, 144, 112), (128, 86, 62))
_LEAVES = ((72, 116, 62), (150, 92, 40), (40, 84, 70), (186, 60, 52))


def _fingers(pen: ImageDraw.ImageDraw, root: Points, towards: Points, size: int, skin: tuple[int, int, int]) -> None:
    side = np.array([-towards[1], towards[0]]) / np.hypot(*towards)
    for finger in range(3):
        start = root + side * (finger - 1) * 0.085 * size
        tip = start + towards * (0.62, 0.72, 0.6)[finger]
        for grow, tone in ((1.25, 0.7), (1.0, 1.0)):
            wide = max(2, int(0.075 * size * grow))
            colour = (int(skin[0] * tone), int(skin[1] * tone), int(skin[2] * tone))
            pen.line([*start.tolist(), *tip.tolist()], fill=colour, width=wide)
            x, y = tip.tolist()
            pen.ellipse((x - wide / 2, y - wide / 2, x + wide / 2, y + wide / 2), fill=colour)


def _leaf(pen: ImageDraw.ImageDraw, start: Points, along_: Points, colour: tuple[int, int, int]) -> None:
    side = np.array([-along_[1], along_[0]]) * 0.26
    t = np.linspace(0, 1, 14)[:, None]
    bulge = np.sin(math.pi * t**0.8)
    outline = np.concatenate([start + along_ * t + side * bulge, (start + along_ * t - side * bulge)[::-1]])
    pen.polygon(outline.ravel().tolist(), fill=colour)
    vein = (int(colour[0] * 0.7), int(colour[1] * 0.7), int(colour[2] * 0.7))
    pen.line([*start.tolist(), *(start + along_).tolist()], fill=vein, width=2)


def to_image(picture: Plane) -> Image.Image:
    """[3, size, size] planes to a picture."""
    channels = np.clip(picture, 0, 255, out=picture).astype(np.uint8)
    return Image.merge("RGB", [Image.fromarray(channel) for channel in channels])


def to_planes(image: Image.Image) -> Plane:
    """A picture to [3, size, size] planes."""
    return np.asarray(image, dtype=np.float32).transpose(2, 0, 1)


# How far short items are moved (garment units, down is positive) so that they lie in the middle of the picture.
_CENTRES = {
    ("tops", "short"): 0.2,
    ("tops", "medium"): 0.06,
    ("skirts", "short"): 0.3,
    ("skirts", "medium"): 0.12,
    ("pants", "short"): 0.38,
    ("pants", "medium"): 0.16,
    ("outwear", "short"): 0.2,
    ("outwear", "medium"): 0.04,
    ("dresses", "short"): 0.08,
    ("jumpsuits", "short"): 0.22,
    ("jumpsuits", "medium"): 0.1,
    ("legwear", "short"): -0.36,
    ("legwear", "medium"): -0.14,
    ("gloves", "short"): 0.22,
    ("gloves", "medium"): 0.1,
    ("earrings", "short"): 0.28,
    ("earrings", "medium"): 0.16,
    ("necklaces", "short"): 0.34,
    ("necklaces", "medium"): 0.2,
}


def centred(pose: Pose, category: str, length: str | None) -> Pose:
    """The pose moved so that an item of this length lies in the middle."""
    down = _CENTRES.get((category, length or ""), 0.0)
    return replace(pose, shift=pose.shift + pose.matrix @ np.array([0.0, down]))
