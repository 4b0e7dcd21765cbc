"""A digest of the picture in a file, whatever metadata it carries: a caption or a date that is added changes nothing.

Of JPEG, PNG and WebP files everything counts that decides how they look (coded pixels, palette, transparency, colour
profile, the orientation they are turned to); texts, times, thumbnails and the rest of EXIF and XMP are passed over.
Nothing is decoded. Files of other kinds, and those that are built otherwise, count as a whole.
"""

import hashlib
import re
from collections.abc import Iterator

DIGEST_BYTES = 8
UPRIGHT, TURNED = 1, range(2, 9)

JPEG_START, SCAN, JPEG_END, COMMENT, JFIF, ICC, ADOBE = b"\xff\xd8", 0xDA, 0xD9, 0xFE, 0xE0, 0xE2, 0xEE
APPLICATION = range(0xE0, 0xF0)
AFTER_SCAN = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]", re.DOTALL)  # coded pixels escape 0xff as 0xff00
PNG_START = b"\x89PNG\r\n\x1a\n"
PNG_KEPT = frozenset({b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"bKGD", b"acTL", b"fcTL", b"fdAT"})
"""Chunks that a PNG may leave away begin with a small letter; of those, what changes the looks is kept."""
WEBP_PASSED = frozenset({b"EXIF", b"XMP ", b"VP8X"})  # VP8X only says which others there are


def file_digest(content: bytes) -> str:
    """Of a file as it is."""
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).hexdigest()


def content_digest(content: bytes, orientation: object = UPRIGHT) -> str:
    """Of the picture in a file that is turned to `orientation` (of EXIF or XMP) when it is shown."""
    read = _parts_of(content)
    try:
        parts = [content] if read is None else list(read)
    except (IndexError, ValueError):
        return file_digest(content)
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    digest.update(bytes([next((turn for turn in TURNED if turn == orientation), UPRIGHT)]))
    return digest.hexdigest()


def _parts_of(content: bytes) -> Iterator[bytes | memoryview] | None:
    if content.startswith(JPEG_START):
        return _jpeg(content)
    if content.startswith(PNG_START):
        return _png(content)
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return _webp(content)
    return None


def _jpeg(content: bytes) -> Iterator[bytes | memoryview]:
    """Its segments up to the end of the picture; what a camera puts behind that is passed over."""
    view, at = memoryview(content), len(JPEG_START)
    while True:
        if content[at] != 0xFF:
            raise ValueError("no marker where one must be")
        if (marker := content[at + 1]) == 0xFF:  # fill bytes
            at += 1
            continue
        if marker == JPEG_END:
            return
        end = at + 2 + int.from_bytes(content[at + 2 : at + 4], "big")
        body = view[at + 4 : end]
        if marker == SCAN:
            found = AFTER_SCAN.search(content, end)
            end = len(content) if found is None else found.start()
            yield view[at:end]
            if found is None:
                return
        elif marker in APPLICATION or marker == COMMENT:
            if marker == JFIF and bytes(body[:5]) == b"JFIF\0":
                yield b"JFIF"  # that it is one says how colours are coded; the rest is a size in print
            elif (marker == ICC and bytes(body[:12]) == b"ICC_PROFILE\0") or marker == ADOBE:
                yield view[at:end]
        else:
            yield view[at:end]
        if end <= at or end > len(content):
            raise ValueError("a segment that is longer than the file")
        at = end


def _png(content: bytes) -> Iterator[bytes | memoryview]:
    view, at = memoryview(content), len(PNG_START)
    while at < len(content):
        end = at + 12 + int.from_bytes(content[at : at + 4], "big")
        kind = content[at + 4 : at + 8]
        if end > len(content):
            raise ValueError("a chunk that is longer than the file")
        if kind[:1].isupper() or kind in PNG_KEPT:
            yield view[at + 4 : end - 4]
        if kind == b"IEND":
            return
        at = end


def _webp(content: bytes) -> Iterator[bytes | memoryview]:
    view, at = memoryview(content), 12
    while at < len(content):
        kind, size = content[at : at + 4], int.from_bytes(content[at + 4 : at + 8], "little")
        end = at + 8 + size
        if end > len(content):
            raise ValueError("a chunk that is longer than the file")
        if kind not in WEBP_PASSED:
            yield view[at:end]
        at = end + size % 2
