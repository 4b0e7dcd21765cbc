"""Files of a workspace that somebody changed by hand, or that a disk damaged: one sentence, whatever the command."""

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run, run
from tests.evaluation.labelled_workspace import make_labelled

__all__ = ["run"]

OTHERS = ("null", "[1]", "{}", '{"settings": null, "consensus": [], "format": 1}', "\0" * 40, "")
COMMANDS = (("status",), ("evaluate",), ("label", "status"), ("label", "sheet", "SHEET"), ("plan", "labels"))
FILES = ("workspace.json", "pool.json", "labels.json", "pool.parquet", "vectors/shape/meta.json")


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_labelled(tmp_path_factory.mktemp("own")).path


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("content", [*OTHERS, None], ids=["null", "list", "empty", "parts", "zeros", "nothing", "folder"])
def test_every_command_says_in_one_sentence_what_is_damaged(
    labelled: Path, tmp_path: Path, run: Run, file: str, content: str | None
) -> None:
    workspace = Path(shutil.copytree(labelled, tmp_path / "ws"))
    (workspace / file).unlink()
    if content is None:
        (workspace / file).mkdir()
    else:
        (workspace / file).write_text(content)
    refused = 0
    for words in COMMANDS:
        named = [str(tmp_path / "sheet.csv") if word == "SHEET" else word for word in words]
        place = named.index("labels") + 1 if "labels" in named else len(words) - ("SHEET" in words)
        extra = ["--expert", "zoe"] if "SHEET" in words else ["--with", "colour", "--n-queries", 3] if "plan" in words else []
        ran = run(*named[:place], workspace, *named[place:], *extra)
        assert ran.code in (0, 2), ran.err
        if ran.code == 2:
            refused += 1
            assert ran.err.startswith("likewise: ") and ran.err.count("\n") == 1, ran.err
    assert refused or file == "pool.parquet"
