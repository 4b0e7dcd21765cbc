"""The page as a reader gets it: complete, self-contained, the same every time, and unharmed by odd names."""

import base64
import hashlib
import re
import subprocess
import sys
from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.evaluation.fidelity import TruthCoverage
from likewise.evaluation.ranking import MAIN
from likewise.report import write_report
from likewise.workspace import WorkspaceFolder, read_json, write_json, write_parquet
from tests.report.conftest import COLOURS, HOSTILE

FETCHING = {"src", "srcset", "poster", "data", "action", "formaction", "background"}
VOID = {"meta", "link", "br", "input", "img", "hr"}


class Page(HTMLParser):
    """Collects what the tests ask about, and checks that every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))

    def having(self, attribute: str) -> list[dict[str, str | None]]:
        return [attributes for _, attributes in self.tags if attribute in attributes]


def page_of(workspace: WorkspaceFolder) -> Page:
    return Page(write_report(workspace).read_text(encoding="utf-8"))


def test_every_model_and_every_number_of_the_leaderboard_is_on_the_page(written: Path) -> None:
    page = Page(written.read_text(encoding="utf-8"))
    results = pl.read_parquet(written.parent.parent / "results" / "discovery.parquet")
    rows = [each for tag, each in page.tags if tag == "tr" and "data-encoder" in each]
    ranked = [each["data-encoder"] for each in rows if "data-group" in each]
    assert sorted(filter(None, ranked)) == ["colour", "layout", "shape"]
    without_own = [each["data-encoder"] for each in rows if "data-group" not in each]
    assert without_own == ["colour", "shape"]
    own_pairs = pl.read_parquet(written.parent.parent / "results" / "own_pairs.parquet")
    for value in own_pairs.filter(pl.col("measure").is_in([str(MAIN), "ROC_AUC", "AP"]))["without_own"].drop_nulls():
        assert f"{100 * value:.1f}" in page.text
    for value in results["value"].drop_nulls():
        assert f"{100 * value:.1f}" in page.text
    assert [a["data-group"] for tag, a in page.tags if tag == "tbody" and "data-group" in a] == ["fed", "new"]


def test_the_page_asks_nobody_for_anything(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    page = Page(text)
    for _, attributes in page.tags:
        assert not FETCHING & set(attributes)
        link = attributes.get("href") or attributes.get("xlink:href") or "#"
        assert link.startswith(("#", "data:"))
    without_namespaces = re.sub(r'xmlns(:\w+)?="[^"]*"', "", text)
    assert not re.search(r"https?:|//www|@import", without_namespaces)
    assert not re.search(r"url\((?!#)", without_namespaces)
    policy = next(a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a)
    script = text[text.rindex("<script>") + len("<script>") : text.rindex("</script>")]
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy is not None and policy.startswith("default-src 'none'") and f"'sha256-{allowed}'" in policy


def test_names_of_files_and_experts_are_shown_not_run(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    page = Page(text)
    assert "<script>alert" not in text and "<i>cy" not in text
    assert sum(tag == "script" for tag, _ in page.tags) == 1
    assert any(HOSTILE in (a["aria-label"] or "") for a in page.having("aria-label"))
    assert "<i>cy</i>" in page.text


def test_a_model_may_have_any_name(shop: WorkspaceFolder) -> None:
    odd = "_$\\frac{x}$ <b>&\"q'</b>"
    for name in ("discovery", "curves", "mistakes"):
        path = shop.results_folder / f"{name}.parquet"
        table = pl.read_parquet(path)
        write_parquet(table.with_columns(pl.col("encoder").replace("layout", odd)), path)
    page = page_of(shop)
    assert any(attributes["data-encoder"] == odd for attributes in page.having("data-encoder"))
    assert odd in "".join(page.words)


def test_many_models_share_the_plots_without_covering_them(shop: WorkspaceFolder) -> None:
    for name in ("discovery", "curves", "mistakes"):
        path = shop.results_folder / f"{name}.parquet"
        table = pl.read_parquet(path)
        more = [table.filter(pl.col("encoder") == "shape").with_columns(encoder=pl.lit(f"m{n}")) for n in range(9)]
        write_parquet(pl.concat([table, *more]), path)
    page = page_of(shop)
    assert [word.strip() for word in page.words].count("5 others") == 2  # 12 models, 7 named in each of the two plots
    assert len([a for a in page.having("role") if a["role"] == "tab"]) == 12


def test_the_same_workspace_gives_the_same_bytes(shop: WorkspaceFolder, written: Path) -> None:
    assert write_report(shop).read_bytes() == written.read_bytes()


def test_each_picture_is_embedded_once_and_every_use_has_words(written: Path) -> None:
    page = Page(written.read_text(encoding="utf-8"))
    symbols = [a["id"] for tag, a in page.tags if tag == "symbol"]
    images = [a["href"] for tag, a in page.tags if tag == "image"]
    assert len(symbols) == len(set(symbols)) == len(images) + 1
    assert len(images) <= len(COLOURS) * 3
    used = [a["href"] for tag, a in page.tags if tag == "use" and (a.get("href") or "").startswith("#p")]
    assert set(used) <= {f"#{symbol}" for symbol in symbols}
    pictures = [a for tag, a in page.tags if tag == "svg" and (a.get("class") or "").startswith("picture")]
    assert pictures and all(a["role"] == "img" and a["aria-label"] for a in pictures)
    ids = [attributes["id"] for attributes in page.having("id")]
    assert len(ids) == len(set(ids))


def test_a_picture_deleted_after_encoding_becomes_a_placeholder(shop: WorkspaceFolder) -> None:
    for path in shop.root.glob("round *.png"):
        path.unlink()
    (shop.root / HOSTILE).write_bytes(b"not a picture")
    page = page_of(shop)
    assert any(a.get("href") == "#p-missing" for tag, a in page.tags if tag == "use")
    gone = {a["aria-label"] for a in page.having("aria-label") if (a["aria-label"] or "").endswith("picture missing")}
    assert f"{len(gone)} pictures on this page could not be read" in page.text
    assert any(HOSTILE in (words or "") for words in gone)


def test_without_results_the_error_names_the_command(shop: WorkspaceFolder) -> None:
    (shop.results_folder / "summary.json").unlink()
    with pytest.raises(LikewiseError, match=re.escape(f"likewise evaluate {shop.quoted}")):
        write_report(shop)
    with pytest.raises(LikewiseError, match="not a workspace"):
        write_report(WorkspaceFolder(shop.path / "nowhere"))


def test_without_a_budget_the_page_says_how_to_make_it(shop: WorkspaceFolder, written: Path) -> None:
    assert 'id="plot-yield"' in written.read_text(encoding="utf-8")
    (shop.results_folder / "budget.parquet").unlink()
    page = page_of(shop)
    assert "likewise plan labels 'small shop'" in page.text
    assert "plot-yield" not in [a["id"] for a in page.having("id")]


def test_undefined_values_are_dashes(shop: WorkspaceFolder) -> None:
    path = shop.results_folder / "discovery.parquet"
    nothing = pl.lit(None, pl.Float64)
    results = pl.read_parquet(path).with_columns(
        value=nothing, low=nothing, high=nothing, n_queries=pl.lit(0, pl.Int64)
    )
    write_parquet(results, path)
    for name in ("curves", "mistakes"):
        table = shop.results_folder / f"{name}.parquet"
        write_parquet(pl.read_parquet(table).clear(), table)
    summary = read_json(shop.results_folder / "summary.json")
    undefined = {"value": None, "n_pairs": 0, "reason": "agreement needs two experts"}
    summary["labels"]["agreement"]["fleiss_kappa"] = undefined
    for name in ("p_pool", "p_lower_bound", "p_estimate", "p_low", "p_high", "chebyshev_95", "gain_over_random"):
        summary["prevalence"][name] = None
    write_json(summary, shop.results_folder / "summary.json")
    page = page_of(shop)
    assert "The models cannot be ranked with these labels" in page.text
    assert "undefined: agreement needs two experts" in page.text
    assert "nan" not in page.text.lower().split() and "None." in page.text
    cells = [a for tag, a in page.tags if tag == "td" and a.get("data-value") == ""]
    assert len(cells) >= 3 * results["measure"].n_unique()


def test_a_pool_of_few_different_generators_ranks_nobody(shop: WorkspaceFolder) -> None:
    page = page_of(shop)
    assert "The models are not ranked by these labels" in page.text
    assert "too few different models proposed the labelled pairs to rank by them" in page.text
    assert "leaderboard-together" not in {a["id"] for a in page.having("id")} and not page.having("data-alike")
    summary = read_json(shop.results_folder / "summary.json")
    assert 1.0 < summary["pool"]["n_different"] < 2.0
    summary["pool"]["n_different"] = 2.0
    write_json(summary, shop.results_folder / "summary.json")
    page = page_of(shop)
    assert "not ranked" not in page.text and "leaderboard-together" in {a["id"] for a in page.having("id")}


def test_simulated_experts_wear_a_badge(shop: WorkspaceFolder, written: Path) -> None:
    assert 'id="simulated"' not in written.read_text(encoding="utf-8")
    summary = read_json(shop.results_folder / "summary.json")
    summary["labels"]["simulated"] = True
    write_json(summary, shop.results_folder / "summary.json")
    assert "simulated" in [a["id"] for a in page_of(shop).having("id")]


def test_where_the_truth_is_known_the_page_says_what_was_found(shop: WorkspaceFolder) -> None:
    summary = read_json(shop.results_folder / "summary.json")
    summary["truth"] = asdict(TruthCoverage("items", 80, 50, 0.625, 0.004))
    write_json(summary, shop.results_folder / "summary.json")
    path = shop.results_folder / "budget.parquet"
    write_parquet(pl.read_parquet(path).with_columns(recall=pl.col("k") / 10, spearman=pl.lit(0.5)), path)
    page = page_of(shop)
    assert "found 62.5\u00a0% of all truly similar pairs (50 of 80" in page.text.replace("62.5 %", "62.5\u00a0%")
    assert {"plot-spearman", "plot-recall"} <= {a["id"] for a in page.having("id")}


def test_progress_ends_at_its_total(shop: WorkspaceFolder) -> None:
    steps: list[tuple[int, int]] = []
    write_report(shop, lambda _, done, total: steps.append((done, total)))
    assert len({total for _, total in steps}) == 1
    assert steps == sorted(steps) and steps[-1][0] == steps[-1][1]


def test_importing_the_room_does_not_load_matplotlib() -> None:
    code = "import sys, likewise.report; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
