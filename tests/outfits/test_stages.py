"""A LAT made stage by stage on the store: it waits for people, survives interruptions, and ends as a bundle."""

import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from sqlalchemy import Engine

from likewise.catalog import make_catalog
from likewise.catalog.readers import read
from likewise.errors import LikewiseError
from likewise.labeling.store import open_votes
from likewise.labeling.store.clock import simulated_store_time
from likewise.labeling.store.expert_notes import add_note
from likewise.labeling.store.experts import invite_expert, read_experts
from likewise.labeling.store.questions import add_question_answers, read_questions
from likewise.outfits.aat import QuestionDraft, check_draft, questions_from_drafts, select_drafts
from likewise.outfits.builder import OutfitTestBuilder, OutfitTestPlan
from likewise.outfits.bundle import read_images
from likewise.outfits.designer_pictures import add_designer_picture, picture_path
from likewise.outfits.factors import count_factors
from likewise.outfits.protocol import Item
from likewise.outfits.publish import (
    DRAFT,
    FACTOR,
    VOTE,
    catalog_attributes,
    catalog_items,
    publish_test,
    question_items,
    read_factor_tags,
    replace_distractor,
    selected_drafts,
)
from likewise.outfits.stages import advance_test_stages, trust_categories
from likewise.synthetic import build_wardrobe
from likewise.synthetic.outfits.people import simulate_test
from likewise.workspace import WorkspaceFolder

PLAN = OutfitTestPlan(
    sort=False,
    n_seed_outfits=500,
    n_experts=2,
    n_best=60,
    n_panel=3,
    n_consistent=40,
    n_rounds=2,
    days_between_rounds=3.0,
    n_questions=5,
)


@pytest.fixture(scope="module")
def wardrobe(tmp_path_factory: pytest.TempPathFactory) -> WorkspaceFolder:
    folder = tmp_path_factory.mktemp("wardrobe")
    workspace = WorkspaceFolder(folder / "ws")
    rows = build_wardrobe(folder / "pictures", n_items=120, views_per_item=1, workers=1)
    make_catalog(workspace, rows, folder / "pictures", "wardrobe")
    return workspace


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    opened = open_votes(f"sqlite:///{tmp_path / 'votes.db'}")
    yield opened
    opened.dispose()


def answer_all(engine: Engine, slug: str, who: str, value: str, share: int = 0) -> None:
    number = next(expert.id for expert in read_experts(engine) if expert.name == who)
    mine = read_questions(engine, slug).filter(pl.col("share") == share)["question"].to_list()
    stored = add_question_answers(
        engine, number, None, [(str(uuid.uuid4()), question, value, None) for question in mine]
    )
    assert not stored.refused


def test_stages_wait_for_people_and_go_on_where_they_stopped(wardrobe: WorkspaceFolder, engine: Engine) -> None:
    builder = OutfitTestBuilder(wardrobe, "patient")
    builder.start(PLAN)
    trust_categories(builder, PLAN)
    for name in ("Anna", "Ben", "Carla"):
        invite_expert(engine, name)
    status = advance_test_stages(builder, engine)
    assert (status.stage, status.answered, status.wanted) == ("keep", 0, 500)
    answer_all(engine, "patient-keep", "Anna", "keep", share=1)  # her share, half of the outfits
    assert advance_test_stages(builder, engine).answered == 250
    answer_all(engine, "patient-keep", "Ben", "delete", share=2)
    status = advance_test_stages(builder, engine)
    assert (status.stage, status.wanted) == ("rate", 2 * 250)  # what Anna kept, rated by two people
    assert builder.read_stage("keep")["outfit"].n_unique() == 250
    answer_all(engine, "patient-rate", "Anna", "7")
    answer_all(engine, "patient-rate", "Ben", "9")
    status = advance_test_stages(builder, engine)
    assert (status.stage, status.wanted) == ("panel", 60 * 3)
    assert advance_test_stages(builder, engine) == status  # asking again changes nothing
    with pytest.raises(LikewiseError, match="keeps its plan"):
        builder.start(replace(PLAN, n_panel=9), given=("n_panel",))


def test_a_distractor_is_replaced_on_the_site_until_somebody_answered(
    wardrobe: WorkspaceFolder, engine: Engine
) -> None:
    builder = OutfitTestBuilder(wardrobe, "by-hand")
    builder.start(replace(PLAN, n_panel=1))
    trust_categories(builder, PLAN)
    for name in ("Anna", "Ben"):
        invite_expert(engine, name)
    advance_test_stages(builder, engine)
    for who, share in (("Anna", 1), ("Ben", 2)):
        answer_all(engine, "by-hand-keep", who, "keep", share=share)
    advance_test_stages(builder, engine)
    for who in ("Anna", "Ben"):
        answer_all(engine, "by-hand-rate", who, "5")
    assert advance_test_stages(builder, engine).stage == "panel"
    question = builder.questions("blank")[0]
    wrong = next(item for place, item in enumerate(question.choices) if place != question.right)
    inside = {item.item for item in (*question.items, *question.choices)}
    spare = [i for i in catalog_items(wardrobe).values() if i.category == question.category and i.item not in inside]
    changed = replace_distractor(builder, engine, question.name, wrong.item, spare[0].item)
    assert spare[0] in changed.choices
    assert builder.questions("blank")[0] == changed
    answer_all(engine, "by-hand-panel", "Anna", "0")
    with pytest.raises(LikewiseError, match="answered already"):
        replace_distractor(builder, engine, question.name, spare[0].item, wrong.item)
    assert builder.questions("blank")[0] == changed


