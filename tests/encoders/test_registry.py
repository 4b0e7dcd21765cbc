"""Encoders are found by name, quickly, and a misspelt name is answered helpfully."""

import subprocess
import sys

import pytest

from likewise.encoders import BUILT_IN, get_encoder, list_encoders
from likewise.errors import LikewiseError


def test_available_lists_every_built_in_encoder_with_its_dimension() -> None:
    listed = list_encoders()[: len(BUILT_IN)]
    assert tuple(info.name for info in listed) == BUILT_IN
    for info in listed:
        encoder = get_encoder(info.name)
        assert (info.dim, info.name) == (encoder.dim, encoder.name)
        assert encoder.version.startswith(f"{info.name}@")
        assert info.description.endswith(".")


def test_an_unknown_encoder_is_answered_with_the_closest_and_all_known() -> None:
    with pytest.raises(LikewiseError, match=r"'color', did you mean 'colour'\?.* layout, blend, efficientnet-lite0"):
        get_encoder("color")
    with pytest.raises(LikewiseError, match=r"'efficientnet', did you mean 'efficientnet-lite0'\?"):
        get_encoder("efficientnet")
    with pytest.raises(LikewiseError, match="no encoder 'xyz': known are colour"):
        get_encoder("xyz")


def test_importing_the_registry_loads_no_heavy_library() -> None:
    code = (
        "import sys, likewise.encoders.registry; "
        "print([m for m in ('skimage', 'scipy', 'torch', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("spec", "version"),
    [
        ("blend?size=64", "blend@2 crop=1 flip=0 box=0 size=64"),
        ("efficientnet-lite0", "efficientnet-lite0@6dab3201530d"),
        ("efficientnet-lite0?pooling=stages", "efficientnet-lite0-stages@1f3885df6cc5"),
        ("efficientnet-lite2?frame=pad&size=128&unscaled=1", "efficientnet-lite2@20cc00487d5b"),
        ("small?crop=0.9&box=1", "small@bc5bc1c0b94c"),
    ],
)
def test_versions_stay_so_that_vectors_made_before_are_still_current(spec: str, version: str) -> None:
    """They digest the text of `Recipe`: renaming it or one of its fields would make everybody's vectors stale."""
    assert get_encoder(spec).version == version
