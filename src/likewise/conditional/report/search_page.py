"""The page of one query, "like this, but …": the reference, the condition, and what was found, with pictures."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from likewise.report.page import render
from likewise.report.thumbnails import EmbeddedThumbnails
from likewise.workspace import write_text


@dataclass(frozen=True)
class SearchQuery:
    """A reference and a condition, and what was searched."""

    name: str
    image: Path | None
    """The picture of the reference."""
    text: str
    text_weight: float
    encoder: str
    method: str
    n_images: int

    @property
    def title(self) -> str:
        if self.image is None:
            return f"“{self.text}”"
        return f"Like this, but “{self.text}”" if self.text else "Like this"


def write_search_page(path: Path, query: SearchQuery, found: pl.DataFrame, root: Path) -> None:
    """Write one page that needs nothing else; `found` is what `Searcher.search` gave, pictures are below `root`."""
    thumbnails = EmbeddedThumbnails(root, found.select("image", "category"))
    reference = str(query.image.resolve()) if query.image else None
    for image in (*([reference] if reference else []), *found["image"]):
        thumbnails.add(image)
    thumbnails.embed()
    page = render(
        "search_page.html",
        package="likewise.conditional.report",
        name=query.name,
        title=query.title,
        image=reference,
        shown_as=query.image.name if query.image else "",
        text=query.text,
        weight=query.text_weight,
        encoder=query.encoder,
        method=query.method,
        n_images=query.n_images,
        found=found.to_dicts(),
        thumbnails=thumbnails,
    )
    write_text(page, path)
