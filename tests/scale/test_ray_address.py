"""A cluster of two nodes that was started apart (`ray start`): commands find it by its address and leave it running."""

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from likewise.encoders.running.encode import encode_catalog
from likewise.workspace import WorkspaceFolder
from tests.encoders.helpers import files, make_workspace
from tests.scale.namespace import run_alone
from tests.scale.test_ray import command

ADDRESS = "127.0.0.1:6399"
ENCODERS = ("blend", "python:tests.scale.deadly:corners", "efficientnet-lite0?size=32")
DISCOVER = ("--with", "blend,tests.scale.deadly.corners", "--n-queries", "20", "--k", "5", "--random", "30")
AGENTS = (
    "--dashboard-agent-listen-port",
    "--dashboard-agent-grpc-port",
    "--runtime-env-agent-port",
    "--metrics-export-port",
)
ON_RAY = ("--engine", "ray", "--address", ADDRESS)


@contextlib.contextmanager
def two_nodes() -> Iterator[None]:
    """A head and one more node, of one core each, as two machines would have; gone at the end."""
    ray = str(Path(sys.executable).with_name("ray"))
    here, port = ADDRESS.split(":")
    common = ["--node-ip-address", here, "--num-cpus", "1", "--object-store-memory", "150000000"]
    folder = tempfile.mkdtemp(prefix="lw-", dir="/tmp")  # short: the names of Ray's sockets are limited
    head = ["--head", "--port", port, "--include-dashboard", "false", "--temp-dir", folder]
    try:
        for number, words in enumerate((head, ["--address", ADDRESS])):
            # ports that Ray chooses itself must be known within 15 seconds, or the node gives up
            ports = [word for place, name in enumerate(AGENTS) for word in (name, str(7000 + 10 * number + place))]
            start = [ray, "start", *words, *common, *ports, "--disable-usage-stats"]
            ran = subprocess.run(start, capture_output=True, text=True, check=False)
            assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
        yield
    finally:
        subprocess.run([ray, "stop", "--force"], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def where(_: int) -> str:
    """The node that this piece of work is done on; long enough for every core to get one."""
    import ray

    time.sleep(3)
    return str(ray.get_runtime_context().get_node_id())


def said_to_a_stranger(workspace: Path) -> tuple[int, str]:
    """The command with another token than the cluster's."""
    ran = subprocess.run(
        [sys.executable, "-m", "likewise", "encode", str(workspace), *ON_RAY],
        env=os.environ | {"RAY_AUTH_TOKEN": secrets.token_hex(32)},
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stderr


def on_two_nodes(folder: Path) -> dict[str, Any]:
    """Runs inside the namespace."""
    from likewise.scale.tasks import run_tasks

    os.environ.update(LIKEWISE_CACHE=str(folder / "cache"), OMP_NUM_THREADS="1")
    os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
    workspace = folder / "workspace"
    with two_nodes():
        return {
            "stranger": said_to_a_stranger(workspace),
            "encode": command("encode", workspace, "--with", ",".join(ENCODERS), *ON_RAY, "--json"),
            "discover": command("discover", workspace, *DISCOVER, *ON_RAY, "--json"),
            "nodes": run_tasks(where, range(4), ADDRESS),  # after two commands the cluster is still there
        }


@pytest.mark.slow
def test_commands_on_a_cluster_at_an_address_write_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_workspace(tmp_path, 150)
    (tmp_path / "pictures" / "0007.png").write_bytes(b"no picture")
    answers = run_alone("tests.scale.test_ray_address:on_two_nodes", tmp_path)
    code, said = answers["stranger"]
    assert (code, "Traceback" in said) == (2, False)
    assert "set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN where it wants a token" in " ".join(said.split())
    assert len(set(answers["nodes"])) == 2
    assert [each["left_out_images"] for each in answers["encode"]] == [["0007.png"]] * 3
    local = WorkspaceFolder(tmp_path / "local")
    local.path.mkdir()
    for name in ("workspace.json", "catalog.parquet"):
        shutil.copy(tmp_path / "workspace" / name, local.path / name)
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "cache"))  # with the same exported network
    encode_catalog(local, ENCODERS, workers=1)
    for each in answers["encode"]:
        name = each["encoder"]
        assert files(tmp_path / "workspace" / "vectors" / name) == files(local.vectors_folder / name)
    assert command("discover", local.path, *DISCOVER, "--json") == answers["discover"]
    for name in ("pool.parquet", "pool.json"):
        assert (tmp_path / "workspace" / name).read_bytes() == (local.path / name).read_bytes()
