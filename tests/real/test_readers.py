"""Readers on real files: the published numbers of rows, pairs and questions come out."""

import polars as pl

from likewise.catalog.readers import Reading, read, read_tables
from tests.real.places import real_data


def complete(reading: Reading, n_images: int) -> None:
    coverage = reading.coverage
    assert (coverage.images, coverage.found, coverage.missing, coverage.malformed) == (n_images, n_images, (), ())


def test_emoji() -> None:
    reading = read(real_data("emoji") / "catalog.csv")
    complete(reading, 6396)
    assert reading.rows["item"].n_unique() == 1599
    assert set(reading.rows.group_by("item").len()["len"]) == {4}  # each drawn by four artists


def test_clothing() -> None:
    reading = read(real_data("clothing") / "catalog.csv")
    complete(reading, 5398)
    assert reading.rows["category"].n_unique() == 20


def test_materials_and_what_people_said_of_them() -> None:
    reading = read(real_data("materials"), "triplets")
    complete(reading, 200)
    triplets = reading.tables["triplets"]
    assert len(triplets) == 25_801
    assert set(triplets["names"]) == {"item"}
    assert (triplets["votes_chosen"] >= triplets["votes_other"]).all()  # `close` is what the crowd chose
    named = pl.concat([triplets["anchor"], triplets["close"], triplets["far"]]).unique()
    assert set(named) <= set(reading.rows["item"])


def test_genecis_object_templates() -> None:
    reading = read(real_data("genecis"), "genecis")
    templates = reading.tables["templates"]
    assert dict(templates.group_by("task").len().rows()) == {"change_object": 1960, "focus_object": 1960}
    assert set(templates["gallery"].list.len()) == {14}
    assert reading.tables["candidates"]["role"].value_counts().sort("role").rows() == [
        ("distractor", 3920 * 14),
        ("reference", 3920),
        ("target", 3920),
    ]
    assert reading.coverage.remarks == ("change_object.json: the target stands in the gallery again in template 19",)
    assert reading.coverage.found == 0
    assert reading.coverage.missing[0].startswith("val2017/0")


def test_cirr_validation() -> None:
    reading = read(real_data("cirr"), "cirr")
    templates = reading.tables["templates"]
    assert len(templates) == 4181
    assert len(reading.rows) == 2297
    assert reading.coverage.remarks == ()  # every reference and target is in the split
    pictures = set(reading.rows["image"])
    assert set(templates["reference"]) | set(templates["target"]) <= pictures
    assert set(templates["members"].list.len()) == {6}
    inside = templates.select(pl.col("members").list.contains(pl.col("target"))).to_series()
    assert inside.all()
    assert templates["template"].is_unique().all()


def test_polyvore_outfits_validation() -> None:
    reading = read(real_data("polyvore"), "polyvore_outfits")
    outfits, lines = reading.tables["outfits"], reading.tables["compatibility"]
    assert outfits["outfit"].n_unique() == 5000
    assert len(lines) == 10_000
    assert dict(lines.group_by("label").len().rows()) == {0: 5000, 1: 5000}
    assert not any("belong to no outfit" in remark for remark in reading.coverage.remarks)
    real = lines.filter(label=1).head(1).row(0, named=True)["items"]
    first = outfits.filter(outfit=outfits["outfit"][0])["item"].to_list()
    assert real == first  # a compatible line is an outfit of the list
    assert reading.coverage.found == 0


def test_conceptual_captions() -> None:
    captions = read_tables(real_data("captions"), "cc3m")["captions"]
    assert len(captions) > 15_000
    assert captions["url"].str.starts_with("http").all()
    assert (captions["caption"].str.len_chars() > 0).all()


def test_labelled_pairs_of_vsd_with_ranks_and_similarities() -> None:
    reading = read(real_data("vsd_examples"), "vsd")
    labels = reading.tables["labels"]
    assert len(labels) == 80
    assert dict(labels.group_by("label").len().rows()) == {0: 40, 1: 40}
    for model in ("clip", "beit", "argus", "dino"):
        assert labels[f"rank_{model}"].null_count() == 0
        assert labels[f"rank_{model}"].min() == 0  # zero-based
        assert labels[f"sim_{model}"].is_between(-1, 1).all()
    false_positives = labels.filter(pl.col("source").str.ends_with("false_pos"))
    assert set(false_positives["label"]) == {0}
    wild = reading.rows.filter(pl.col("image").str.contains("comsumer"))
    assert wild["is_query"].all()
