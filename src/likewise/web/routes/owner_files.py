"""The owner's guidelines page, and the exports."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from likewise.discovery.proposals import all_proposals
from likewise.evaluation.exchange.labels_export import export_labels
from likewise.labeling.exports import export_votes
from likewise.labeling.store.gold_pairs import EXAMPLE, PRACTICE, read_gold_pairs, sample_pairs, set_gold_pairs
from likewise.labeling.store.images import image_ids
from likewise.labeling.store.pairs import pair_keys
from likewise.labeling.store.project import change_project, read_project
from likewise.labeling.votes import GRADED_ANSWERS, NOT_SIMILAR, POSITIVE_ANSWERS, SIMILAR
from likewise.web.access import CsrfForm, CurrentOwner, CurrentSite, or_bad_request
from likewise.web.pages import image_links, render, split_paragraphs
from likewise.web.site import Site

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
    return render(
        request,
        "guidelines.html",
        text=project.guidelines,
        choices=choices,
        answers=answers,
        notice="",
        error="",
        workspace=site.settings.workspace.quoted,
    )


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
    for wanted, chosen in _chosen_pairs(site, pair, use, answer, note).items():
        or_bad_request(partial(set_gold_pairs, site.engine, wanted, chosen))
    change_project(site.engine, "The guidelines were changed.", guidelines=text)
    return RedirectResponse("/owner/guidelines", 303)


@router.post("/guidelines/preview", dependencies=[CsrfForm])
def preview_guidelines(
    request: Request,
    who: CurrentOwner,
    site: CurrentSite,
    text: Annotated[str, Form(max_length=20_000)] = "",
    pair: Annotated[list[int], Form(max_length=200)] = [],  # noqa: B006
    use: Texts = [],  # noqa: B006
    answer: Texts = [],  # noqa: B006
    note: Texts = [],  # noqa: B006
) -> Response:
    """The first page of experts with what the form says; nothing is saved."""
    chosen = _chosen_pairs(site, pair, use, answer, note)
    ids = image_ids(site.engine, {key for query, candidate, _, _ in chosen[EXAMPLE] for key in (query, candidate)})
    examples = [
        {
            "query": image_links(ids[query]),
            "candidate": image_links(ids[candidate]),
            "similar": said in POSITIVE_ANSWERS,
            "answer": said.capitalize(),
            "note": why,
        }
        for query, candidate, said, why in chosen[EXAMPLE]
    ]
    return render(
        request,
        "welcome.html",
        expert="",
        preview=True,
        guidelines=split_paragraphs(text),
        examples=examples,
        n_practice=len(chosen[PRACTICE]),
        has_questions=False,
    )


def _chosen_pairs(
    site: Site, pair: list[int], use: list[str], answer: list[str], note: list[str]
) -> dict[str, list[tuple[str, str, str, str]]]:
    """The examples and practice pairs of the form: (query, candidate, answer, note)."""
    if not len(pair) == len(use) == len(answer) == len(note):
        raise HTTPException(422, "the form is incomplete: reload the page and try again")
    keys = pair_keys(site.engine, pair)
    rows = [row for row in zip(pair, use, answer, note, strict=True) if row[0] in keys]
    return {
        wanted: [(*keys[number], said, why[:300]) for number, chosen, said, why in rows if chosen == wanted]
        for wanted in (EXAMPLE, PRACTICE)
    }
