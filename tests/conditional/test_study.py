"""A study: its arms, several seeds with their spread, a page, and a second run that trains nothing again."""

from pathlib import Path

import polars as pl
import pytest

from likewise.catalog import read_catalog
from likewise.conditional import study
from likewise.conditional.report.study import write_study
from likewise.conditional.templates.annotations import catalog_annotations
from likewise.conditional.templates.build import build_templates
from likewise.conditional.towers import TwoTower
from likewise.conditional.training import TrainingSettings
from likewise.conditional.training_triplets import to_training_triplets
from likewise.errors import LikewiseError
from likewise.lineage.halves import select_half
from likewise.workspace import WorkspaceFolder

QUICK = TrainingSettings(steps=4, batch=16, validate_every=4)


def templates(drawn: WorkspaceFolder, half: str) -> pl.DataFrame:
    annotations = catalog_annotations(select_half(read_catalog(drawn), half))
    return build_templates(annotations, tasks=["change_attribute", "focus_attribute"], per_task=80)


def test_a_study_goes_on_where_it_stopped(drawn: WorkspaceFolder, tower: TwoTower, tmp_path: Path) -> None:
    train, test = templates(drawn, "train"), templates(drawn, "test")
    triplets = to_training_triplets(train)
    arms = [
        *study.ablation_arms(triplets, tower.spec, QUICK, other=triplets[:40])[2:],
        *study.scaling_arms(triplets, tower.spec, QUICK, points=2),
        *study.backbone_arms(triplets, [tower.spec], QUICK),
    ]
    assert [arm.triplets.height for arm in arms if arm.part == study.SCALING] == [160, 40]
    found = study.run_study(drawn, arms, train, test, tmp_path, seeds=2)
    told = study.summarize_study(found)
    assert told.filter(part="baseline")["arm"].to_list() == ["image only", "text only", "image + text"]
    trained = told.filter(pl.col("part") != "baseline")
    assert trained["n_seeds"].to_list() == [2] * len(arms)
    assert trained["sd"].null_count() == 0
    assert set(trained["arm"]) >= {"frozen text side", "both sides frozen", "other source", "filtered, 40 triplets"}
    written = sorted((tmp_path / "runs").glob("*/combiner.safetensors"))
    times = [path.stat().st_mtime_ns for path in written]
    again = study.run_study(drawn, arms, train, test, tmp_path, seeds=2)
    assert again.equals(found)
    assert [path.stat().st_mtime_ns for path in written] == times
    other = next(path for path in written if "both" in path.parent.name)
    content = other.read_bytes()
    other.write_bytes(written[0].read_bytes())  # stopped after another training, before it was measured
    assert study.run_study(drawn, arms, train, test, tmp_path, seeds=2).equals(found)
    assert other.read_bytes() == content
    one = [arm for arm in arms if arm.name == "both sides frozen"]
    fewer = study.run_study(drawn, one, train, test.head(60), tmp_path, seeds=1)  # other questions
    asked = fewer.filter(arm="both sides frozen", task="average")["n"].to_list()
    assert asked == [60]
    with pytest.raises(LikewiseError, match="ablation: both sides frozen learned from 40 of its answers"):
        study.run_study(drawn, one, None, train.head(40), tmp_path, seeds=1)
    page = write_study(tmp_path, found, told).read_text(encoding="utf-8")
    assert pl.read_parquet(tmp_path / "study.parquet").equals(found)
    assert page.count("<figure>") == 3
    assert "both sides frozen" in page


def test_the_full_arms_are_the_papers() -> None:
    triplets = pl.DataFrame({"reference": ["a"], "condition": ["b"], "target": ["c"]})
    arms = {
        arm.name: arm
        for arm in study.ablation_arms(
            to_training_triplets(triplets), "x", QUICK, unfiltered=to_training_triplets(triplets)
        )
    }
    assert arms["full"].settings.tune == ("image", "text")
    assert arms["frozen image side"].settings.tune == ("text",)
    assert arms["frozen text side"].settings.tune == ("image",)
    assert arms["both sides frozen"].settings.tune == ()
    assert "no concreteness filter" in arms
