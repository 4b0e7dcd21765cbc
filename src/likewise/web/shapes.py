"""The JSON of the site's interface: strict types, nothing extra."""

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

MOST_EVENTS = 200
LARGEST_ID = 2**53


def _whole(value: object) -> object:
    """JSON knows no integers: 17.0 is 17."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
ClientId = Annotated[str, Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
Id = Annotated[int, Field(ge=1, le=LARGEST_ID), WHOLE]
Milliseconds = Annotated[int, Field(ge=0, le=86_400_000), WHOLE]
PlainText = Annotated[str, Field(max_length=300, pattern=r"^[^\x00]*$")]

Skip = Annotated[str, Query(max_length=12_000, pattern=r"^([0-9]{1,16}(,[0-9]{1,16})*)?$")]


def skipped(text: str) -> set[int]:
    """The ids of a comma-separated list."""
    return {int(number) for number in text.split(",") if number}


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class ImageOut(Strict):
    image: int
    thumb: str
    full: str


class PairOut(Strict):
    pair: int
    query: ImageOut
    candidate: ImageOut


class ProgressOut(Strict):
    answered: int
    total: int
    later: int
    seconds_per_pair: float | None


class NextOut(Strict):
    pairs: list[PairOut]
    progress: ProgressOut
    paused: bool


class CandidateOut(Strict):
    pair: int
    candidate: ImageOut
    answer: str | None


class GridOut(Strict):
    query: ImageOut | None
    candidates: list[CandidateOut]
    progress: ProgressOut
    paused: bool


class AnswerIn(Strict):
    client_id: ClientId
    pair: Id
    answer: Literal["similar", "not similar", "cannot tell", "later"]
    reason: PlainText | None = None
    milliseconds: Milliseconds | None = None


class AnswersIn(Strict):
    events: Annotated[list[AnswerIn], Field(max_length=MOST_EVENTS)]


class RefusedOut(Strict):
    client_id: str
    why: str


class AnswersOut(Strict):
    accepted: list[str]
    refused: list[RefusedOut]
    progress: ProgressOut


class UndoIn(Strict):
    client_id: ClientId
    pair: Id


class UndoOut(Strict):
    pair: PairOut
    progress: ProgressOut


class OptionOut(Strict):
    value: str
    label: str
    image: ImageOut | None


class QuestionOut(Strict):
    id: int
    kind: Literal["triplet", "rating", "keep", "choice"]
    prompt: str
    images: list[ImageOut]
    options: list[OptionOut]


class NextQuestionOut(Strict):
    question: QuestionOut | None
    progress: ProgressOut


class QuestionAnswerIn(Strict):
    client_id: ClientId
    question: Id
    value: Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
    milliseconds: Milliseconds | None = None


class QuestionAnswersIn(Strict):
    events: Annotated[list[QuestionAnswerIn], Field(max_length=MOST_EVENTS)]


class Problem(Strict):
    detail: str


PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem} for status in (400, 401, 403, 404, 409, 413, 422, 503)
}
