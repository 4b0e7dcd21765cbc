"""Work that kills its own process once, in the middle: what a lost machine looks like to the cluster."""

import os
import signal
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from likewise.neighbours import Neighbours
from likewise.scale.search import GalleryPart, search_part

FOLDER_OF_MARKERS = "LIKEWISE_TEST_MARKERS"


def die_once(what: str) -> None:
    """SIGKILL for whichever process comes first; those after it find the marker and live."""
    try:
        (Path(os.environ[FOLDER_OF_MARKERS]) / what).touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def square_or_die(number: int) -> int:
    if number == 3:
        die_once("task")
    return number * number


def corners(pictures: list[Image.Image]) -> NDArray[np.float32]:
    """An encoder: the colours of two corners."""
    rows = [[*np.asarray(each)[0, 0], *np.asarray(each)[-1, -1]] for each in pictures]
    return np.asarray(rows, np.float32) + 1.0


def corners_or_die(pictures: list[Image.Image]) -> NDArray[np.float32]:
    """The same; the process that gets the last, shorter chunk dies, unless markers are not wanted."""
    if 1 < len(pictures) < 32 and FOLDER_OF_MARKERS in os.environ:
        die_once("encoder")
    return corners(pictures)


def search_part_or_die(part: GalleryPart) -> Neighbours:
    if part.gallery.images[0] != part.queries.images[0]:
        die_once("search")
    return search_part(part)
