"""What training does when there is much: vectors stay on disk, near negatives come from an index, samples fit layers;
where there is little, everything is as without."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from likewise.outfits.models.batch import pad_outfits
from likewise.outfits.models.card import read_arrays, weights_file
from likewise.outfits.models.feature_source import WorkspaceFeatures
from likewise.outfits.outfit_list import OutfitList
from likewise.outfits.protocol import Outfit
from likewise.outfits.tables import outfit_table, outfits_from_table
from likewise.outfits.training import negatives as negatives_module
from likewise.outfits.training.examples import split_outfits
from likewise.outfits.training.negatives import nearest_of_type
from likewise.outfits.training.run_folder import fingerprint_examples, settings_fingerprint
from likewise.outfits.training.step import TrainingRequest, train_outfit_model
from likewise.outfits.vectors import VectorsOnDisk
from tests.guard.test_outfit_models import outfits_table
from tests.guard.world import World, make_world
from tests.outfits.toy_outfits import ITEMS, examples, stored, ten_outfits

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("many"))


def test_vectors_that_stay_on_disk_train_the_same_weights(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = outfits_table(world, tmp_path / "outfits.csv")
    asked = TrainingRequest("type-aware", "held", "colour", preset="quick", outfits=table)
    train_outfit_model(world.workspace, asked)
    monkeypatch.setattr("likewise.outfits.vectors.MAX_VALUES_IN_MEMORY", 0)
    assert isinstance(WorkspaceFeatures(world.workspace).vectors("colour").vectors, VectorsOnDisk)
    train_outfit_model(world.workspace, replace(asked, name="streamed"))
    models = world.workspace.path / "outfit_models"
    held, streamed = (read_arrays(weights_file(models / name)) for name in ("held", "streamed"))
    assert held.keys() == streamed.keys()
    assert all(np.array_equal(held[name], streamed[name]) for name in held)


def test_an_index_finds_nearly_the_negatives_that_brute_force_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(6000, 16)).astype(np.float32)
    features[100] = features[0]  # the same thing twice
    item_ids = np.arange(6000)
    item_ids[1] = item_ids[0] = 7000  # two views of one thing
    types = np.repeat([0, 1], [4500, 1500])
    exact = nearest_of_type(features, types, item_ids)
    monkeypatch.setattr(negatives_module, "MIN_INDEXED", 2000)
    found = nearest_of_type(features, types, item_ids)
    assert np.array_equal(found[4500:], exact[4500:])  # a small type is searched as ever
    shared = [len(set(a) & set(b)) / len(b) for a, b in zip(found[:4500].tolist(), exact[:4500].tolist(), strict=True)]
    assert np.mean(shared) > 0.9
    assert not {0, 1, 100} & set(found[0].tolist())
    assert (types[found[:4500]] == 0).all()


def test_the_first_layer_is_fitted_to_a_sample_of_outfits_where_items_are_very_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from likewise.outfits.training import trainer

    lists = [[n, n + 1, n + 2][: 2 + n % 2] for n in range(30)]
    outfits = stored(lists, np.zeros(40, dtype=np.int64))
    every = [sorted(line) for line in lists]
    rows, fitted = trainer.sample_for_trunk(outfits, 40, 0)
    assert [line[line >= 0].tolist() for line in fitted.indices] == lists and rows.tolist() == list(range(40))
    monkeypatch.setattr(trainer, "MAX_FITTED_OUTFITS", 7)
    rows, fitted = trainer.sample_for_trunk(outfits, 40, 0)
    assert len(fitted) == 7 and len(rows) == 40
    assert all(line[line >= 0].tolist() in lists for line in fitted.indices)
    monkeypatch.setattr(trainer, "MAX_FITTED_ITEMS", 12)
    rows, fitted = trainer.sample_for_trunk(outfits, 40, 0)
    assert len(rows) <= 12 and len(fitted) == 4
    shown = [sorted(rows[line[line >= 0]].tolist()) for line in fitted.indices]
    assert all(line in every for line in shown)


def test_the_fingerprint_of_outfits_is_that_of_their_json() -> None:
    given = examples(users=tuple("abcdefghij"), captions={"tops/0.jpg": 'grün, "quoted"'})
    names = [[item.image for item in outfit.items] for outfit in (*given.train, *given.valid)]
    whole = [names, len(given.train), given.users, sorted(given.categories_by_image())]
    assert fingerprint_examples(given)["outfits"] == settings_fingerprint(whole)


def test_validation_holds_at_most_so_many_outfits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("likewise.outfits.training.examples.MAX_VALID", 2)
    train, valid = split_outfits(list(ten_outfits()), 0, share=0.5)
    assert 1 <= len(valid) <= 4 and sorted([*train, *valid]) == list(range(10))


def test_a_list_of_very_many_outfits_is_like_a_list_of_outfits() -> None:
    rng = np.random.default_rng(4)
    plain = [
        Outfit(f"o{n}", tuple(ITEMS[i] for i in rng.permutation(len(ITEMS))[: rng.integers(1, 6)])) for n in range(50)
    ]
    table = outfit_table(plain).sample(fraction=1.0, shuffle=True, seed=1).sort("outfit", maintain_order=True)
    of_table = {outfit.name: outfit for outfit in outfits_from_table(table)}
    assert of_table == {outfit.name: outfit for outfit in plain}
    listed = outfits_from_table(outfit_table(plain))
    for made in (listed, OutfitList.from_outfits(plain)):
        assert list(made) == plain and [made[n] for n in range(-50, 50)] == plain * 2 and len(made) == 50
        assert list(made[3:9]) == plain[3:9] and list(made.select([7, 2])) == [plain[7], plain[2]]
        some = set(ITEMS[:4])
        assert made.holding(some).tolist() == [bool(some.intersection(outfit.items)) for outfit in plain]
        assert set(made.worn()) == {item for outfit in plain for item in outfit.items}
    with pytest.raises(IndexError):
        listed[50]


def test_validation_is_drawn_alike_from_objects_and_from_numbers() -> None:
    plain = list(ten_outfits())
    as_numbers = outfits_from_table(outfit_table(plain))
    assert all(np.array_equal(a, b) for a, b in zip(split_outfits(plain, 3), split_outfits(as_numbers, 3), strict=True))


def test_outfits_are_padded_as_they_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    types = np.arange(9) % 3
    lists = [[0, 1, 2], [5], [8, 3], [4, 6, 7, 1]]
    whole = pad_outfits(lists, types)
    kept = stored(lists, types)
    lines = np.array([2, 0])
    assert np.array_equal(kept.select(lines).indices, whole.select(lines).indices)
    assert np.array_equal(kept.select(lines).types, whole.select(lines).types)
    monkeypatch.setattr("likewise.outfits.models.batch.BLOCK", 3)
    blocks = list(kept.blocks())
    assert [len(block) for block in blocks] == [3, 1]
    assert np.array_equal(blocks[1].indices, whole.indices[3:])
