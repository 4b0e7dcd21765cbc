"""The pages of docs whose tables benchmarks fill in, with the function that the scripts of docs use."""

import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
sys.path.append(str(DOCS))

from marks import fill, paragraph  # noqa: E402

__all__ = ["DOCS", "fill", "paragraph"]
