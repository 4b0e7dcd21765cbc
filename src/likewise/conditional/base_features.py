"""Features of a `two-tower:` encoder from the stored features of its base: no picture is opened again."""

from pathlib import Path

import numpy as np

from likewise.catalog.table import read_catalog
from likewise.encoders.families.two_tower import load_towers, read_two_tower_config
from likewise.encoders.lineage import picture_lineage
from likewise.encoders.networks.device import move_to_device, to_device, to_numpy
from likewise.encoders.registry import get_encoder
from likewise.encoders.running.encode import SHARD_ROWS
from likewise.encoders.spec import parse_spec
from likewise.encoders.storage.files import EncodedChunk, VectorsMeta, read_meta, vectors_folder
from likewise.encoders.storage.reading import check_vectors, read_vectors
from likewise.encoders.storage.writing import ShardWriter
from likewise.optional_dependencies import import_optional
from likewise.workspace import WorkspaceFolder

FAMILY = "two-tower"


def unscaled_spec(spec: str) -> str:
    """The spec with the length of its features kept."""
    return f"{spec}&unscaled=1" if "?" in spec else f"{spec}?unscaled=1"


def encode_from_base_features(folder: WorkspaceFolder, spec: str) -> None:
    """Write the features of `spec` where those of its base are complete; otherwise leave it to the pictures.

    `folder` is a workspace whose vectors are unscaled features, `spec` an unscaled `two-tower:` encoder.
    """
    part = parse_spec(spec)[0]
    if part.family != FAMILY or {option for option, _ in part.options} - {"unscaled", "name"}:
        return
    base = unscaled_spec(read_two_tower_config(Path(part.target)).base)
    catalog = read_catalog(folder)
    images = catalog["image"].to_list()
    stored = read_meta(vectors_folder(folder, base))
    if stored is None or not check_vectors(folder, base, stored, catalog).usable:
        return
    encoder = get_encoder(spec)
    if stored.version != get_encoder(base).version:
        return
    left_out = {each.image: each for each in stored.left_out}
    meta = VectorsMeta(encoder.name, encoder.version, encoder.dim, 0, SHARD_ROWS, complete=False, spec=spec)
    torch = import_optional("torch", spec)
    head = move_to_device(load_towers(Path(part.target))[1])
    lineage = picture_lineage(spec)
    with ShardWriter(
        folder, meta, images, lineage, force=False, try_again=lambda each: each.image not in left_out
    ) as writer:
        if not writer.missing:
            return
        writer.start()
        for shard in writer.missing:
            rows = writer.images_of(shard)
            kept = [image for image in rows if image not in left_out]
            features = np.empty((0, encoder.dim), np.float32)
            if kept:
                with torch.inference_mode():
                    features = to_numpy(head(to_device(read_vectors(folder, base, kept))))
            gone = tuple(left_out[image] for image in rows if image in left_out)
            writer.write_shard(shard, [EncodedChunk(tuple(kept), features, gone)])
        writer.finish()
