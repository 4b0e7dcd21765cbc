"""Which table a user means: by the URL's scheme, or by the ending; `?key=`, `&vector=`, `&table=` name its columns."""

from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from likewise.encoders.storage.tables.lance import LanceTable
from likewise.encoders.storage.tables.parquet import ParquetTable
from likewise.encoders.storage.tables.postgresql import PostgresTable
from likewise.encoders.storage.tables.qdrant import QdrantTable
from likewise.encoders.storage.tables.table import VectorTable
from likewise.errors import LikewiseError

OURS = ("key", "vector", "table")
SCHEMES = ("qdrant", "qdrant+http", "qdrant+https", "postgresql", "postgres")


def is_table(source: str) -> bool:
    """Whether vectors live in a table that is asked for batches, not in a file that is read as a whole."""
    place, options, _ = _split(source)
    if place.partition("://")[0] in SCHEMES or place.rstrip("/").endswith(".lance"):
        return True
    return bool(options) or Path(place).is_dir()


def open_table(source: str) -> VectorTable:
    """The table behind what was typed."""
    place, options, others = _split(source)
    key, vector = options.get("key"), options.get("vector")
    scheme = place.partition("://")[0]
    if scheme.startswith("postgres") and scheme in SCHEMES:
        return PostgresTable(f"{place}?{urlencode(others)}" if others else place, options.get("table"), key, vector)
    if scheme in SCHEMES:
        return QdrantTable(place, key, vector)
    if place.rstrip("/").endswith(".lance"):
        return LanceTable(place, key, vector)
    path = Path(place).expanduser()
    if path.is_dir() or path.suffix.lower() == ".parquet":
        return ParquetTable(path, key, vector)
    raise LikewiseError(
        f"{source} is no table that is known: give a folder of Parquet files, a .lance folder, or a URL."
    )


def table_name(source: str) -> str:
    """What to call vectors that came without a name."""
    place, options, _ = _split(source)
    return Path(options.get("table") or place.rstrip("/").rpartition("/")[2]).stem


def _split(source: str) -> tuple[str, dict[str, str], dict[str, str]]:
    """The place, the options that are ours, and those of the URL itself."""
    place, _, text = source.partition("?")
    options = dict(parse_qsl(text, keep_blank_values=True))
    ours = {name: value for name, value in options.items() if name in OURS}
    return place, ours, {name: value for name, value in options.items() if name not in OURS}
