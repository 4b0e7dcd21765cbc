"""Catalogs that are no pictures: sounds and texts with vectors brought along, from the first command to numbers."""

import json
import wave
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from likewise.catalog.file_cards import draw_card
from likewise.labeling import open_votes
from likewise.labeling.store.experts import invite_expert
from likewise.web.app import create_app
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder

from .conftest import Run

BASE = "http://127.0.0.1:8000"
RATE, PITCHES, TAKES = 8000, (220, 330, 440, 660), 5
SUBJECTS = {
    "cats": "the cat sleeps and the cat purrs while a kitten plays",
    "ships": "the ship sails the sea and the harbour waits for the ship",
    "bread": "knead the dough, let the bread rise, bake the bread",
    "rain": "rain falls, clouds gather, the storm brings more rain",
}


def write_sounds(folder: Path) -> list[str]:
    """Tones of four pitches, five takes each; a folder is a pitch."""
    rng = np.random.default_rng(0)
    for pitch in PITCHES:
        for take in range(TAKES):
            time = np.arange(RATE // 4) / RATE
            tone = np.sin(2 * np.pi * pitch * 2 ** rng.normal(0, 0.01) * time) + 0.2 * rng.normal(size=len(time))
            file = folder / f"{pitch} Hz" / f"take {take}.wav"
            file.parent.mkdir(parents=True, exist_ok=True)
            with wave.open(str(file), "wb") as sound:
                sound.setparams((1, 2, RATE, len(time), "NONE", ""))
                sound.writeframes((tone / np.abs(tone).max() * 32000).astype("<i2").tobytes())
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.wav"))


def spectrum(path: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """How much of the sound is at which pitch: what an audio model would bring along."""
    with wave.open(str(path)) as sound:
        samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2").astype(np.float64)
    return np.asarray(np.abs(np.fft.rfft(samples))[:256], np.float32)


def write_texts(folder: Path) -> tuple[Path, list[str]]:
    """Texts on four subjects, and a table with titles."""
    rng, rows = np.random.default_rng(1), []
    folder.mkdir()
    for subject, words in SUBJECTS.items():
        for number in range(5):
            kept = [word for word in words.split() if rng.random() < 0.8]
            (folder / f"{subject}{number}.txt").write_text(" ".join(kept))
            rows.append({"image": f"{subject}{number}.txt", "category": subject, "title": f"{subject}, part {number}"})
    pl.DataFrame(rows).write_csv(folder / "texts.csv")
    return folder / "texts.csv", sorted(row["image"] for row in rows)


def bring_vectors(run: Run, workspace: Path, name: str, keys: list[str], rows: object) -> None:
    np.savez(workspace / f"{name}.npz", images=np.array(keys), vectors=np.asarray(rows, np.float32))
    ran = run("encode", workspace, "--import", workspace / f"{name}.npz", "--name", name)
    assert ran.code == 0, ran.err


def walk(run: Run, workspace: Path, good: str) -> None:
    """Pool, votes by category, numbers and the report."""
    ran = run("discover", workspace, "--k", 3, "--n-queries", 12, "--random", 10)
    assert ran.code == 0, ran.err
    category = dict(pl.read_parquet(workspace / "catalog.parquet").select("image", "category").iter_rows())
    pairs = pl.read_parquet(workspace / "pool.parquet").select("query", "candidate").unique().rows()
    votes = [
        (q, c, e, "similar" if category[q] == category[c] else "not similar") for q, c in pairs for e in ("a", "b")
    ]
    pl.DataFrame(votes, schema=["query", "candidate", "expert", "answer"], orient="row").write_csv(
        workspace / "votes.csv"
    )
    assert run("label", "import", workspace, workspace / "votes.csv").code == 0
    told = json.loads(run("evaluate", workspace, "--json").out)["results"]
    main = {row["encoder"]: row["value"] for row in told if row["measure"] == 'ROC_AUC(negatives="gallery")'}
    assert main[good] > 0.85 > main["noise"] and max(main, key=lambda name: main[name]) == good
    assert run("report", workspace).code == 0
    page = (workspace / "report" / "index.html").read_text(encoding="utf-8")
    assert "data:image/jpeg" in page and ", picture missing" not in page


@pytest.fixture
def no_page_left_open() -> Iterator[list[TestClient]]:
    opened: list[TestClient] = []
    yield opened
    for client in opened:
        client.close()


def labelling_page(workspace: Path, opened: list[TestClient]) -> tuple[TestClient, str, dict[str, object]]:
    """The page of a new expert, and the first pair that it asks for."""
    target = WorkspaceFolder(workspace)
    engine = open_votes(target)
    invitation = invite_expert(engine, "Anna")
    engine.dispose()
    client = TestClient(
        create_app(SiteSettings(target, None, owner_key="only-for-the-tests-0123456789")), base_url=BASE
    )
    client.__enter__()
    opened.append(client)
    assert client.get(f"/i/{invitation}", headers={"Accept": "text/html"}).status_code == 200
    page = client.get("/work").text
    return client, page, client.get("/api/next?count=1").json()["pairs"][0]


def test_a_catalog_of_sounds(run: Run, tmp_path: Path, no_page_left_open: list[TestClient]) -> None:
    keys, workspace = write_sounds(tmp_path / "sounds"), tmp_path / "tones"
    ran = run("new", workspace, tmp_path / "sounds", "--reader", "files")
    assert ran.code == 0, ran.err
    assert "20 images of 20 items in 4 categories, 0 left out" in " ".join(ran.out.split())
    refused = run("encode", workspace, "--with", "colour")
    assert refused.code == 2 and "bring vectors along" in refused.err
    assert run("new", tmp_path / "pictures", tmp_path / "sounds").code == 2  # other readers still want pictures
    bring_vectors(run, workspace, "spectrum", keys, [spectrum(tmp_path / "sounds" / key) for key in keys])
    bring_vectors(run, workspace, "noise", keys, np.random.default_rng(2).normal(size=(len(keys), 8)))
    walk(run, workspace, "spectrum")
    client, page, pair = labelling_page(workspace, no_page_left_open)
    assert (
        page.count("<audio controls") == 2
        and "sound alike?" in page
        and "media-src 'self'" in client.get("/work").headers["content-security-policy"]
    )
    query = pair["query"]
    assert isinstance(query, dict)
    sound, card = client.get(query["full"]), client.get(query["thumb"])
    assert sound.headers["content-type"] == "audio/wav" and sound.content[:4] == b"RIFF"
    assert card.headers["content-type"] == "image/jpeg"
    middle = Image.open(BytesIO(card.content)).getpixel((200, 98))
    assert isinstance(middle, tuple) and middle[1] > middle[0] + 60  # the play sign


def test_a_catalog_of_texts(run: Run, tmp_path: Path, no_page_left_open: list[TestClient]) -> None:
    table, keys = write_texts(tmp_path / "texts")
    workspace = tmp_path / "words"
    assert run("new", workspace, table, "--reader", "files").code == 0
    known = sorted({word for words in SUBJECTS.values() for word in words.split()})
    texts = [(tmp_path / "texts" / key).read_text().split() for key in keys]
    bring_vectors(run, workspace, "words", keys, [[text.count(word) for word in known] for text in texts])
    bring_vectors(run, workspace, "noise", keys, np.random.default_rng(2).normal(size=(len(keys), 8)))
    walk(run, workspace, "words")
    client, page, pair = labelling_page(workspace, no_page_left_open)
    assert "<audio" not in page and "Are these two alike?" in page
    candidate = pair["candidate"]
    assert isinstance(candidate, dict)
    shown = Image.open(BytesIO(client.get(candidate["full"]).content)).convert("RGB")
    titles = dict(pl.read_csv(table).select("image", "title").iter_rows())
    both = {key: f"{title}\n\n{(table.parent / key).read_text()}" for key, title in titles.items()}
    cards = {key: np.asarray(draw_card(text), np.float64) for key, text in both.items()}
    nearest = min(cards, key=lambda key: float(np.abs(cards[key] - np.asarray(shown, np.float64)).mean()))
    assert np.abs(cards[nearest] - np.asarray(shown, np.float64)).mean() < 2  # its title and text, as JPEG keeps them
    update = run("update", workspace, table)
    assert update.code == 0, update.err
