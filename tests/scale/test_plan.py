"""The plan follows from its constants by arithmetic a person can check."""

import json

import pytest

from likewise.cli import main
from likewise.errors import LikewiseError
from likewise.scale.cost_constants import CostConstants, measure_constants, read_constants
from likewise.scale.plan import CatalogSize, DeploymentEstimate, estimate_deployments, parse_count

ROUND = CostConstants(
    machine="a machine with round numbers",
    how="by hand",
    deep_seconds=0.01,
    built_in_seconds=0.02,
    exact_rate=1e9,
    ivf_build_rate=1e9,
    ivf_search_rate=1e9,
    ivf_visited=0.01,
    hnsw_build_seconds=1e-6,
    hnsw_search_seconds=1e-6,
    ray_start_seconds=36.0,
    ray_overhead=1.25,
    catalog_bytes=100.0,
)


def ways(
    size: CatalogSize, memory_gb: float = 8.0, image_seconds: float | None = None
) -> dict[str, DeploymentEstimate]:
    listed = estimate_deployments(
        size,
        ROUND,
        cores=2,
        memory_gb=memory_gb,
        workers=[5],
        cores_per_worker=4,
        price_per_core_hour=0.1,
        image_seconds=image_seconds,
    )
    return {way.name: way for way in listed}


def test_one_machine_and_a_cluster_by_hand() -> None:
    found = ways(CatalogSize(images=1_000_000, dim=100, encoders=3, queries=1800))
    exact, ray = found["local, exact"], found["ray, 5 workers"]
    assert exact.encode_hours == pytest.approx(3e6 * 0.01 / 2 / 3600)
    assert exact.search_hours == pytest.approx(3 * 1800 * 1e6 * 100 / 1e9 / 2 / 3600)  # 540 core seconds
    assert exact.memory_gb == pytest.approx(0.4 + 0.1)
    assert exact.disk_gb == pytest.approx(1.2)
    assert exact.cost == pytest.approx(exact.hours * 2 * 0.1)
    assert ray.cores == 20
    assert ray.hours == pytest.approx(1.25 * exact.hours / 10 + 0.01)
    assert (exact.exact, ray.exact, found["local, ivf"].exact) == (True, True, False)
    assert found["local, ivf"].build_hours == pytest.approx(3 * 1e6 * 2000 * 100 / 1e9 / 2 / 3600)
    assert found["local, ivf"].search_hours == pytest.approx(3 * 1800 * 12_000 * 100 / 1e9 / 2 / 3600)
    assert found["local, hnsw"].memory_gb > found["local, ivf"].memory_gb > exact.memory_gb


def test_what_does_not_fit_is_said_and_a_faster_encoder_changes_only_encoding() -> None:
    large = ways(CatalogSize(images=100_000_000, dim=768, encoders=6), memory_gb=64.0)
    assert not large["local, exact"].fits
    assert large["ray, 5 workers"].fits
    faster = ways(CatalogSize(images=100_000_000, dim=768, encoders=6), image_seconds=0.001)
    assert faster["local, exact"].encode_hours == pytest.approx(large["local, exact"].encode_hours / 10)
    assert faster["local, exact"].search_hours == large["local, exact"].search_hours


def test_counts_are_read_as_people_write_them() -> None:
    assert [parse_count(text) for text in ("52000", "250k", "100M", "1.5m", "1_000", "2B")] == [
        *(52_000, 250_000, 100_000_000),
        *(1_500_000, 1000, 2_000_000_000),
    ]
    for text in ("", "many", "-3", "0", "1.5"):
        with pytest.raises(LikewiseError, match="is not a count"):
            parse_count(text)


def test_the_command_states_where_its_constants_come_from(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["likewise", "plan", "compute", "--images", "100M", "--dim", "768", "--encoders", "6"]
    for more in (["--memory", "1"], ["--memory", "1000"], ["--memory", "1", "--json"]):
        monkeypatch.setattr("sys.argv", words + more)
        monkeypatch.setenv("COLUMNS", "80")
        with pytest.raises(SystemExit) as leaving:
            main()
        assert not leaving.value.code
        printed = capsys.readouterr().out
        assert "ray, 64 workers" in printed
        assert " ".join(read_constants().machine.split()) in " ".join(printed.split())
        said = "nothing fits: ray, 4 workers needs the least memory" in " ".join(printed.split())
        assert said == (more == ["--memory", "1"])
    assert [way["exact"] for way in json.loads(printed)["ways"]] == [True, False, False, True, True, True]
    packaged = read_constants()
    assert packaged.deep_seconds > 0.0
    assert packaged.ray_overhead >= 1.0


def test_this_machine_can_be_measured_quickly() -> None:
    found = measure_constants(n_vectors=1500, dim=8, n_images=4)
    assert found.how.startswith("1,500 clustered random vectors of 8 dimensions")
    assert 0.0 < found.ivf_visited <= 1.0
    assert min(found.exact_rate, found.ivf_search_rate, found.built_in_seconds) > 0.0
