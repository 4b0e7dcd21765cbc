"""Copies of real photographs that we altered ourselves: how many are found, and what else is called a copy.

`python docs/explore_copies.py --work FOLDER` makes the workspaces in FOLDER if they are not there yet (some minutes),
chooses the two thresholds on one part of the pictures, and fills the tables of docs/explore.md from the other part. The
pictures are those of LIKEWISE_DATA: `clothing`, photographs taken by people at home, and `products`, packshots.
"""

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
from marks import fill
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageEnhance, ImageFont, ImageOps

import likewise as lw
from likewise.catalog import load_image, read_catalog
from likewise.catalog.perceptual_hash import COPY_BITS, Hashes, as_words, perceptual_hash, read_hashes
from likewise.encoders.running.pictures import encode_pictures
from likewise.encoders.storage.reading import read_vectors
from likewise.explore.copies import COPY_COSINE
from likewise.neighbours import as_unit
from likewise.neighbours.copies import cosine_pairs, hash_pairs
from likewise.workspace import WorkspaceFolder

PAGE = Path(__file__).parent / "explore.md"
ENCODER = "efficientnet-lite0"
N_ALTERED, AT_ONCE, SEED = 300, 32, 0
COSINES, BITS = (0.89, 0.90, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96), (8, 16, 24, 32, 40, 48)
MOST_PHOTOGRAPHS, MOST_PACKSHOTS = 3.0, 100.0  # pairs per 1,000 pictures that a threshold may call copies
Picture = Image.Image
Alteration = Callable[[Picture, np.random.Generator], Picture]


def crop(share: float) -> Alteration:
    """So much of the area is gone; what stays lies anywhere."""

    def cropped(picture: Picture, rng: np.random.Generator) -> Picture:
        width, height = (int(side * (1.0 - share) ** 0.5) for side in picture.size)
        left, top = (
            int(rng.integers(0, whole - part + 1)) for whole, part in zip(picture.size, (width, height), strict=True)
        )
        return picture.crop((left, top, left + width, top + height))

    return cropped


def compress(quality: int) -> Alteration:
    def compressed(picture: Picture, _: np.random.Generator) -> Picture:
        content = BytesIO()
        picture.save(content, "JPEG", quality=quality)
        return load_image(content)

    return compressed


def scale(share: float) -> Alteration:
    return lambda picture, _: picture.resize((max(8, int(picture.width * share)), max(8, int(picture.height * share))))


def colour(picture: Picture, rng: np.random.Generator) -> Picture:
    """Brightness, saturation and contrast, each up or down."""
    picture = ImageEnhance.Brightness(picture).enhance(float(rng.uniform(0.75, 1.3)))
    picture = ImageEnhance.Color(picture).enhance(float(rng.uniform(0.5, 1.6)))
    return ImageEnhance.Contrast(picture).enhance(float(rng.uniform(0.8, 1.25)))


