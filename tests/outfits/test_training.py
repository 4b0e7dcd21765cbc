"""Training is fair and repeatable: negatives, items of tests, seeds, a killed run, words, pictures."""

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import LikewiseError
from likewise.lineage import EvaluationSet
from likewise.outfits.bundle import open_test, write_test
from likewise.outfits.models.batch import pad_outfits
from likewise.outfits.models.card import read_arrays, weights_file
from likewise.outfits.models.feature_source import WorkspaceFeatures
from likewise.outfits.models.random import RandomModel
from likewise.outfits.models.registry import load_model
from likewise.outfits.models.trained_model import TrainedOutfitModel
from likewise.outfits.models.words import caption_word_targets, extract_words
from likewise.outfits.orders import taste_score_values
from likewise.outfits.protocol import Item, Outfit, OutfitQuestion
from likewise.outfits.results import OutfitTestResults, score_models
from likewise.outfits.screening import model_lineage, outfit_examples
from likewise.outfits.tables import outfit_table
from likewise.outfits.training.examples import OutfitExamples, examples_from_tables, make_fitb_questions
from likewise.outfits.training.negatives import NegativeSampler, nearest_of_type
from likewise.outfits.training.presets import PAPER, USUAL, Preset, get_preset
from likewise.outfits.training.run_folder import state_file
from likewise.outfits.training.trainer import TrainingJob, train_model
from likewise.outfits.training.validation import ACCURACY, LOSS
from likewise.workspace import WorkspaceFolder
from tests.outfits.toy_outfits import (
    CATEGORIES,
    ITEMS,
    examples,
    job,
    outfit,
    stored,
    ten_outfits,
    toy_features,
    trained,
    used_preset,
)


@settings(max_examples=60)
@given(st.data())
def test_negatives_are_of_the_same_type_and_never_from_the_outfit(data: st.DataObject) -> None:
    n_types = data.draw(st.integers(1, 5))
    sizes = [data.draw(st.integers(3, 6)) for _ in range(n_types)]
    types = np.repeat(np.arange(n_types), sizes)
    pool = list(range(len(types)))
    worn = data.draw(st.lists(st.lists(st.sampled_from(pool), min_size=1, max_size=4, unique=True), min_size=1))
    worn = [line for line in worn if np.bincount(types[line]).max() < 3]
    if not worn:
        return
    outfits = pad_outfits(worn, types)
    negatives = NegativeSampler(types, tuple(str(number) for number in range(n_types)))
    negatives.check_outfits(stored(worn, types))
    drawn = negatives.sample(outfits, 3, np.random.default_rng(data.draw(st.integers(0, 99))))
    for line, own in enumerate(worn):
        for place, row in enumerate(own):
            for other in drawn[line, :, place].tolist():
                assert types[other] == types[row]
                assert other not in own
    assert (drawn[~np.broadcast_to(outfits.mask[:, None], drawn.shape)] == -1).all()


def test_near_negatives_are_the_most_alike_of_the_type_and_never_worn() -> None:
    rng = np.random.default_rng(0)
    types = np.repeat([0, 1], [40, 12])
    features = rng.normal(size=(52, 8)).astype(np.float32)
    features[1] = 2 * features[0]  # the same thing twice
    item_ids = np.arange(52)
    item_ids[2] = 3  # two views of one thing
    near = nearest_of_type(features, types, item_ids)
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    for row, found in enumerate(near.tolist()):
        others = [
            other
            for other in np.flatnonzero(types == types[row]).tolist()
            if unit[other] @ unit[row] < 0.9999 and item_ids[other] != item_ids[row]
        ]
        best = sorted(others, key=lambda o: -float(unit[o] @ unit[row]))[: 10 if types[row] == 0 else 3]
        assert [o for o in found if o >= 0] == best
    outfits = pad_outfits([[0, 45], [3, int(near[3, 0]), 50]], types)
    negatives = NegativeSampler(types, ("tops", "shoes"), near, 0.5)
    seen: set[int] = set()
    for _ in range(60):
        drawn = negatives.sample(outfits, 4, rng)
        assert (types[drawn[1]] == types[[3, 3, 50]]).all()
        assert not np.isin(drawn[1, :, :2], [3, near[3, 0]]).any()
        seen |= set(drawn[0, :2, 0].tolist())
        assert (drawn[0, :, 2] == -1).all()
    assert seen >= set(near[0][near[0] >= 0].tolist())


