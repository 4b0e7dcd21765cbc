"""A contact sheet: many pictures in a grid, to look at."""

from collections.abc import Sequence

from PIL import Image

from likewise.errors import LikewiseError


def contact_sheet(images: Sequence[Image.Image], columns: int) -> Image.Image:
    """The pictures row by row on white, each in a cell as large as the largest picture."""
    if not images or columns < 1:
        raise LikewiseError("a contact sheet needs at least one picture and one column")
    gap = 4
    width = max(image.width for image in images) + gap
    height = max(image.height for image in images) + gap
    rows = -(-len(images) // columns)
    sheet = Image.new("RGB", (min(columns, len(images)) * width + gap, rows * height + gap), "white")
    for index, image in enumerate(images):
        row, column = divmod(index, columns)
        sheet.paste(image.convert("RGB"), (gap + column * width, gap + row * height))
    return sheet
