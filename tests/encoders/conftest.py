"""A cache of their own for exported networks, and tiny models made once."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .tiny import make_model

Tiny = Callable[[str], Path]


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Exports go here instead of into the user's cache; threads are few because other work is going on."""
    folder = tmp_path_factory.mktemp("cache")
    before = {name: os.environ.get(name) for name in ("LIKEWISE_CACHE", "HF_HOME", "HF_HUB_OFFLINE")}
    os.environ.update({"LIKEWISE_CACHE": str(folder), "HF_HOME": str(folder / "hf"), "HF_HUB_OFFLINE": "1"})
    yield folder
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """`tiny("clip")`: the folder of a tiny model of that family, made once for all folders of tests."""
    folder = tmp_path_factory.getbasetemp() / "tiny-models"

    def make(family: str) -> Path:
        place = folder / family
        return place if place.exists() else make_model(family, place)

    return make
