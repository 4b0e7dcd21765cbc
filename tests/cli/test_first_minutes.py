"""What somebody reads who runs a command for the first time: its cost before it begins, and a name that was meant."""

import shlex
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from likewise.cli.tables import best_sets_table
from likewise.encoders import get_encoder
from likewise.errors import LikewiseError
from tests.conftest import write_shapes

from .conftest import Run


@pytest.fixture
def shop(tmp_path: Path, run: Run) -> Path:
    path = tmp_path / "shop"
    for step in (
        ("new", path, "--wardrobe", "--items", 24, "--views", 2),
        ("encode", path, "--with", "colour,layout", "--workers", 1),
    ):
        ran = run(*step)
        assert ran.code == 0, ran.err
    return path


def test_hours_are_said_before_a_pool_is_written(shop: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise LikewiseError("stopped before anything was written.")

    with monkeypatch.context() as patched:
        patched.setattr("likewise.discovery.step.store_pool", stop)
        ended = run("discover", shop)
    assert ended.code == 2 and "hours of an expert at 15 s per pair" in ended.out and "by default" in ended.out
    assert not (shop / "pool.parquet").exists()
    hours = float(ended.out.partition(" queries: ")[2].partition(" hours")[0])
    assert 0.5 < hours <= 1.0
    assert run("discover", shop).code == 0 and (shop / "pool.parquet").exists()


def test_fewer_queries_than_asked_for_are_said_with_the_hours_that_allow_them(shop: Path, run: Run) -> None:
    ended = run("discover", shop, "--hours", 0.2, "--n-queries", 20)
    fit = int(ended.out.partition(" queries: ")[0].rpartition(" ")[2])
    assert ended.code == 0 and 0 < fit < 20
    assert f"20 queries were asked for; {fit} fit into 0.2 hours (--hours)" in ended.out
    enough = run("discover", shop, "--hours", 20, "--n-queries", 20, "--replace")
    assert enough.code == 0 and "asked for" not in enough.out


def test_few_queries_are_said_before_somebody_labels_them(shop: Path, run: Run) -> None:
    few = run("discover", shop, "--hours", 0.3)
    assert few.code == 0 and "intervals over fewer than 15 queries are a rough guide" in few.out
    hours = float(few.out.partition("rough guide: about ")[2].partition(" hours")[0])
    enough = run("discover", shop, "--hours", hours, "--replace")
    assert int(enough.out.partition(" queries: ")[0].rpartition(" ")[2]) >= 15
    assert "rough guide" not in enough.out


def test_before_labels_no_set_of_generators_is_called_the_best(shop: Path, run: Run) -> None:
    slowly = ("--seconds-per-pair", 60)
    planned = run("plan", "labels", shop, "--k", 8, *slowly)
    assert "all 2 generators, by k" in map(str.strip, planned.out.splitlines()), "the title is not broken"
    assert "best" not in planned.out and "positives are" not in planned.out
    an_hour = int(planned.out.partition("is enough for about ")[2].partition(" ")[0])
    ended = run("discover", shop, "--hours", 1, "--n-queries", 1000, *slowly)
    assert abs(int(ended.out.partition(" queries: ")[0].rpartition(" ")[2]) - an_hour) <= 0.2 * an_hour
    assert run("label", "simulate", shop).code == 0
    planned = run("plan", "labels", shop, "--k", 8)
    assert "the best set of each size at k = 6" in planned.out and "next:" not in planned.out


def test_training_says_how_long_it_takes_before_it_begins(
    shop: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise LikewiseError("stopped before anything was learned.")

    assert run("discover", shop).code == 0 and run("label", "simulate", shop).code == 0
    monkeypatch.setattr("likewise.training.perceptual.step.learn_and_cross_validate", stop)
    ended = run("train", "perceptual", shop)
    assert ended.code == 2 and "choosing and learning takes about" in ended.out + ended.err
    assert not (shop / "runs" / "perceptual").exists()
    options = ("--columns", "category", "--base", "efficientnet-lite0?size=32", "--steps", 6, "--workers", 1)
    ended = run("condition", "two-tower", shop, shop / "tower", *options)
    assert ended.code == 0 and "training takes about" in ended.err and "--quick takes fewer steps" in ended.err


def test_a_short_name_means_the_encoder_that_is_installed() -> None:
    with pytest.raises(LikewiseError, match="did you mean 'efficientnet-lite0'"):
        get_encoder("efficientnet")


def test_commands_that_are_printed_can_be_pasted(tmp_path: Path, run: Run) -> None:
    shop = tmp_path / "my shop"
    said = run("new", shop, write_shapes(tmp_path / "my pictures")).out
    for more in (("--with", "colour,layout", "--workers", "1"), ("--n-queries", "4", "--k", "2")):
        program, *words = shlex.split(said.rpartition("next: ")[2].splitlines()[0])
        assert program == "likewise" and words[1] == str(shop)
        ran = run(*words, *more)
        assert ran.code == 0, ran.err
        said = ran.out if "next: " in ran.out else run("status", shop).out
    assert f"next: likewise label serve '{shop}' (" in said
    assert f"run `likewise label serve '{shop}'`" in run("report", shop).err


def test_no_name_is_broken_in_a_terminal_of_80_columns() -> None:
    names = ["efficientnet-lite0", "shape", "colour", "texture", "layout"]
    sets = [("+".join(names[:n]), n) for n in range(1, len(names) + 1)]
    numbers = {"k": 6, "n_pairs": 2_176, "hours": 12.5, "expected_positives": 717.0, "recall": 0.753, "spearman": 0.9}
    ends = {"positives_low": 300.0, "positives_high": 1_000.0, "marginal_positives_per_hour": 170.0}
    budget = pl.DataFrame([{"generators": text, "n_generators": n} | numbers | ends for text, n in sets])
    console = Console(width=80)
    with console.capture() as printed:
        console.print(best_sets_table(budget))
    lines = printed.get().splitlines()
    assert max(map(len, lines)) <= 80 and "…" not in printed.get()
    assert sum("efficientnet-lite0 " in line for line in lines) == len(names)
