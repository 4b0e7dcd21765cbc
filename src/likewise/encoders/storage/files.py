"""The files of one encoder's vectors, `vectors/<encoder>/`: names and meta data, for the writer and the reader.

shard-00000.npy ...   float32 (rows, dim), catalog order, without gaps
rows.parquet          image (as it was called then), digest of its content, shard, row
meta.json             what made them, whether all are there, which images were left out
lineage.parquet       what the encoder learned from
"""

import hashlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

import polars as pl

from likewise.chain import DIGEST_BYTES, digest_of, table_digest
from likewise.encoders.model_cards import BUILT_IN
from likewise.encoders.protocol import Vectors
from likewise.encoders.spec import spec_name
from likewise.encoders.stored_specs import check_stored_spec
from likewise.errors import LikewiseError
from likewise.files import finish_writing
from likewise.workspace import WorkspaceFolder, read_json, write_json

RUN_SETTINGS = "encoder.json"
USUAL = {"dtype": "float32", "spec": "", "digest": "", "rests_on": {}, "shards": {}, "lineage": "", "places": ""}
"""Not written."""
ROWS_SCHEMA = pl.Schema({"image": pl.String, "digest": pl.String, "shard": pl.Int32, "row": pl.Int32})


@dataclass(frozen=True)
class LeftOutImage:
    """An image without a vector."""

    image: str
    why: str
    file: str = ""
    """What the file was like: a hash of its content, empty where there was none."""


@dataclass(frozen=True)
class VectorsMeta:
    """The content of `meta.json`."""

    encoder: str
    version: str
    dim: int
    rows: int
    shard_rows: int
    complete: bool
    left_out: tuple[LeftOutImage, ...] = ()
    dtype: str = "float32"
    spec: str = ""
    """What to encode with, where that is not the name itself."""
    digest: str = ""
    """Of all vectors, once they are complete."""
    rests_on: dict[str, str] = field(default_factory=dict)
    """Of vectors derived from others: the digests of those."""
    shards: dict[str, str] = field(default_factory=dict)
    """The digest of every shard, by its number; none where an earlier version wrote them."""
    lineage: str = ""
    """The digest of the record beside them; empty where an earlier version wrote them."""
    places: str = ""
    """The digest of `rows.parquet`, which says whose vector each row is; empty where an earlier version wrote them."""


@dataclass(frozen=True)
class EncodedChunk:
    """One encoder's vectors of the images that could be read, and why the others could not."""

    images: tuple[str, ...]
    vectors: Vectors
    left_out: tuple[LeftOutImage, ...]


@dataclass(frozen=True)
class EncodingResult:
    """What one encoder left in the workspace."""

    encoder: str
    dim: int
    images: int
    left_out: int
    new_images: int
    """How many images this run went through; 0 when everything was there already."""
    seconds: float
    """Of the encoders that ran side by side with it, together."""
    note: str = ""
    """What somebody should look at."""

    @classmethod
    def of(cls, meta: VectorsMeta, n_images: int, new_images: int, seconds: float, note: str = "") -> "EncodingResult":
        """`n_images`: of the catalog; those that were left out have no vector."""
        n_left_out = len(meta.left_out)
        return cls(meta.encoder, meta.dim, n_images - n_left_out, n_left_out, new_images, seconds, note)


def vectors_folder(workspace: WorkspaceFolder, encoder: str) -> Path:
    """Where the vectors of an encoder live, by its name or spec; the name must be usable as a folder name."""
    if any(sign in encoder for sign in ":?"):
        encoder = spec_name(encoder)
    if not encoder or encoder.startswith(".") or any(sign in encoder for sign in "/\\\0"):
        raise LikewiseError(
            f"{encoder!r} cannot name an encoder's vectors: use a name without slashes or a leading dot."
        )
    return workspace.vectors_folder / encoder


