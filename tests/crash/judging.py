"""A judge for the command that asks one."""

import numpy as np
from PIL import Image


def brightness(query: Image.Image, candidate: Image.Image) -> float:
    """Pictures are as alike as they are bright."""
    return -abs(float(np.asarray(query).mean()) - float(np.asarray(candidate).mean()))
