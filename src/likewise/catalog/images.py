"""Pictures by path: upright, RGB, as large as asked."""

import warnings
from pathlib import Path
from typing import BinaryIO

from PIL import Image, ImageOps

from likewise.errors import LikewiseError
from likewise.workspace import write_atomically

IMAGE_ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff", ".avif", ".jfif", ".ppm"})

STARTS_PROGRAMS = frozenset({"EPS"})
"""Of the formats that Pillow reads, those that another program (Ghostscript) would be started for."""


def open_image(source: Path | BinaryIO) -> Image.Image:
    """As `Image.open`: what a file says of itself before it is unpacked; its name does not matter."""
    Image.init()
    return Image.open(source, formats=[name for name in Image.OPEN if name not in STARTS_PROGRAMS])


def load_image(path: Path | BinaryIO, at_least: int | None = None) -> Image.Image:
    """Decode one picture, from a file or its bytes: upright by its EXIF tag, transparency laid on white, mode RGB.

    With `at_least`, a JPEG is decoded at a fraction of its size whose shorter side is still that long,
    which is several times faster for photographs.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # odd EXIF blocks and large pictures: judged when the catalog is made
        with open_image(path) as picture:
            if at_least is not None and picture.format == "JPEG":
                picture.draft("RGB", (at_least, at_least))
            upright = ImageOps.exif_transpose(picture)
            upright.load()
    return to_rgb(upright)


def open_picture(source: Path | BinaryIO, name: str) -> Image.Image:
    """A picture that somebody brings along, as a file or as its bytes, or a sentence that says why not."""
    try:
        return load_image(source)
    except Exception as error:  # decoders raise nearly anything on what is no picture
        raise LikewiseError(
            f"{name} cannot be read as a picture: give a JPEG, PNG, WebP or another file that Pillow opens."
        ) from error


def to_rgb(picture: Image.Image) -> Image.Image:
    """Any Pillow mode as RGB: alpha on white, 16-bit grey scaled to 8."""
    if picture.mode == "RGB":
        return picture
    if picture.mode.startswith("I") or picture.mode == "F":
        _, high = picture.getextrema()
        scale = 255.0 / 65535.0 if float(high) > 255 else 1.0  # type: ignore[arg-type]
        return picture.convert("F").point(lambda value: value * scale).convert("L").convert("RGB")
    if "A" in picture.mode or "transparency" in picture.info:
        layered = picture.convert("RGBA")
        white = Image.new("RGBA", layered.size, (255, 255, 255, 255))
        return Image.alpha_composite(white, layered).convert("RGB")
    return picture.convert("RGB")


def write_picture(picture: Image.Image, path: Path, quality: int) -> None:
    """Write a picture in the format of its name, whole or not at all."""
    kind = Image.registered_extensions().get(path.suffix.lower(), "JPEG")
    write_atomically(path, lambda file: picture.save(file, kind, quality=quality))
