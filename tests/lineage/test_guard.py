"""The guard: what a model learned, has seen, or might have learned, of what it is about to be asked."""

import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.lineage import EvaluationSet, Examples, Lesson, Lineage, Task, screen_models
from likewise.lineage.digests import caption_digest, pair_digest
from likewise.lineage.guard import find_overlap
from likewise.lineage.record import IMAGE_SCHEMA, TASKS, TOPICS


def images(*names: str, content: str = "c-", item: str = "i-") -> pl.DataFrame:
    """Images whose content and item follow from their name; an empty prefix means that it is not known."""
    rows = [(name, f"{item}{name[0]}", f"{content}{name}" if content else None) for name in names]
    return pl.DataFrame(rows, schema=IMAGE_SCHEMA, orient="row")


def taught(task: Task, shown: pl.DataFrame, answers: tuple[str, ...] = (), captions: tuple[str, ...] = ()) -> Lineage:
    examples = Examples(shown, frozenset(captions), frozenset(answers))
    return Lineage((Lesson(task, f"train on {task}", "shoes", examples),))


def asked(
    task: Task, shown: pl.DataFrame, answers: tuple[str, ...] = (), captions: tuple[str, ...] = ()
) -> EvaluationSet:
    return EvaluationSet(task, f"these {task}", Examples(shown, frozenset(captions), frozenset(answers)))


PAIRS = (pair_digest("a", "b"), pair_digest("a", "c"))


@pytest.mark.parametrize("lesson", TASKS)
@pytest.mark.parametrize("question", [task for task in TASKS if task != "pictures"])
def test_answers_of_the_same_sort_about_the_same_images_are_learned_and_all_others_seen(
    lesson: Task, question: Task
) -> None:
    found = find_overlap("model", taught(lesson, images("a", "b")), asked(question, images("b", "c")))
    same_sort = TOPICS[lesson] == TOPICS[question]
    other_answers = (
        TOPICS[lesson] == "similarity" and lesson == question
    )  # an open catalog: other pairs of the same items
    assert found.learned == (same_sort and not other_answers)
    assert found.seen != found.learned
    assert (found.n_images, found.n_items) == (1, 1)


def test_equal_pairs_are_learned_whatever_the_images_are_called() -> None:
    renamed = images("a", "b").with_columns("new-" + pl.col("image"))
    found = find_overlap("model", taught("labels", images("a", "b"), PAIRS), asked("labels", renamed, PAIRS[:1]))
    assert found.learned and found.n_answers == 1


def test_equal_keys_of_other_pictures_are_other_images() -> None:
    question = asked("classes", images("a", "b"))
    assert not find_overlap("model", taught("classes", images("a", content="other-")), question).steps
    assert find_overlap("model", taught("classes", images("a", content="")), question).learned  # nothing says otherwise
    answers = taught("labels", images("a", content="other-"), PAIRS)
    assert not find_overlap("model", answers, asked("labels", images("a", "b"), PAIRS)).learned


def test_captions_find_pictures_that_were_stored_again_but_a_few_are_coincidence() -> None:
    said = tuple(str(caption_digest(f"a picture of the number {number}")) for number in range(40))
    other_files = images("x", content="stored-again-", item="j-")
    question = asked("conditions", images("a"), captions=said)
    assert find_overlap("model", taught("captions", other_files, captions=said[:20]), question).learned
    assert not find_overlap("model", taught("captions", other_files, captions=said[:2]), question).steps


def test_halves_of_one_catalog_may_share_captions_but_no_images() -> None:
    said = tuple(str(caption_digest(f"a picture of the number {number}")) for number in range(4))
    lesson = Lesson("captions", "two-tower", "shop", Examples(images("a"), frozenset(said)), "same")
    question = EvaluationSet("conditions", "these templates", Examples(images("b"), frozenset(said)), "same")
    assert not find_overlap("model", Lineage((lesson,)), question).steps


def test_a_screening_leaves_out_marks_and_says_one_sentence_each() -> None:
    found = screen_models(
        {
            "clean": Lineage(pretrained=("ImageNet",)),
            "knows": taught("labels", images("a", "b"), PAIRS),
            "fitted": taught("pictures", images("a")),
            "mine": Lineage(unknown=("mine",)),
        },
        asked("labels", images("a", "b", "c"), PAIRS),
    )
    assert found.choose(None) == ["clean", "fitted", "mine"]
    assert found.choose(["knows"]) == ["knows"]
    assert (found.learned, found.unknown) == (["knows"], ["mine"])
    assert found.marked("knows") == "knows †" and found.marked("clean") == "clean"
    left_out, seen, unknown = found.notes(found.choose(None))
    assert left_out.startswith("knows learned from 2 of its answers (train on labels, labels of shoes) and is left out")
    assert seen.startswith("fitted has seen 1 of its images (1 items), not the answers")
    assert "what mine learned from is not recorded" in unknown
    [named] = found.notes(["knows"])
    assert named.startswith("knows † learned from 2 of its answers") and "no rank" in named
    with pytest.raises(LikewiseError, match="knows learned from 2 of its answers"):
        found.refuse_learned()


def test_where_every_model_knows_the_answers_there_is_nothing_to_measure() -> None:
    found = screen_models({"knows": taught("labels", images("a"), PAIRS)}, asked("labels", images("a"), PAIRS))
    with pytest.raises(LikewiseError, match="every model learned the answers of these labels: knows"):
        found.choose(None)
