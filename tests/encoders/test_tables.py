"""Vectors that live in tables elsewhere, each read from the real engine: Parquet, Lance, Qdrant (local), pgvector."""

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import likewise as lw
from likewise.catalog import read_catalog
from likewise.encoders import left_out_images, read_vectors
from likewise.encoders.protocol import Vectors
from likewise.encoders.storage import table_import
from likewise.encoders.storage.table_import import import_table
from likewise.encoders.storage.tables.opening import open_table
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder
from tests.cli.conftest import Run, run
from tests.databases import empty_postgresql

__all__ = ["run"]

Write = Callable[[Path, list[str], Vectors, str], str]
DIM = 6


def write_parquet_folder(folder: Path, keys: list[str], vectors: Vectors, column: str) -> str:
    place = folder / "parts"
    place.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(keys)), 3)):
        part = pl.DataFrame({column: [keys[row] for row in rows], "embedding": vectors[rows]})
        part.write_parquet(place / f"part-{number}.parquet")
    return str(place)


def write_lance(folder: Path, keys: list[str], vectors: Vectors, column: str) -> str:
    import lance
    import pyarrow as pa

    values = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), DIM)
    lance.write_dataset(pa.table({column: keys, "other": list(range(len(keys))), "vector": values}), folder / "t.lance")
    return str(folder / "t.lance")


def write_qdrant(folder: Path, keys: list[str], vectors: Vectors, column: str) -> str:
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=str(folder / "qdrant"))
    size = models.VectorParams(size=DIM, distance=models.Distance.DOT)
    client.create_collection("shoes", vectors_config={"dino": size, "clip": size})
    points = [
        models.PointStruct(
            id=row, vector={"dino": vector.tolist(), "clip": (-vector).tolist()}, payload={"shop": 1, column: key}
        )
        for row, (key, vector) in enumerate(zip(keys, vectors, strict=True))
    ]
    client.upsert("shoes", points)
    client.close()
    return f"qdrant://{folder / 'qdrant'}/shoes"


def write_pgvector(folder: Path, keys: list[str], vectors: Vectors, column: str) -> str:
    import psycopg

    url = empty_postgresql()
    with psycopg.connect(url, autocommit=True) as connection:
        try:
            connection.execute("CREATE EXTENSION vector")
        except psycopg.Error as error:
            pytest.skip(f"this PostgreSQL has no pgvector, so its test was NOT run ({error})")
        connection.execute(f"CREATE TABLE embeddings ({column} text PRIMARY KEY, price int, embedding vector({DIM}))")
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO embeddings VALUES (%s, 1, %s::vector)",
                [(key, json.dumps(vector.tolist())) for key, vector in zip(keys, vectors, strict=True)],
            )
    return f"{url}{'&' if '?' in url else '?'}table=embeddings"


ENGINES = [write_parquet_folder, write_lance, write_qdrant, write_pgvector]


@pytest.fixture(autouse=True)
def quiet() -> None:
    """The clients import libraries that warn about each other."""
    warnings.simplefilter("ignore")


def made_elsewhere(keys: list[str]) -> tuple[list[str], Vectors]:
    rng = np.random.default_rng(5)
    rng.shuffle(keys)
    return keys, rng.standard_normal((len(keys), DIM)).astype(np.float32) * 3


def unit(vectors: Vectors) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


