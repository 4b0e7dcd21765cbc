"""Code that a file names is not run by opening the file."""

import secrets
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from likewise.encoders import encode_catalog, get_encoder
from likewise.encoders.families.run_files import write_run
from likewise.encoders.running.pictures import encode_pictures
from likewise.errors import LikewiseError
from likewise.lineage import NOTHING_LEARNED
from likewise.workspace import WorkspaceFolder, read_json, write_json

from .helpers import make_workspace, random_picture

EVIL = """
from pathlib import Path
Path(__file__).with_name("ran").touch()
def encode(pictures):
    import numpy as np
    return np.ones((len(pictures), 4), np.float32)
"""


@dataclass(frozen=True)
class EvilModule:
    """A module that leaves a file when it is imported."""

    name: str
    ran: Path

    @property
    def spec(self) -> str:
        return f"python:{self.name}:encode"


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EvilModule:
    name = f"evil_{secrets.token_hex(4)}"
    (tmp_path / f"{name}.py").write_text(EVIL)
    monkeypatch.syspath_prepend(tmp_path)
    return EvilModule(name, tmp_path / "ran")


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspaceFolder:
    return make_workspace(tmp_path, 4)


def test_a_run_that_names_code(workspace: WorkspaceFolder, evil: EvilModule, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = workspace.path / "runs" / "given"
    layer = (np.eye(4, dtype=np.float32), np.zeros(4, np.float32))
    write_run(folder, "adapter", ["colour"], [layer], dim=4, lineage=NOTHING_LEARNED)
    path = folder / "encoder.json"
    write_json(read_json(path) | {"bases": [evil.spec]}, path)
    picture = random_picture(1)
    with pytest.raises(LikewiseError, match=f"encoder.json names .*LIKEWISE_TRUST_CODE={evil.name}"):
        get_encoder(f"run:{folder}").prepare(picture)
    assert not evil.ran.exists()
    monkeypatch.setenv("LIKEWISE_TRUST_CODE", f"other, {evil.name}")
    get_encoder(f"run:{folder}").prepare(picture)
    assert evil.ran.exists()


def test_vectors_that_name_code(workspace: WorkspaceFolder, evil: EvilModule) -> None:
    encode_catalog(workspace, ["colour"], workers=1)
    (workspace.vectors_folder / "colour").rename(workspace.vectors_folder / "theirs")
    path = workspace.vectors_folder / "theirs" / "meta.json"
    write_json(read_json(path) | {"encoder": "theirs", "spec": evil.spec}, path)
    with pytest.raises(LikewiseError, match=f"meta.json names .*{evil.name}"):
        encode_pictures(workspace, "theirs", [random_picture(1)])
    assert not evil.ran.exists()


def test_what_a_person_names_is_run(evil: EvilModule) -> None:
    get_encoder(evil.spec).prepare(random_picture(1))
    assert evil.ran.exists()