def test_simulated_people_finish_a_test_and_rounds_are_days_apart(
    wardrobe: WorkspaceFolder, engine: Engine, tmp_path: Path
) -> None:
    builder = OutfitTestBuilder(wardrobe, "whole")
    builder.start(replace(PLAN, sort=True))  # they also sort the images
    with simulated_store_time("2026-03-01T08:00:00.000Z"):
        status = simulate_test(builder, engine, n_crowd=12)
    assert status.stage == "rounds-1"
    assert "2026-03-04T08:00:00.000Z" in status.sentence
    with pytest.raises(LikewiseError, match="not finished"):
        publish_test(builder, engine, tmp_path / "early.zip", licence="CC0-1.0")
    for day in ("04T08:00:00.000Z", "07T08:00:00.000Z"):
        with simulated_store_time(f"2026-03-{day}"):
            status = simulate_test(builder, engine, n_crowd=12)
    assert status.finished
    own = designers_question(wardrobe, engine)
    made = publish_test(builder, engine, tmp_path / "whole.zip", licence="CC0-1.0")
    *lat, aat = made.questions
    assert all(sum(question.people) == 12 for question in lat)
    assert aat.right is not None and aat.choices[aat.right].item == own.choices[0]
    pictures = dict(read_images(made))
    assert {item.item: pictures[item.image] for item in aat.choices} == {name: name.encode() for name in own.choices}
    everybody = pl.concat([builder.read_stage("rounds-1"), builder.read_stage("rounds-2")])
    for question in builder.questions("final"):
        answers = everybody.filter(pl.col("question") == question.name)
        assert answers.height == 2 * PLAN.n_panel
        assert answers["value"].n_unique() == 1


def designers_question(workspace: WorkspaceFolder, engine: Engine) -> QuestionDraft:
    """A question whose choices are pictures that its author brought along, with a colleague's vote."""
    for name in ("Anna Design", "Ben Design"):
        invite_expert(engine, name)
    anna, ben = ({one.name: one.id for one in read_experts(engine)}[f"{name} Design"] for name in ("Anna", "Ben"))
    bags = [add_designer_picture(workspace, engine, anna, "Anna Design", bytes([n]), "bags") for n in range(5)]
    for bag in bags:
        picture_path(workspace, bag.item).write_bytes(bag.item.encode())
    first = {item.category: item.item for item in catalog_items(workspace).values()}
    worn = [first["dresses"], first["shoes"]]
    own = QuestionDraft(
        "d", "Anna Design", "color", "warm tone", tuple(worn), tuple(bag.item for bag in bags), only_this_differs=True
    )
    check_draft(own, question_items(workspace, engine), catalog_attributes(workspace))
    add_note(engine, DRAFT, own.name, anna, own.to_dict())
    add_note(engine, VOTE, own.name, ben, True)
    return own


ITEMS = {
    name: Item(name, category, f"{name}.jpg")
    for name, category in (
        *((f"bag{n}", "bags") for n in range(6)),
        ("dress", "dresses"),
        ("shoe", "shoes"),
        ("ring", "rings"),
    )
}
BAGS = tuple(f"bag{n}" for n in range(5))
COLOURS = {
    f"bag{n}": {"colour": colour, "style": "rock"}
    for n, colour in enumerate(("red", "blue", "green", "pink", "grey", "brown"))
}


def draft(**changes: object) -> QuestionDraft:
    usual = QuestionDraft("d", "Anna", "color", "warm tone", ("dress", "shoe"), BAGS)
    return replace(usual, **changes)  # type: ignore[arg-type]


def test_the_editor_refuses_what_would_test_two_things() -> None:
    check_draft(draft(), ITEMS, COLOURS)
    other_style = COLOURS | {"bag2": {"colour": "green", "style": "sweet"}}
    twice_red = COLOURS | {"bag2": {"colour": "red", "style": "rock"}}
    all_red = {name: {"colour": "red", "style": "rock"} for name in COLOURS}
    for wrong, attributes, why in (
        (draft(), other_style, "also differ in style"),
        (draft(), twice_red, "only one answer may be right"),
        (draft(), all_red, "do not differ in color"),
        (draft(), {}, "confirm that the choices differ in color only"),
        (draft(sub_dimension="winter"), COLOURS, "no sub-dimension 'winter'"),
        (draft(choices=BAGS[:4]), COLOURS, "5 choices, one right and 4 wrong, not 4 in all"),
        (draft(choices=(*BAGS[:4], "bag0")), COLOURS, "another item"),
        (draft(choices=(*BAGS[:4], "ring")), COLOURS, "different categories"),
        (draft(worn=("dress",)), COLOURS, "no valid outfit"),
        (draft(worn=("dress", "shoe", "bag5")), COLOURS, "at most one bag"),
        (draft(worn=("hat", "shoe")), COLOURS, "no item hat"),
    ):
        with pytest.raises(LikewiseError, match=why):
            check_draft(wrong, ITEMS, attributes)
    check_draft(draft(only_this_differs=True), ITEMS, {})


