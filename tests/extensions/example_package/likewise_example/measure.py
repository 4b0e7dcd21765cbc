"""The mean brightness of a catalog, from 0 (black) to 1 (white)."""

import numpy as np

from likewise.catalog import load_image, read_catalog
from likewise.workspace import WorkspaceFolder


def mean_brightness(workspace: WorkspaceFolder) -> float:
    """Over all pictures, each counted alike."""
    pictures = [load_image(workspace.root / image).convert("L") for image in read_catalog(workspace)["image"]]
    return float(np.mean([np.asarray(picture).mean() / 255 for picture in pictures]))
