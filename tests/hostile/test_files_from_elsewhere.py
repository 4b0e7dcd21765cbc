"""No file from elsewhere ends in a traceback, and nothing that is garbage is taken for data.

What is accepted on purpose: texts of any script, also ones that look like formulas or tags (they are shown as text);
keys in a list that no catalog has (whoever matches them to a catalog says so); rows of a catalog that are left out and
listed.
"""

import json
import math
import shutil
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import save_file

from likewise.conditional.run_files import read_query_vectors
from likewise.encoders.storage.external_vectors import read_external_vectors, read_keys
from likewise.encoders.storage.file_lineage import read_file_lineage
from likewise.errors import LikewiseError
from likewise.untrusted import read_untrusted_parquet
from tests.hostile.attacking import attack, bundle_format, make_outfit_test, make_valid_bundle, outfit_formats
from tests.hostile.extension_formats import EXTENSION_FORMATS
from tests.hostile.formats import FORMATS, Format, read_bundle, read_outfit_answers, read_outfit_test, resigned_card

FEW, MANY = 6, 200


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_valid_bundle(tmp_path_factory.mktemp("bundle"))


@pytest.fixture(scope="module")
def outfit_test(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_outfit_test(tmp_path_factory.mktemp("outfits"))


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_a_few_damaged_files(form: Format) -> None:
    attack(form, FEW)


def test_a_few_damaged_bundles(bundle: Path, outfit_test: Path) -> None:
    for form in (bundle_format(bundle), *outfit_formats(outfit_test)):
        attack(form, FEW)


@pytest.mark.parametrize("form", EXTENSION_FORMATS, ids=lambda form: form.name)
def test_a_few_damaged_files_of_the_extensions(form: Format) -> None:
    attack(form, FEW // 2)


@pytest.mark.slow
@pytest.mark.parametrize("form", [*FORMATS, *EXTENSION_FORMATS], ids=lambda form: form.name)
def test_many_damaged_files(form: Format) -> None:
    attack(form, MANY)


@pytest.mark.slow
def test_many_damaged_bundles(bundle: Path, outfit_test: Path) -> None:
    for form in (bundle_format(bundle), *outfit_formats(outfit_test)):
        attack(form, MANY)


@pytest.mark.parametrize(
    ("part", "value"),
    [("labels", 5), ("sizes", []), ("pool", "x"), ("pool", {"generators": 3}), ("negatives", None), ("title", 5)],
)
def test_cards_of_another_shape_are_one_sentence(bundle: Path, tmp_path: Path, part: str, value: object) -> None:
    copied = Path(shutil.copytree(bundle, tmp_path / "bundle"))
    resigned_card(copied, json.loads((copied / "card.json").read_text()) | {part: value})
    with pytest.raises(LikewiseError, match=part):
        read_bundle(copied)


HOSTILE_ROWS = [
    ("labels", lambda table: table.with_columns(label=pl.lit(7)), "label is 7, not 0 or 1"),
    ("labels", lambda table: table.with_columns(label=pl.lit(math.nan)), "row 1: label is nan"),
    ("labels", lambda table: table.with_columns(label=pl.lit(None, pl.Int64)), "row 1: the column label is empty"),
    ("labels", lambda table: pl.concat([table, table.head(1)]), "two rows of"),
    (
        "labels",
        lambda table: table.with_columns(candidate="query").unique("query"),
        "none of a query and another image",
    ),
    ("queries", lambda table: pl.concat([table, table.head(1)]), "queries.parquet has two rows"),
    ("labels", lambda table: table.with_columns(query=pl.lit("nobody.png")), "nobody.png"),
    ("catalog", lambda table: table.with_columns(image=pl.lit([["a"]])), "the column image holds List"),
    ("gallery", lambda table: table.with_columns(image=pl.lit(b"\x00")), "the column image holds Binary"),
]


@pytest.mark.parametrize(("name", "change", "said"), HOSTILE_ROWS, ids=lambda value: str(value)[:20])
def test_bundles_whose_sums_fit_and_whose_tables_lie(
    bundle: Path, tmp_path: Path, name: str, change: Callable[[pl.DataFrame], pl.DataFrame], said: str
) -> None:
    copied = Path(shutil.copytree(bundle, tmp_path / "bundle"))
    change(pl.read_parquet(copied / f"{name}.parquet")).write_parquet(copied / f"{name}.parquet")
    resigned_card(copied, json.loads((copied / "card.json").read_text()))
    with pytest.raises(LikewiseError, match=said):
        read_bundle(copied)


def test_counts_of_the_card_that_the_tables_do_not_have(bundle: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(bundle, tmp_path / "bundle"))
    card = json.loads((copied / "card.json").read_text())
    card["sizes"]["labels"] += 1000
    resigned_card(copied, card)
    with pytest.raises(LikewiseError, match="the card speaks of"):
        read_bundle(copied)


def test_a_table_that_unpacks_to_more_than_a_machine_holds(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many equal rows take some bytes: refused by their number, before they are unpacked."""
    monkeypatch.setattr("likewise.untrusted.checks.MAX_CELLS", 1_000_000)
    copied = Path(shutil.copytree(bundle, tmp_path / "bundle"))
    pl.DataFrame({"image": ["a"] * 2_000_000}).write_parquet(copied / "gallery.parquet")
    assert (copied / "gallery.parquet").stat().st_size < 100_000
    resigned_card(copied, json.loads((copied / "card.json").read_text()))
    read = pl.read_parquet

    def refuse_large(source: BytesIO) -> pl.DataFrame:
        table = read(source)
        assert len(table) < 1_000_000
        return table

    monkeypatch.setattr(pl, "read_parquet", refuse_large)
    with pytest.raises(LikewiseError, match=r"becomes 2,000,0\d\d values, .* that is too much for one file"):
        read_bundle(copied)


N_EQUAL = 60_000_000
BOMBS = {
    "a list of very many equal values": pl.DataFrame({"image": ["a"], "more": [pl.repeat(True, N_EQUAL, eager=True)]}),
    "a word of very many letters": pl.DataFrame({"image": ["a"], "more": ["a" * 2_000_000]}),
}


def packed(table: pl.DataFrame) -> bytes:
    file = BytesIO()
    table.write_parquet(file)
    assert file.tell() < 10_000
    return file.getvalue()


@pytest.mark.parametrize("bomb", BOMBS)
def test_one_row_that_unpacks_to_more_than_a_machine_holds(bomb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither bytes nor rows tell."""
    monkeypatch.setattr("likewise.untrusted.checks.MAX_UNPACKED_BYTES", 1_000_000)
    with pytest.raises(LikewiseError, match="that is too much for one file"):
        read_untrusted_parquet(packed(BOMBS[bomb]), "the table")


def test_a_footer_that_lies_about_its_values_is_not_believed() -> None:
    """The heads of its pages, by which it is unpacked, say the truth."""
    content = packed(BOMBS["a list of very many equal values"])
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    forged = content[:footer] + content[footer:].replace(varint(2 * N_EQUAL), varint(2 * 20_000_000))
    assert forged != content and len(forged) == len(content)
    with pytest.raises(LikewiseError, match="that is too much for one file"):
        read_untrusted_parquet(forged, "the table")


def test_a_file_of_ones_own_may_be_large_but_no_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb, large = tmp_path / "votes.parquet", tmp_path / "large.parquet"
    bomb.write_bytes(packed(BOMBS["a list of very many equal values"]))
    with pytest.raises(LikewiseError, match="that is too much for one file"):
        read_untrusted_parquet(bomb, "the votes")
    monkeypatch.setattr("likewise.untrusted.checks.MAX_CELLS", 1000)
    pl.DataFrame({"image": [f"{number}.jpg" for number in range(5000)]}).write_parquet(large)
    assert len(read_untrusted_parquet(large, "the table")) == 5000


def varint(number: int) -> bytes:
    """As a footer writes numbers."""
    return bytes([number]) if number < 0x80 else bytes([number & 0x7F | 0x80]) + varint(number >> 7)


@pytest.mark.parametrize(
    "read", [read_query_vectors, lambda path: read_external_vectors(path, None), read_file_lineage]
)
def test_arrays_that_unpack_to_more_than_a_machine_holds(
    read: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the large one is none that is asked for."""
    monkeypatch.setattr("likewise.untrusted.archives.MAX_UNPACKED_BYTES", 1_000_000)
    path = tmp_path / "mine.npz"
    images = np.array(["a", "b"])
    np.savez_compressed(path, more=np.zeros(10_000_000), questions=np.arange(2), vectors=np.eye(2), images=images)
    with pytest.raises(LikewiseError, match="becomes 76 MB: that is too much for one file"):
        read(path)


@pytest.mark.parametrize("record", ["x", "!!!!", "AAAA", "é", ""])
@pytest.mark.parametrize("ending", [".parquet", ".safetensors"])
def test_a_record_inside_of_vectors_that_is_none(tmp_path: Path, ending: str, record: str) -> None:
    path = tmp_path / f"mine{ending}"
    if ending == ".parquet":
        pl.DataFrame({"image": ["a"]}).write_parquet(path, metadata={"lineage": record})
    else:
        save_file({"vectors": np.eye(2)}, path, {"lineage": record})
    with pytest.raises(LikewiseError, match="does not say what a model learned from"):
        read_file_lineage(path)


def test_an_array_that_claims_more_than_it_holds(tmp_path: Path) -> None:
    path, content = tmp_path / "mine.npz", BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": "<f8", "fortran_order": False, "shape": (1 << 40, 1 << 20)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("vectors.npy", content.getvalue())
    with pytest.raises(LikewiseError, match="cannot be read as npz"):
        read_external_vectors(path, None)


DEEP = "[" * 100_000 + "]" * 100_000
HOSTILE_TEXTS = [
    ("labels.json", DEEP),
    ("labels.json", '[{"key": ["i0.png", "i3.png"], "value": ' + "9" * 5000 + "}]"),
    ("labels.json", '[{"key": ["\\ud800", "i3.png"], "value": 1}]'),
    ("labels.json", '[{"key": [["i0.png"], "i3.png"], "value": 1}]'),
    ("labels.json", '[{"key": ["i0.png", "i0.png"], "value": 1}]'),
    ("votes.jsonl", '{"query": ' + DEEP + "}"),
    ("votes.jsonl", '{"query": "\\ud800", "candidate": "a", "expert": "b", "answer": "yes"}'),
    ("votes.csv", "query,candidate,expert,answer,time\ni0.png,i3.png,anna,yes,0000-01-01T00:00:00Z\n"),
    ("votes.csv", "query,candidate,expert,answer,time\ni0.png,i3.png,anna,yes,9999-12-31T23:59:59-12:00\n"),
    ("votes.csv", "query,candidate,expert,answer,time\ni0.png,i3.png,anna,yes,0001-01-01T00:00:00+14:00\n"),
    ("votes.csv", f"query,candidate,expert,answer\ni0.png,i3.png,{'n' * 100_000},yes\n"),
    ("votes.csv", "query,candidate,expert,answer\ni0.png,i3.png,an\x00na,yes\n"),
    ("votes.csv", 'query,candidate,expert,answer\ni0.png,i3.png,"an\nna",yes\n'),
    ("votes.csv", "query,candidate,expert,answer, answer\ni0.png,i3.png,anna,yes,no\n"),
    ("labels.csv", "query,candidate,label,Label \ni0.png,i3.png,1,0\n"),
    ("labels.prels", "i0.png i3.png 1 nan 0.5\n"),
    ("labels.prels", "i0.png i3.png 1 inf 0.5\n"),
    ("labels.prels", "i0.png i3.png 1 1.5 0.5\n"),
    ("labels.prels", f"i0.png i3.png 1 {2**40} 0.5\n"),
    ("keys.csv", "imag\n\ne\ni0.png\n"),
    ("keys.json", DEEP),
    ("keys.json", '["\\ud800"]'),
    ("keys.json", '{"a": 1}'),
    ("catalog.jsonl", '{"image": ' + DEEP + "}"),
    ("catalog.csv", 'image,caption\n"i0.png","' + "x" * 200_000 + '"\n'),
    ("catalog.csv", "image,image \ni0.png, i1.png\n"),
]
BY_NAME = {form.name: form for form in FORMATS}


@pytest.mark.parametrize(("name", "text"), HOSTILE_TEXTS, ids=lambda value: str(value)[:24])
def test_known_hostile_texts_are_one_sentence(tmp_path: Path, name: str, text: str) -> None:
    form = BY_NAME[name]
    path = form.place(tmp_path)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LikewiseError) as refused:
        form.read(path)
    assert "\n" not in str(refused.value)


def test_a_list_of_keys_without_dimensions(tmp_path: Path) -> None:
    np.save(tmp_path / "keys.npy", np.array("i0.png"))
    with pytest.raises(LikewiseError, match="not one text per row"):
        BY_NAME["keys.npy"].read(tmp_path / "keys.npy")


def test_a_list_of_keys_has_a_key_per_line_feed(tmp_path: Path) -> None:
    """U+2028 and U+0085 end no line of it, though str.splitlines thinks so."""
    keys = ["a\u2028b.png", "c\x85d.png", "e.png"]
    (tmp_path / "keys.txt").write_text("\n".join(keys) + "\n", encoding="utf-8")
    assert read_keys(tmp_path / "keys.txt") == keys


@pytest.mark.parametrize("column", ["row_in_source", "row", "hash", "digest", "width", "came"])
def test_a_column_named_like_one_of_ours(tmp_path: Path, column: str) -> None:
    path = BY_NAME["catalog.csv"].place(tmp_path)
    table = pl.read_csv(path).with_columns(row=pl.lit("9")).with_columns(pl.lit("theirs").alias(column))
    table.write_csv(path)
    BY_NAME["catalog.csv"].read(path)


@pytest.mark.parametrize("scores", ["nan", "text", None, [0.1, None, 0.3], ["nan", "1", "2"], ["a", "b", "c"]])
def test_answers_that_are_no_numbers(outfit_test: Path, tmp_path: Path, scores: object) -> None:
    shutil.copytree(outfit_test, tmp_path, dirs_exist_ok=True)
    (tmp_path / "scores.jsonl").write_text(json.dumps({"question": "LAT-0", "scores": scores}) + "\n")
    with pytest.raises(LikewiseError, match="LAT-0"):
        read_outfit_answers(tmp_path / "scores.jsonl")


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("questions", lambda table: table.clear(), "no question"),
        ("questions", lambda table: pl.concat([table, table.head(1)]), "two rows of the question LAT-0"),
        ("questions", lambda table: table.with_columns(blank=pl.lit(7, table["blank"].dtype)), "none at 7"),
        ("answers", lambda table: pl.concat([table, table.head(1)]), "two rows of the question LAT-0"),
        ("answers", lambda table: table.with_columns(question="x" + pl.col("question")), "is no question of the test"),
        ("items", lambda table: pl.concat([table, table.head(1)]), "two rows of the item"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_tests_of_taste_whose_sums_fit_and_whose_tables_lie(
    outfit_test: Path, tmp_path: Path, name: str, change: Callable[[pl.DataFrame], pl.DataFrame], said: str
) -> None:
    copied = Path(shutil.copytree(outfit_test / "test", tmp_path / "test"))
    change(pl.read_parquet(copied / f"{name}.parquet")).write_parquet(copied / f"{name}.parquet")
    resigned_card(copied, json.loads((copied / "card.json").read_text()))
    with pytest.raises(LikewiseError, match=said):
        read_outfit_test(copied)


@pytest.mark.parametrize(
    ("part", "value"),
    [("title", {}), ("description", True), ("sizes", None), ("sizes", {"questions": 99}), ("made", 3)],
)
def test_cards_of_tests_of_another_shape(outfit_test: Path, tmp_path: Path, part: str, value: object) -> None:
    copied = Path(shutil.copytree(outfit_test / "test", tmp_path / "test"))
    resigned_card(copied, json.loads((copied / "card.json").read_text()) | {part: value})
    with pytest.raises(LikewiseError, match=r"card\.json: |the card speaks of"):
        read_outfit_test(copied)


@pytest.mark.parametrize("line", ["[]", "null", '{"question": "nobody", "scores": [1, 2, 3]}', "[" * 100_000])
def test_answers_of_which_one_line_is_no_answer(outfit_test: Path, tmp_path: Path, line: str) -> None:
    shutil.copytree(outfit_test, tmp_path, dirs_exist_ok=True)
    with (tmp_path / "scores.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(LikewiseError, match=r"scores\.jsonl"):
        read_outfit_answers(tmp_path / "scores.jsonl")


@pytest.mark.parametrize("right", [99, 3, -1])
def test_a_test_whose_right_answer_is_no_choice(outfit_test: Path, tmp_path: Path, right: int) -> None:
    copied = Path(shutil.copytree(outfit_test / "test", tmp_path / "test"))
    answers = pl.read_parquet(copied / "answers.parquet")
    answers.with_columns(right=pl.lit(right, answers["right"].dtype)).write_parquet(copied / "answers.parquet")
    resigned_card(copied, json.loads((copied / "card.json").read_text()))
    with pytest.raises(LikewiseError, match="right"):
        read_outfit_test(copied)


@pytest.mark.parametrize(("vectors", "said"), [([None, [1.0]], "row 1 of .* has no vector"), ([], "no vectors")])
def test_vectors_that_are_not_there(tmp_path: Path, vectors: list[list[float] | None], said: str) -> None:
    path = tmp_path / "vectors.parquet"
    images = pl.Series("image", ["a", "b"][: len(vectors)], pl.String)
    pl.DataFrame([images, pl.Series("vector", vectors, pl.List(pl.Float64))]).write_parquet(path)
    with pytest.raises(LikewiseError, match=said):
        BY_NAME["vectors.parquet"].read(path)


@pytest.mark.parametrize("length", [1e300, 1e-300, 1e-14, 0.0, math.inf])
def test_vectors_that_cannot_be_scaled(tmp_path: Path, length: float) -> None:
    path = tmp_path / "vectors.npz"
    vectors = np.ones((2, 3))
    vectors[1] *= length
    np.savez(path, images=np.array(["a", "b"]), vectors=vectors)
    with pytest.raises(LikewiseError, match=r"row 2 of .* \(b\)"):
        BY_NAME["vectors.npz"].read(path)
