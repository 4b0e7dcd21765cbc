"""Where the real data is: below LIKEWISE_DATA, or beside the checkout."""

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).parents[3] / "shared" / "data"


NO_DATA = "real data is neither below LIKEWISE_DATA nor in ../shared/data"


def find_data(name: str) -> Path | None:
    """A folder of the real data, or None."""
    places = [Path(os.environ["LIKEWISE_DATA"])] if os.environ.get("LIKEWISE_DATA") else []
    return next((place / name for place in [*places, BESIDE] if (place / name).is_dir()), None)


def real_data(name: str) -> Path:
    """A folder of the real data; a test that needs it says so and is skipped where there is none."""
    found = find_data(name)
    if found is None:
        pytest.skip(f"{NO_DATA}: {name}")
    return found


def needs_data(name: str) -> pytest.MarkDecorator:
    """The same for all tests of a file."""
    return pytest.mark.skipif(find_data(name) is None, reason=f"{NO_DATA}: {name}")