def resolve_stored_spec(workspace: WorkspaceFolder, encoder: str) -> str:
    """What to encode with: for a name of vectors that are there already, the spec they were made with."""
    if encoder not in BUILT_IN and not any(sign in encoder for sign in "/\\:?\0"):
        meta = read_meta(vectors_folder(workspace, encoder))
        if meta and meta.spec:
            encoder = check_stored_spec(meta.spec, meta_file(vectors_folder(workspace, encoder)))
    return relocate_run(workspace, encoder)


def relocate_run(workspace: WorkspaceFolder, spec: str) -> str:
    """`run:NAME`, or the run of a workspace that was moved since, with the folder where that run is now.

    A run of another workspace stays that, even where this one has a run of the same name.
    """
    base, mark, options = spec.partition("?")
    named = Path(unquote(base.removeprefix("run:"))).expanduser()
    own = _runs_folder(workspace) / named.name
    elsewhere = len(named.parts) > 1 and (named / RUN_SETTINGS).is_file()
    if not base.startswith("run:") or "+" in spec or not (elsewhere or (own / RUN_SETTINGS).is_file()):
        return spec
    return f"run:{quote(str((named if elsewhere else own).resolve()), safe='/')}{mark}{options}"


def portable_spec(workspace: WorkspaceFolder, spec: str) -> str:
    """What to store of a spec: a run of this workspace by its name alone, so that the workspace may be moved."""
    base, mark, options = spec.partition("?")
    named = Path(unquote(base.removeprefix("run:")))
    if not base.startswith("run:") or "+" in spec or named.parent.resolve() != _runs_folder(workspace).resolve():
        return spec
    return f"run:{quote(named.name)}{mark}{options}"


def _runs_folder(workspace: WorkspaceFolder) -> Path:
    return workspace.path / "runs"


def shard_file(folder: Path, shard: int) -> Path:
    return folder / f"shard-{shard:05d}.npy"


def digest_of_vectors(vectors: Vectors) -> str:
    return hashlib.blake2b(vectors.tobytes(), digest_size=DIGEST_BYTES).hexdigest()


def digest_of_places(rows: pl.DataFrame) -> str:
    """Of the table in `rows.parquet`, in its order."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for name in ROWS_SCHEMA:
        column = rows[name]
        of_text = column.dtype == pl.String
        digest.update("\0".join(column.fill_null("")).encode() if of_text else column.to_numpy().tobytes())
    return digest.hexdigest()


def shard_rows_file(folder: Path, shard: int) -> Path:
    """Beside a finished shard while others are still missing: the images in it and those left out."""
    return folder / f"shard-{shard:05d}.json"


def rows_file(folder: Path) -> Path:
    return folder / "rows.parquet"


def meta_file(folder: Path) -> Path:
    return folder / "meta.json"


def write_meta(meta: VectorsMeta, folder: Path) -> None:
    values = asdict(meta)
    for name, usual in USUAL.items():
        if values[name] == usual:
            del values[name]
    write_json(values, meta_file(folder))


def read_meta(folder: Path) -> VectorsMeta | None:
    """The meta data, None when there are no vectors yet."""
    finish_writing(folder)
    path = meta_file(folder)
    if not path.exists():
        return None
    values = read_json(path)
    try:
        left_out = tuple(LeftOutImage(**each) for each in values.pop("left_out"))
        values.pop("catalog", None)  # noted by earlier versions, when vectors belonged to a whole catalog
        return VectorsMeta(**values, left_out=left_out)
    except (AttributeError, KeyError, TypeError) as error:
        raise LikewiseError(f"{path} does not describe vectors ({error}): make them again with `--force`.") from error


def vectors_digest(workspace: WorkspaceFolder, encoder: str) -> str:
    """Of an encoder's vectors: of meta.json, which has a digest of all shards, and of what else is noted beside it.

    The shards themselves, which may be gigabytes, are not read again.
    """
    folder = vectors_folder(workspace, encoder)
    notes = sorted(path for path in folder.glob("*.json") if not path.name.startswith("shard-"))
    tables = sorted(path for path in folder.glob("*.parquet") if path.name != rows_file(folder).name)
    content = {path.name: read_json(path) for path in notes}
    return digest_of(content | {path.name: table_digest(pl.read_parquet(path, glob=False)) for path in tables})
