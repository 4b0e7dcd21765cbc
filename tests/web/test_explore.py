"""The explore page on this machine: anyone may look, only the owner may change."""

import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient
from sklearn.metrics import average_precision_score

import likewise as lw
from likewise.catalog import read_catalog
from likewise.discovery.proposals import picked_pairs
from likewise.encoders import encode_catalog, read_vectors
from likewise.labeling.store import open_votes
from likewise.labeling.store.experts import open_owner_session
from likewise.labeling.store.pairs import pair_ids
from likewise.web.app import create_app
from likewise.web.security import SESSION_COOKIE
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder

from .conftest import BASE, Browser, csrf_of, write_pool

RED = "circle/red-0.png"


@pytest.fixture
def encoded(workspace: WorkspaceFolder) -> WorkspaceFolder:
    encode_catalog(workspace, ["colour", "shape"], workers=1)
    return workspace


@pytest.fixture
def visitor(encoded: WorkspaceFolder) -> Iterator[TestClient]:
    """Whoever sits at the machine on which `likewise explore` runs."""
    write_pool(encoded)
    with TestClient(create_app(SiteSettings(encoded, explore_without_login=True)), base_url=BASE) as client:
        yield client


@pytest.fixture
def owner(encoded: WorkspaceFolder, visitor: TestClient) -> Browser:
    engine = open_votes(encoded)
    client = TestClient(visitor.app, base_url=BASE)
    client.cookies.set(SESSION_COOKIE, open_owner_session(engine))
    engine.dispose()
    return Browser(client, csrf_of(client.get("/explore").text))


def test_the_page_finds_what_the_search_finds(encoded: WorkspaceFolder, visitor: TestClient) -> None:
    reply = visitor.get("/api/explore/neighbours", params={"image": RED, "with": ["colour", "shape"], "k": 5}).json()
    found = lw.Workspace(encoded.path).search(["colour", "shape"], RED, k=5).table
    for each in reply["lists"]:
        told = found.filter(encoder=each["encoder"])
        assert [one["image"] for one in each["found"]] == told["candidate"].to_list()
        assert [one["only"] for one in each["found"]] == told["only_here"].to_list()


def test_a_visitor_looks_and_only_the_owner_asks(encoded: WorkspaceFolder, visitor: TestClient, owner: Browser) -> None:
    csrf = csrf_of(visitor.get("/explore").text)
    body = {"pairs": [[RED, "square/red-0.png"]]}
    assert visitor.post("/api/explore/ask", json=body, headers={"X-CSRF-Token": csrf}).status_code == 401
    assert visitor.get("/owner", headers={"Accept": "application/json"}).status_code == 401
    reply = owner.post("/api/explore/ask", body)
    assert reply.status_code == 200 and reply.json()["asked"] == 1
    assert "no measure of a model counts them" in reply.json()["said"]
    assert picked_pairs(encoded).rows() == [(RED, "square/red-0.png")]
    assert owner.post("/api/explore/ask", {"pairs": [[RED, "nothing.png"]]}).status_code == 400


def test_a_pair_of_the_pool_counts_as_before(encoded: WorkspaceFolder, owner: Browser) -> None:
    query, candidate = pl.read_parquet(encoded.pool_file).row(0)[:2]
    owner.post("/api/explore/ask", {"pairs": [[query, candidate]]})
    assert picked_pairs(encoded).is_empty()
    engine = open_votes(encoded)
    assert (query, candidate) in pair_ids(engine, [(query, candidate)])
    engine.dispose()


def test_a_picture_is_brought_along_and_a_broken_one_is_refused(encoded: WorkspaceFolder, visitor: TestClient) -> None:
    headers = {"X-CSRF-Token": csrf_of(visitor.get("/explore").text)}
    content = BytesIO()
    lw.load_image(encoded.root / "square/blue-1.png").save(content, "PNG")
    token = visitor.post("/api/explore/upload", content=content.getvalue(), headers=headers).json()["upload"]
    reply = visitor.get("/api/explore/neighbours", params={"upload": token, "k": 1}).json()
    assert {each["found"][0]["image"] for each in reply["lists"]} == {"square/blue-1.png"}
    refused = visitor.post("/api/explore/upload", content=b"no picture", headers=headers)
    assert refused.status_code == 400 and "cannot be read as a picture" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("params", "status", "told"),
    [
        ({"image": "nothing.png"}, 404, "not an image of this catalog"),
        ({"image": RED, "with": "dino"}, 400, "there are no dino vectors"),
        ({"image": RED, "where": "colour=red"}, 400, "cannot select images"),
        ({"upload": "gone"}, 400, "choose it again"),
    ],
)
def test_mistakes_are_answered_in_a_sentence(
    visitor: TestClient, params: dict[str, str], status: int, told: str
) -> None:
    reply = visitor.get("/api/explore/neighbours", params=params)
    assert reply.status_code == status and told in reply.json()["detail"]


