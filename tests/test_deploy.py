"""The Dockerfile without a container engine: every step in a new environment, its command as its user."""

import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
import yaml

from tests.conftest import write_shapes
from tests.databases import new_database

from .web.servers import free_port, wait_until_up

ROOT = Path(__file__).parents[1]
PASSWORD = "a-password-of-the-tests"


def instructions() -> list[tuple[str, str]]:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines if line and line[0] != "#")]


def test_compose_and_dockerfile_agree_and_are_locked_down() -> None:
    told = dict(instructions())
    assert told["USER"] == "10001:10001" and "/health" in told["HEALTHCHECK"]
    site = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    assert site["site"]["read_only"] is True and site["site"]["cap_drop"] == ["ALL"]
    assert site["site"]["tmpfs"] == ["/tmp"] and site["site"]["volumes"] == ["workspace:/data"]
    assert site["database"]["healthcheck"] and site["site"]["depends_on"]["database"]["condition"] == "service_healthy"
    assert json.loads(told["CMD"])[:3] == site["site"]["command"][:3]
    for source in [each for word, rest in instructions() if word == "COPY" for each in rest.split()[:-1]]:
        assert (ROOT / source).exists(), source


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder that stands for the container's root, which other users may read."""
    folder = Path(tempfile.mkdtemp(prefix="likewise-container-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root and setpriv: the container was NOT run"
)
def test_every_step_of_the_dockerfile_and_its_command(root: Path, tmp_path: Path) -> None:
    def inside(text: str) -> str:
        return re.sub(r"(?<![\w.])/(opt/likewise|src|data)\b", rf"{root}/\1", text)

    environment = {"PATH": os.environ["PATH"]}
    for word, rest in instructions():
        if word == "COPY":
            *sources, target = shlex.split(rest)
            for source in sources:
                place = Path(inside(target))
                if (ROOT / source).is_dir():
                    shutil.copytree(ROOT / source, place, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    place.mkdir(parents=True, exist_ok=True)
                    shutil.copy(ROOT / source, place)
        elif word == "RUN":
            subprocess.run(["sh", "-c", inside(rest)], check=True, env={**os.environ, **environment}, cwd="/")
        elif word == "ENV":
            given = dict(part.split("=", 1) for part in shlex.split(rest))
            environment |= {name: inside(value) for name, value in given.items()}
    told = dict(instructions())
    user, _, group = told["USER"].partition(":")
    entry = [inside(part) for part in json.loads(told["ENTRYPOINT"])]
    command = [inside(part) for part in json.loads(told["CMD"])]
    port = free_port()
    command[command.index("8000")] = str(port)
    command[command.index("0.0.0.0")] = "127.0.0.1"  # nobody else may reach it here
    pictures = write_shapes(root / "photos")
    database = new_database("postgresql", tmp_path)
    environment |= {"LIKEWISE_DATABASE": database, "LIKEWISE_OWNER_PASSWORD": PASSWORD, "HOME": "/nonexistent"}
    workspace = inside("/data/workspace")
    # Its user, who may write nowhere but in /data; reading is allowed, since the interpreter may lie in root's home.
    capability = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    as_user = ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", *capability]
    options = {"env": environment, "cwd": "/"}
    for step in (
        ["new", workspace, str(pictures)],
        ["encode", workspace, "--with", "colour,shape", "--workers", "1"],
        ["discover", workspace, "--n-queries", "4", "--k", "3"],
    ):
        subprocess.run([*as_user, *entry, *step], check=True, **options)  # type: ignore[call-overload]
    with (tmp_path / "log").open("wb") as log:
        site = subprocess.Popen([*as_user, *entry, *command], stderr=log, **options)  # type: ignore[call-overload]
        try:
            wait_until_up(site, port)
            check = json.loads(told["HEALTHCHECK"].partition("CMD ")[2])
            check = [inside(part).replace(":8000/", f":{port}/") for part in check]
            subprocess.run([*as_user, *check], check=True, **options)  # type: ignore[call-overload]
            with closing(httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20)) as client:
                assert client.get("/health").json()["status"] == "ok"
                page = client.get("/owner/login").text
                csrf = re.search(r'name="csrf-token" content="([^"]+)"', page)
                assert csrf is not None
                sent = client.post("/owner/login", data={"csrf_token": csrf[1], "password": PASSWORD})
                assert sent.status_code == 303 and client.get("/owner").status_code == 200
        finally:
            site.terminate()
            site.wait(20)
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines() if line.startswith("{")]
    assert {"/health", "/owner/login"} <= {line["route"] for line in lines}
    assert PASSWORD not in (tmp_path / "log").read_text()
