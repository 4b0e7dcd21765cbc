"""Mining: concreteness, the rules every triplet must obey, bounded draws, and runs that stop and go on."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.cli.app import app
from likewise.conditional.mining.concreteness import Concreteness
from likewise.conditional.mining.filters import FILTERS, MiningThresholds, filter_relations
from likewise.conditional.mining.parsing import parse_captions, shard_file
from likewise.conditional.mining.sampling import GroupSampler
from likewise.conditional.mining.step import mine_triplets, read_triplets
from likewise.conditional.mining.triplets import draw_triplets
from likewise.errors import LikewiseError
from tests.cli.conftest import Run, run
from tests.real.places import real_data

__all__ = ["run"]

THINGS = ("dog", "cat", "horse", "girl")
PLACES = ("beach", "table", "street", "boat", "garden", "sofa")
GENECIS = FILTERS["genecis"]
RATINGS = dict.fromkeys((*THINGS, *PLACES), 4.9) | {"sofa": 4.0, "idea": 1.6, "girl": 4.85}


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    """In the format of the real file: tabs and CRLF."""
    path = tmp_path / "ratings.txt"
    rows = "".join(f"{word}\t0\t{mean}\t0.4\r\n" for word, mean in RATINGS.items())
    path.write_bytes(f"Word\tBigram\tConc.M\tConc.SD\r\n{rows}".encode())
    return path


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    rows = [f"a {rng.choice(THINGS)}s on the {rng.choice(PLACES)}\thttp://x/{n}.jpg" for n in range(400)]
    rows[7] = "an idea in the garden\thttp://x/7.jpg"
    rows[8] = "\thttp://x/8.jpg"
    path = tmp_path / "captions.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_concreteness_of_the_real_ratings() -> None:
    known = Concreteness.read(next(real_data("concreteness").glob("*.txt")))
    assert len(known.ratings) > 39_000
    assert known.rating("roadsweeper") == 4.85
    assert known.rating("apple") == known.rating("apples") == 5.0
    assert known.rating("women") == known.rating("woman") > 4.0
    assert known.rating("belief") < 2.0
    assert known.rating("qwertz") == -1.0


def test_every_triplet_obeys_the_rules(captions: Path, ratings: Path, tmp_path: Path) -> None:
    mined = mine_triplets(
        captions, tmp_path / "mined", ratings=ratings, rules=GENECIS, n_triplets=3000, workers=1, parser="textblob"
    )
    triplets = read_triplets(tmp_path / "mined")
    assert triplets.height == mined.n_triplets == 3000
    text = dict(line.split("\t")[::-1] for line in captions.read_text(encoding="utf-8").splitlines())
    for row in triplets.iter_rows(named=True):
        assert row["reference"] != row["target"]
        assert row["reference_object"] != row["target_object"]
        assert row["subject"] in text[row["reference"]] and row["subject"] in text[row["target"]]
        assert row["condition"] == f"on {row['target_object']}"
        assert row["target_object"] in text[row["target"]]
        words = (row["subject"].removesuffix("s"), row["reference_object"]) * 1
        mean = (2 * RATINGS[words[0]] + RATINGS[words[1]] + RATINGS[row["target_object"]]) / 4
        assert mean == pytest.approx(row["concreteness"]) and mean >= 4.8 - 1e-9
        assert row["subject"] in text[row["same_subject"]] and row["target_object"] not in text[row["same_subject"]]
        assert row["target_object"] in text[row["same_object"]] and row["subject"] not in text[row["same_object"]]
    assert triplets.n_unique(["reference", "target", "condition"]) == triplets.height
    assert not {"sofa", "idea"} & set(triplets["target_object"])
    counted = [step.n for step in mined.funnel if step.unit == "relations"]
    assert counted == sorted(counted, reverse=True)


def test_subjects_are_drawn_in_proportion_to_their_images(captions: Path, tmp_path: Path) -> None:
    parse_captions(captions, tmp_path / "mined", parser="textblob", workers=1)
    relations, _ = filter_relations(tmp_path / "mined", None, MiningThresholds(concreteness=0.0))
    drawn, _ = draw_triplets(relations, MiningThresholds(concreteness=0.0), 4000, seed=1)
    images = Counter(relations.subject.tolist())
    share = np.bincount(relations.subject[drawn["reference"].to_numpy()]) / drawn.height
    for subject, n in images.items():
        assert share[subject] == pytest.approx(n / len(relations), abs=0.05)


def test_a_demand_that_cannot_be_met_ends(ratings: Path, tmp_path: Path) -> None:
    """Two objects, one of them on one image only: few triplets exist, and a million are asked for."""
    rows = [f"a dog on the beach\t{n}.jpg" for n in range(6)] + ["a dog on the table\tlast.jpg"]
    (tmp_path / "few.tsv").write_text("\n".join(rows), encoding="utf-8")
    mined = mine_triplets(
        tmp_path / "few.tsv", tmp_path / "mined", ratings=ratings, n_triplets=10**6, workers=1, parser="textblob"
    )
    assert mined.n_triplets == 12  # six references to the table, and the table to six beaches


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=30), st.integers(0, 99))
def test_a_draw_outside_the_block_against_listing_all(pairs: list[tuple[int, int]], seed: int) -> None:
    ordered = np.array(sorted(pairs))
    sampler = GroupSampler.from_sorted(ordered[:, 0], ordered[:, 1])
    at = np.repeat(np.arange(len(ordered)), 40)
    drawn = sampler.sample_outside_block(at, np.random.default_rng(seed))
    for place in range(len(ordered)):
        allowed = {
            other
            for other in range(len(ordered))
            if ordered[other, 0] == ordered[place, 0] and ordered[other, 1] != ordered[place, 1]
        }
        assert set(drawn[at == place].tolist()) <= (allowed or {-1})
        if len(allowed) == 2:
            assert set(drawn[at == place].tolist()) == allowed


def test_same_seed_same_files_however_it_ran(captions: Path, ratings: Path, tmp_path: Path) -> None:
    """One process or two, in one go or after a stop that lost a part."""
    written = []
    for name, workers in (("one", 1), ("two", 2)):
        folder = tmp_path / name
        mine_triplets(
            captions, folder, ratings=ratings, n_triplets=500, workers=workers, rows_per_shard=150, parser="textblob"
        )
        written.append((folder / "triplets.parquet").read_bytes())
    folder = tmp_path / "one"
    shard_file(folder, 1).unlink()
    (folder / "triplets.parquet").unlink()
    kept = shard_file(folder, 0).stat().st_mtime_ns
    mine_triplets(captions, folder, ratings=ratings, n_triplets=500, workers=1, rows_per_shard=150, parser="textblob")
    assert shard_file(folder, 0).stat().st_mtime_ns == kept
    written.append((folder / "triplets.parquet").read_bytes())
    assert written[0] == written[1] == written[2]
    whole = tmp_path / "whole"  # the filters see one part after another: how they are cut does not matter
    mine_triplets(captions, whole, ratings=ratings, n_triplets=500, workers=1, parser="textblob")
    assert read_triplets(whole).equals(read_triplets(folder))
    funnels = [pl.read_parquet(place / "funnel.parquet") for place in (whole, folder)]
    assert funnels[0].equals(funnels[1])


def test_other_settings_are_refused(captions: Path, ratings: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mined"
    mine_triplets(captions, folder, ratings=ratings, n_triplets=50, workers=1, parser="textblob")
    with pytest.raises(LikewiseError, match="other settings"):
        mine_triplets(captions, folder, ratings=ratings, n_triplets=60, workers=1, parser="textblob")
    captions.write_text("a dog on the beach\tx.jpg\n", encoding="utf-8")
    with pytest.raises(LikewiseError, match="other captions"):
        mine_triplets(captions, folder, ratings=ratings, n_triplets=50, workers=1, parser="textblob")


def test_the_command_writes_a_page_with_funnel_and_triplets(captions: Path, ratings: Path, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    folder = tmp_path / "mined"
    asked = [
        "condition",
        "mine",
        str(captions),
        "--concreteness",
        str(ratings),
        "--output",
        str(folder),
        "--n-triplets",
        "100",
        "--filter",
        "genecis",
    ]
    ran = CliRunner().invoke(app, [*asked, "--workers", "1", "--json"])
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)
    assert told["n_triplets"] == 100
    assert told["funnel"][0] == {"step": "captions", "why": "read", "n": 400, "unit": "captions"}
    page = (folder / "index.html").read_text(encoding="utf-8")
    first = pl.read_parquet(folder / "triplets.parquet").sample(24, seed=0, shuffle=True).row(0, named=True)
    assert f"“{first['condition']}”" in page and first["target"] in page
    assert "the subject occurs in at least 5 images" in page


def test_attributes_are_mined_from_what_stands_before_a_noun(tmp_path: Path) -> None:
    """Colours and materials survive the soft filter and not the published one, which knows relations alone."""
    rows = [
        f"a {colour} {material} coat\t{colour}-{material}-{n}.jpg"
        for n in range(6)
        for colour in ("red", "dark blue")
        for material in ("wool", "leather")
    ]
    (tmp_path / "titles.tsv").write_text("\n".join(rows), encoding="utf-8")
    real = next(real_data("concreteness").glob("*.txt"))
    asked = {"n_triplets": 200, "workers": 1, "parser": "textblob"}
    for name in ("soft", "none"):
        folder = tmp_path / name
        mine_triplets(tmp_path / "titles.tsv", folder, ratings=real, rules=FILTERS[name], **asked)  # type: ignore[arg-type]
        triplets = read_triplets(folder)
        assert set(triplets["condition"]) == {"red", "dark blue", "wool", "leather"}
        assert set(triplets["subject"]) == {"coat"}
    with pytest.raises(LikewiseError, match="no relation survived"):
        mine_triplets(tmp_path / "titles.tsv", tmp_path / "paper", ratings=real, rules=GENECIS, n_triplets=9, workers=1)


def test_negatives_are_wrong_and_references_ask_something(tmp_path: Path) -> None:
    """Several captions of one image: what any of them says counts."""
    rng = np.random.default_rng(4)
    rows, truth = [], {}
    for n in range(200):
        subject, colour, place = rng.choice(THINGS), rng.choice(["red", "blue", "white"]), rng.choice(PLACES)
        truth[f"{n}.jpg"] = {str(subject), str(colour), str(place)}
        rows.append({"image": f"{n}.jpg", "one": f"a {colour} {subject}", "two": f"the {subject} on the {place}"})
    pl.DataFrame(rows).write_csv(tmp_path / "captions.csv")
    mine_triplets(
        tmp_path / "captions.csv",
        tmp_path / "mined",
        ratings=None,
        n_triplets=2000,
        columns=("one", "two"),
        workers=1,
        parser="textblob",
    )
    triplets = read_triplets(tmp_path / "mined")
    assert {"red", "on beach"} <= set(triplets["condition"])
    for row in triplets.iter_rows(named=True):
        subject, thing = row["subject"], row["target_object"]
        assert {subject, thing} <= truth[row["target"]]
        assert subject in truth[row["reference"]] and thing not in truth[row["reference"]]
        for name, word in (("same_subject", thing), ("same_object", subject)):
            assert row[name] is None or word not in truth[row[name]]
    assert triplets["same_subject"].null_count() < 0.2 * triplets.height


def test_what_cannot_be_mined_is_a_sentence(captions: Path, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    asked = ["condition", "mine", str(captions), "--output", str(tmp_path / "mined"), "--workers", "1"]
    for more, sentence in (
        (["--filter", "genecis"], "needs concreteness ratings"),
        (["--filter", "strict"], "choose genecis, soft, none"),
        (["--where", "split=train"], "is a part of a workspace"),
    ):
        ran = CliRunner().invoke(app, [*asked, *more])
        assert isinstance(ran.exception, LikewiseError) and sentence in str(ran.exception)
    table = tmp_path / "table.csv"
    table.write_text("image,caption1\n1.jpg,a dog\n", encoding="utf-8")
    ran = CliRunner().invoke(app, ["condition", "mine", str(table), "--output", str(tmp_path / "other")])
    assert isinstance(ran.exception, LikewiseError) and "`--columns`" in str(ran.exception)


@pytest.mark.parametrize("wrong", [("--columns", "titel"), ("--parser", "no_such_model")])
def test_a_wrong_option_leaves_nothing_that_the_right_one_stumbles_over(
    run: Run, tmp_path: Path, wrong: tuple[str, str]
) -> None:
    said = [(f"{number}.jpg", f"a man on a {thing}") for number, thing in enumerate(["horse", "bike", "boat"] * 4)]
    pl.DataFrame(said, schema=["image", "title"], orient="row").write_csv(tmp_path / "said.csv")
    mine = ("condition", "mine", tmp_path / "said.csv", "--output", tmp_path / "mined", "--workers", 1)
    right = ("--columns", "title", "--parser", "textblob")
    assert run(*mine, *right, *wrong).code == 2
    done = run(*mine, *right, "--n-triplets", 5)
    assert done.code == 0, done.err
