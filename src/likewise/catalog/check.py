"""Every picture is opened once when a catalog is made, so that problems are found now and not in the night.

A row is left out when its picture cannot be used; what is only unusual (another colour mode, a rotation tag,
the same file under two keys) is noted and kept, because `load_image` deals with it.
"""

import io
import stat
import unicodedata
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl
from PIL import Image, ImageOps

from likewise.catalog.content_digest import content_digest, file_digest
from likewise.catalog.file_cards import is_no_picture
from likewise.catalog.images import open_image, to_rgb
from likewise.catalog.perceptual_hash import NO_HASH, perceptual_hash
from likewise.machine import usable_cores
from likewise.progress import ProgressCallback

MIN_SIDE_PIXELS = 8
MAX_PIXELS = 100_000_000
MAX_FILE_BYTES = 512 << 20
EXIF_UPRIGHT = 1
EXIF_ORIENTATION = 0x0112

PROBLEM_SCHEMA = pl.Schema(
    {"row": pl.Int64, "image": pl.String, "problem": pl.String, "detail": pl.String, "kept": pl.Boolean}
)


@dataclass(frozen=True)
class ImageCheck:
    """What one look at a picture found; `fault` is why it cannot be used, `notes` what is unusual."""

    width: int = 0
    height: int = 0
    digest: str = ""
    """Of the file as it is."""
    content_digest: str = ""
    """Of the picture in it, whatever the metadata."""
    hash: str = ""
    """Perceptual: nearly the same for copies."""
    fault: tuple[str, str] | None = None
    notes: tuple[tuple[str, str], ...] = ()


def check_image(path: Path, *, any_file: bool = False) -> ImageCheck:
    """Read and decode one file completely (a JPEG at reduced size, which still reads every byte).

    With `any_file` one that does not end as pictures do is only read.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):  # a pipe or a device would be read for ever
            return ImageCheck(fault=("unreadable", f"{path} is no file"))
        if found.st_size > MAX_FILE_BYTES:
            return ImageCheck(fault=("unusable size", f"{path} has more than {MAX_FILE_BYTES >> 20} MB"))
        content = path.read_bytes()
    except FileNotFoundError:
        return ImageCheck(fault=("missing file", f"{path} does not exist{_other_form(path)}"))
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        return ImageCheck(fault=("unreadable", f"{path}: {getattr(error, 'strerror', None) or error}"))
    if not content:
        return ImageCheck(fault=("unreadable", "the file is empty"))
    if any_file and is_no_picture(path):
        digest = file_digest(content)
        return ImageCheck(digest=digest, content_digest=digest, hash=NO_HASH)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _check_content(content)


def _other_form(path: Path) -> str:
    """A file of the same name whose accents are written in another way, as macOS and archives made there do."""
    for form in ("NFC", "NFD"):
        with suppress(OSError):
            if (other := Path(unicodedata.normalize(form, str(path)))) != path and other.exists():
                return f", but its name is there with accents in another Unicode form ({form}): rename it, or its row"
    return ""


def _check_content(content: bytes) -> ImageCheck:
    try:
        picture = open_image(io.BytesIO(content))
    except Image.DecompressionBombError:
        return ImageCheck(fault=("unusable size", f"more than {MAX_PIXELS:,} pixels"))
    except Exception:  # Pillow's plugins raise nearly anything on damaged headers
        return ImageCheck(fault=("unreadable", "not a picture that Pillow can open"))
    width, height = picture.size
    if min(width, height) < MIN_SIDE_PIXELS:
        return ImageCheck(fault=("unusable size", f"{width} x {height}: a side under {MIN_SIDE_PIXELS} pixels"))
    if width * height > MAX_PIXELS:
        return ImageCheck(fault=("unusable size", f"{width} x {height}: more than {MAX_PIXELS:,} pixels"))
    try:
        notes = _find_oddities(picture)
        contained = content_digest(content, picture.getexif().get(EXIF_ORIENTATION, EXIF_UPRIGHT))
        if picture.format == "JPEG":
            picture.draft("RGB", (64, 64))
        picture.load()
        perceptual = perceptual_hash(to_rgb(ImageOps.exif_transpose(picture)))
    except Exception as error:
        kind = "truncated" if "truncated" in str(error).lower() else "unreadable"
        return ImageCheck(fault=(kind, str(error) or type(error).__name__))
    return ImageCheck(width, height, file_digest(content), contained, perceptual, None, notes)


def _check(root: Path, any_file: bool, image: str) -> ImageCheck:
    return check_image(root / image, any_file=any_file)


def _find_oddities(picture: Image.Image) -> tuple[tuple[str, str], ...]:
    notes = []
    if picture.mode != "RGB":
        notes.append(("not RGB", f"mode {picture.mode}, converted when read"))
    orientation = picture.getexif().get(EXIF_ORIENTATION, EXIF_UPRIGHT)
    if orientation in range(2, 9):
        notes.append(("EXIF rotation", f"orientation {orientation}, turned upright when read"))
    if getattr(picture, "n_frames", 1) > 1:
        notes.append(("animated", "the first frame is used"))
    return tuple(notes)


def check_rows(
    rows: pl.DataFrame, root: Path, on_progress: ProgressCallback | None = None, *, any_file: bool = False
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split rows (with `row`, `image`) into the usable ones (width, height, digests, hash are new) and the problems."""
    images: list[str] = rows["image"].to_list()
    checked: list[ImageCheck] = []
    with ThreadPoolExecutor(max_workers=usable_cores()) as pool:  # decoding releases the interpreter lock
        for done, result in enumerate(pool.map(partial(_check, root, any_file), images), 1):
            checked.append(result)
            if on_progress:
                on_progress("checking", done, len(images))
    problems = []
    first_with: dict[str, str] = {}
    for row, image, result in zip(rows["row"], images, checked, strict=True):
        problems += [(row, image, *note, True) for note in result.notes]
        if result.fault:
            problems.append((row, image, *result.fault, False))
        elif (first := first_with.setdefault(result.digest, image)) != image:
            problems.append((row, image, "same picture", f"the file is identical to {first}", True))
    good = rows.with_columns(
        pl.Series("width", [result.width for result in checked], pl.Int32),
        pl.Series("height", [result.height for result in checked], pl.Int32),
        pl.Series("digest", [result.digest for result in checked], pl.String),
        pl.Series("content_digest", [result.content_digest for result in checked], pl.String),
        pl.Series("hash", [result.hash for result in checked], pl.String),
    ).filter(pl.Series([result.fault is None for result in checked], dtype=pl.Boolean))
    return good, pl.DataFrame(problems, schema=PROBLEM_SCHEMA, orient="row")
