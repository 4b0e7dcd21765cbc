"""An encoder named by its spec, written as an ONNX file."""

from pathlib import Path

from likewise.encoders.lineage import picture_lineage
from likewise.encoders.networks.network import Network
from likewise.encoders.networks.onnx_export import ExportCheck, export_to_onnx
from likewise.encoders.registry import get_encoder
from likewise.errors import LikewiseError
from likewise.files import written_together
from likewise.lineage.files import sidecar_file, write_lineage


def export_encoder(spec: str, target: Path) -> ExportCheck:
    """Export the network that a spec names; its test-time options stay options of the new spec."""
    encoder = get_encoder(spec)
    if not isinstance(encoder, Network):
        raise LikewiseError(f"{spec} is no torch network: only those can be exported.")
    with written_together(target.parent) as staged:
        result = export_to_onnx(encoder.model, staged.place(target))
        write_lineage(picture_lineage(spec), sidecar_file(staged.place(target)))
    return result
