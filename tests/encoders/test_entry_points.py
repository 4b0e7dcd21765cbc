"""An encoder that another installed package brings through the entry point group `likewise.encoders`."""

from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from likewise.encoders import encode_catalog, encode_text, get_encoder, list_encoders, read_vectors
from likewise.errors import LikewiseError

from .helpers import images_of, make_workspace

MODULE = """
import numpy as np

class Brightness:
    '''How bright each corner is.'''
    name, version, dim, pixels, preparation = "brightness", "brightness@1", 4, 16, "grey 2"

    def prepare(self, image):
        return np.asarray(image.convert("L").resize((2, 2)), np.float32).ravel() + 1.0

    def encode(self, batch):
        rows = np.stack(batch)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

def broken():
    raise RuntimeError("no licence file")
"""


@pytest.fixture(autouse=True)
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three entry points as importlib.metadata finds them in an installed package."""
    (tmp_path / "outside_package.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    names = {"brightness": "Brightness", "misnamed": "Brightness", "broken": "broken"}
    found = [EntryPoint(name, f"outside_package:{target}", "likewise.encoders") for name, target in names.items()]
    monkeypatch.setattr("likewise.encoders.entry_points.entry_points", lambda group: found)


def test_it_encodes_a_catalog_by_its_name(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, 5)
    [done] = encode_catalog(workspace, ["brightness"], workers=1)
    assert (done.encoder, done.dim, done.images, done.new_images) == ("brightness", 4, 5, 5)
    np.testing.assert_allclose(np.linalg.norm(read_vectors(workspace, "brightness", images_of(workspace)), axis=1), 1.0)
    joined = get_encoder("brightness+colour?weight=2")
    assert joined.dim == 4 + get_encoder("colour").dim


def test_a_newer_version_of_it_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = make_workspace(tmp_path, 5)
    encode_catalog(workspace, ["brightness"], workers=1)
    monkeypatch.setattr(type(get_encoder("brightness")), "version", "brightness@2")
    with pytest.raises(LikewiseError, match="another version of the encoder"):
        encode_catalog(workspace, ["brightness"], workers=1)


def test_it_is_listed_and_one_that_fails_is_listed_with_the_reason() -> None:
    listed = {one.name: one for one in list_encoders()}
    assert (listed["brightness"].dim, listed["brightness"].source) == (4, "package outside_package")
    assert listed["brightness"].description == "How bright each corner is."
    assert not listed["broken"].here
    assert "no licence file" in listed["broken"].description


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("broken", r"the encoder broken of outside_package cannot be opened \(no licence file\)"),
        ("misnamed", "does not give an encoder named 'misnamed'"),
        ("brightness?flip=1", "prepares pictures itself; leave flip= out"),
        ("brihgtness", "did you mean 'brightness'"),
    ],
)
def test_mistakes_are_answered_in_one_sentence(spec: str, complaint: str) -> None:
    with pytest.raises(LikewiseError, match=complaint):
        get_encoder(spec)


def test_it_has_no_text_side() -> None:
    with pytest.raises(LikewiseError, match="brightness has no text side"):
        encode_text("brightness", ["a red shoe"])
