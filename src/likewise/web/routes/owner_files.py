"""The owner's guidelines page, and the exports."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from likewise.discovery.proposals import all_proposals
from likewise.evaluation.exchange.labels_export import export_labels
from likewise.labeling.exports import export_votes
from likewise.labeling.store.gold_pairs import EXAMPLE, PRACTICE, read_gold_pairs, sample_pairs, set_gold_pairs
from likewise.labeling.store.pairs import pair_keys
from likewise.labeling.store.project import change_project, read_project
from likewise.labeling.votes import GRADED_ANSWERS, NOT_SIMILAR, SIMILAR
from likewise.web.access import CsrfForm, CurrentOwner, CurrentSite, or_bad_request
from likewise.web.pages import image_links, render

router = APIRouter(prefix="/owner", include_in_schema=False)
EXPORTS = {
    "labels.parquet": "labels",
    "vsd.json": "labels",
    "labels.qrels": "labels",
    "votes.csv": "votes",
    "crowdkit.csv": "crowdkit",
    "events.csv": "events",
}
TYPES = {
    ".qrels": "text/plain; charset=utf-8",
    ".parquet": "application/vnd.apache.parquet",
    ".json": "application/json",
    ".csv": "text/csv; charset=utf-8",
}
MAX_CHOICES = 60
Texts = Annotated[list[str], Form(max_length=200)]


@router.get("/export/{file}")
def download(file: str, who: CurrentOwner, site: CurrentSite) -> Response:
    """The votes, or the labels as `likewise label export` gives them, under their rule."""
    if file not in EXPORTS:
        raise HTTPException(404, f"there is no such export; there are {', '.join(EXPORTS)}")
    ending = file[file.index(".") :]
    if EXPORTS[file] == "labels":
        content = or_bad_request(lambda: export_labels(site.settings.workspace, ending).content)
    else:
        content = export_votes(site.engine, EXPORTS[file], all_proposals(site.settings.workspace))
    headers = {"Content-Disposition": f'attachment; filename="{file}"'}
    return Response(content, media_type=TYPES[ending], headers=headers)


@router.get("/guidelines")
def guidelines(request: Request, who: CurrentOwner, site: CurrentSite) -> Response:
    """The text, and pairs to choose examples and practice pairs from: those in use and a random handful."""
    used = {use: read_gold_pairs(site.engine, use) for use in (EXAMPLE, PRACTICE)}
    choices = [
        {
            "pair": known.pair,
            "query": image_links(known.query_image),
            "candidate": image_links(known.candidate_image),
            "use": use,
            "answer": known.answer,
            "note": known.note,
        }
        for use, pairs in used.items()
        for known in pairs
    ]
    taken = {choice["pair"] for choice in choices}
    for pair in sample_pairs(site.engine, MAX_CHOICES - len(choices)):
        if pair.pair not in taken:
            query, candidate = image_links(pair.query_image), image_links(pair.candidate_image)
            row = {"pair": pair.pair, "query": query, "candidate": candidate}
            choices.append(row | {"use": "", "answer": SIMILAR, "note": ""})
    project = read_project(site.engine)
    answers = GRADED_ANSWERS if project.graded else (SIMILAR, NOT_SIMILAR)
    told = project.guidelines
    return render(request, "guidelines.html", text=told, choices=choices, answers=answers, notice="", error="")


@router.post("/guidelines", dependencies=[CsrfForm])
def change_guidelines(
    who: CurrentOwner,
    site: CurrentSite,
    text: Annotated[str, Form(max_length=20_000)] = "",
    pair: Annotated[list[int], Form(max_length=200)] = [],  # noqa: B006  FastAPI copies it
    use: Texts = [],  # noqa: B006
    answer: Texts = [],  # noqa: B006
    note: Texts = [],  # noqa: B006
) -> Response:
    if not len(pair) == len(use) == len(answer) == len(note):
        raise HTTPException(422, "the form is incomplete: reload the page and try again")
    keys = pair_keys(site.engine, pair)
    for wanted in (EXAMPLE, PRACTICE):
        chosen = [
            (*keys[number], said, why[:300])
            for number, chosen_use, said, why in zip(pair, use, answer, note, strict=True)
            if chosen_use == wanted and number in keys
        ]
        or_bad_request(partial(set_gold_pairs, site.engine, wanted, chosen))
    change_project(site.engine, "The guidelines were changed.", guidelines=text)
    return RedirectResponse("/owner/guidelines", 303)
