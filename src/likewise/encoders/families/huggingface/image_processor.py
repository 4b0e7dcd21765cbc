"""A transformers image processor as a `Recipe`, checked against the processor itself.

Workers then need neither transformers nor torch, which saves seconds and memory in each of them.  A processor that does
something else than resize, cut and normalise is called itself, in the workers.
"""

import contextlib
import hashlib
import json
import logging
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from likewise.encoders.cache import cache_folder
from likewise.encoders.digests import file_digest
from likewise.encoders.networks.recipe import Recipe, Tensor, centre_crop
from likewise.encoders.protocol import Prepared
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional, installed_version, suppress_output
from likewise.workspace import write_json

SETTINGS = ("preprocessor_config.json", "processor_config.json")
TOLERANCE = 1e-5


def load_recipe(folder: Path, config: dict[str, Any], size: int | None, frame: str | None) -> Recipe:
    """How the model in `folder` wants its pictures."""
    if "pretrained_cfg" in config:
        return _timm_recipe(config["pretrained_cfg"]).with_frame(size, frame)
    recipe = _read_cached(folder) or _translate_and_cache(folder)
    if not isinstance(recipe, ByProcessor):
        return recipe.with_frame(size, frame)
    if size or frame:
        raise LikewiseError(f"{folder} prepares pictures in a way of its own: size and frame cannot be chosen for it.")
    return recipe


def _translate_and_cache(folder: Path) -> Recipe:
    """The recipe by its processor, which costs the import of transformers; remembered in the cache."""
    processor = load_processor(str(folder))
    recipe = _translate_processor(processor)
    if recipe is None or not _agrees(recipe, processor):
        return ByProcessor(None, None, folder=str(folder), side_=_output_size(processor))
    with contextlib.suppress(OSError):  # without a place for a cache, it is found again next time
        write_json(asdict(recipe), _cache_file(folder))
    return recipe


def _read_cached(folder: Path) -> Recipe | None:
    """The recipe, if these very settings were translated and checked before."""
    try:
        values: dict[str, Any] = json.loads(_cache_file(folder).read_text(encoding="utf-8"))
        values |= {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
        return Recipe(**values)
    except (OSError, ValueError, TypeError):
        return None


def _cache_file(folder: Path) -> Path:
    settings = [folder / name for name in SETTINGS if (folder / name).is_file()]
    what = f"{file_digest(*settings)} {installed_version('transformers')} {installed_version('pillow')}"
    return cache_folder() / "recipes" / f"{hashlib.blake2b(what.encode(), digest_size=8).hexdigest()}.json"


@cache
def load_processor(folder: str) -> Any:
    transformers = import_optional("transformers", f"hf:{folder}")
    if not any((Path(folder) / name).is_file() for name in SETTINGS):
        raise LikewiseError(
            f"{folder} has no preprocessor_config.json, so nobody knows how its pictures are prepared: "
            "copy that file from where the model came from."
        )
    logging.getLogger("transformers").setLevel(logging.ERROR)
    try:
        with suppress_output():
            if settings := _dinov3_settings(Path(folder)):
                return transformers.ViTImageProcessorPil(**settings)
            return transformers.AutoImageProcessor.from_pretrained(folder, local_files_only=True)
    except Exception as error:
        first = str(error).strip().split("\n")[0]
        raise LikewiseError(f"the image processor in {folder} cannot be loaded ({first}).") from error


def _dinov3_settings(folder: Path) -> dict[str, Any] | None:
    """DINOv3's own processor needs torchvision; without its class the same steps are those of ViT's, on bytes."""
    path = folder / SETTINGS[0]
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if not str(values.get("image_processor_type", "")).startswith("DINOv3ViT"):
        return None
    names = ("size", "resample", "do_resize", "do_rescale", "rescale_factor", "do_normalize", "image_mean", "image_std")
    return {name: values[name] for name in names if values.get(name) is not None}


def _translate_processor(processor: Any) -> Recipe | None:
    values = processor.to_dict()
    size, cut = values.get("size") or {}, values.get("crop_size") or {}
    resize: int | tuple[int, int] | None = None
    if values.get("do_resize"):
        resize = size.get("shortest_edge") or ((size["height"], size["width"]) if "height" in size else None)
        if resize is None or "longest_edge" in size:
            return None
    kept = (cut["height"], cut["width"]) if values.get("do_center_crop") and "height" in cut else None
    if "crop_pct" in values and isinstance(resize, int):  # ConvNeXt: cut a central square, or squash when large
        kept = (resize, resize) if resize < 384 else None
        resize = int(resize / values["crop_pct"]) if resize < 384 else (resize, resize)
    if resize is None or (isinstance(resize, int) and kept is None):
        return None  # pictures of different sizes
    mean, std = values.get("image_mean"), values.get("image_std")
    normalise = values.get("do_normalize") and mean and std
    return Recipe(
        resize,
        kept,
        int(values.get("resample", Image.Resampling.BILINEAR)),
        float(values["rescale_factor"]) if values.get("do_rescale") else 1.0,
        tuple(float(value) for value in mean) if normalise else (0.0,) * 3,
        tuple(float(value) for value in std) if normalise else (1.0,) * 3,
    )


def _timm_recipe(values: dict[str, Any]) -> Recipe:
    """timm writes its preparation into the model's configuration."""
    _, height, width = values["input_size"]
    resample = {"bicubic": Image.Resampling.BICUBIC}.get(values.get("interpolation", ""), Image.Resampling.BILINEAR)
    mean, std = (tuple(float(number) for number in values[name]) for name in ("mean", "std"))
    shorter = int(min(height, width) / values.get("crop_pct", 1.0))
    return Recipe(shorter, (height, width), resample, mean=mean, std=std)


def _agrees(recipe: Recipe, processor: Any) -> bool:
    """Whether recipe and processor agree on a wide, a tall and a small picture."""
    rng = np.random.default_rng(0)
    for size in ((300, 170), (150, 310), (40, 33)):
        picture = Image.fromarray(rng.integers(0, 256, (9, 7, 3), dtype=np.uint8)).resize(size)
        ours = recipe.tensor(recipe.prepare(picture)[None])[0]
        theirs = _processed(processor, picture)
        if ours.shape != theirs.shape or np.abs(ours - theirs).max() > TOLERANCE * max(
            1.0, float(np.abs(theirs).max())
        ):
            return False
    return True


def _processed(processor: Any, picture: Image.Image) -> Tensor:
    with suppress_output():
        [pixels] = processor(images=picture, return_tensors="np")["pixel_values"]
    return np.asarray(pixels, np.float32)


def _output_size(processor: Any) -> tuple[int, int]:
    shape = _processed(processor, Image.new("RGB", (300, 300))).shape
    return shape[-2], shape[-1]


@dataclass(frozen=True)
class ByProcessor(Recipe):
    """Preparation by the processor itself, with nothing left to do afterwards."""

    folder: str = ""
    side_: tuple[int, int] = (0, 0)

    @property
    def side(self) -> tuple[int, int]:
        return self.side_

    def prepare(self, image: Image.Image) -> Prepared:
        pixels = _processed(load_processor(self.folder), centre_crop(image, self.crop))
        if pixels.shape != (3, *self.side_):
            raise LikewiseError(
                f"{self.folder} prepared a picture of {image.size} as {pixels.shape}, others as {(3, *self.side_)}: "
                "all must be of one size."
            )
        return pixels

    def tensor(self, batch: Prepared) -> Tensor:
        return np.ascontiguousarray(batch, np.float32)