@pytest.mark.parametrize("write", ENGINES)
def test_a_table_is_read_by_image_and_an_interrupted_import_goes_on(
    workspace: WorkspaceFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    """Rows of other images do not matter; an image without a row is left out and listed."""
    images, vectors = made_elsewhere([*read_catalog(workspace)["image"], "of/another-shop's.png"])
    source = write(tmp_path, images[1:], vectors[1:], "image")
    monkeypatch.setattr(table_import, "SHARD_ROWS", 5)
    monkeypatch.setattr(table_import, "SHARDS_PER_BATCH", 2)

    def stop(what: str, done: int, total: int) -> None:
        if done >= 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_table(workspace, "elsewhere", source, on_progress=stop)
    assert "elsewhere" not in workspace.encoders()
    done = import_table(workspace, "elsewhere", source)
    assert done.new_images == 24 - 10 and done.dim == DIM
    known = set(read_catalog(workspace)["image"]) - {images[0]}
    rows = [row for row, image in enumerate(images) if image in known]
    found = read_vectors(workspace, "elsewhere", [images[row] for row in rows])
    assert np.abs(found - unit(vectors[rows])).max() < 1e-6
    missing = {images[0]} & set(read_catalog(workspace)["image"])
    assert {each.image for each in left_out_images(workspace, "elsewhere")} == missing


@pytest.mark.parametrize("write", ENGINES)
def test_keyed_by_item_every_image_gets_its_items_vector_as_a_user_types_it(
    workspace: WorkspaceFolder, tmp_path: Path, run: Run, write: Write
) -> None:
    catalog = read_catalog(workspace)
    items, vectors = made_elsewhere(catalog["item"].unique().sort().to_list())
    source = write(tmp_path, items, vectors, "sku")
    joined = f"{source}{'&' if '?' in source else '?'}key=sku"
    ran = run("encode", workspace.path, "--import", joined, "--by", "item", "--name", "bought", "--json")
    assert ran.code == 0, ran.err
    [told] = json.loads(ran.out)
    assert (told["encoder"], told["images"], told["left_out"]) == ("bought", 24, 0)
    row_of = {item: row for row, item in enumerate(items)}
    expected = unit(vectors)[[row_of[item] for item in catalog["item"]]]
    assert np.abs(read_vectors(workspace, "bought", catalog["image"].to_list()) - expected).max() < 1e-6
    again = json.loads(
        run("encode", workspace.path, "--import", joined, "--by", "item", "--name", "bought", "--json").out
    )
    assert again[0]["new_images"] == 0


@pytest.mark.parametrize("column", ["half", "list", "full"])
def test_every_type_of_a_postgresql_column_is_read_and_null_is_no_vector(column: str) -> None:
    import psycopg

    url = empty_postgresql()
    with psycopg.connect(url, autocommit=True) as connection:
        try:
            connection.execute("CREATE EXTENSION vector")
        except psycopg.Error as error:
            pytest.skip(f"this PostgreSQL has no pgvector, so its test was NOT run ({error})")
        connection.execute("CREATE SCHEMA shop")
        connection.execute('CREATE TABLE shop.e (id int, half halfvec(3), list real[], "full" vector(3))')
        connection.execute("INSERT INTO shop.e VALUES (7, '[1,2,3]', '{1,2,3}', '[1,2,3]'), (8, NULL, NULL, NULL)")
    table = open_table(f"{url}{'&' if '?' in url else '?'}table=shop.e&vector={column}&key=id")
    found = table.fetch(["7", "8", "nine"])
    assert table.dim == 3 and found.keys == ["7"] and found.vectors.tolist() == [[1.0, 2.0, 3.0]]


def test_another_vector_of_a_qdrant_collection_is_named(workspace: WorkspaceFolder, tmp_path: Path) -> None:
    images, vectors = made_elsewhere(read_catalog(workspace)["image"].to_list())
    source = write_qdrant(tmp_path, images, vectors, "image")
    import_table(workspace, "clip-of-shop", f"{source}?vector=clip")
    assert np.abs(read_vectors(workspace, "clip-of-shop", images) + unit(vectors)).max() < 1e-6
    with pytest.raises(LikewiseError, match=r"no column 'siglip' \(it has dino, clip\)"):
        import_table(workspace, "siglip", f"{source}?vector=siglip")


def test_a_file_of_vectors_may_be_keyed_by_item(workspace: WorkspaceFolder, tmp_path: Path, run: Run) -> None:
    catalog = read_catalog(workspace)
    items, vectors = made_elsewhere(catalog["item"].unique().sort().to_list())
    np.savez(tmp_path / "bought.npz", vectors=vectors, keys=np.array(items))
    assert run("encode", workspace.path, "--import", tmp_path / "bought.npz", "--by", "item").code == 0
    with pytest.raises(LikewiseError, match="keyed by image or by item, not by 'sku'"):
        lw.Workspace(workspace.path).import_vectors(tmp_path / "bought.npz", by="sku")
    again = lw.Workspace(workspace.path).import_vectors(tmp_path / "bought.npz", by="item", name="again")
    assert again.table.row(0, named=True)["images"] == 24
    found = read_vectors(workspace, "bought", catalog["image"].to_list())
    assert np.abs(found - unit(vectors)[[items.index(item) for item in catalog["item"]]]).max() < 1e-6


def test_mistakes_are_one_sentence(workspace: WorkspaceFolder, tmp_path: Path, run: Run) -> None:
    images, vectors = made_elsewhere(read_catalog(workspace)["image"].to_list())
    twice = write_parquet_folder(tmp_path, [*images, images[0]], np.concatenate([vectors, vectors[:1]]), "image")
    (tmp_path / "others").mkdir()
    others = write_parquet_folder(tmp_path / "others", [f"x{image}" for image in images], vectors, "image")
    (tmp_path / "broken").mkdir()
    wrong = vectors.copy()
    wrong[3] = 0.0
    zeros = write_parquet_folder(tmp_path / "broken", images, wrong, "image")
    for source, said in (
        (twice, "more than once: keep one vector per key"),
        (others, "has a vector for none of the 24 images"),
        (zeros, "is zero everywhere or holds a value that is not a number"),
        (f"{others}?key=sku", "no column 'sku' (it has image, embedding)"),
        (tmp_path / "nothing.lance", "cannot be opened as a Lance table"),
        (f"qdrant://{tmp_path / 'nowhere'}/shoes", "cannot be read (there is no folder"),
        ("postgresql://localhost:1/shop", "which table holds the vectors?"),
        ("postgresql://localhost:1/shop?table=t", "the table t cannot be read"),
    ):
        failed = run("encode", workspace.path, "--import", source, "--name", "bad")
        assert failed.code == 2 and said in " ".join(failed.err.split()), failed.err
    assert workspace.encoders() == []


@pytest.mark.parametrize(
    ("module", "source", "install"),
    [
        ("lance", "table.lance", "likewise[lance]"),
        ("qdrant_client", "qdrant://localhost/shoes", "likewise[qdrant]"),
        ("psycopg", "postgresql://localhost/shop?table=t", "likewise[postgresql]"),
    ],
)
def test_a_missing_library_is_named_with_its_install_command(
    workspace: WorkspaceFolder, monkeypatch: pytest.MonkeyPatch, module: str, source: str, install: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(LikewiseError, match=f"needs {module}") as told:
        import_table(workspace, "elsewhere", source)
    assert f"pip install '{install}'" in str(told.value)
