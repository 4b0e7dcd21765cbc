"""The leaderboard page: every result with its interval, date and command, and no two benchmarks in one ranking."""

from pathlib import Path

import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.evaluation.discovery import RESULT_SCHEMA
from likewise.evaluation.measures import AP, ROC_AUC, Judged, P
from likewise.evaluation.provenance import ResultNote, write_note
from likewise.evaluation.ranking import MAIN
from likewise.report.leaderboard_page import rank_by_benchmark, read_result, write_leaderboard_page
from likewise.workspace import WorkspaceFolder, write_parquet
from tests.report.test_page import FETCHING, Page

HOSTILE = """<script>alert("x")</script> & 'y'"""


def result(encoder: str, auc: float | None, *, generator: bool = False) -> list[tuple[object, ...]]:
    bounds = (None, None) if auc is None else (auc - 0.03, auc + 0.02)
    counted = (auc, *bounds, 90, 100, 2000)
    areas = [area(average=average) for area in (ROC_AUC, AP) for average in ("macro", "micro")]
    measures = [MAIN, *areas, ROC_AUC(negatives="sampled"), P @ 5, P @ 9, Judged @ 5]
    return [(encoder, generator, False, str(measure), *counted) for measure in measures]


def write_result(path: Path, rows: list[tuple[object, ...]], **said: object) -> Path:
    write_parquet(pl.DataFrame(rows, schema=RESULT_SCHEMA, orient="row"), path)
    note = {
        "benchmark": "Shoes",
        "benchmark_id": "a1",
        "date": "2026-03-01T10:00:00Z",
        "command": "likewise evaluate shoes",
        "n_experts": 3,
        "consensus": "majority",
        "likewise": "0.1.0",
    }
    write_note(ResultNote(**(note | said)), path)  # type: ignore[arg-type]
    return path


@pytest.fixture
def results(tmp_path: Path) -> list[Path]:
    fed = write_result(
        tmp_path / "one.parquet", result("dino", 0.81, generator=True) + result("clip", 0.77, generator=True)
    )
    new = write_result(
        tmp_path / "two.parquet",
        result("mine", 0.84) + result("clip", 0.79),
        date="2026-04-02T08:00:00Z",
        command="likewise evaluate shoes.zip --vectors mine.npy",
    )
    other = write_result(
        tmp_path / "bags.parquet",
        result(HOSTILE, None),
        benchmark=f"Bags {HOSTILE}",
        benchmark_id="b2",
        command=f"likewise evaluate {HOSTILE}",
        simulated=True,
    )
    return [fed, new, other]


def page_of(results: list[Path], tmp_path: Path) -> Page:
    return Page(write_leaderboard_page(results, tmp_path / "page.html").read_text(encoding="utf-8"))


def test_results_of_one_benchmark_are_ranked_together_and_others_apart(results: list[Path]) -> None:
    shoes, bags = rank_by_benchmark([read_result(path) for path in results])
    assert [(row.encoder, row.day) for row in shoes.entries] == [
        ("mine", "2026-04-02"),
        ("dino", "2026-03-01"),
        ("clip", "2026-04-02"),
        ("clip", "2026-03-01"),
    ]
    assert [row.generator for row in shoes.entries] == [False, True, False, True]
    assert [cell.best for cell in shoes.entries[0].cells] == [True] * 7  # of all, and of the new models
    assert [cell.best for cell in shoes.entries[1].cells] == [False] + [True] * 6  # of the generators
    assert [column.title for column in shoes.columns] == ["ROC_AUC"] * 3 + ["AP", "AP", "P@5", "Judged@5"]
    assert len(bags.entries) == 1


def test_the_page_tells_interval_date_and_command_of_every_row(results: list[Path], tmp_path: Path) -> None:
    page = page_of(results, tmp_path)
    for words in (
        "84.0 81.0–86.0",
        "2026-04-02",
        "likewise evaluate shoes.zip --vectors mine.npy",
        "labelled by 3 experts",
        "5 results on 2 benchmarks, the latest of 2026-04-02",
        "simulated experts",
    ):
        assert words in page.text
    assert "2026-04-02 command 1" in page.text
    assert {"command-a1-1", "command-a1-2", "command-b2-1"} <= {attributes["id"] for attributes in page.having("id")}
    rows = [attributes for tag, attributes in page.tags if tag == "tr" and "data-encoder" in attributes]
    assert [(row["data-encoder"], row["data-group"]) for row in rows[:2]] == [("mine", "new"), ("dino", "fed")]
    headings = [attributes for tag, attributes in page.tags if tag == "th" and "data-sort" in attributes]
    values = [attributes for _, attributes in page.tags if "data-value" in attributes]
    assert len(headings) == 9 * 2
    assert len(values) == 9 * 5  # every heading has a value in every row to sort by