def watermark(picture: Picture, rng: np.random.Generator) -> Picture:
    """A line of text across the picture, half transparent."""
    marked = picture.copy()
    pen, font = ImageDraw.Draw(marked, "RGBA"), ImageFont.load_default(size=max(8, picture.width // 8))
    place = (rng.uniform(0.05, 0.4) * picture.width, rng.uniform(0.2, 0.8) * picture.height)
    strokes = {"stroke_width": 1, "stroke_fill": (0, 0, 0, 120)}
    pen.text(place, "example.com", fill=(255, 255, 255, 170), font=font, **strokes)  # type: ignore[arg-type]
    return marked


def several(picture: Picture, rng: np.random.Generator) -> Picture:
    """Recoloured, cropped by 5 %, scaled to two thirds and compressed."""
    return compress(60)(scale(2 / 3)(crop(0.05)(colour(picture, rng), rng), rng), rng)


ALTERATIONS: dict[str, Alteration] = {
    "half the size": scale(0.5),
    "JPEG, quality 30": compress(30),
    "mirrored": lambda picture, _: ImageOps.mirror(picture),
    "brightness, saturation, contrast": colour,
    "watermark": watermark,
    "turned by 3 degrees": lambda picture, _: picture.rotate(3, Image.Resampling.BICUBIC, fillcolor="white"),
    "cropped by 5 % of the area": crop(0.05),
    "cropped by 10 %": crop(0.10),
    "cropped by 20 %": crop(0.20),
    "cropped by 40 %": crop(0.40),
    "recoloured, cropped by 5 %, scaled, JPEG": several,
}


@dataclass(frozen=True)
class Part:
    """Some pictures of a catalog, as the encoder and the hash see them."""

    name: str
    workspace: WorkspaceFolder
    images: list[str]
    vectors: NDArray[np.float32]
    hashes: Hashes

    @staticmethod
    def of(name: str, workspace: WorkspaceFolder, rows: pl.DataFrame) -> "Part":
        images = rows["image"].to_list()
        return Part(
            name, workspace, images, as_unit(read_vectors(workspace, ENCODER, images)), read_hashes(workspace, rows)
        )

    def pairs(self, cosine: float, bits: int) -> tuple[float, float]:
        """Pairs of unaltered pictures that are called copies, per 1,000 pictures: by the cosine, by the hash."""
        by_cosine = len(cosine_pairs(self.vectors, cosine).first)
        return 1000 * by_cosine / len(self.images), 1000 * len(hash_pairs(self.hashes, bits).first) / len(self.images)


@dataclass(frozen=True)
class Found:
    """Shares of altered pictures whose original is called their copy, and pairs with other pictures that are."""

    by_cosine: float
    by_hash: float
    by_either: float
    n_found: int
    n_others: int


def look(part: Part, alter: Alteration) -> Found:
    rng = np.random.default_rng(SEED)
    rows = np.sort(rng.choice(len(part.images), N_ALTERED, replace=False))
    root = part.workspace.root
    pictures = [alter(load_image(root / part.images[row]).convert("RGB"), rng) for row in rows]
    starts = range(0, len(pictures), AT_ONCE)
    encoded = [encode_pictures(part.workspace, ENCODER, pictures[start : start + AT_ONCE]) for start in starts]
    near = as_unit(np.concatenate(encoded)) @ part.vectors.T >= COPY_COSINE
    hashes = as_words([perceptual_hash(picture) for picture in pictures])
    straight, mirrored = np.split(part.hashes, 2, axis=1)
    mine = hashes[:, None, : straight.shape[1]]
    bits = np.minimum(*(np.bitwise_count(mine ^ side[None]).sum(axis=2) for side in (straight, mirrored)))
    alike = bits <= COPY_BITS
    own = (np.arange(len(rows)), rows)
    either = near | alike
    n_found = int(either[own].sum())
    return Found(
        float(near[own].mean()), float(alike[own].mean()), n_found / len(rows), n_found, int(either.sum()) - n_found
    )


def make_workspace(work: Path, name: str) -> WorkspaceFolder:
    shop = lw.Workspace(work / name)
    if not shop.path.exists():
        shop.new(Path(os.environ["LIKEWISE_DATA"]) / name / "catalog.csv")
    shop.encode(ENCODER)
    return shop


def choose(photographs: Part, packshots: Part) -> tuple[float, int, str]:
    """The loosest thresholds that call few unaltered pictures copies; and the table that shows it."""
    rows = [
        (*one, *other)
        for one, other in (
            [(photographs.pairs(cosine, bits)), (packshots.pairs(cosine, bits))]
            for cosine, bits in zip(COSINES, [*BITS, *BITS[-1:] * 2], strict=True)
        )
    ]
    cosine = min(one for one, row in zip(COSINES, rows, strict=True) if row[0] <= MOST_PHOTOGRAPHS)
    bits = max(one for one, row in zip(BITS, rows, strict=False) if row[1] == 0 and row[3] <= MOST_PACKSHOTS)
    lines = ["| cosine at least | photographs | packshots | | bits at most | photographs | packshots |"]
    lines.append("|---:|---:|---:|---|---:|---:|---:|")
    for number, (threshold, row) in enumerate(zip(COSINES, rows, strict=True)):
        hashed = f"{BITS[number]} | {row[1]:,.1f} | {row[3]:,.1f}" if number < len(BITS) else " | | "
        lines.append(f"| {threshold:.2f} | {row[0]:,.1f} | {row[2]:,.1f} | | {hashed} |")
    return cosine, bits, "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=Path, required=True)
    work = parser.parse_args().work
    clothing, products = make_workspace(work, "clothing"), make_workspace(work, "products")
    photos, shots = read_catalog(clothing), read_catalog(products)
    first = pl.col("sender").cast(pl.Int64) % 2 == 0
    odd = pl.col("item").cast(pl.Int64) % 2 == 1
    cosine, bits, chosen = choose(
        Part.of("photographs", clothing, photos.filter(first)), Part.of("packshots", products, shots.filter(~odd))
    )
    reported = [
        Part.of("photographs", clothing, photos.filter(~first)),
        Part.of("packshots", products, shots.filter(odd)),
    ]
    found = {name: [look(part, alter) for part in reported] for name, alter in ALTERATIONS.items()}
    lines = ["| altered by | by cosine | by hash | **by either** | packshots: by either |", "|---|---:|---:|---:|---:|"]
    for name, (one, other) in found.items():
        shares = [f"{100 * share:.0f}" for share in (one.by_cosine, one.by_hash, one.by_either, other.by_either)]
        lines.append(f"| {name} | {' | '.join(shares)} |")
    usual = [name for name in ALTERATIONS if name != "cropped by 40 %"]
    told = []
    for number, part in enumerate(reported):
        right = sum(found[name][number].n_found for name in usual)
        others = sum(found[name][number].n_others for name in usual)
        by_cosine, by_hash = part.pairs(COPY_COSINE, COPY_BITS)
        told.append(
            f"| {part.name} | {len(part.images):,} | {100 * right / (right + others):.0f} % | {by_cosine:.1f} | "
            f"{by_hash:.1f} |"
        )
    head = "| | pictures | precision | unaltered pairs by cosine, per 1,000 | by hash |\n|---|---:|---:|---:|---:|"
    says = (
        f"The rule gives a cosine of {cosine:.2f} and {bits} bits; the defaults are {COPY_COSINE:.2f} and {COPY_BITS}."
    )
    fill(
        PAGE,
        {
            "explore-thresholds": f"{chosen}\n\n{says}",
            "explore-recall": "\n".join(lines),
            "explore-precision": f"{head}\n" + "\n".join(told),
        },
    )


if __name__ == "__main__":
    main()