def test_a_category_without_another_item_is_refused() -> None:
    negatives = NegativeSampler(np.array([0, 0, 1]), ("tops", "shoes"))
    with pytest.raises(LikewiseError, match=r"training has 1 items of the category 'shoes'"):
        negatives.check_outfits(stored([[0, 2]], np.array([0, 0, 1])))


def shown(items: list[Item], digests: dict[str, str] | None = None) -> EvaluationSet:
    return EvaluationSet("outfits", "a test", outfit_examples(items, digests or {}))


def test_items_of_a_test_are_refused_or_left_out() -> None:
    world, test = examples(), shown([outfit(4).items[0]])
    with pytest.raises(LikewiseError, match=r"1 items of the test are in 2 of 20 training outfits \(first: tops-4\)"):
        world.without_test_items(test, drop=False)
    left = world.without_test_items(test, drop=True)
    assert len(left.train) == len(left.valid) == 9
    assert not {item.item for one in left.train for item in one.items} & {"tops-4"}
    assert left.without_test_items(test, drop=False) == left


def test_what_a_test_leaves_alone_in_its_category_is_left_out_with_it() -> None:
    items = {(kind, n): Item(f"{kind}-{n}", kind, f"{kind}-{n}.jpg") for kind in ("tops", "shoes") for n in range(3)}
    looks = [Outfit(f"look {n}", (items["tops", n], items["shoes", n])) for n in range(3)]
    world = OutfitExamples(train=looks, valid=looks[:1])
    two = world.without_test_items(shown([items["shoes", 2]]), drop=True)
    assert [one.name for one in two.train] == ["look 0", "look 1"] and two.n_left_out == 0
    one = world.without_test_items(shown([items["shoes", 1], items["shoes", 2]]), drop=True)
    assert len(one.train) == 0 and one.n_left_out == 1  # its shoes could be compared with nothing


def test_pictures_decide_where_two_catalogs_use_one_name() -> None:
    ours = {item.image: f"picture of {item.item}" for item in ITEMS}
    world = replace(examples(), digests=ours)
    elsewhere = [Item("tops-4", "tops", "other/4.jpg")]
    assert world.without_test_items(shown(elsewhere, {"other/4.jpg": "another picture"}), drop=False) == world
    with pytest.raises(LikewiseError, match="first: tops-4"):
        world.without_test_items(shown([Item("x", "tops", "x.jpg")], {"x.jpg": "picture of tops-4"}), drop=False)
    with pytest.raises(LikewiseError, match="first: tops-4"):
        world.without_test_items(shown(elsewhere), drop=False)  # nothing is known of the test's pictures: names decide


def test_a_model_that_was_trained_on_the_test_is_scored_with_a_mark_and_last(tmp_path: Path) -> None:
    trained("type-aware", tmp_path / "m", epochs=1)
    model = load_model(tmp_path / "m", toy_features())
    learned = {item.item for one in ten_outfits() for item in one.items}
    assert set(model_lineage(model).lessons[0].examples.images["item"]) == learned
    unseen = outfit(11)
    fair = OutfitQuestion("q1", "AAT", unseen.items[1:], (unseen.items[0], ITEMS[10]), 0, "Color", "warm tone", right=0)
    unfair = replace(fair, choices=(*fair.choices, outfit(3).items[0]))
    scored = {}
    for name, question in (("fair", fair), ("unfair", unfair)):
        write_test(tmp_path / name, [question], lambda image: image.encode(), title=name, licence="CC0-1.0")
        results = OutfitTestResults(open_test(tmp_path / name), tmp_path / f"{name}-results")
        scored[name] = score_models(results, [model, RandomModel()])
    assert scored["fair"].scores["model"].unique(maintain_order=True).to_list() == ["type-aware", "random"]
    assert not [note for note in scored["fair"].notes if "†" in note]
    assert scored["unfair"].scores["model"].unique(maintain_order=True).to_list() == ["random", "type-aware †"]
    assert scored["unfair"].notes[0].startswith("type-aware † learned from 1 of its images (1 items)")
    assert list(taste_score_values(scored["unfair"].scores)["AATs"]) == ["random"]  # the other has no place in an order


