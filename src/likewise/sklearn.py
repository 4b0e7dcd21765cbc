"""Any encoder as a scikit-learn transformer, to stand in a Pipeline before a classifier, a search or a plot:

    make_pipeline(likewise.sklearn.Encoder("efficientnet-lite0"), LogisticRegression()).fit(paths, classes)

Needs `pip install 'likewise[sklearn]'`.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from likewise.catalog.images import load_image, to_rgb
from likewise.encoders.protocol import Vectors
from likewise.encoders.registry import get_encoder
from likewise.errors import LikewiseError
from likewise.optional_dependencies import missing_dependency

try:
    from sklearn.base import BaseEstimator, TransformerMixin
except ImportError as missing:
    raise missing_dependency("sklearn", "likewise.sklearn") from missing

if TYPE_CHECKING:
    from sklearn.utils import Tags


class EncoderTransformer(TransformerMixin, BaseEstimator):
    """Images to vectors of length one, (n, dim) float32; an image that cannot be read is an error.

    X is a sequence of paths, Pillow images or uint8 arrays (height, width[, 3]), or one uint8 array of equally large
    images.  A table with one column of paths will do, too, as a ColumnTransformer hands it over.  There is nothing to
    fit: `transform` works at once, and a copy or a pickle holds the parameters, not the network.
    """

    def __init__(self, encoder: str = "efficientnet-lite0", *, batch_size: int = 32) -> None:
        self.encoder = encoder
        self.batch_size = batch_size

    def fit(self, X: Iterable[Any] | None = None, y: object = None) -> "EncoderTransformer":  # noqa: N803
        """Check that the encoder exists."""
        get_encoder(self.encoder)
        if self.batch_size < 1:
            raise LikewiseError(f"batch_size={self.batch_size} must be at least 1.")
        return self

    def transform(self, X: Iterable[Any]) -> Vectors:  # noqa: N803
        """The vectors of `X`, in its order."""
        encoder, images = get_encoder(self.encoder), list_images(X)
        rows = [np.empty((0, encoder.dim), np.float32)]
        for start in range(0, len(images), self.batch_size):
            opened = enumerate(images[start : start + self.batch_size], start)
            rows.append(encoder.encode([encoder.prepare(open_image(each, at, encoder.pixels)) for at, each in opened]))
        return np.concatenate(rows)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """`efficientnet-lite0_0` and so on."""
        encoder = get_encoder(self.encoder)
        return np.array([f"{encoder.name}_{number}" for number in range(encoder.dim)], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        return tags


Encoder = EncoderTransformer


def list_images(X: Iterable[Any]) -> Sequence[Any]:  # noqa: N803
    """The images of any input scikit-learn hands over, one entry each."""
    if isinstance(X, str | Path | Image.Image):
        raise LikewiseError("one image was given where a list of images is needed: put it in brackets.")
    if isinstance(X, list | tuple):
        return X
    values = np.asarray(X)
    if values.dtype.kind in "OUT" and values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 and (values.dtype != np.uint8 or values.ndim not in (3, 4)):
        raise LikewiseError(
            f"an array {values.dtype} {values.shape} holds no images: give paths, Pillow images, or uint8 arrays "
            "(images, height, width, 3)."
        )
    return list(values)


def open_image(image: Any, number: int, pixels: int) -> Image.Image:
    """An upright RGB image from a path, a Pillow image or an array."""
    if isinstance(image, Image.Image):
        return to_rgb(image)
    if isinstance(image, np.ndarray):
        if image.dtype != np.uint8 or image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] not in (3, 4)):
            raise LikewiseError(
                f"image {number} is an array {image.dtype} {image.shape}: use uint8 (height, width, 3)."
            )
        return to_rgb(Image.fromarray(image))
    if not isinstance(image, str | Path):
        raise LikewiseError(f"image {number} is a {type(image).__name__}: give paths, Pillow images or uint8 arrays.")
    try:
        return load_image(Path(image), at_least=pixels)
    except Exception as error:  # whatever a decoder throws at a bad file
        raise LikewiseError(f"image {number} ({image}) cannot be read ({error}): correct or remove it.") from error
