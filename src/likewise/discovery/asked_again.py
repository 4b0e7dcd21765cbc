"""`discover` asked again where a pool is: for the next round of it, or for what it holds already."""

from likewise.discovery.step import PoolSettings, complete_settings, pool_part
from likewise.discovery.stored_pool import read_stored_pool
from likewise.workspace import WorkspaceFolder


def waits_for_next_round(workspace: WorkspaceFolder, settings: PoolSettings) -> bool:
    """Whether these settings are those of the adaptive pool that is here: then asking again asks for a round."""
    if settings.design != "adaptive" or not pool_part(workspace).usable:
        return False
    found = read_stored_pool(workspace)
    return found is not None and found.settings == complete_settings(settings, len(found.queries))


def asks_nothing_new(workspace: WorkspaceFolder, settings: PoolSettings, *, by_default: bool) -> bool:
    """Whether the pool that is here is the one that is asked for, and of the catalog of today.

    With no choice made (`by_default`) that is the one that grew with its catalog, or was drawn with every encoder.
    """
    found = read_stored_pool(workspace) if pool_part(workspace).state == "current" else None
    if found is None:
        return False
    stored, has_grown = found.settings, len(found.versions) > 1
    if by_default:
        return has_grown or (stored.design != "eds" and set(stored.generators) == set(settings.generators))
    if settings.design != "eds":
        settings = complete_settings(settings, len(found.queries))
    return has_grown and stored == settings