def test_other_views_of_a_seen_item_count_as_seen() -> None:
    world = replace(examples(), item_by_image={"tops/0.jpg": "tops-0", "tops/0-back.jpg": "tops-0", "x.jpg": "unseen"})
    images = set(world.lesson().examples.images["image"])
    assert {"tops/0.jpg", "tops/0-back.jpg"} <= images and "x.jpg" not in images


KILLED = """
import sys
from pathlib import Path
from likewise.outfits.training.trainer import train_model
from tests.outfits.toy_outfits import examples, job, toy_features
def print_epoch(epoch, epochs, values):
    print(epoch, flush=True)
train_model(job("set-transformer", 400), examples(), toy_features(), Path(sys.argv[1]), on_epoch=print_epoch)
"""


def test_a_killed_training_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path / "killed")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"1\n"
        assert running.stdout.readline() == b"2\n"
        running.send_signal(signal.SIGKILL)
    done = int(read_arrays(state_file(tmp_path / "killed"))["epochs_done"][0])
    assert 2 <= done < 400
    assert not (tmp_path / "killed" / "card.json").exists()
    steps: list[int] = []
    stop = done + 3

    class EnoughError(Exception):
        pass

    def told(epoch: int, epochs: int, values: dict[str, float]) -> None:
        steps.append(epoch)
        if epoch == stop:
            raise EnoughError

    for folder in ("killed", "whole"):
        with pytest.raises(EnoughError):
            train_model(job("set-transformer", 400), examples(), toy_features(), tmp_path / folder, on_epoch=told)
    assert steps == [*range(done + 1, stop + 1), *range(1, stop + 1)]
    resumed, whole = (read_arrays(state_file(tmp_path / folder)) for folder in ("killed", "whole"))
    assert resumed.keys() == whole.keys()
    for name in whole:
        np.testing.assert_array_equal(resumed[name], whole[name], err_msg=name)


def test_another_training_does_not_take_over_a_folder(tmp_path: Path) -> None:
    card = trained("ngnn", tmp_path / "m", epochs=1)
    before = weights_file(tmp_path / "m").read_bytes()
    assert train_model(job("ngnn", 1), examples(), toy_features(), tmp_path / "m") == card  # all there: nothing to do
    with pytest.raises(LikewiseError, match="holds another training"):
        train_model(job("ngnn", 2), examples(), toy_features(), tmp_path / "m")
    assert weights_file(tmp_path / "m").read_bytes() == before
    again = train_model(job("ngnn", 2), examples(), toy_features(), tmp_path / "m", force=True)
    assert used_preset(again).epochs == 2
    curves = pl.read_parquet(tmp_path / "m" / "curves.parquet")
    assert curves.filter(pl.col("name") == ACCURACY)["epoch"].to_list() == [1, 2]


def test_words_are_captions_then_categories_then_nothing(tmp_path: Path) -> None:
    said = extract_words(["a red top", None, "red shoes"], ["tops", "pants", "shoes"])
    assert said.vocabulary == ("red",)
    assert said.source.startswith("on, with captions")
    assert extract_words([None, None], ["tops", "tops"]).source.startswith("on, with the names of categories")
    assert extract_words([None], [""]).source == "off, for the items have neither captions nor categories"
    named = train_model(job("type-aware", 1), examples(), toy_features(), tmp_path / "named")
    assert named.vocabulary == CATEGORIES_IN_ORDER
    curves = pl.read_parquet(tmp_path / "named" / "curves.parquet")
    assert "visual-semantic" in curves["name"].to_list()
    bare = tuple(Outfit(o.name, tuple(replace(item, category="") for item in o.items)) for o in ten_outfits())
    silent = train_model(job("type-aware", 1), OutfitExamples(bare, bare), toy_features(), tmp_path / "silent")
    assert silent.visual_semantic.startswith("off")
    curves = pl.read_parquet(tmp_path / "silent" / "curves.parquet")
    assert "visual-semantic" not in curves["name"].to_list()


