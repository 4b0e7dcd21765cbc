"""Pictures that are in no catalog, as the encoders of a workspace see them: for searching with a file or an upload."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Vectors
from likewise.encoders.registry import get_encoder
from likewise.encoders.running.chunk import check_vectors
from likewise.encoders.running.derive import refit_projection
from likewise.encoders.short_names import is_encoder_name
from likewise.encoders.storage.files import resolve_stored_spec
from likewise.encoders.storage.reading import read_checked_meta
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    from PIL.Image import Image


def encode_pictures(workspace: WorkspaceFolder, encoder: str, pictures: "Sequence[Image]") -> Vectors:
    """Vectors (len(pictures), dim) to compare with those that `encoder` left in the workspace."""
    meta = read_checked_meta(workspace, encoder)
    spec = resolve_stored_spec(workspace, encoder)
    if not meta.spec and not is_encoder_name(spec):
        raise LikewiseError(
            f"the vectors of {encoder} were brought in from elsewhere, so a picture outside of the catalog cannot be "
            "encoded with it: leave it out, or search with an image of the catalog."
        )
    fitted = refit_projection(workspace, spec)
    if fitted is not None:
        part, projection = fitted
        return unit_rows(projection.apply(encode_pictures(workspace, part, pictures)))
    opened = get_encoder(spec)
    vectors = opened.encode([opened.prepare(picture) for picture in pictures])
    return check_vectors(opened, vectors, [f"picture {number}" for number in range(1, len(pictures) + 1)])
