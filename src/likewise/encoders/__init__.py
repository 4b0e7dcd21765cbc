"""Image to vector: one small protocol, one file per family of encoders, and the vectors on disk."""

from likewise.encoders.encode import Encoded, Progress, encode_catalog
from likewise.encoders.protocol import Encoder
from likewise.encoders.registry import BUILT_IN, EncoderInfo, available, get_encoder
from likewise.encoders.store import common_images, encoded_images, read_vectors

__all__ = [
    "BUILT_IN",
    "Encoded",
    "Encoder",
    "EncoderInfo",
    "Progress",
    "available",
    "common_images",
    "encode_catalog",
    "encoded_images",
    "get_encoder",
    "read_vectors",
]
