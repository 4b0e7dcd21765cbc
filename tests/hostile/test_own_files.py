"""Files of a workspace that somebody changed by hand, or that a disk damaged: one sentence, whatever the command."""

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run, run
from tests.evaluation.labelled_workspace import make_labelled

__all__ = ["run"]

CONTENTS = {
    "null": "null",
    "a list": "[1]",
    "an empty object": "{}",
    "an object of others": '{"settings": null, "consensus": [], "format": 1}',
    "zeros": "\0" * 40,
    "nothing": "",
    "a folder": None,
}
FILES = ("workspace.json", "pool.json", "labels.json", "pool.parquet", "vectors/shape/meta.json")


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_labelled(tmp_path_factory.mktemp("own")).path


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("content", CONTENTS)
def test_every_command_says_in_one_sentence_what_is_damaged(
    labelled: Path, tmp_path: Path, run: Run, file: str, content: str
) -> None:
    workspace, text = Path(shutil.copytree(labelled, tmp_path / "ws")), CONTENTS[content]
    (workspace / file).unlink()
    if text is None:
        (workspace / file).mkdir()
    else:
        (workspace / file).write_text(text)
    commands = (
        ("status", workspace),
        ("evaluate", workspace),
        ("label", "status", workspace),
        ("label", "sheet", workspace, tmp_path / "sheet.csv", "--expert", "zoe"),
        ("plan", "labels", workspace, "--with", "colour", "--n-queries", 3),
    )
    ran = [run(*words) for words in commands]
    assert any(each.code == 2 for each in ran)
    for each in ran:
        assert each.code in (0, 2), each.err
        if each.code == 2:
            assert each.err.startswith("likewise: ") and each.err.count("\n") == 1, each.err
