"""The votes follow the catalog: images that were renamed get their new keys, pairs of images that are gone are retired.

Nothing is deleted: a picture that is gone keeps its row under a key that no image can have, and is called by its name
again when it comes back. All of it is one transaction, done by whoever opens the votes first after an update.
"""

from sqlalchemy import Connection, func, or_, select, update

from likewise.catalog import read_catalog
from likewise.catalog.versions import RETIRED as RETIRED_KEY
from likewise.catalog.versions import key_changes, read_history, read_versions
from likewise.labeling.store.assignment import refresh_queue_states
from likewise.labeling.store.images import KEYS_PER_SELECT, in_batches
from likewise.labeling.store.models import ANSWERED, HELD, OPEN, RETIRED, Image, Pair, Provenance, QueueEntry
from likewise.labeling.store.project import add_log_entry, read_setting, write_setting
from likewise.workspace import WorkspaceFolder

CATALOG_VERSION = "catalog_version"


def follow_catalog(connection: Connection, workspace: WorkspaceFolder) -> None:
    """Bring the keys of the database to the latest version of the catalog."""
    if not workspace.settings_file.exists():
        return
    versions = [each.version for each in read_versions(workspace)]
    known = read_setting(connection, CATALOG_VERSION)
    if known == versions[-1]:
        return
    if known is None and not connection.execute(select(func.count()).select_from(Image)).scalar_one():
        known = versions[-1]
    since = versions[0] if known is None else known
    if since != versions[-1]:
        if since in versions:
            what, changes = "updated", key_changes(read_history(workspace), since, versions[-1])
        else:  # `new --replace`: another catalog, of which only the names say what is still there
            what, changes = (
                "replaced",
                _changes_by_name(connection, set(read_catalog(workspace)["image"]), versions[-1]),
            )
        _rename(connection, changes)
        _retire(connection)
        n_gone = sum(after.startswith(RETIRED_KEY) for after in changes.values())
        add_log_entry(
            connection,
            f"The catalog was {what} (version {versions[-1]}): {n_gone} images gone, {len(changes) - n_gone} renamed "
            "or back; pairs of images that are gone are asked no more, their votes are kept.",
        )
    write_setting(connection, CATALOG_VERSION, versions[-1])


def _changes_by_name(connection: Connection, images: set[str], version: int) -> dict[str, str]:
    """New keys for pictures that another catalog does not have, and for those of before that it has again."""
    known = set(connection.scalars(select(Image.key)))
    changes = {}
    for key in sorted(known):
        before = key.removeprefix(RETIRED_KEY).rpartition("@")[0]
        if not key.startswith(RETIRED_KEY):
            if key not in images:
                changes[key] = f"{RETIRED_KEY}{key}@{version}"
        elif before in images and before not in known and before not in changes.values():
            changes[key] = before
    return changes


def _rename(connection: Connection, changes: dict[str, str]) -> None:
    """Two steps, because images may have changed names with each other."""
    ids: dict[str, int] = {}
    for some in in_batches(sorted(changes), KEYS_PER_SELECT):
        found = connection.execute(select(Image.key, Image.id).where(Image.key.in_(some)))
        ids.update((key, number) for key, number in found)
    for number in ids.values():
        connection.execute(update(Image).where(Image.id == number).values(key=f"{RETIRED_KEY}{number}"))
    for key, number in ids.items():
        connection.execute(update(Image).where(Image.id == number).values(key=changes[key]))


def _retire(connection: Connection) -> None:
    """Pairs with an image that is gone are asked no more; those whose images are both back are asked again."""
    gone = select(Image.id).where(Image.key.startswith(RETIRED_KEY, autoescape=True))
    lost = or_(Pair.query_image.in_(gone), Pair.candidate_image.in_(gone))
    proposed = select(Pair.query_image, Pair.candidate_image).join(Provenance, Provenance.pair == Pair.id).subquery()
    back = (
        select(Pair.id)
        .join(
            proposed,
            (proposed.c.query_image == Pair.query_image) & (proposed.c.candidate_image == Pair.candidate_image),
        )
        .where(Pair.asked.is_(False), Pair.withdrawn.is_(None), ~lost)
    )
    connection.execute(update(Pair).where(Pair.id.in_(back)).values(asked=True))
    connection.execute(update(Pair).where(lost, Pair.asked).values(asked=False))
    lost_pairs = select(Pair.id).where(lost)
    entries = update(QueueEntry)
    connection.execute(
        entries.where(QueueEntry.pair.in_(lost_pairs), QueueEntry.state != ANSWERED).values(state=RETIRED)
    )
    withdrawn = select(Pair.id).where(Pair.withdrawn.is_not(None))
    again = QueueEntry.state == RETIRED, QueueEntry.pair.not_in(lost_pairs), QueueEntry.pair.not_in(withdrawn)
    repeats = select(Pair.id).where(Pair.asking > 0)
    connection.execute(entries.where(*again, QueueEntry.pair.in_(repeats)).values(state=HELD))
    connection.execute(entries.where(*again).values(state=OPEN))
    for expert in list(connection.scalars(select(QueueEntry.expert).distinct())):
        refresh_queue_states(connection, expert)
