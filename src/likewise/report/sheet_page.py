"""A sheet with pictures: one self-contained page on which an expert answers pairs offline and saves them as a CSV.

It is blind: pictures go by names that say nothing, and the saved file holds these names.
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl
from markupsafe import Markup

from likewise.labeling.sheet import PICTURE_PIXELS, blind_name
from likewise.progress import ProgressCallback
from likewise.report.page import asset, render
from likewise.report.thumbnails import EmbeddedThumbnails


@dataclass(frozen=True)
class SheetPair:
    """One question: the names that its answer goes by, and the symbols of its pictures."""

    query: str
    candidate: str
    question: str
    query_picture: str
    candidate_picture: str


def sheet_page(
    sheet: pl.DataFrame,
    catalog: pl.DataFrame,
    root: Path,
    expert: str,
    guidelines: str,
    on_progress: ProgressCallback | None = None,
) -> str:
    """The page for the pairs of a sheet (query, candidate, question), in its order."""
    thumbnails = EmbeddedThumbnails(root, catalog, PICTURE_PIXELS)
    for column in ("query", "candidate"):
        for image in sheet[column]:
            thumbnails.add(image)
    thumbnails.embed(on_progress)
    script = asset("sheet.js")
    return render(
        "sheet.html",
        page_title=f"Pairs for {expert}",
        name=f"pairs for {expert}",
        expert=expert,
        guidelines=guidelines,
        thumbnails=thumbnails,
        questions=_questions(sheet.select("query", "candidate", "question").rows(), thumbnails),
        sheet_script=Markup(script),
        sheet_script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _questions(pairs: Sequence[tuple[str, str, str]], thumbnails: EmbeddedThumbnails) -> list[dict[str, str]]:
    return [
        asdict(
            SheetPair(
                blind_name(query),
                blind_name(candidate),
                question,
                thumbnails.symbol_id(query),
                thumbnails.symbol_id(candidate),
            )
        )
        for query, candidate, question in pairs
    ]
