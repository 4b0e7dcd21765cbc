"""Labels survive every file format, and a file that contradicts itself or the catalog is refused in one sentence."""

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.discovery.pool import IMPORTED
from likewise.errors import LikewiseError
from likewise.evaluation.exchange.labels_import import import_labels
from likewise.evaluation.exchange.labels_io import LABEL_SCHEMA, read_labels_file
from likewise.labeling import read_votes_file
from likewise.labeling.state import read_labels_note
from likewise.labeling.step import read_labels
from likewise.workspace import WorkspaceFolder, read_json, write_json, write_parquet
from tests.evaluation.label_files import write_labels_file

ENDINGS = (".json", ".qrels", ".csv", ".tsv", ".parquet")


def table(rows: list[tuple[str, str, int]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=LABEL_SCHEMA, orient="row").sort("query", "candidate")


LABELS = table([("a b.png", "100%20.png", 1), ("a b.png", "c\td.png", 0), ("é.png", '"x",y.png', 1)])


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_gives_the_labels_back(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"labels{ending}"
    write_labels_file(LABELS, path)
    assert read_labels_file(path).labels.equals(LABELS)
    before = path.read_bytes()
    write_labels_file(LABELS.sample(fraction=1.0, shuffle=True, seed=1), path)
    assert path.read_bytes() == before


KEYS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1).filter(
    lambda key: key == key.strip()
)


@settings(max_examples=40)
@given(st.dictionaries(st.tuples(KEYS, KEYS), st.integers(0, 1), min_size=1))
def test_any_key_survives_trec(tmp_path_factory: pytest.TempPathFactory, pairs: dict[tuple[str, str], int]) -> None:
    path = tmp_path_factory.getbasetemp() / "any.qrels"
    labels = table([(*pair, label) for pair, label in pairs.items()])
    write_labels_file(labels, path)
    assert read_labels_file(path).labels.equals(labels)


def test_vsd_json_is_what_the_benchmark_publishes(tmp_path: Path) -> None:
    path = tmp_path / "tags.json"
    path.write_text('[{"key": ["q", "c"], "value": 1}, {"key": ["q", "d"], "value": 0}]')
    assert read_labels_file(path).labels.rows() == [("q", "c", 1), ("q", "d", 0)]
    write_labels_file(LABELS, path)
    assert json.loads(path.read_text())[0] == {"key": ["a b.png", "100%20.png"], "value": 1}


def test_grades_words_and_blanks(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("query;gallery;value\nq;a;Similar\nq;b;no\nq;c;\nq;d;cannot tell\nq;e;2\nq;f;-1\nq;a;yes\n")
    read = read_labels_file(path)
    assert read.labels.rows() == [("q", "a", 1, 1.0), ("q", "b", 0, 0.0), ("q", "e", 1, 2.0)]  # the grade is kept
    assert (read.n_rows, read.n_repeated, read.n_unjudged) == (7, 1, 3)
    (tmp_path / "graded.qrels").write_text("q 0 a 1\nq 0 b 2\nq 0 c -1\n")
    graded = read_labels_file(tmp_path / "graded.qrels", positive_from=2).labels
    assert graded.rows() == [("q", "a", 0, 1.0), ("q", "b", 1, 2.0)]


def test_a_percent_sign_in_somebody_elses_qrels_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "labels.qrels"
    path.write_text("q 0 a%20b.png 1\n")
    assert read_labels_file(path).labels["candidate"][0] == "a b.png"
    assert read_labels_file(path, known={"q", "a%20b.png"}).labels["candidate"][0] == "a%20b.png"


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("l.csv", "query,candidate,label\nq,c,1\nq,d,1\nq,c,0\n", "calls (q, c) both similar and not similar"),
        ("l.csv", "query,candidate,label\nq,,1\n", "row 2 has no candidate"),
        ("l.csv", "query,candidate\nq,c\n", "has no column label"),
        ("l.csv", "query,candidate,label\nq,c,maybe\n", "row 2: the label 'maybe' is not known"),
        ("l.csv", "query,candidate,label\nq,c,inf\n", "the label inf is no grade"),
        ("l.csv", "query,candidate,label\nq,c,\n", "has 1 rows and no label"),
        ("l.csv", "", "is empty"),
        ("l.json", '[{"key": ["q"], "value": 1}]', "entry 1 is no label of a pair"),
        ("l.json", '[{"key": ["q", "c"], "value": 1}, 3]', "entry 2 is not an object"),
        ("l.json", '{"q": 1}', "is not a list"),
        ("l.json", "[", "is not valid JSON"),
        ("l.qrels", "q 0 c 1\nq c 1\n", "line 2 has 3 fields"),
        ("l.parquet", "no parquet", "cannot be read"),
        ("l.xlsx", "", "ends in '.xlsx'"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, name: str, text: str, sentence: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(LikewiseError) as caught:
        read_labels_file(tmp_path / name)
    assert sentence in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_imported_labels_say_so_and_invent_no_votes(workspace: WorkspaceFolder, tmp_path: Path) -> None:
    path = tmp_path / "tags.json"
    write_labels_file(
        table([("circle/red-0.png", "circle/blue-0.png", 1), ("circle/red-0.png", "square/red-0.png", 0)]), path
    )
    done = import_labels(workspace, path)
    assert (done.n_labels, done.n_similar, done.n_outside_pool, done.changed) == (2, 1, None, True)
    stored, note = read_labels(workspace), read_labels_note(workspace)
    assert stored["label"].to_list() == [1, 0]
    assert stored["similar"].null_count() == 2
    assert note["consensus"]["rule"] == IMPORTED
    assert note["sources"] == ["labels tags.json"]
    assert (note["agreement"]["n_experts"], note["agreement"]["n_votes"]) == (0, 0)
    assert not workspace.votes_file.exists()
    assert not import_labels(workspace, path).changed
    assert pl.read_parquet(workspace.path / "labels.imported.parquet").equals(stored)  # outlives labels from votes


def test_labels_already_there_give_way_only_when_asked(workspace: WorkspaceFolder, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    labels = table([("circle/red-0.png", "circle/blue-0.png", 1)])
    write_labels_file(labels, path)
    write_parquet(labels, workspace.labels_file)
    write_json({"consensus": {"rule": "majority"}, "agreement": {"n_experts": 3}}, workspace.labels_settings_file)
    before = workspace.labels_file.read_bytes()
    with pytest.raises(LikewiseError, match="holds 1 labels made from the votes of 3 experts: add `--replace`"):
        import_labels(workspace, path)
    assert workspace.labels_file.read_bytes() == before
    assert import_labels(workspace, path, replace=True).changed
    write_labels_file(labels.with_columns(label=pl.lit(0, pl.Int8)), path)
    with pytest.raises(LikewiseError, match="holds 1 labels imported from another file"):
        import_labels(workspace, path)
    assert read_json(workspace.labels_settings_file)["consensus"]["n_similar"] == 1


def test_labels_of_another_catalog_are_counted_and_named(workspace: WorkspaceFolder, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    write_labels_file(table([("circle/red-0.png", f"x{n}.png", 0) for n in range(4)]), path)
    with pytest.raises(LikewiseError) as caught:
        import_labels(workspace, path)
    assert "names 4 of 5 images that are not in the catalog (x0.png, x1.png, x2.png, ...)" in str(caught.value)
    assert not workspace.labels_file.exists()


def test_an_expert_who_answered_a_pair_twice_is_named(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("query,candidate,expert,answer\nq,c,anna,yes\nq,c,anna,no\n")
    with pytest.raises(LikewiseError, match=r"anna answered the pair \(q, c\) both"):
        read_votes_file(path)