def test_the_page_is_self_contained_and_harmless(results: list[Path], tmp_path: Path) -> None:
    page = page_of(results, tmp_path)
    assert sum(tag == "script" for tag, _ in page.tags) == 1
    for _, attributes in page.tags:
        assert not FETCHING & set(attributes)
        assert not (attributes.get("href") or "#").startswith("http")
    assert HOSTILE in page.text
    assert "default-src 'none'" in (page.having("http-equiv")[0]["content"] or "")


def test_the_same_results_give_the_same_bytes_in_any_order(results: list[Path], tmp_path: Path) -> None:
    first = write_leaderboard_page(results, tmp_path / "a.html").read_bytes()
    assert write_leaderboard_page(results[::-1], tmp_path / "b.html").read_bytes() == first
    assert write_leaderboard_page([*results, results[0]], tmp_path / "c.html").read_bytes() == first
    assert write_leaderboard_page([tmp_path], tmp_path / "d.html").read_bytes() == first  # a folder of results


def test_a_workspace_stands_for_its_results(shop: WorkspaceFolder, tmp_path: Path) -> None:
    file = shop.results_folder / "discovery.parquet"
    write_note(ResultNote("small shop", "c3", "2026-01-01T00:00:00Z", "likewise evaluate 'small shop'"), file)
    text = page_of([shop.path], tmp_path).text
    assert "likewise evaluate 'small shop'" in text
    assert all(encoder in text for encoder in ("colour", "layout", "shape"))


def test_what_is_wrong_is_one_sentence(results: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    with pytest.raises(LikewiseError, match="needs results"):
        write_leaderboard_page([], page)
    (tmp_path / "empty").mkdir()
    with pytest.raises(LikewiseError, match="holds no results"):
        write_leaderboard_page([tmp_path / "empty"], page)
    with pytest.raises(LikewiseError, match="does not exist yet: run `likewise evaluate` first"):
        write_leaderboard_page([tmp_path / "none.parquet"], page)
    write_parquet(pl.DataFrame({"x": [1]}), tmp_path / "x.parquet")
    with pytest.raises(LikewiseError, match="has no column encoder"):
        write_leaderboard_page([tmp_path / "x.parquet"], page)
    (tmp_path / "one.note.json").unlink()
    with pytest.raises(LikewiseError, match=r"one\.note\.json does not exist: evaluate again"):
        write_leaderboard_page(results, page)
    with pytest.raises(LikewiseError, match="is a folder: name the page"):
        write_leaderboard_page(results, tmp_path / "empty")
    assert not page.exists()


def test_models_have_no_ranks_where_generators_are_too_much_alike(results: list[Path], tmp_path: Path) -> None:
    one = result("zebra", 0.9, generator=True) + result("ape", 0.7, generator=True) + result("new", 0.8)
    alike = write_result(tmp_path / "alike.parquet", one, benchmark="Alike", benchmark_id="c3", n_different=1.4)
    by_name = {each.name: each for each in rank_by_benchmark([read_result(path) for path in [*results, alike]])}
    assert [row.encoder for row in by_name["Alike"].entries] == ["ape", "new", "zebra"]  # by name
    assert not any(cell.best for row in by_name["Alike"].entries for cell in row.cells)
    assert by_name["Alike"].no_rank is not None and by_name["Shoes"].no_rank is None
    page = write_leaderboard_page([*results, alike], tmp_path / "page.html").read_text(encoding="utf-8")
    part = page[page.index('id="benchmark-c3"') :].split("</section>")[0]
    assert "The models have no ranks here: too few different models proposed the labelled pairs" in part
    assert "aria-sort" not in part and "Models are ranked" not in part
    assert page.count("The models have no ranks here") == 1


def test_no_other_file_is_overwritten(results: list[Path], tmp_path: Path) -> None:
    notes = tmp_path / "notes.html"
    notes.write_text("<h1>My thesis</h1>")
    before = results[0].read_bytes()
    for wrong in (notes, results[0]):
        with pytest.raises(LikewiseError, match="is no leaderboard page and would be overwritten"):
            write_leaderboard_page(results, wrong)
    assert notes.read_text() == "<h1>My thesis</h1>" and results[0].read_bytes() == before
    page = write_leaderboard_page(results, tmp_path / "page.html")
    assert write_leaderboard_page(results[:1], page) == page  # its own page is made again
