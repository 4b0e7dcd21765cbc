"""Every promise about a hostile network has a test that fails without its defence: each is switched off once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.defences import DEFENCES, Defence

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("defence", DEFENCES, ids=lambda defence: defence.name)
def test_the_defence_is_there(defence: Defence) -> None:
    """What the slow test switches off is written as it expects, exactly once."""
    assert (ROOT / "src" / "likewise" / defence.file).read_text().count(defence.there) == 1


@pytest.mark.slow
@pytest.mark.parametrize("defence", DEFENCES, ids=lambda defence: defence.name)
def test_its_test_fails_without_it(defence: Defence, tmp_path: Path) -> None:
    source = Path(shutil.copytree(ROOT / "src", tmp_path / "src"))
    shutil.copytree(ROOT / "tests", tmp_path / "tests")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    file = source / "likewise" / defence.file
    file.write_text(file.read_text().replace(defence.there, defence.gone))
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", defence.kept_by]
    environment = os.environ | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, f"{defence.kept_by} passes without this defence\n{done.stdout[-2000:]}"
    assert " error" not in done.stdout.splitlines()[-1]