CATEGORIES_IN_ORDER = tuple(sorted(CATEGORIES))


def test_a_torch_encoder_is_trained_along(workspace: WorkspaceFolder, tmp_path: Path) -> None:
    """Outfits of coloured shapes from pictures: the first layer learns too, and scores survive loading."""
    shapes, colours = ("circle", "square", "triangle"), ("red", "orange", "blue", "green")
    worn = tuple(
        Outfit(f"{colour}-{view}", tuple(Item(f"{s}-{colour}", s, f"{s}/{colour}-{view}.png") for s in shapes))
        for colour in colours
        for view in (0, 1)
    )
    whole = TrainingJob("type-aware", "whole", job("type-aware", 2).preset, trunk="small")
    card = train_model(whole, OutfitExamples(worn, worn), WorkspaceFeatures(workspace), tmp_path / "whole")
    first, second = (read_arrays(weights_file(tmp_path / "whole", epoch)) for epoch in (1, 2))
    layers = [name for name in first if name.startswith("trunk.network") and name.endswith("weight")]
    assert layers
    assert all(not np.array_equal(first[name], second[name]) for name in layers)
    assert card.trunk == "small"
    model = load_model(tmp_path / "whole", WorkspaceFeatures(workspace))
    np.testing.assert_array_equal(
        model.score(worn), load_model(tmp_path / "whole", WorkspaceFeatures(workspace)).score(worn)
    )
    with pytest.raises(LikewiseError, match="colour cannot be trained"):
        train_model(
            replace(whole, trunk="colour"), OutfitExamples(worn, worn), WorkspaceFeatures(workspace), tmp_path / "none"
        )


def test_examples_from_a_table_keep_splits_users_and_coverage() -> None:
    rows = [
        (one.name, item.item, item.image, item.category, place, split, "anna")
        for one, split in zip(ten_outfits(), ["train"] * 6 + ["valid"] * 2 + ["test"] * 2, strict=True)
        for place, item in enumerate(one.items, 1)
    ]
    columns = ["outfit", "item", "image", "category", "position", "split", "user"]
    table = pl.DataFrame(rows, schema=columns, orient="row")
    found = examples_from_tables(table)
    assert (len(found.train), len(found.valid)) == (6, 2)
    assert found.users == ("anna",) * 6
    fewer = examples_from_tables(table, allowed_images={item.image for item in ITEMS} - {"tops/0.jpg"})
    assert [one.name for one in fewer.train] == [f"outfit-{number}" for number in range(1, 6)]
    mixed = examples_from_tables(table.drop("split"))
    assert len(mixed.train) + len(mixed.valid) == 10
    assert not {one.name for one in mixed.train} & {one.name for one in mixed.valid}


def test_outfits_that_cannot_be_compared_are_left_out_and_counted() -> None:
    cape = Item("cape", "capes", "bags/11.jpg")  # the only one of its kind
    worn = [*ten_outfits(), Outfit("outfit-cape", (*outfit(1).items, cape))]
    table = outfit_table(worn).with_columns(
        pl.when(pl.col("outfit") == "outfit-9").then(pl.lit("valid")).otherwise(pl.lit("train")).alias("split")
    )
    found = examples_from_tables(table)
    assert (len(found.train), found.n_left_out) == (9, 1)
    assert "outfit-cape" not in {one.name for one in found.train}


def test_blanks_have_one_right_choice_and_distractors_of_its_category() -> None:
    for question in make_fitb_questions(ten_outfits(), ITEMS, 0):
        assert question.right is not None
        whole = next(one for one in ten_outfits() if one.name == question.name)
        assert question.filled(question.right).items == whole.items
        others = [item for place, item in enumerate(question.choices) if place != question.right]
        assert len(set(others)) == 4
        assert all(item.category == question.category and item not in whole.items for item in others)


