"""Where the real data is: below LIKEWISE_DATA, or beside the checkout."""

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).parents[3] / "shared" / "data"


def real_data(name: str) -> Path:
    """A folder of the real data; a test that needs it says so and is skipped where there is none."""
    places = [Path(os.environ["LIKEWISE_DATA"])] if os.environ.get("LIKEWISE_DATA") else []
    for place in [*places, BESIDE]:
        if (place / name).is_dir():
            return place / name
    pytest.skip(f"no real data here: {name} is neither below LIKEWISE_DATA nor in ../shared/data")
