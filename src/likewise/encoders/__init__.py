"""Image to vector: one small protocol, one file per family of encoders, and the vectors on disk."""

from likewise.encoders.encode import Encoded, Progress, encode_catalog
from likewise.encoders.imports import import_vectors
from likewise.encoders.protocol import Encoder
from likewise.encoders.registry import BUILT_IN, EncoderInfo, available, get_encoder
from likewise.encoders.store import common_images, encoded_images, left_out_images, read_vectors
from likewise.encoders.text import encode_text

__all__ = [
    "BUILT_IN",
    "Encoded",
    "Encoder",
    "EncoderInfo",
    "Progress",
    "available",
    "common_images",
    "encode_catalog",
    "encode_text",
    "encoded_images",
    "get_encoder",
    "import_vectors",
    "left_out_images",
    "read_vectors",
]
