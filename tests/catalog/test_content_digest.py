"""The digest of a picture: metadata do not count, everything that changes its looks does."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms, PngImagePlugin

from likewise.catalog.check import check_image
from likewise.catalog.content_digest import content_digest, file_digest

SIDE = 32


def picture(seed: int = 0) -> Image.Image:
    rng = np.random.default_rng(seed)
    return Image.fromarray(rng.integers(0, 255, (SIDE, SIDE, 3), np.uint8)).resize((96, 64))


def exif(orientation: int = 1, text: str = "") -> bytes:
    tags = Image.Exif()
    tags[0x0112] = orientation
    if text:
        tags[0x010E] = text
    return tags.tobytes()


def saved(kind: str, seed: int = 0, **options: Any) -> bytes:
    file = io.BytesIO()
    picture(seed).save(file, kind, **options)
    return file.getvalue()


def digest_of_saved(content: bytes, folder: Path, ending: str) -> str:
    """As the catalog finds it, with the orientation that Pillow reads."""
    path = folder / f"picture.{ending}"
    path.write_bytes(content)
    found = check_image(path)
    assert found.fault is None
    assert found.digest == file_digest(content)
    return found.content_digest


def segment(marker: int, body: bytes) -> bytes:
    return bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2, "big") + body


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"restart_marker_blocks": 2}])
def test_metadata_of_a_jpeg_do_not_count(tmp_path: Path, options: dict[str, Any]) -> None:
    plain = saved("JPEG", **options)
    xmp = segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0<x/>")
    others = {
        "exif": saved("JPEG", exif=exif(1, "a caption"), **options),
        "comment": saved("JPEG", comment=b"taken on Monday", **options),
        "dpi": saved("JPEG", dpi=(300, 300), **options),
        "xmp, photoshop": plain[:2] + xmp + segment(0xED, b"Photoshop 3.0\0") + plain[2:],
        "behind the end": plain + b"a film of two seconds",
    }
    wanted = digest_of_saved(plain, tmp_path, "jpg")
    for name, content in others.items():
        assert content != plain, name
        assert digest_of_saved(content, tmp_path, "jpg") == wanted, name


def test_what_changes_the_looks_of_a_jpeg_counts(tmp_path: Path) -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    looks = [
        saved("JPEG"),
        saved("JPEG", 1),
        saved("JPEG", quality=60),
        saved("JPEG", icc_profile=profile),
        saved("JPEG", exif=exif(6)),
        saved("JPEG", exif=exif(3)),
    ]
    assert len({digest_of_saved(each, tmp_path, "jpg") for each in looks}) == len(looks)


def test_texts_and_times_of_a_png_do_not_count(tmp_path: Path) -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("Title", "red shoe")
    info.add_itxt("Comment", "rouge")
    info.add(b"tIME", bytes(7))
    wanted = digest_of_saved(saved("PNG"), tmp_path, "png")
    assert digest_of_saved(saved("PNG", pnginfo=info, dpi=(72, 72)), tmp_path, "png") == wanted
    assert digest_of_saved(saved("PNG", exif=exif(1, "a caption")), tmp_path, "png") == wanted
    others = [saved("PNG", 1), saved("PNG", exif=exif(8))]
    info = PngImagePlugin.PngInfo()
    info.add(b"gAMA", (45455).to_bytes(4, "big"))
    others.append(saved("PNG", pnginfo=info))
    assert wanted not in {digest_of_saved(each, tmp_path, "png") for each in others}


def test_metadata_of_a_webp_do_not_count(tmp_path: Path) -> None:
    wanted = digest_of_saved(saved("WEBP"), tmp_path, "webp")
    assert digest_of_saved(saved("WEBP", exif=exif(1, "a caption"), xmp=b"<x/>"), tmp_path, "webp") == wanted
    assert digest_of_saved(saved("WEBP", 1), tmp_path, "webp") != wanted


def test_a_file_that_is_built_otherwise_counts_as_a_whole() -> None:
    for kind in ("JPEG", "PNG", "WEBP"):
        content = saved(kind)
        for cut in range(13, 40):
            assert content_digest(content[:cut]) != content_digest(content[: cut + 1])
    assert content_digest(b"GIF89a") != content_digest(b"GIF87a")
