"""A question of a data set for the page on which people say what makes its wrong answers wrong."""

from typing import Any

from likewise.errors import LikewiseError
from likewise.outfits.builder import list_builders
from likewise.outfits.polyvore import read_outfit_benchmark
from likewise.outfits.protocol import OutfitQuestion
from likewise.outfits.publish import read_factor_tags
from likewise.outfits.web.views import pictures
from likewise.web.site import Site

SPLITS = ("test", "valid", "train")


def questions_to_tag(site: Site) -> list[OutfitQuestion]:
    """The data set's fill-in-the-blank questions; where it has none, those of finished tests.

    The page says which answer is right, so nobody may still have to answer these questions.
    """
    workspace = site.settings.workspace
    for split in SPLITS:
        try:
            found = read_outfit_benchmark(workspace, split).questions
        except LikewiseError:  # no such tables, or not this split
            continue
        if found:
            return found
    return [
        question
        for builder in list_builders(workspace)
        if builder.is_done("final")
        for question in builder.questions("final")
    ]


def question_to_tag(site: Site, person: str) -> dict[str, Any] | None:
    """The next question that this person has not tagged, and how far they are."""
    questions = questions_to_tag(site)
    tags = read_factor_tags(site.engine)
    mine = {name for name, tagged in tags.items() if person in tagged}
    left = [question for question in questions if question.name not in mine]
    if not left:
        return None
    question = left[0]
    shown = pictures(site, [item.image for item in (*question.items, *question.choices)])
    return {"question": question, "pictures": shown, "done": len(questions) - len(left), "total": len(questions)}
