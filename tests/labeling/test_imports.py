"""Votes from people's files: what is accepted, and what each mistake is answered with."""

import json
from pathlib import Path

import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.labeling import CANNOT_TELL, NOT_SIMILAR, SIMILAR, check_votes, read_votes_file

from .factories import votes_of

HEADER = "query,candidate,expert,answer\n"


def write(folder: Path, text: str, name: str = "votes.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *((text, SIMILAR) for text in ("similar", "Similar ", "1", "1.0", "yes", "YES", "true", "TRUE")),
        *((text, NOT_SIMILAR) for text in ("not similar", "Not  Similar", "notsimilar", "0", "no", "False")),
        *((text, CANNOT_TELL) for text in ("cannot tell", "Cannot Tell", "skip")),
    ],
)
def test_answers_are_read_leniently(tmp_path: Path, written: str, meant: str) -> None:
    votes = read_votes_file(write(tmp_path, f"{HEADER}a,b,ann,{written}\n")).votes
    assert votes.rows() == [("a", "b", "ann", meant, None)]


def test_blank_answers_are_skipped_and_counted(tmp_path: Path) -> None:
    read = read_votes_file(write(tmp_path, HEADER + "a,b,ann,1\na,c,ann,\na,d,ann,  \na,b,ann,yes\n"))
    assert (read.votes.height, read.n_rows, read.n_blank, read.n_repeated) == (1, 4, 2, 1)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_spreadsheets_write_other_separators_and_a_byte_order_mark(tmp_path: Path, separator: str) -> None:
    text = "\ufeffQuery, Candidate ,EXPERT,answer,note\r\na,b,Änn,1,x\r\n".replace(",", separator)
    assert read_votes_file(write(tmp_path, text)).votes.rows() == [("a", "b", "Änn", SIMILAR, None)]


def test_all_formats_hold_the_same_votes(tmp_path: Path) -> None:
    table = pl.DataFrame({"query": ["a", "a"], "candidate": ["b", "c"], "expert": ["x", "x"], "answer": [True, False]})
    table.write_parquet(tmp_path / "v.parquet")
    table.with_columns(pl.col("answer").cast(pl.Float64)).write_parquet(tmp_path / "w.parquet")
    table.write_ndjson(tmp_path / "v.jsonl")
    table.write_csv(tmp_path / "v.csv")
    rows = [read_votes_file(tmp_path / name).votes.rows() for name in ("v.parquet", "w.parquet", "v.jsonl", "v.csv")]
    assert rows == [[("a", "b", "x", SIMILAR, None), ("a", "c", "x", NOT_SIMILAR, None)]] * 4


def test_times_become_utc(tmp_path: Path) -> None:
    times = ("2026-01-31T14:05:00+02:00", "2026-01-31 12:05", "2026-01-31T12:05:00.25Z", "")
    lines = [json.dumps({"query": "a", "candidate": str(n), "expert": "x", "answer": 1, "time": time})
             for n, time in enumerate(times)]  # fmt: skip
    votes = read_votes_file(write(tmp_path, "\n".join(lines) + "\n", "v.jsonl")).votes
    noon = "2026-01-31T12:05:00.000Z"
    assert votes["time"].to_list() == [noon, noon, "2026-01-31T12:05:00.250Z", None]
    table = votes.with_columns(time=pl.col("time").str.to_datetime("%+", time_zone="UTC"))
    table.with_columns(pl.col("time").dt.convert_time_zone("Asia/Tokyo")).write_parquet(tmp_path / "v.parquet")
    assert read_votes_file(tmp_path / "v.parquet").votes.equals(votes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"votes\.csv holds no votes: it needs one row per vote under query,candidate,expert,answer"),
        (HEADER, r"votes\.csv holds no votes"),
        (HEADER + "a,b,ann,\n", "has 1 rows and no answer yet"),
        (HEADER + "a,a,ann,1\n", "row 2: a is compared with itself: delete the row"),
        (
            "query,candidate,who,answer\na,b,ann,1\n",
            r"has no column expert \(it has query, candidate, who, answer\): its header must be query,candidate,expert",
        ),
        (HEADER + "a,b,ann,1\na,c,ann,perhaps\n", r"votes\.csv, row 3: the answer 'perhaps' is not known: write sim"),
        (HEADER + "a,b,ann,1\n,c,ann,1\n", r"row 3: query is empty"),
        (HEADER + "a,b,ann,1\na,b,ann,0\n", r"votes\.csv: ann answered the pair \(a, b\) both"),
        ("query,candidate,expert,answer,time\na,b,ann,1,noon\n", r"row 2: the time 'noon' is not ISO-8601"),
        ("query,candidate,expert,answer,Answer\na,b,c,1,1\n", "two columns .answer."),
    ],
)
def test_each_mistake_has_its_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(LikewiseError, match=message) as caught:
        read_votes_file(write(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LikewiseError, match="does not exist"):
        read_votes_file(tmp_path / "votes.csv")
    with pytest.raises(LikewiseError, match=r"ends in '\.xlsx': votes are read from \.csv"):
        read_votes_file(write(tmp_path, "x", "votes.xlsx"))
    with pytest.raises(LikewiseError, match="row 1 is not valid JSON"):
        read_votes_file(write(tmp_path, "query,candidate", "votes.jsonl"))
    with pytest.raises(LikewiseError, match="row 1 is not an object"):
        read_votes_file(write(tmp_path, "[1]", "votes.jsonl"))
    with pytest.raises(LikewiseError, match="cannot be read"):
        read_votes_file(write(tmp_path, "no parquet", "votes.parquet"))
    (tmp_path / "latin.csv").write_bytes((HEADER + "a,b,Änn,1\n").encode("latin-1"))
    with pytest.raises(LikewiseError, match="it is not UTF-8 text"):
        read_votes_file(tmp_path / "latin.csv")


def test_votes_on_unknown_images_are_refused() -> None:
    votes = votes_of(ann="sssss")
    with pytest.raises(LikewiseError, match=r"name 4 of 6 images .* \(c1, c2, c3, \.\.\.\): use the catalog's"):
        check_votes(votes, {"q", "c0"})


def test_votes_outside_the_pool_are_kept_and_counted() -> None:
    votes = votes_of(ann="sss", bob="s")
    images = ["q", "c0", "c1", "c2"]
    assert check_votes(votes, images).n_pairs_outside_pool is None
    pool = pl.DataFrame({"query": ["q", "q"], "candidate": ["c1", "c1"], "generator": ["m", "n"]})
    checked = check_votes(votes, images, pool)
    assert (checked.n_votes, checked.n_pairs) == (4, 3)
    assert (checked.n_votes_outside_pool, checked.n_pairs_outside_pool) == (3, 2)
