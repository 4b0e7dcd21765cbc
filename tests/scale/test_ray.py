"""On Ray everything comes out as on one machine, also when a worker is killed in the middle."""

import contextlib
import io
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from likewise.encoders.running.encode import encode_catalog
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder
from tests.encoders.helpers import files, make_workspace
from tests.scale import deadly
from tests.scale.namespace import run_alone

Answers = dict[str, Any]

N_IMAGES = 150  # five chunks, the last one shorter
ENCODERS = ("blend", "python:tests.scale.deadly:corners_or_die", "efficientnet-lite0?size=32")
DISCOVER = (
    "--with",
    "blend,tests.scale.deadly.corners_or_die",
    "--n-queries",
    "20",
    "--k",
    "5",
    "--random",
    "30",
)
ON_RAY = ("--engine", "ray", "--json")


def fails(number: int) -> int:
    raise LikewiseError(f"number {number} is not liked.")


def on_the_cluster(folder: Path) -> Answers:
    """Runs inside the namespace: everything that needs a cluster, on one."""
    import likewise.scale.search
    from likewise.scale.cluster import cluster

    os.environ[deadly.FOLDER_OF_MARKERS] = str(folder / "markers")
    os.environ["LIKEWISE_CACHE"] = str(folder / "cache")
    likewise.scale.search.search_part = deadly.search_part_or_die
    with cluster(cores=2):
        return {
            "tasks": tasks(),
            "mistake": mistake(),
            "encode": command(
                "encode", folder / "workspace", "--with", ",".join(ENCODERS), "--engine", "ray", "--json"
            ),
            "discover": command("discover", folder / "workspace", *DISCOVER, "--engine", "ray", "--json"),
        }


def tasks() -> Answers:
    from likewise.scale.tasks import run_tasks

    steps: list[tuple[int, int]] = []
    found = run_tasks(deadly.square_or_die, range(7), on_progress=lambda _, done, total: steps.append((done, total)))
    return {"found": found, "last": steps[-1]}


def mistake() -> str:
    from likewise.scale.tasks import run_tasks

    try:
        run_tasks(fails, [8])
    except LikewiseError as error:
        return str(error)
    return "nothing was raised"


def command(*words: object) -> Any:
    """What a command printed, as JSON."""
    from likewise.cli import main

    sys.argv = ["likewise", *map(str, words)]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            main()
        except SystemExit as leaving:
            assert not leaving.code, (words, leaving.code)
    return json.loads(printed.getvalue())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ray")
    make_workspace(folder, N_IMAGES)
    (folder / "pictures" / "0007.png").write_bytes(b"no picture")
    (folder / "markers").mkdir()
    return folder


@pytest.fixture(scope="module")
def answers(folder: Path) -> Answers:
    """What happened on the cluster; the workspace it left is compared with one made here."""
    found: Answers = run_alone("tests.scale.test_ray:on_the_cluster", folder)
    return found


@pytest.fixture(scope="module")
def local(folder: Path, answers: Answers) -> WorkspaceFolder:
    """The same workspace encoded on this machine alone, with the same cache of exported networks."""
    target = WorkspaceFolder(folder / "local")
    target.path.mkdir()
    for name in ("workspace.json", "catalog.parquet"):
        shutil.copy(folder / "workspace" / name, target.path / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIKEWISE_CACHE", str(folder / "cache"))
        encode_catalog(target, ENCODERS, workers=1)
    return target


def test_tasks_keep_their_order_and_survive_a_killed_worker(answers: Answers, folder: Path) -> None:
    assert answers["tasks"] == {"found": [n * n for n in range(7)], "last": [7, 7]}
    assert (folder / "markers" / "task").exists()


def test_a_mistake_found_by_a_worker_is_told_in_its_own_sentence(answers: Answers) -> None:
    assert answers["mistake"] == "number 8 is not liked."


def test_an_address_where_nobody_listens_is_answered_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from likewise.cli import main

    words = ["encode", str(folder / "workspace"), "--engine", "ray", "--address", "127.0.0.1:1"]
    monkeypatch.setattr("sys.argv", ["likewise", *words])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "no Ray cluster answers at 127.0.0.1:1 (nothing listens there): start one with `ray start --head`" in said


def test_encode_writes_the_same_bytes_though_a_worker_was_killed(
    answers: Answers, folder: Path, local: WorkspaceFolder
) -> None:
    assert (folder / "markers" / "encoder").exists()
    names = [each["encoder"] for each in answers["encode"]]
    assert [each["left_out_images"] for each in answers["encode"]] == [["0007.png"]] * 3
    for name in names:
        assert files(folder / "workspace" / "vectors" / name) == files(local.vectors_folder / name)


def test_discover_writes_the_same_pool_though_a_worker_was_killed(
    answers: Answers, folder: Path, local: WorkspaceFolder
) -> None:
    assert (folder / "markers" / "search").exists()
    assert command("discover", local.path, *DISCOVER, "--json") == answers["discover"]
    for name in ("pool.parquet", "pool.json"):
        assert (folder / "workspace" / name).read_bytes() == (local.path / name).read_bytes()