def test_a_vector_that_is_no_number_stops_with_a_sentence(tmp_path: Path) -> None:
    broken = toy_features()
    vectors = broken.known["toy"].vectors
    assert isinstance(vectors, np.ndarray)
    vectors[0, 0] = np.nan
    with pytest.raises(LikewiseError, match="values that are no numbers"):
        train_model(job("type-aware", 1), examples(), broken, tmp_path / "m")
    assert torch.is_grad_enabled()


def test_a_model_looks_through_the_words_of_captions(tmp_path: Path) -> None:
    colours = ("red", "green", "blue")
    said = {item.image: f"a {colours[number % 3]} thing" for number, item in enumerate(ITEMS)}
    task = replace(job("type-aware", 2), trunk="words")
    card = train_model(task, examples(captions=said), toy_features(), tmp_path / "m")
    assert card.n_caption_words == 3  # everything is a thing, so nothing is learned from that
    model = load_model(tmp_path / "m", toy_features())
    assert isinstance(model, TrainedOutfitModel)
    shown = [item for one in ten_outfits() for item in one.items]
    images = sorted({item.image for item in shown})
    with torch.inference_mode():
        guesses = model.net.trunk(torch.from_numpy(toy_features().vectors("toy").lookup(images)))
    told = np.array([sorted(colours).index(said[image].split()[1]) for image in images])
    seen = guesses.numpy()
    centres = np.stack([seen[told == word].mean(axis=0) for word in range(3)])
    assert ((seen @ centres.T).argmax(axis=1) == told).mean() > 0.9
    with pytest.raises(LikewiseError, match="needs captions"):
        train_model(task, examples(), toy_features(), tmp_path / "wordless")


def test_words_that_are_rare_or_everywhere_are_not_guessed() -> None:
    captions = [f"a shirt{' red' if number % 4 == 0 else ''}{' torn' if number < 2 else ''}" for number in range(400)]
    said = caption_word_targets(extract_words(captions, ["tops"] * 400))
    assert said.shape == (400, 1)
    assert said[:, 0].tolist() == [float(number % 4 == 0) for number in range(400)]


def test_the_preset_paper_is_what_the_authors_code_does_and_ours_have_none(tmp_path: Path) -> None:
    known = {kind: (preset.width, preset.epochs, preset.batch_size, preset.learning_rate, preset.optimizer)
             for kind, preset in PAPER.items()}  # fmt: skip
    assert known == {
        "bi-lstm": (512, 20, 10, 0.2, "sgd"),
        "type-aware": (64, 10, 256, 5e-5, "adamw"),
        "sce-net": (64, 15, 96, 5e-5, "adamw"),
        "fhn": (128, 100, 64, 0.01, "sgd"),
        "ngnn": (64, 20, 16, 1e-3, "adamw"),
    }
    assert all((each.n_negatives, each.near_share, each.weight_decay) == (1, 0.0, 0.0) for each in PAPER.values())
    for kind in set(USUAL) - set(PAPER):
        with pytest.raises(LikewiseError, match="has no paper"):
            get_preset(kind, "paper")
    for preset in (*PAPER.values(), *USUAL.values()):
        assert Preset.from_dict(preset.as_dict()) == preset
    sgd = replace(job("fhn", 2), preset=replace(job("fhn", 2).preset, optimizer="sgd", momentum=0.9))
    whole = train_model(sgd, examples(), toy_features(), tmp_path / "whole")
    assert used_preset(whole).optimizer == "sgd"


def test_a_training_records_the_loss_on_outfits_it_does_not_learn(tmp_path: Path) -> None:
    """The validation outfits of the toy world are the learned ones: learned by heart, their loss falls."""
    trained("ngnn", tmp_path / "m", epochs=12)  # starts at random
    curve = pl.read_parquet(tmp_path / "m" / "curves.parquet").filter(pl.col("name") == LOSS)["value"].to_list()
    assert len(curve) == 12
    assert curve[-1] < 0.9 * curve[0]
