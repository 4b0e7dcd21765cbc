"""Which texts can be keys of images: paths below the root, on one line, without blanks around them."""

import re
from pathlib import Path

UNUSABLE_KEY = r"[\x00-\x1f\x7f]|^/|(^|/)\.\.(/|$)"
MAX_KEY_BYTES = 4096


def is_usable_name(name: Path) -> bool:
    """Whether a file, by its name as the system gives it, can be in a catalog.

    A name that is not UTF-8 (names out of old archives may not be) holds surrogates.
    """
    key = name.as_posix()
    surrogates = any("\udc80" <= letter <= "\udcff" for letter in key)
    return not surrogates and key == key.strip() and not re.search(UNUSABLE_KEY, key) and len(key) <= MAX_KEY_BYTES
