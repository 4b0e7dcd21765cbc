"""Pseudo-words learned from text alone: they learn, repeat, walk from the command to the table; their lineage."""

import json
from pathlib import Path

import numpy as np
import pytest

from likewise.conditional.pseudo_words import SentenceSide, read_pseudo_words
from likewise.conditional.text_training import TextTrainingSettings, blank_keywords, train_pseudo_words
from likewise.conditional.towers import TwoTower
from likewise.conditional.two_tower import TwoTowerSettings, train_two_tower
from likewise.encoders.families.sentences import encode_sentences
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run
from tests.conditional.test_sentence_tower import WORDS, torch
from tests.encoders.tiny import make_sentence_encoder

__all__ = ["run"]

QUICK = TextTrainingSettings(half="train", steps=30, batch=16, validate_every=10, learning_rate=1e-3)


@pytest.fixture(scope="module")
def sentences(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(make_sentence_encoder(tmp_path_factory.mktemp("sentences") / "masked", WORDS))


@pytest.fixture(scope="module")
def tower(drawn: WorkspaceFolder, sentences: str, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> TwoTower:
    folder = tmp_path_factory.mktemp("towers") / "sentences"
    settings = TwoTowerSettings(sentences=sentences, steps=20, batch=32, dim=16, half="train")
    train_two_tower(drawn, folder, settings, workers=1)
    return TwoTower.from_spec(f"two-tower:{folder}")


def test_keywords_in_a_row_are_one_blank() -> None:
    tagged = [("a", "DT"), ("black", "JJ"), ("dog", "NN"), ("on", "IN"), ("the", "DT"), ("beach", "NN")]
    assert blank_keywords(tagged, "[MASK]") == "a [MASK] on the [MASK]"


def test_a_text_without_a_blank_is_what_the_text_side_gives(tower: TwoTower, sentences: str) -> None:
    side = SentenceSide(tower.spec)
    texts = ["a red dress", "a blue bag with a pair of boots"]
    with torch.inference_mode():
        found = side.features(texts).numpy()
    np.testing.assert_allclose(found, tower.text_features(texts), atol=1e-5)
    assert encode_sentences(sentences, texts).shape == (2, side.width)


def test_it_learns_without_a_picture_and_repeats(drawn: WorkspaceFolder, tower: TwoTower, tmp_path: Path) -> None:
    without = WorkspaceFolder(tmp_path / "text")
    without.path.mkdir()
    for file in (drawn.catalog_file, drawn.settings_file):  # no features, and no picture at its root
        (without.path / file.name).write_bytes(file.read_bytes().replace(b"pictures", b"nowheres"))
    done = train_pseudo_words(without, tower, tmp_path / "one", QUICK)
    losses = [row["held_out"] for row in done.history]
    assert min(losses) < 0.9 * losses[0] and done.best_step > 0
    again = train_pseudo_words(without, tower, tmp_path / "two", QUICK)
    assert again.history == done.history
    assert (tmp_path / "one/pseudo_words.safetensors").read_bytes() == (
        tmp_path / "two/pseudo_words.safetensors"
    ).read_bytes()
    reference = np.random.default_rng(0).standard_normal((2, 16)).astype(np.float32)
    first, second = read_pseudo_words(tmp_path / "one").queries(reference, ["red", "red"])
    assert np.abs(first - second).max() > 1e-6  # the picture matters
    red, blue = done.words.queries(reference[[0, 0]], ["red", "blue"])
    assert np.abs(red - blue).max() > 1e-6  # and the condition
    with pytest.raises(LikewiseError, match="holds pseudo-words already"):
        train_pseudo_words(without, tower, tmp_path / "one", QUICK)


def test_from_captions_to_the_table_beside_the_others(run: Run, drawn: WorkspaceFolder, tower: TwoTower) -> None:
    options = ("--with", tower.spec, "--half", "train", "--steps", 10, "--name", "words", "--json")
    ran = run("condition", "train-text", drawn.path, *options)
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["n_captions"] > 50
    built = ("--half", "test", "--tasks", "change_attribute", "--per-task", 20, "--name", "for-words")
    assert run("condition", "build", drawn.path, *built).code == 0
    methods = ("--with", tower.spec, "--templates", "for-words", "--methods", "image+text,pseudo-words:words")
    rows = json.loads(run("condition", "evaluate", drawn.path, *methods, "--json").out)
    found = {row["method"]: row for row in rows if row["measure"] == "Recall@1"}
    assert set(found) == {"image + text", "pseudo-word (text alone)"}
    assert found["pseudo-word (text alone)"]["value"] is not None and not found["pseudo-word (text alone)"]["learned"]
    seen = ("--half", "train", "--tasks", "change_attribute", "--per-task", 20, "--name", "seen-words")
    assert run("condition", "build", drawn.path, *seen).code == 0
    shown = run("condition", "evaluate", drawn.path, *methods[:2], "--templates", "seen-words", *methods[4:])
    assert "condition train-text" in " ".join(shown.out.split())  # the guard knows its captions


def test_an_encoder_without_a_sentence_encoder_is_refused(drawn: WorkspaceFolder, small_tower: TwoTower) -> None:
    with pytest.raises(LikewiseError, match="--text minilm"):
        train_pseudo_words(drawn, small_tower, drawn.path / "never", QUICK)