def test_the_editor_works_on_a_catalog_with_titles_and_brands(tmp_path: Path) -> None:
    """Every title is another, and says nothing about dimensions; what else differs takes the designer's word."""
    colours = ("red", "blue", "green", "pink", "grey")
    rows = [f"bag{n},bags,Handbag No. {n} in {colour},{colour},Brand {n % 2}" for n, colour in enumerate(colours)]
    rows += ["dress,dresses,A dress,red,Brand 0", "shoe,shoes,A shoe,black,Brand 0"]
    for row in rows:
        Image.new("RGB", (8, 8), (len(row), 9, sum(map(ord, row)) % 256)).save(
            tmp_path / f"{row.partition(',')[0]}.png"
        )
    lines = [f"{row.partition(',')[0]}.png,{row}" for row in rows]
    (tmp_path / "catalog.csv").write_text("\n".join(["image,item,category,title,baseColour,brand", *lines]))
    workspace = WorkspaceFolder(tmp_path / "shop")
    make_catalog(workspace, read(tmp_path / "catalog.csv").rows, tmp_path, "table")
    items, attributes = catalog_items(workspace), catalog_attributes(workspace)
    assert attributes["bag0"] == {"baseColour": "red", "brand": "Brand 0"}
    with pytest.raises(LikewiseError, match="also differ in brand: confirm"):
        check_draft(draft(), items, attributes)
    check_draft(draft(only_this_differs=True), items, attributes)
    with pytest.raises(
        LikewiseError, match="also differ in baseColour"
    ):  # nobody's word makes this a question of season
        check_draft(draft(dimension="season", sub_dimension="winter", only_this_differs=True), items, attributes)


def test_a_stage_that_is_interrupted_while_it_is_written_is_not_done(
    wardrobe: WorkspaceFolder, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = OutfitTestBuilder(wardrobe, "stopped")
    builder.start(PLAN)
    trust_categories(builder, PLAN)
    for name in ("Anna", "Ben"):
        invite_expert(engine, name)
    advance_test_stages(builder, engine)
    for who, share in (("Anna", 1), ("Ben", 2)):
        answer_all(engine, "stopped-keep", who, "keep", share=share)

    def full_disk(*_: object) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("likewise.outfits.stages.write_json", full_disk)  # the last file of the stage
        with pytest.raises(OSError, match="no space"):
            advance_test_stages(builder, engine)
    assert not builder.is_done("keep")
    assert advance_test_stages(builder, engine).stage == "rate"
    assert (builder.folder / "keep.json").exists()


def test_votes_choose_within_the_quota_of_each_sub_dimension(engine: Engine) -> None:
    drafts = [draft(name=f"d{n}") for n in range(4)]
    votes = {"d0": {"b": False}, "d1": {"b": True, "c": True}, "d2": {"b": True}, "d3": {}}
    chosen = select_drafts(drafts, votes, {"color": {"warm tone": 3, "cool tone": 1}})
    assert [one.name for one in chosen.drafts] == ["d1", "d2"]  # d0 was voted down, nobody has voted on d3
    assert chosen.lacking == {("color", "warm tone"): 1, ("color", "cool tone"): 1}
    (first, _) = questions_from_drafts(chosen.drafts, ITEMS)
    assert first.right is not None
    assert first.choices[first.right].item == "bag0"
    assert [item.category for item in first.filled(first.right).items] == ["dresses", "shoes", "bags"]
    for name in ("Anna", "Ben"):
        invite_expert(engine, name)
    ids = {expert.name: expert.id for expert in read_experts(engine)}
    add_note(engine, DRAFT, "d9", ids["Anna"], draft(name="d9").to_dict())
    add_note(engine, VOTE, "d9", ids["Anna"], True)  # one's own vote does not count
    add_note(engine, VOTE, "d9", ids["Ben"], False)
    add_note(engine, VOTE, "d9", ids["Ben"], True)  # the latest stands
    assert selected_drafts(engine).votes == {"d9": (1, 0)}


def test_factors_are_counted_where_half_of_the_people_see_them(engine: Engine) -> None:
    invite_expert(engine, "Anna")
    anna = read_experts(engine)[0].id
    add_note(engine, FACTOR, "q1", anna, ["season", "color"])
    add_note(engine, FACTOR, "q1", None, ["color", "style"])
    add_note(engine, FACTOR, "q2", anna, ["color"])
    add_note(engine, FACTOR, "q3", anna, [])
    counted = count_factors(read_factor_tags(engine))
    assert counted.n_questions == 3
    assert {name: n for name, n in counted.questions_by_factor.items() if n} == {"color": 2, "style": 1, "season": 1}
    assert counted.questions_by_number == {0: 1, 1: 1, 3: 1}
