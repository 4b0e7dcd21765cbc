"""DeepFashion In-shop Clothes Retrieval: `Eval/list_eval_partition.txt`, pictures below the same folder.

Line 1 is the count, line 2 the header, then `image_name item_id evaluation_status` padded with spaces;
the category is the folder under WOMEN or MEN (`img/WOMEN/Dresses/id_00000002/02_1_front.jpg`).
"""

from pathlib import Path

import polars as pl

from likewise.catalog.readers.reading import Reading
from likewise.errors import LikewiseError

PARTITION = ("Eval/list_eval_partition.txt", "list_eval_partition.txt")
STATUSES = {"train", "query", "gallery"}


def read(path: Path, root: Path | None = None) -> Reading:
    """One row per line of the partition file, with item, category, gender and split (train, query, gallery)."""
    file = next((path / name for name in PARTITION if (path / name).exists()), None)
    if file is None:
        raise LikewiseError(f"{path} holds no {PARTITION[0]}: give the folder that In-shop was unpacked to.")
    rows = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()[2:], 3):
        if not line.strip():
            continue
        fields = line.split()
        if len(fields) != 3 or fields[2] not in STATUSES:
            raise LikewiseError(
                f"{file}, line {number}: expected `image_name item_id train|query|gallery`, "
                f"found {line.strip()!r}; mend or remove the line."
            )
        image, item, split = fields
        parts = Path(image).parts
        gender, category = (parts[1], parts[2]) if len(parts) > 4 else (None, None)
        rows.append((number, image, item, category, split, gender))
    columns = {"row": pl.Int64} | dict.fromkeys(("image", "item", "category", "split", "gender"), pl.String)
    return Reading(pl.DataFrame(rows, schema=columns, orient="row"), root or path)
