"""Every model learns, saves and loads; the order of items counts only where it should; baselines do what they say."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from likewise.errors import LikewiseError
from likewise.outfits.models import InMemoryFeatures, open_model
from likewise.outfits.models.batch import pad_outfits
from likewise.outfits.models.card import read_model_card
from likewise.outfits.models.mean_cosine import MeanCosineModel
from likewise.outfits.models.popular import PopularityModel, count_items
from likewise.outfits.models.registry import load_model
from likewise.outfits.models.trained_model import TrainedOutfitModel, load_net, make_outfit_net
from likewise.outfits.models.trunk import N_DIRECTIONS, AgreementTrunk, WornPairs, guess_words
from likewise.outfits.models.typed import TypedLinear
from likewise.outfits.protocol import Item, Outfit, OutfitModel, OutfitQuestion, best_choices
from likewise.outfits.training.examples import make_fitb_questions
from likewise.outfits.training.trainer import train_model
from likewise.outfits.training.validation import fitb_accuracy
from tests.outfits.toy_outfits import (
    CATEGORIES,
    ITEMS,
    KINDS,
    examples,
    job,
    outfit,
    ten_outfits,
    toy_features,
    trained,
    used_preset,
)

PEOPLE = tuple(f"person-{number % 3}" for number in range(10))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One training of every kind, long enough to know ten outfits by heart."""
    root = tmp_path_factory.mktemp("models")
    often = replace(examples(), train=ten_outfits() * 8, users=PEOPLE * 8)  # eight batches an epoch
    for kind in KINDS:
        train_model(job(kind, 36 if kind == "ngnn" else 8), often, toy_features(), root / kind)
    return {kind: root / kind for kind in KINDS}


def loaded(folder: Path) -> TrainedOutfitModel:
    model = load_model(folder, toy_features())
    assert isinstance(model, TrainedOutfitModel)
    return model


def turned(outfit: Outfit) -> Outfit:
    return Outfit(outfit.name, outfit.items[::-1])


