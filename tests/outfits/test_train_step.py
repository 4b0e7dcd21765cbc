"""`outfits train` on the files of a workspace: what it is asked for is what is trained, in a folder of its own."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from likewise.catalog.table import read_catalog
from likewise.encoders.running.encode import encode_catalog
from likewise.errors import LikewiseError
from likewise.outfits.training.step import TrainingRequest, load_examples, train_outfit_model
from likewise.workspace import WorkspaceFolder
from tests.outfits.toy_outfits import used_preset


@pytest.fixture
def asked(workspace: WorkspaceFolder, tmp_path: Path) -> TrainingRequest:
    """Twelve outfits of one item of every category, by the names of the items alone."""
    encode_catalog(workspace, ["colour", "shape"], workers=1)
    items = read_catalog(workspace).unique("item", keep="first", maintain_order=True)
    shelves = [rows["item"].to_list() for rows in items.partition_by("category", maintain_order=True)]
    worn = [
        (f"outfit{n}", shelf[(n + n // 4 * place) % len(shelf)])
        for n in range(12)
        for place, shelf in enumerate(shelves)
    ]
    table = tmp_path / "outfits.csv"
    pl.DataFrame(worn, schema=["outfit", "item"], orient="row").write_csv(table)
    return TrainingRequest("type-aware", encoders="colour", preset="quick", outfits=table, epochs=1)


def test_popular_and_trained_models_do_not_take_over_each_others_folders(
    workspace: WorkspaceFolder, asked: TrainingRequest
) -> None:
    popular = replace(asked, kind="popular", name="mine")
    card = train_outfit_model(workspace, popular)
    assert train_outfit_model(workspace, popular) == card
    for other in (replace(popular, encoders="shape"), replace(asked, name="mine")):
        with pytest.raises(LikewiseError, match="holds another training"):
            train_outfit_model(workspace, other)
    assert train_outfit_model(workspace, replace(popular, encoders="shape"), force=True).encoders == "shape"
    with pytest.raises(LikewiseError, match="leave --trunk, --words and --hard-negatives out"):
        train_outfit_model(workspace, replace(popular, name="other", words=True))


def test_the_card_says_what_was_asked_for_and_done(workspace: WorkspaceFolder, asked: TrainingRequest) -> None:
    assert used_preset(train_outfit_model(workspace, replace(asked, near_share=0.25))).near_share == 0.25
    whole = replace(asked, name="whole", encoders="", finetuned_encoder="small")
    assert used_preset(train_outfit_model(workspace, whole)).near_share == 0.0
    for option in ({"near_share": 0.5}, {"words": True}):
        with pytest.raises(LikewiseError, match="a model that is trained whole has none"):
            train_outfit_model(workspace, replace(whole, name="other", **option))


def test_an_outfit_with_an_item_that_nobody_knows_is_left_out_as_a_whole(
    workspace: WorkspaceFolder, asked: TrainingRequest
) -> None:
    assert asked.outfits is not None
    before = load_examples(workspace, asked)
    lines = asked.outfits.read_text().splitlines()
    lines[1] = "outfit0,misspelt"
    asked.outfits.write_text("\n".join(lines) + "\n")
    after = load_examples(workspace, asked)
    names = {outfit.name for outfit in (*after.train, *after.valid)}
    assert names == {outfit.name for outfit in (*before.train, *before.valid)} - {"outfit0"}
