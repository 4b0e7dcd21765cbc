"""The page of one question, "like this, but …": the reference, the condition, and what was found, with pictures."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from likewise.report.page import render
from likewise.report.pictures import Album
from likewise.workspace import write_text


@dataclass(frozen=True)
class Question:
    """What was asked, and of whom."""

    name: str
    image: Path | None
    """The picture of the reference."""
    text: str
    text_weight: float
    encoder: str
    method: str
    n_images: int

    @property
    def asked(self) -> str:
        if self.image is None:
            return f"“{self.text}”"
        return f"Like this, but “{self.text}”" if self.text else "Like this"


def write_asked_page(path: Path, question: Question, found: pl.DataFrame, root: Path) -> None:
    """Write one page that needs nothing else; `found` is what `Searcher.ask` gave, pictures are below `root`."""
    album = Album(root, found.select("image", "category"))
    reference = str(question.image.resolve()) if question.image else None
    for image in (*([reference] if reference else []), *found["image"]):
        album.want(image)
    album.embed()
    page = render(
        "asked.html",
        package="likewise.conditional.report",
        name=question.name,
        asked=question.asked,
        image=reference,
        shown_as=question.image.name if question.image else "",
        text=question.text,
        weight=question.text_weight,
        encoder=question.encoder,
        method=question.method,
        n_images=question.n_images,
        found=found.to_dicts(),
        album=album,
    )
    write_text(page, path)
