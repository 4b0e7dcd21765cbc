"""Zips whose directory lies: encrypted, packed in ways nobody knows, of a later version, with a damaged part."""

import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from likewise.errors import LikewiseError
from likewise.labeling import add_votes, open_votes
from likewise.labeling.store.backup import backup_votes, restore_votes
from likewise.outfits.bundle import open_test, read_images
from tests.hostile.attacking import make_outfit_test, make_valid_bundle
from tests.hostile.formats import read_bundle
from tests.labeling.factories import votes_of

LOCAL, CENTRAL = (b"PK\x03\x04", 6), (b"PK\x01\x02", 8)  # where the flags of a part are; its method is behind them
UNKNOWN, BZIP2, LZMA = 97, 12, 14


def rewrite(content: bytes, change: Callable[[bytearray, int], None]) -> bytes:
    """Change what both headers of every part say from their flags on."""
    changed = bytearray(content)
    for signature, flags in (LOCAL, CENTRAL):
        place = changed.find(signature)
        while place >= 0:
            change(changed, place + flags)
            place = changed.find(signature, place + 4)
    return bytes(changed)


def encrypted(content: bytes) -> bytes:
    def mark(zipped: bytearray, flags: int) -> None:
        zipped[flags] |= 1

    return rewrite(content, mark)


def packed_as(method: int) -> Callable[[bytes], bytes]:
    def mark(zipped: bytearray, flags: int) -> None:
        zipped[flags + 2 : flags + 4] = struct.pack("<H", method)

    return lambda content: rewrite(content, mark)


def of_a_later_version(content: bytes) -> bytes:
    def mark(zipped: bytearray, flags: int) -> None:
        zipped[flags - 2 : flags] = struct.pack("<H", 99)

    return rewrite(content, mark)


def with_damaged_parts(content: bytes) -> bytes:
    """The last bytes before the directory, in the midst of what was packed."""
    end = content.find(CENTRAL[0])
    return content[: end - 40] + bytes(40) + content[end:]


LIES = [encrypted, packed_as(UNKNOWN), packed_as(BZIP2), packed_as(LZMA), of_a_later_version, with_damaged_parts]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("archives")
    made = {"bundle": make_valid_bundle(place / "b"), "test": make_outfit_test(place / "t")}
    for name, folder in made.items():
        with zipfile.ZipFile(place / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(folder.rglob("*")):
                if file.is_file():
                    archive.write(file, file.relative_to(folder).as_posix())
    engine = open_votes(f"sqlite:///{place}/votes.db")
    add_votes(engine, votes_of(ann="sn?", bob="s.n"), "file")
    backup_votes(engine, place / "backup.zip")
    engine.dispose()
    return {name: place / f"{name}.zip" for name in (*made, "backup")}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("name", ["bundle", "test", "backup"])
def test_a_zip_that_lies_is_one_sentence(
    archives: dict[str, Path], name: str, lie: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / f"{name}.zip"
    path.write_bytes(lie(archives[name].read_bytes()))
    if name == "backup":
        engine = open_votes(f"sqlite:///{tmp_path}/votes.db")
        with pytest.raises(LikewiseError, match="nothing was restored"):
            restore_votes(engine, path)
        engine.dispose()
        return
    with pytest.raises(LikewiseError):
        if name == "bundle":
            read_bundle(path)
        else:
            list(read_images(open_test(path)))
