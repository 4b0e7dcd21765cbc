"""`python:` encoders: a function of pictures, or an object that is an encoder already."""

from pathlib import Path

import numpy as np
import pytest

from likewise.encoders import encode_catalog, get_encoder, read_vectors
from likewise.errors import LikewiseError

from .helpers import make_workspace, random_picture

MODULE = """
import numpy as np

def mean_colour(pictures):
    return [np.asarray(picture).mean((0, 1)) + 1 for picture in pictures]

def too_few(pictures):
    return np.ones((1, 3))

class Corner:
    name, version, dim, pixels, preparation = "corner", "corner@1", 3, 8, "corner"
    def prepare(self, image):
        return np.asarray(image)[0, 0].astype(np.float32) + 1
    def encode(self, batch):
        rows = np.stack(batch)
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

NUMBER = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_encoders.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("module")
def test_a_function_and_an_object_encode_a_catalog(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "data", 5)
    specs = ["python:own_encoders:mean_colour", "python:own_encoders:mean_colour?flip=1", "python:own_encoders:Corner"]
    done = encode_catalog(workspace, specs, workers=1)
    names = ["own_encoders.mean_colour", "own_encoders.mean_colour_flip", "corner"]
    assert [each.encoder for each in done] == names
    expected = np.asarray(random_picture(2)).mean((0, 1)) + 1
    expected /= np.linalg.norm(expected)
    for name in names[:2]:
        assert read_vectors(workspace, name, ["0002.png"])[0] == pytest.approx(expected, abs=1e-3)


@pytest.mark.usefixtures("module")
def test_mistakes_are_one_sentence() -> None:
    for spec, said in (
        ("python:own_encoders", "must be python:MODULE:NAME"),
        ("python:not_there:f", "there is no module 'not_there'"),
        ("python:own_encoders:nothing", "has no 'nothing'"),
        ("python:own_encoders:NUMBER", "neither a function nor an encoder"),
        ("python:own_encoders:Corner?flip=1", "prepares pictures itself; leave flip= out"),
    ):
        with pytest.raises(LikewiseError, match=said):
            get_encoder(spec)
    short = get_encoder("python:own_encoders:too_few")
    with pytest.raises(LikewiseError, match="it must give a row each"):
        short.encode([short.prepare(random_picture(0))] * 2)
