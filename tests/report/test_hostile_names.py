"""Pages that are sent around show names of files, items, categories, experts, models and guidelines as text."""

from html.parser import HTMLParser

import polars as pl
import pytest
from typer.testing import CliRunner

from likewise.cli.app import app
from likewise.labeling import add_votes, open_votes
from likewise.labeling.store.project import change_project
from likewise.workspace import WorkspaceFolder
from tests.conftest import write_shapes

TAG = '"><img src=x onerror=alert(1)>'
SCRIPT = "<script>alert(1)</script>"
LINK = "javascript:alert(1)"


class Attacks(HTMLParser):
    """Tags and attributes that would run somebody's words, and links that lead out of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.in_script = tag == "script"
        for name, value in attrs:
            outside = name in ("href", "src") and (value or "").lower().startswith(("javascript:", "http:", "//"))
            if name.startswith("on") or (tag == "img" and value == "x") or outside:
                self.found.append(f"<{tag} {name}={value!r}>")

    def handle_data(self, data: str) -> None:
        if self.in_script and data.strip().startswith("alert(1)"):
            self.found.append(f"script {data!r}")

    def handle_endtag(self, tag: str) -> None:
        self.in_script = False


def run(*words: object) -> None:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code in (0, 1, 3), (
        words,
        done.output,
        done.exception,
    )  # 1 and 3: a gate that does not let through


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every page of a workspace in which every name is an attack."""
    place = tmp_path_factory.mktemp("hostile")
    table = write_shapes(place / "pictures")
    rows = pl.read_csv(table)
    for image in rows["image"]:
        folder, name = image.split("/")
        (place / "pictures" / folder / name).rename(place / "pictures" / folder / f"{TAG}{name}")
    renamed = pl.concat_str(
        pl.col("image").str.split("/").list.get(0), pl.lit(f"/{TAG}"), pl.col("image").str.split("/").list.get(1)
    )
    rows = rows.with_columns(
        renamed.alias("image"),
        (pl.lit(SCRIPT) + pl.col("item")).alias("item"),
        (pl.lit(SCRIPT) + pl.col("category")).alias("category"),
    )
    rows.write_csv(table)
    ws = place / f"ws {TAG[2:]}"
    run("new", ws, table)
    run("encode", ws, "--with", "colour,layout,shape", "--workers", 1)
    run("discover", ws, "--with", "colour,shape", "--k", 3, "--n-queries", 8, "--seed", 1)
    engine = open_votes(WorkspaceFolder(ws))
    change_project(engine, guidelines=f"Look. {SCRIPT} {TAG}", name=f"Shapes {SCRIPT}")
    pool = pl.read_parquet(ws / "pool.parquet").select("query", "candidate").unique().sort("query", "candidate")
    for expert in (f"anna {SCRIPT}", f"ben {TAG}"):
        similar = pl.col("query").str.split("/").list.get(0) == pl.col("candidate").str.split("/").list.get(0)
        answer = pl.when(similar).then(pl.lit("similar")).otherwise(pl.lit("not similar"))
        add_votes(engine, pool.with_columns(expert=pl.lit(expert), answer=answer), f"import {SCRIPT}")
    engine.dispose()
    run("report", ws)
    run("gate", ws, "--old", "colour", "--new", "layout")
    run("label", "sheet", ws, place / "sheet.html", "--expert", f"zoe {SCRIPT}")
    run("bundle", "benchmark", ws, place / "bundle", "--title", f"T {SCRIPT}", "--licence", f"L {TAG}")
    run("bundle", "vectors", ws, place / "mine.npy", "--with", "layout")
    keys = place / "mine.npy.keys.txt"
    model = f"model{SCRIPT.replace('/', '')}={place / 'mine.npy'}"
    run("evaluate", place / "bundle", "--vectors", model, "--keys", keys, "--output", place / "r.parquet")
    run("bundle", "leaderboard", place / "board.html", place / "r.parquet", "--title", f"B {SCRIPT}")
    return {
        "report": (ws / "report" / "index.html").read_text(encoding="utf-8"),
        "gate": (ws / "gate" / "index.html").read_text(encoding="utf-8"),
        "sheet": (place / "sheet.html").read_text(encoding="utf-8"),
        "leaderboard": (place / "board.html").read_text(encoding="utf-8"),
    }


@pytest.mark.parametrize("name", ["report", "gate", "sheet", "leaderboard"])
def test_names_are_text_on_every_page_that_is_sent_around(pages: dict[str, str], name: str) -> None:
    attacks = Attacks()
    attacks.feed(pages[name])
    assert attacks.found == []
    assert "alert(1)" in pages[name]  # it is shown, as text
