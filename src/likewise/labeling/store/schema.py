"""Bringing a votes database up to date, whatever likewise made it."""

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from likewise.errors import LikewiseError

FIRST_VERSION, LATEST_VERSION = "0001", "0005"
MIGRATIONS = Path(__file__).parent / "migrations"


def schema_version(connection: Connection) -> str | None:
    """The schema's version; None for an empty database, or one from before versions were written down."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    version: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    return version


def upgrade_schema(connection: Connection) -> None:
    """Run the migrations that are missing, inside the caller's transaction: all of them, or none."""
    version = schema_version(connection)
    if version == LATEST_VERSION:  # without importing Alembic: this happens at every command
        return
    if version is not None and version > LATEST_VERSION:
        raise LikewiseError(
            f"the votes database has schema {version}, this likewise knows {LATEST_VERSION}: "
            "use the likewise that made it."
        )
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    if version is None and inspect(connection).has_table("votes"):
        command.stamp(config, FIRST_VERSION)
    command.upgrade(config, LATEST_VERSION)