def test_filters_find_and_steps_stay_within_the_condition(visitor: TestClient) -> None:
    params = {"image": RED, "where": ["category=square", "domain=shop"]}
    reply = visitor.get("/api/explore/neighbours", params=params).json()
    assert {one["image"] for each in reply["lists"] for one in each["found"]} == {
        f"square/{colour}-0.png" for colour in ("red", "orange", "blue", "green")
    }
    assert visitor.get("/api/explore/images", params={"find": "TRIANGLE-G"}).json()["total"] == 2
    seen, image = [], "square/red-1.png"
    for _ in range(4):
        image = visitor.get("/api/explore/step", params={"image": image, "where": params["where"], "by": 1}).json()[
            "image"
        ]
        seen.append(image)
    assert sorted(seen) == sorted(f"square/{colour}-0.png" for colour in ("red", "orange", "blue", "green"))


def test_pictures_are_those_of_the_catalog_alone(encoded: WorkspaceFolder, visitor: TestClient) -> None:
    assert visitor.get("/api/explore/picture", params={"image": RED, "size": "small"}).status_code == 200
    assert visitor.get("/api/explore/picture", params={"image": "catalog.csv", "size": "full"}).status_code == 404
    assert visitor.get("/api/explore/picture", params={"image": "../ws/votes.db"}).status_code == 404


def test_python_serves_the_page_from_a_notebook(encoded: WorkspaceFolder) -> None:
    page = lw.Workspace(encoded.path).explore()
    try:
        assert httpx.get(page.url).status_code == 200
        assert page.url in page._repr_html_()
        with pytest.raises(lw.LikewiseError, match="choose another"):
            lw.Workspace(encoded.path).explore(port=int(page.url.split(":")[2].split("/")[0]))
    finally:
        page.stop()


def test_without_vectors_the_way_out_is_named(workspace: WorkspaceFolder, tmp_path: Path) -> None:
    with pytest.raises(lw.LikewiseError, match="likewise encode"):
        lw.Workspace(workspace.path).explore()
    with TestClient(create_app(SiteSettings(workspace, explore_without_login=True)), base_url=BASE) as client:
        assert f"likewise encode {workspace.path}" in client.get("/explore").text


def copies_of(client: TestClient) -> dict[str, Any]:
    for _ in range(200):
        reply = client.get("/api/explore/copies", params={"with": "shape"})
        assert reply.status_code in (200, 202), reply.text
        if reply.status_code == 200:
            found: dict[str, Any] = reply.json()
            return found
        time.sleep(0.05)
    raise AssertionError("the copies were never found")


def test_copies_are_decided_by_the_owner_and_exported(
    encoded: WorkspaceFolder, visitor: TestClient, owner: Browser
) -> None:
    found = copies_of(visitor)
    first, second, cosine, _, exact = found["pairs"][0]
    pair = [found["images"][first], found["images"][second]]
    assert cosine > 0.99 and not exact and pair[0].split("/")[0] == pair[1].split("/")[0]  # one shape, two colours
    assert set(found["sides"]) == {"item", "half"}
    csrf = csrf_of(visitor.get("/explore/copies").text)
    body = {"pairs": [pair], "decision": "ignored"}
    address = "/api/explore/copies/decide"
    assert visitor.post(address, json=body, headers={"X-CSRF-Token": csrf}).status_code == 401
    assert owner.post(address, body).json()["decisions"] == [[*sorted(pair), "ignored"]]
    options = {"with": "shape", "cosine": cosine, "bits": -1}
    table = pl.read_csv(BytesIO(visitor.get("/api/explore/copies.csv", params=options).content))
    assert table.filter(pl.col("decision") == "ignored").select("image", "other").rows() == [tuple(sorted(pair))]
    assert (table["crosses"].str.contains("item")).all()


def test_queries_are_sorted_by_how_much_two_models_differ(encoded: WorkspaceFolder, visitor: TestClient) -> None:
    options = {"first": "colour", "second": "shape"}
    reply = visitor.get("/api/explore/differences", params=options).json()
    shared = [row["shared"] for row in reply["queries"]]
    assert shared == sorted(shared) and reply["n_queries"] == 4 and not reply["labelled"]
    for row in reply["queries"]:
        lists = [{one["item"] for one in each["found"]} for each in row["lists"]]
        assert row["shared"] == len(lists[0] & lists[1])
    refused = visitor.get("/api/explore/mistakes", params={"encoder": "colour"})
    assert refused.status_code == 400 and "ask the experts" in refused.json()["detail"]
    same = visitor.get("/api/explore/differences", params={"first": "colour", "second": "colour"})
    assert same.status_code == 400


