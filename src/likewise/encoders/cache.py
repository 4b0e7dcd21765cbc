"""Where things that can be made again are kept: `LIKEWISE_CACHE`, or the place the platform has for it."""

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """The cache of this user; it may be deleted at any time."""
    chosen = os.environ.get("LIKEWISE_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "likewise"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "likewise" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "likewise"