@pytest.mark.parametrize("kind", KINDS)
def test_ten_outfits_are_learned_by_heart(kind: str, folders: dict[str, Path]) -> None:
    worn = [item for one in ten_outfits() for item in one.items]
    questions = [question for seed in range(3) for question in make_fitb_questions(ten_outfits(), worn, seed)]
    assert len(questions) == 30
    fresh = TrainedOutfitModel(
        read_model_card(folders[kind]), make_outfit_net(read_model_card(folders[kind])).eval(), toy_features()
    )
    assert fitb_accuracy(fresh, questions) < 0.6
    last = open_model(f"{folders[kind]}@{used_preset(fresh.card).epochs}", toy_features())
    assert fitb_accuracy(last, questions) >= 0.95


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_items_counts_only_for_the_model_that_reads(kind: str, folders: dict[str, Path]) -> None:
    model = loaded(folders[kind])
    outfits = ten_outfits()
    straight, back = model.score(outfits), model.score([turned(one) for one in outfits])
    if kind == "bi-lstm":
        assert np.abs(straight - back).max() > 0.01
        return
    np.testing.assert_array_equal(straight, back)
    embeddings = torch.randn(4, 5, model.net.width)  # and the network itself, before any sorting
    types, mask, users = torch.randint(1, 6, (4, 5)), torch.ones(4, 5, dtype=torch.bool), torch.full((4,), -1)
    turn = torch.tensor([3, 0, 4, 1, 2])
    with torch.inference_mode():
        one = model.net.score(embeddings, types, mask, users)
        other = model.net.score(embeddings[:, turn], types[:, turn], mask, users)
    torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_empty_places_do_not_count(kind: str, folders: dict[str, Path]) -> None:
    model = loaded(folders[kind])
    short = [one for one in ten_outfits() if len(one) == 3]
    alone = model.score(short)
    beside_longer = model.score([*short, outfit(2, 5)])[: len(short)]
    np.testing.assert_allclose(alone, beside_longer, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_survive_saving_and_loading(kind: str, tmp_path: Path) -> None:
    card = trained(kind, tmp_path / kind, epochs=2, users=PEOPLE)
    again = loaded(tmp_path / kind)
    other = TrainedOutfitModel(card, load_net(card, tmp_path / kind, epoch=card.training.epoch), toy_features())
    np.testing.assert_array_equal(again.score(ten_outfits()), other.score(ten_outfits()))
    named = open_model(f"{kind}@1", toy_features(), tmp_path)
    assert named.name == f"{kind}@1"
    assert again.name == kind
    assert isinstance(again, OutfitModel)
    first = trained(kind, tmp_path / "twin", epochs=2, users=PEOPLE)  # the same seed, another folder
    twin = load_net(first, tmp_path / "twin")
    for key, value in load_net(card, tmp_path / kind).state_dict().items():
        assert torch.equal(value, twin.state_dict()[key]), key


def test_an_unknown_user_is_the_mean_user(folders: dict[str, Path]) -> None:
    model = loaded(folders["fhn"])
    outfits = ten_outfits()
    each = np.stack([model.score(outfits, user=user) for user in range(3)])
    assert np.abs(each[0] - each[1]).max() > 1e-3
    np.testing.assert_allclose(model.score(outfits), each.mean(axis=0), rtol=1e-5, atol=1e-6)
    assert model.card.notes["unknown user"] == "the mean of the 3 users of training"


def test_the_reading_model_fills_an_end_by_one_direction(folders: dict[str, Path]) -> None:
    model = loaded(folders["bi-lstm"])
    items = outfit(4, 5).items
    choices = tuple(item for item in ITEMS if item.category == "tops")[:5]
    first = OutfitQuestion("q", "FITB", items[1:], choices, 0)
    scores = model.answer([first])
    assert scores.shape == (1, 5)
    assert np.exp(scores[0]).sum() == pytest.approx(1.0, abs=1e-5)  # one direction: probabilities of the choices
    assert best_choices(scores)[0, 4]
    alone = OutfitQuestion("q", "FITB", items[:1], choices, 1)
    assert np.exp(model.answer([alone])[0]).sum() == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_choices_that_look_the_same_are_tied(kind: str, folders: dict[str, Path]) -> None:
    """A model blind to what differs must not prefer the first choice."""
    known = toy_features().known["toy"]
    images = (*known.images, "twin-a", "twin-b")
    stored = np.asarray(known.vectors)
    vectors = np.concatenate([stored, stored[[3, 3]]])
    blind = InMemoryFeatures({"toy": type(known)("toy", images, vectors)})
    model = load_model(folders[kind], blind)
    twins = (Item("a", "tops", "twin-a"), ITEMS[5], Item("b", "tops", "twin-b"))
    [scores] = model.answer([OutfitQuestion("q", "AAT", outfit(3).items[1:], twins, 0)])
    assert scores[0] == scores[2]
    assert scores[0] != scores[1]


def test_random_is_fair_and_mean_cosine_is_the_mean_of_all_pairs() -> None:
    outfits = ten_outfits()
    model = open_model("random:4", toy_features())
    np.testing.assert_array_equal(model.score(outfits), model.score([turned(one) for one in outfits]))
    assert not np.array_equal(model.score(outfits), open_model("random:5", toy_features()).score(outfits))
    many = [outfit(number % 12, 3) for number in range(12)]
    assert 0.2 < model.score(many).mean() < 0.8
    cosine = open_model("mean-cosine:toy", toy_features())
    assert isinstance(cosine, MeanCosineModel)
    for one, score in zip(outfits, cosine.score(outfits), strict=True):
        rows = toy_features().known["toy"].lookup([item.image for item in one.items]).astype(np.float64)
        pairs = [rows[a] @ rows[b] for a in range(len(rows)) for b in range(a)]
        assert score == pytest.approx(np.mean(pairs), abs=1e-6)


def test_popular_counts_and_gives_an_unseen_item_its_nearest_neighbour() -> None:
    worn = [outfit(0), outfit(0), outfit(1)]
    model = PopularityModel(count_items(worn, toy_features().known["toy"]), toy_features().known["toy"])
    twice, once = model.score([outfit(0), outfit(1)])
    assert twice == pytest.approx(np.log(3.0))
    assert once == pytest.approx(np.log(2.0))
    unseen = model.score([outfit(7)])[0]
    assert np.log(2.0) <= unseen <= np.log(3.0)
    answers = model.answer(
        [OutfitQuestion("q", "FITB", outfit(0).items[1:], outfit(0).items[:1] + outfit(1).items[:1])]
    )
    assert best_choices(answers).tolist() == [[True, False]]


def test_a_category_that_training_did_not_show_is_the_unknown_type(folders: dict[str, Path]) -> None:
    strange = Item("tops-0", "capes", "tops/0.jpg")
    model = loaded(folders["set-transformer"])
    assert "capes" not in model.card.types
    assert set(CATEGORIES) == set(model.card.types) - {""}
    [score] = model.score([Outfit("o", (strange, *outfit(0).items[1:]))])
    assert np.isfinite(score)
    assert score != model.score([outfit(0)])[0]


def test_wrong_names_are_explained(tmp_path: Path) -> None:
    with pytest.raises(LikewiseError, match="fhn has to be trained first"):
        open_model("fhn", toy_features(), tmp_path)
    with pytest.raises(LikewiseError, match="there is no model 'taste'"):
        open_model("taste", toy_features(), tmp_path)
    with pytest.raises(LikewiseError, match="a seed, a whole number"):
        open_model("random:x", toy_features())
    with pytest.raises(LikewiseError, match="no efficientnet-lite0 vectors"):
        open_model("mean-cosine", toy_features())


def test_features_agree_where_items_that_are_worn_together_agree_however_loud_the_rest_is() -> None:
    rng = np.random.default_rng(0)
    loud, style = rng.normal(size=(900, 1)), rng.choice([-1.0, 1.0], size=(900, 1))
    rows = np.concatenate([np.repeat(loud, 590, axis=1), np.repeat(style, 10, axis=1)], axis=1)
    inputs = torch.from_numpy((rows + 0.3 * rng.normal(size=rows.shape)).astype(np.float32))
    same = [np.flatnonzero(style[:, 0] == sign) for sign in (-1, 1)]
    outfits = [rng.choice(same[k % 2], 3, replace=False).tolist() for k in range(400)]
    pairs = WornPairs.from_outfits(pad_outfits(outfits, np.zeros(900, dtype=np.int64)))
    trunk = AgreementTrunk(600)
    torch.manual_seed(0)
    trunk.fit(inputs, torch.zeros(900, 0), pairs)
    seen = trunk(inputs)
    assert seen.shape == (900, N_DIRECTIONS)
    torch.testing.assert_close(seen.norm(dim=1), torch.full((900,), N_DIRECTIONS**0.5))
    assert abs(np.corrcoef(seen[:, 0].numpy(), style[:, 0])[0, 1]) > 0.95
    assert abs(np.corrcoef(seen[:, 0].numpy(), loud[:, 0])[0, 1]) < 0.1
    few = AgreementTrunk(600)
    few.fit(inputs[:20], torch.zeros(20, 0), WornPairs.from_outfits(pad_outfits([[0, 1], [2, 3]], np.zeros(20, int))))
    assert torch.isfinite(few(inputs)).all()
    assert AgreementTrunk(8)(inputs[:, :8]).shape == (900, 8)


def test_a_pair_counts_less_the_more_often_its_items_are_worn() -> None:
    pairs = WornPairs.from_outfits(pad_outfits([[0, 1], [0, 2], [0, 3], [4, 5]], np.zeros(6, dtype=np.int64)))
    weight = dict(
        zip(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True), pairs.weight.tolist(), strict=True)
    )
    assert weight == {(0, 1): pytest.approx(3**-0.5), (0, 2): pytest.approx(3**-0.5),
                      (0, 3): pytest.approx(3**-0.5), (4, 5): 1.0}  # fmt: skip


