"""Pictures that were edited where they lie: the catalog, and the vectors made from it, show what was there before."""

import os
import time
from functools import lru_cache
from pathlib import Path

from likewise.catalog.check import check_image
from likewise.catalog.content_digest import file_digest
from likewise.catalog.versions import catalog_version, read_history, rows_at
from likewise.workspace import WorkspaceFolder


def edited_pictures(workspace: WorkspaceFolder) -> list[str]:
    """Images whose file was written after the catalog and shows another picture than the catalog knows.

    Only files newer than the catalog are read, so a look at an unchanged folder costs no more than its listing; while
    the clock is behind the catalog, dates say nothing, and every file is.
    """
    root, written = workspace.root, workspace.catalog_file.stat().st_mtime_ns
    if written > time.time_ns():
        written = 0
    rows = rows_at(read_history(workspace), catalog_version(workspace)).select("image", "digest", "content_digest")
    return [image for image, *known in rows.iter_rows() if _is_another(os.path.join(root, image), written, *known)]  # noqa: PTH118


def _is_another(file: str, written: int, digest: str, content: str | None) -> bool:
    """Newer in any way, for a file that was put in its place may bring the date that it had elsewhere, and another."""
    try:
        facts = os.stat(file)  # noqa: PTH116
    except OSError:  # gone, which is counted apart
        return False
    if max(facts.st_mtime_ns, facts.st_ctime_ns) <= written:
        return False
    return _shows_another(file, (facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size), digest, content)


@lru_cache(maxsize=100_000)
def _shows_another(file: str, _state: tuple[int, int, int], digest: str, content: str | None) -> bool:
    """Metadata may change; a file that cannot be read any more shows nothing. Asked once for a state of a file."""
    try:
        if file_digest(Path(file).read_bytes()) == digest:
            return False
    except OSError:
        return True
    return content is None or check_image(Path(file), any_file=True).content_digest != content
