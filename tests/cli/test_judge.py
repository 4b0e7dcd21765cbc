"""A machine judges pairs: from drawn pairs over votes and its answers to the number in the report."""

import base64
import io
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from likewise.encoders import get_encoder
from likewise.encoders.families.run_files import write_run
from likewise.lineage.record import NOTHING_LEARNED
from likewise.workspace import WorkspaceFolder
from tests.evaluation.labelled_workspace import make_wardrobe

from .conftest import Run

KEY = "a-key-that-nobody-may-see"


@dataclass
class ChatServer:
    """Speaks the chat protocol: says yes where two pictures have nearly the same mean colour; keeps what it is sent."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[str | None] = field(default_factory=list)
    fail_first: int = 0
    fail_after: int | None = None

    def reply(self, body: dict[str, Any]) -> str:
        pictures = [part["image_url"]["url"] for part in body["messages"][1]["content"] if part["type"] == "image_url"]
        means = []
        for url in pictures:
            head, _, data = url.partition(",")
            assert head == "data:image/jpeg;base64"
            means.append(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB").resize((1, 1)).getpixel((0, 0)))
        apart = sum(abs(a - b) for a, b in zip(*means, strict=True))
        return "Yes." if apart < 40 else "no" if apart < 400 else "I would rather not say"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    state = ChatServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append(body)
            state.headers.append(self.headers["Authorization"])
            busy = len(state.requests) <= state.fail_first
            gone = state.fail_after is not None and len(state.requests) > state.fail_after
            self.send_response(503 if busy else 401 if gone else 200)
            self.end_headers()
            if not busy and not gone:
                usage = {"prompt_tokens": 500, "completion_tokens": 2}
                message = {"choices": [{"message": {"content": state.reply(body)}}], "usage": usage}
                self.wfile.write(json.dumps(message).encode())

        def log_message(self, *_: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    state.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    monkeypatch.setenv("LIKEWISE_JUDGE_KEY", KEY)
    yield state
    http.shutdown()
    http.server_close()


@pytest.fixture(scope="module")
def wardrobe(tmp_path_factory: pytest.TempPathFactory) -> WorkspaceFolder:
    """25 queries of 40 garments, 200 labels."""
    return make_wardrobe(tmp_path_factory.mktemp("judge"), 40, 25, 200)


def test_from_drawn_pairs_over_votes_and_a_judge_to_the_report(
    wardrobe: WorkspaceFolder, server: ChatServer, run: Run
) -> None:
    path = wardrobe.path
    alone = json.loads(run("evaluate", path, "--json").out)["summary"]["catalog"]
    assert alone["judge"] is None
    labels, votes = wardrobe.labels_file.read_bytes(), wardrobe.votes_file.read_bytes()
    guidelines = path / "guidelines.txt"
    guidelines.write_text("Only colour counts.")
    assert run("label", "settings", path, "--guidelines", guidelines).code == 0
    server.fail_first = 1  # busy at first: asked again
    asked = ("label", "judge", path, "--judge", f"openai:{server.url}#some-vlm", "--pairs", 300, "--price", "1,10")
    server.fail_after = 150
    broken = run(*asked)
    assert broken.code == 2
    assert "refused a request for some-vlm: status 401 (the key comes from LIKEWISE_JUDGE_KEY)" in broken.err
    assert KEY not in broken.err + broken.out
    kept = pl.read_parquet(path / "judge/answers.parquet")
    assert 100 < len(kept) < 150
    assert "unanswered" in "".join(json.loads(run("evaluate", path, "--json").out)["summary"]["lineage"]["notes"])
    server.fail_after = None
    n_before = len(server.requests)
    done = run(*asked)  # goes on where it stopped
    assert done.code == 0, done.err
    pairs = pl.read_parquet(path / "judge/pairs.parquet")
    assert len(server.requests) - n_before == len(pairs) - len(kept)
    assert "some-vlm, a machine" in done.out and "tokens in" in done.out
    assert server.requests[-1]["messages"][0]["content"] == "Only colour counts."
    assert set(server.headers) == {f"Bearer {KEY}"}
    n_requests = len(server.requests)
    assert json.loads(run(*asked, "--json").out)["n_new"] == 0  # every answer is cached
    assert len(server.requests) == n_requests
    assert all(KEY.encode() not in file.read_bytes() for file in (path / "judge").iterdir())
    assert wardrobe.labels_file.read_bytes() == labels  # no vote, no label
    assert len(votes) > 0 and json.loads(run("label", "status", path, "--json").out)["n_votes"] == 3 * 200

    printed = run("evaluate", path)
    assert "A machine, some-vlm, answered" in printed.out
    judge = json.loads(run("evaluate", path, "--json").out)["summary"]["catalog"]["judge"]
    assert (judge["name"], judge["n_labelled"]) == ("some-vlm", 200)
    assert judge["n_asked"] == len(pairs) and judge["labels_saved"] >= 0
    assert run("report", path).code == 0
    page = wardrobe.report_file.read_text()
    assert "some-vlm" in page and "its answers are no labels" in page


def test_a_function_of_two_pictures_judges(
    wardrobe: WorkspaceFolder, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_judge.py").write_text(
        "def alike(query, candidate):\n    return -abs(sum(query.resize((1, 1)).getpixel((0, 0)))"
        " - sum(candidate.resize((1, 1)).getpixel((0, 0))))\n\n\ndef broken(query, candidate):\n    return 'perhaps'\n"
    )
    done = run("label", "judge", wardrobe.path, "--judge", "python:my_judge:alike", "--pairs", 300, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["n_new"] > 300
    judge = json.loads(run("evaluate", wardrobe.path, "--json").out)["summary"]["catalog"]["judge"]
    assert judge["name"] == "python:my_judge:alike" and 0.0 <= judge["roc_auc"] <= 1.0
    bad = run("label", "judge", wardrobe.path, "--judge", "python:my_judge:broken")
    assert bad.code == 2 and "a judge returns a finite number" in bad.err


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("colour", "'colour' is no judge: use run:NAME, python:MODULE:FUNCTION or openai:URL#MODEL"),
        ("openai:localhost#x", "must be openai:URL#MODEL"),
        ("openai:http://localhost:1/v1", "must be openai:URL#MODEL"),
        ("openai:http://me:secret@localhost:1/v1#x", "put it into LIKEWISE_JUDGE_KEY"),
        ("python:no_such_module:f", "there is no module 'no_such_module'"),
    ],
)
def test_what_is_no_judge_is_one_sentence(wardrobe: WorkspaceFolder, run: Run, spec: str, sentence: str) -> None:
    ran = run("label", "judge", wardrobe.path, "--judge", spec)
    assert ran.code == 2
    assert sentence in ran.err and "secret" not in ran.err


def test_a_judge_that_descends_from_a_contestant_is_refused(wardrobe: WorkspaceFolder, run: Run) -> None:
    def make(name: str, base: str) -> None:
        matrix = np.eye(get_encoder(base).dim, 8, dtype=np.float32)
        layers = [(matrix, np.zeros(8, dtype=np.float32))]
        write_run(wardrobe.path / "runs" / name, "adapter", [base], layers, dim=8, lineage=NOTHING_LEARNED)

    make("own", "colour")
    refused = run("label", "judge", wardrobe.path, "--judge", "run:own")
    assert refused.code == 2
    assert "run:own is made from colour, which is measured here" in refused.err
    make("other", "texture")
    allowed = run("label", "judge", wardrobe.path, "--judge", "run:other", "--pairs", 300)
    assert allowed.code == 0, allowed.err
    used = json.loads(run("evaluate", wardrobe.path, "--json").out)["summary"]["catalog"]["judge"]
    assert used["name"] == "run:other"
    assert run("encode", wardrobe.path, "--with", "texture", "--workers", 1).code == 0  # its base becomes a contestant
    facts = json.loads(run("evaluate", wardrobe.path, "--json").out)["summary"]
    assert facts["catalog"]["judge"] is None
    assert any("the judge run:other is not used: it is made from texture" in note for note in facts["lineage"]["notes"])