def test_types_start_from_what_they_share_and_then_differ_by_their_own() -> None:
    torch.manual_seed(0)
    layer = TypedLinear(3, 4, 2)
    values, types = torch.randn(5, 4), torch.tensor([2, 0, 2, 1, 0])
    same = layer(values, torch.zeros(5, dtype=torch.long))
    assert torch.equal(layer(values, types), same)
    with torch.no_grad():
        layer.own[2, 1, 0], layer.bias[0, 1] = 1.0, 3.0
    moved = layer(values, types) - same
    expected = torch.zeros(5, 2)
    expected[[0, 2], 0] = values[[0, 2], 1]
    expected[[1, 4], 1] = 3.0
    torch.testing.assert_close(moved, expected)


def test_words_are_guessed_by_regression_and_an_odd_item_says_no_more_than_others() -> None:
    rng = torch.Generator().manual_seed(0)
    word_targets = (torch.rand(400, 3, generator=rng) < 0.3).float()
    inputs = word_targets @ torch.randn(3, 8, generator=rng) + 0.05 * torch.randn(400, 8, generator=rng)
    scaled = (inputs - inputs.mean(dim=0)) / inputs.std(dim=0)
    guessed = scaled @ guess_words(scaled, word_targets)
    for word in range(3):
        assert guessed[word_targets[:, word] == 1, word].min() > guessed[word_targets[:, word] == 0, word].max()
    trunk = AgreementTrunk(8, 3)
    outfits = [[n, n + 1, n + 2] for n in range(0, 390, 3)]
    trunk.fit(inputs, word_targets, WornPairs.from_outfits(pad_outfits(outfits, np.zeros(400, dtype=np.int64))))
    seen = trunk(inputs)
    torch.testing.assert_close(seen.norm(dim=1), torch.full((400,), 3.0**0.5))
    far = trunk(inputs.mean(dim=0) + 9 * (inputs - inputs.mean(dim=0)))
    torch.testing.assert_close(far, seen, rtol=1e-3, atol=1e-3)
