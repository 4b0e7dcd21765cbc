"""Pictures that were edited where they lie: the catalog, and the vectors made from it, show what was there before."""

import os
import time
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
    return [
        image
        for image, digest, content in rows.iter_rows()
        if _is_newer(os.path.join(root, image), written) and _shows_another(root / image, digest, content)  # noqa: PTH118
    ]


def _is_newer(file: str, written: int) -> bool:
    """Newer in any way: a file that was put in its place may bring the date that it had elsewhere."""
    try:
        facts = os.stat(file)  # noqa: PTH116
        return max(facts.st_mtime_ns, facts.st_ctime_ns) > written
    except OSError:  # gone, which is counted apart
        return False


def _shows_another(file: Path, digest: str, content: str | None) -> bool:
    """Metadata may change; a file that cannot be read any more shows nothing."""
    try:
        if file_digest(file.read_bytes()) == digest:
            return False
    except OSError:
        return True
    return content is None or check_image(file, any_file=True).content_digest != content
