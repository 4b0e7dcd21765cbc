"""A PostgreSQL table with a column of pgvector (or of real[]): `postgresql://USER@HOST/DATABASE?table=NAME`.

A password is read as every PostgreSQL program reads it: PGPASSWORD, or the file ~/.pgpass.
"""

from collections.abc import Sequence
from typing import Any

from likewise.encoders.storage.external_vectors import KEY_NAMES
from likewise.encoders.storage.tables.table import VECTOR_NAMES, FetchedVectors, as_rows, choose_column
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional

VECTOR_TYPES = ("vector", "halfvec", "_float4", "_float8")
TEXT_TYPES = ("text", "varchar", "bpchar")
COLUMNS = """
    SELECT attname, typname FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
    WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""


class PostgresTable:
    """Rows are selected by key, which is fast where the key column has an index."""

    def __init__(self, dsn: str, table: str | None, key: str | None, vector: str | None) -> None:
        psycopg = import_optional("psycopg", "reading a PostgreSQL table")
        self._sql: Any = import_optional("psycopg.sql", "reading a PostgreSQL table")
        if not table:
            raise LikewiseError("which table holds the vectors? Write postgresql://HOST/DATABASE?table=NAME.")
        try:
            self._connection: Any = psycopg.connect(dsn, autocommit=True)
            kinds = dict(self._connection.execute(COLUMNS, (table,)).fetchall())
        except psycopg.Error as error:
            first = next(iter(str(error).strip().split("\n")), "")
            raise LikewiseError(
                f"the table {table} cannot be read ({first}): check URL, table and password."
            ) from error
        self.table = table
        vectors = [name for name, kind in kinds.items() if kind in VECTOR_TYPES]
        self._key = choose_column(table, list(kinds), key, (*KEY_NAMES, "item"), "key")
        self._vector = choose_column(table, vectors, vector, (*VECTOR_NAMES, *vectors[:1]), "vector")
        self._text = kinds[self._key] in TEXT_TYPES
        first = self._execute("SELECT {vector}::real[] FROM {table} WHERE {vector} IS NOT NULL LIMIT 1").fetchone()
        self.dim = len(first[0]) if first else 0
        info = self._connection.info
        self.identity = f"postgresql {info.host}/{info.dbname} {table}.{self._vector} by {self._key}"

    def fetch(self, keys: Sequence[str]) -> FetchedVectors:
        compared = "{key}" if self._text else "{key}::text"
        query = f"SELECT {{key}}::text, {{vector}}::real[] FROM {{table}} WHERE {compared} = ANY(%s)"
        rows = self._execute(query, list(keys)).fetchall()
        return as_rows(self.table, [row[0] for row in rows], [row[1] for row in rows], self.dim)

    def _execute(self, query: str, *values: object) -> Any:
        names = {name: self._sql.Identifier(column) for name, column in (("key", self._key), ("vector", self._vector))}
        table = self._sql.Identifier(*self.table.split("."))
        return self._connection.execute(self._sql.SQL(query).format(table=table, **names), values or None)
