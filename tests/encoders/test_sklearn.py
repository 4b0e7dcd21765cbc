"""Encoders in a scikit-learn Pipeline: what people put before a classifier."""

import pickle
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import likewise as lw
from likewise.encoders import get_encoder
from likewise.errors import LikewiseError


def draw(colour: str, number: int) -> Image.Image:
    """A disc of one colour somewhere on white."""
    image = Image.new("RGB", (90, 80), "white")
    ImageDraw.Draw(image).ellipse((10 + number, 10, 60 + number, 60), fill=colour)
    return image


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    """Six red and then six blue discs."""
    files = [tmp_path / f"{colour}{number}.png" for colour in ("red", "blue") for number in range(6)]
    for file in files:
        draw(file.stem[:-1], int(file.stem[-1])).save(file)
    return [str(file) for file in files]


CLASSES = ["red"] * 6 + ["blue"] * 6


def test_a_pipeline_learns_to_tell_colours(paths: list[str]) -> None:
    pipeline = make_pipeline(lw.sklearn.Encoder("colour", batch_size=5), LogisticRegression())
    pipeline.fit(paths[::2], CLASSES[::2])
    assert pipeline.predict(paths[1::2]).tolist() == CLASSES[1::2]
    copy = pickle.loads(pickle.dumps(clone(pipeline).fit(paths, CLASSES)))
    assert copy.predict([draw("red", 3), draw("blue", 20)]).tolist() == ["red", "blue"]


def test_paths_images_and_arrays_give_the_same_vectors_as_the_encoder(paths: list[str]) -> None:
    images = [Image.open(path).convert("RGB") for path in paths]
    encoder, transformer = get_encoder("blend"), lw.sklearn.Encoder("blend", batch_size=5)
    expected = encoder.encode([encoder.prepare(image) for image in images])
    stack = np.stack([np.asarray(image) for image in images])
    for given in (paths, [Path(path) for path in paths], np.array(paths), images, list(stack), stack):
        np.testing.assert_array_equal(transformer.fit_transform(given), expected)
    assert transformer.transform([]).shape == (0, encoder.dim)


def test_parameters_and_feature_names_are_those_scikit_learn_expects(paths: list[str]) -> None:
    transformer = lw.sklearn.Encoder("layout").set_params(batch_size=2)
    assert transformer.get_params() == {"encoder": "layout", "batch_size": 2}
    names = transformer.get_feature_names_out()
    assert (names[0], len(names)) == ("layout_0", get_encoder("layout").dim)
    framed = transformer.set_output(transform="polars").transform(paths)
    assert framed.columns == list(names)


def test_a_column_of_a_table_is_encoded_beside_other_columns(paths: list[str]) -> None:
    table = np.array([[path, number] for number, path in enumerate(paths)], dtype=object)
    columns = ColumnTransformer([("image", lw.sklearn.Encoder("colour"), [0]), ("price", "passthrough", [1])])
    nearest = make_pipeline(columns, KNeighborsClassifier(1)).fit(table, CLASSES)
    assert nearest.predict(table).tolist() == CLASSES


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("photo.jpg", "put it in brackets"),
        (["nowhere.png"], r"image 0 \(nowhere.png\) cannot be read"),
        (np.zeros((2, 8, 8, 3)), r"an array float64 \(2, 8, 8, 3\) holds no images"),
        ([np.zeros((8, 8, 2), np.uint8)], r"image 0 is an array uint8 \(8, 8, 2\)"),
        ([7], "image 0 is a int"),
    ],
)
def test_what_is_no_image_is_an_error_in_one_sentence(given: Iterable[object], complaint: str) -> None:
    with pytest.raises(LikewiseError, match=complaint):
        lw.sklearn.Encoder("layout").transform(given)
    with pytest.raises(LikewiseError, match="did you mean 'layout'"):
        lw.sklearn.Encoder("layuot").fit()


def test_importing_likewise_does_not_import_scikit_learn_and_a_missing_one_says_how_to_get_it() -> None:
    code = (
        "import sys, likewise; print('sklearn' in sys.modules); sys.modules['sklearn'] = None\n"
        "try: likewise.sklearn\n"
        "except likewise.LikewiseError as error: print(error)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == [
        "False",
        "likewise.sklearn needs sklearn, which is not installed: run `pip install 'likewise[sklearn]'`.",
    ]
