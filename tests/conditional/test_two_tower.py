"""The small two-tower encoder: it learns from captions, is an encoder like any other, and comes back from its files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from likewise.catalog import load_image, read_catalog
from likewise.cli.app import app
from likewise.conditional.caption_sampling import CaptionTexts, text_matches
from likewise.conditional.towers import TwoTower, normalize
from likewise.conditional.two_tower import TwoTowerTrainingResult, train_two_tower
from likewise.encoders.families.text_features import hash_ngrams
from likewise.encoders.registry import get_encoder
from likewise.encoders.text import encode_text, supports_text
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder
from tests.conditional.small_tower import QUICK


def test_held_out_pictures_find_their_captions(learned: TwoTowerTrainingResult) -> None:
    """Far above chance after seconds of training; items are apart, so no caption was seen with its picture."""
    assert learned.n_held_out == 24
    assert learned.recall_at_5 > 2 * 5 / learned.n_captions
    few = replace(learned, n_held_out=12, n_captions=12, recall_at_1=3 / 12)
    assert not few.above_chance  # three of twelve happen by chance in one case of fourteen
    assert replace(few, recall_at_1=9 / 12).above_chance


def test_short_texts_find_what_they_say(drawn: WorkspaceFolder, small_tower: TwoTower) -> None:
    """The first five pictures for a single word are of its category six times as often as by chance."""
    catalog = read_catalog(drawn)
    images = normalize(small_tower.image_features(drawn, catalog["image"].to_list()))
    words = {"earrings": "earrings", "skirt": "skirts", "watch": "watches", "dress": "dresses", "ring": "rings"}
    best = np.argsort(-(images @ normalize(small_tower.text_features(list(words))).T), axis=0)[:5]
    right = catalog["category"].to_numpy()[best] == np.array(list(words.values()))
    assert right.mean() >= 0.3


def test_it_is_an_encoder_of_the_registry(drawn: WorkspaceFolder, small_tower: TwoTower) -> None:
    encoder = get_encoder(small_tower.spec)
    image = read_catalog(drawn)["image"][0]
    vector = encoder.encode([encoder.prepare(load_image(drawn.root / image, at_least=encoder.pixels))])
    np.testing.assert_allclose(vector, normalize(small_tower.image_features(drawn, [image])), atol=1e-4)
    assert supports_text(small_tower.spec)
    assert encode_text(small_tower.spec, ["red", "blue"]).shape == (2, encoder.dim) == (2, 32)
    assert encode_text(small_tower.spec, []).shape == (0, 32)


def test_the_same_seed_gives_the_same_encoder(
    drawn: WorkspaceFolder, learned: TwoTowerTrainingResult, tmp_path: Path
) -> None:
    for folder in ("one", "two"):
        train_two_tower(drawn, tmp_path / folder, replace(QUICK, steps=5), workers=1)
    for name in ("two_tower.json", "two_tower.safetensors"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_texts_that_fit_several_pictures() -> None:
    shown = [CaptionTexts.from_texts(["a red knit top, sporty"]), CaptionTexts.from_texts(["a red hat", "winter"])]
    fitting = text_matches(shown, ["red", "red top", "winter", ""]).tolist()
    assert fitting == [[True, True, False, True], [True, False, True, True]]
    rng = np.random.default_rng(0)
    for one in shown:
        assert all(text_matches([one], [one.sample(rng)])[0, 0] for _ in range(50))


def test_unknown_words_are_told_apart() -> None:
    assert set(hash_ngrams("zyxwv")) != set(hash_ngrams("qponm"))
    assert hash_ngrams("Red  Hat!") == hash_ngrams("red hat")
    assert hash_ngrams("") == hash_ngrams("!!") != hash_ngrams("a")


def test_mistakes_are_sentences(drawn: WorkspaceFolder, learned: TwoTowerTrainingResult, tmp_path: Path) -> None:
    asked = ["condition", "two-tower", str(drawn.path)]
    for more, sentence in (
        ([str(learned.folder)], "holds a two-tower encoder already"),
        ([str(tmp_path / "x"), "--columns", "title"], "no column title: learn from others with `--columns caption`"),
        ([str(tmp_path / "x"), "--where", f"item={read_catalog(drawn)['item'][0]}"], "needs 16 or more"),
        ([str(tmp_path / "x"), "--base", "colour"], "use a torch network"),
    ):
        ran = CliRunner().invoke(app, [*asked, *more])
        assert isinstance(ran.exception, LikewiseError)
        assert sentence in str(ran.exception)
    with pytest.raises(LikewiseError, match="holds no two-tower encoder"):
        get_encoder(f"two-tower:{tmp_path / 'nowhere'}")
