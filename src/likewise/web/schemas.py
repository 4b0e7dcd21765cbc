"""The JSON of the site's interface: strict types, nothing extra."""

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

MAX_EVENTS = 200
MAX_ID = 2**53


def _to_integer(value: object) -> object:
    """JSON knows no integers: 17.0 is 17."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


INTEGRAL = BeforeValidator(_to_integer)
ClientId = Annotated[str, Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
Id = Annotated[int, Field(ge=1, le=MAX_ID), INTEGRAL]
Milliseconds = Annotated[int, Field(ge=0, le=86_400_000), INTEGRAL]
PlainText = Annotated[str, Field(max_length=300, pattern=r"^[^\x00]*$")]

SkippedIds = Annotated[str, Query(max_length=12_000, pattern=r"^([0-9]{1,16}(,[0-9]{1,16})*)?$")]


def parse_ids(text: str) -> set[int]:
    """The ids of a comma-separated list."""
    return {int(number) for number in text.split(",") if number}


class StrictModel(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class ImageOut(StrictModel):
    image: int
    thumb: str
    full: str


class PairOut(StrictModel):
    pair: int
    query: ImageOut
    candidate: ImageOut


class ProgressOut(StrictModel):
    answered: int
    total: int
    later: int
    seconds_per_pair: float | None


class NextOut(StrictModel):
    pairs: list[PairOut]
    progress: ProgressOut
    paused: bool


class CandidateOut(StrictModel):
    pair: int
    candidate: ImageOut
    answer: str | None


class GridOut(StrictModel):
    query: ImageOut | None
    candidates: list[CandidateOut]
    progress: ProgressOut
    paused: bool


class AnswerIn(StrictModel):
    client_id: ClientId
    pair: Id
    answer: Literal["similar", "not similar", "cannot tell", "exact", "substitute", "different", "later"]
    reason: PlainText | None = None
    milliseconds: Milliseconds | None = None


class AnswersIn(StrictModel):
    events: Annotated[list[AnswerIn], Field(max_length=MAX_EVENTS)]


class RefusedOut(StrictModel):
    client_id: str
    why: str


class AnswersOut(StrictModel):
    accepted: list[str]
    refused: list[RefusedOut]
    progress: ProgressOut


class UndoIn(StrictModel):
    client_id: ClientId
    pair: Id


class UndoOut(StrictModel):
    pair: PairOut
    progress: ProgressOut


class OptionOut(StrictModel):
    value: str
    label: str
    image: ImageOut | None


class QuestionOut(StrictModel):
    id: int
    kind: Literal["triplet", "rating", "keep", "choice"]
    prompt: str
    images: list[ImageOut]
    options: list[OptionOut]


class NextQuestionOut(StrictModel):
    question: QuestionOut | None
    progress: ProgressOut


class QuestionAnswerIn(StrictModel):
    client_id: ClientId
    question: Id
    value: Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
    milliseconds: Milliseconds | None = None


class QuestionAnswersIn(StrictModel):
    events: Annotated[list[QuestionAnswerIn], Field(max_length=MAX_EVENTS)]


class ErrorDetail(StrictModel):
    detail: str


ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorDetail} for status in (400, 401, 403, 404, 409, 413, 422, 503)
}


ImageKey = Annotated[str, Field(min_length=1, max_length=1000)]
MAX_PAIRS_ASKED = 2000
KeyPairs = Annotated[
    list[Annotated[list[ImageKey], Field(min_length=2, max_length=2)]],
    Field(min_length=1, max_length=MAX_PAIRS_ASKED),
]


class PairsToAsk(StrictModel):
    """Pairs that somebody picked on an explore page: query and candidate by their keys."""

    pairs: KeyPairs


class CopyDecision(StrictModel):
    """What the owner decides about pairs of the copies page; None takes an earlier decision back."""

    pairs: KeyPairs
    decision: Literal["copy", "ignored"] | None