def test_labels_sort_queries_and_every_mistake_is_shown(encoded: WorkspaceFolder, visitor: TestClient) -> None:
    pool = pl.read_parquet(encoded.pool_file).select("query", "candidate").unique(maintain_order=True)
    rng = np.random.default_rng(3)
    votes = [
        (query, candidate, expert, "similar" if rng.random() < 0.5 else "not similar")
        for query, candidate in pool.iter_rows()
        for expert in ("anna", "ben", "cleo")
    ]
    file = encoded.path / "votes.csv"
    pl.DataFrame(votes, schema=["query", "candidate", "expert", "answer"], orient="row").write_csv(file)
    labels = lw.Workspace(encoded.path).import_votes(file).table
    options = {"first": "colour", "second": "shape", "order": "difference"}
    reply = visitor.get("/api/explore/differences", params=options).json()
    images = read_catalog(encoded)["image"].to_list()
    for row in reply["queries"]:
        told = labels.filter(query=row["query"])
        for name, encoder in (("ap_a", "colour"), ("ap_b", "shape")):
            vectors = dict(zip(images, read_vectors(encoded, encoder, images).astype(np.float64), strict=True))
            scores = [vectors[row["query"]] @ vectors[image] for image in told["candidate"]]
            assert row[name] == pytest.approx(average_precision_score(told["label"], scores), abs=1e-6)
    gaps = [abs(row["ap_a"] - row["ap_b"]) for row in reply["queries"]]
    assert gaps == sorted(gaps, reverse=True)
    split = visitor.get("/api/explore/differences", params=options | {"order": "split"}).json()
    expected = labels.filter((pl.col("similar") > 0) & (pl.col("not_similar") > 0))
    assert sum(row["n_split"] for row in split["queries"]) == len(expected)
    mistakes = visitor.get("/api/explore/mistakes", params={"encoder": "colour"}).json()
    assert mistakes["total"] == len(mistakes["mistakes"]) > 0
    assert all(row["label"]["label"] == (row["kind"] == "missed") for row in mistakes["mistakes"])


def test_a_catalog_that_is_updated_meanwhile_is_shown_as_it_is_now(
    encoded: WorkspaceFolder, visitor: TestClient
) -> None:
    """Another picture, and then a column, while the site runs: nothing of the earlier state is left anywhere."""
    headers = {"X-CSRF-Token": csrf_of(visitor.get("/explore").text)}
    content = (encoded.root / RED).read_bytes()
    token = visitor.post("/api/explore/upload", content=content, headers=headers).json()["upload"]
    visitor.get("/api/explore/neighbours", params={"upload": token})
    copies_of(visitor)
    new = "circle/scarlet-0.png"
    (encoded.root / new).write_bytes(content)
    table = encoded.root / "catalog.csv"
    table.write_text(table.read_text() + f"{new},circle-scarlet,circle,shop\n")
    lw.Workspace(encoded.path).update(table)
    assert visitor.get("/api/explore/images", params={"find": "scarlet"}).json()["images"] == [new]
    assert visitor.get("/api/explore/picture", params={"image": new}).status_code == 200
    encode_catalog(encoded, ["colour", "shape"], workers=1)
    for asked in ({"image": RED}, {"upload": token}):
        reply = visitor.get("/api/explore/neighbours", params=asked | {"k": 2}).json()
        assert all(new in {one["image"] for one in each["found"]} for each in reply["lists"])
    found = copies_of(visitor)
    pairs = {(found["images"][first], found["images"][second]) for first, second, *_, exact in found["pairs"] if exact}
    assert pairs == {(RED, new)}
    table.write_text("".join(f"{line},{n or 'season'}\n" for n, line in enumerate(table.read_text().split())))
    lw.Workspace(encoded.path).update(table)
    assert "season" in visitor.get("/explore").text
    encode_catalog(encoded, ["layout"], workers=1)
    assert "layout" in visitor.get("/explore").text


def test_a_replaced_encoder_sees_a_picture_anew(encoded: WorkspaceFolder, visitor: TestClient, tmp_path: Path) -> None:
    images = read_catalog(encoded)["image"].to_list()
    nearest = []
    for seed in range(2):
        file = tmp_path / f"{seed}.npz"
        vectors = np.random.default_rng(seed).standard_normal((len(images), 8)).astype(np.float32)
        np.savez(file, images=np.array(images), vectors=vectors)
        lw.Workspace(encoded.path).import_vectors(file, name="mine", force=bool(seed))
        reply = visitor.get("/api/explore/neighbours", params={"image": RED, "with": "mine"}).json()
        nearest.append([one["image"] for one in reply["lists"][0]["found"]])
        expected = lw.Workspace(encoded.path).search(["mine"], RED, k=12).table["candidate"].to_list()
        assert nearest[-1] == expected
    assert nearest[0] != nearest[1]
