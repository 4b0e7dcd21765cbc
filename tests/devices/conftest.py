"""The stand-in device for every test here, and the small worlds of the rooms."""

from collections.abc import Iterator

import pytest

from tests.conditional.conftest import drawn, learned, small_tower, tower
from tests.devices.stand_in import MEMORY, NAME
from tests.encoders.conftest import cache, tiny

__all__ = ["cache", "drawn", "learned", "small_tower", "tiny", "tower"]


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Networks run on the stand-in device, and did so by the end of the test."""
    monkeypatch.setenv("LIKEWISE_DEVICE", NAME)
    before, MEMORY.limit = MEMORY.n_operations, 1 << 62
    yield
    MEMORY.limit = 1 << 62
    assert MEMORY.n_operations > before, "nothing ran on the device"
