"""Which encoders an evaluation is about: all that have vectors, but those that an update of the catalog left behind.

Vectors of a model that was tried once, by a gate for instance, do not keep the others from being measured on today's
catalog: unless the model proposed pairs of the pool, it waits until the images that it lacks are encoded or imported.
"""

from collections.abc import Sequence

from likewise.catalog import read_catalog
from likewise.discovery.stored_pool import read_stored_pool
from likewise.encoders.storage.reading import lacking_images
from likewise.workspace import WorkspaceFolder

MAX_NAMED = 3


def encoders_to_measure(workspace: WorkspaceFolder) -> list[str]:
    """Names, sorted."""
    names, pool = workspace.encoders(), read_stored_pool(workspace)
    if pool is None:
        return names
    generators, catalog = pool.settings.generators, read_catalog(workspace)
    return [name for name in names if name in generators or not lacking_images(workspace, name, catalog)]


def left_behind_notes(workspace: WorkspaceFolder, named: Sequence[str] | None) -> list[str]:
    """A sentence about those that were not measured for that reason."""
    measured = encoders_to_measure(workspace)
    behind = [] if named else [name for name in workspace.encoders() if name not in measured]
    if not behind:
        return []
    who = ", ".join(behind[:MAX_NAMED]) + (", …" if len(behind) > MAX_NAMED else "")
    return [f"not measured, because they have no vectors of some of today's images: {who}; see likewise status"]
