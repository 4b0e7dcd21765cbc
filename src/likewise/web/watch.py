"""A running site notices that its workspace was changed by somebody else: another catalog, another pool."""

from dataclasses import dataclass, field
from pathlib import Path

from likewise.workspace import WorkspaceFolder

FileStamp = tuple[int, int] | None
Stamp = tuple[FileStamp, ...]


@dataclass
class WorkspaceWatch:
    """Knows a catalog and a pool by the files that are written last when either changes."""

    workspace: WorkspaceFolder
    seen: Stamp = field(init=False)

    def __post_init__(self) -> None:
        self.seen = self.now()

    def now(self) -> Stamp:
        return tuple(map(file_stamp, (self.workspace.settings_file, self.workspace.pool_settings_file)))

    def has_changed(self) -> bool:
        return self.now() != self.seen


def file_stamp(path: Path) -> FileStamp:
    """Another one when the file was replaced; None where there is none."""
    try:
        facts = path.stat()
    except FileNotFoundError:
        return None
    return facts.st_ino, facts.st_mtime_ns
