"""The card of a benchmark bundle: what it is, who labelled it and how well they agree, under which licence, and sums.

card.json is for programs, card.md says the same to people. The checksum covers everything: it is the SHA-256 of the
card (without the checksum itself, keys sorted), and the card holds size and SHA-256 of every other file.
Experts are counted, never named.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from likewise.errors import LikewiseError
from likewise.evaluation.bundles.files import CARD, FileRecord, check_name, checksum_error, open_entries, read_entry
from likewise.untrusted import check_shape, parse_json

FORMAT, VERSION = "likewise-bundle", 1


def checksum_of(card: Mapping[str, Any]) -> str:
    """The sum over the card and, through it, over every file."""
    covered = {key: value for key, value in card.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(covered, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def has_card(path: Path, form: str) -> bool:
    """Whether a folder or zip holds a card of this format."""
    try:
        with open_entries(path) as open_entry:
            return form.encode() in read_entry(open_entry, CARD, None, path)
    except LikewiseError:
        return False


def read_card(
    data: bytes, path: Path, form: str, version: int, what: str, checksum: str | None = None
) -> dict[str, Any]:
    """A card of this format and version whose sum is right (and `checksum`), or a sentence that says why not."""
    card = parse_json(data, f"{path}: {CARD}")
    files = card.get("files") if isinstance(card, dict) and card.get("format") == form else None
    if not isinstance(files, dict):
        raise LikewiseError(f"{path}: {CARD} is not the card of a {what}: get it again.")
    for name, each in files.items():
        check_shape(each, {"bytes": int, "sha256": str}, f"{path}: {CARD}", name)
    if card.get("version") != version:
        raise LikewiseError(
            f"{path} has version {card.get('version')}, this likewise reads {version}: use a newer one."
        )
    if card.get("checksum") != checksum_of(card):
        raise checksum_error(path, CARD)
    if checksum is not None and card["checksum"] != checksum.strip().lower():
        raise LikewiseError(f"{path} has checksum {card['checksum']}, not {checksum}: it is another {what}.")
    for name in card["files"]:
        check_name(name, f"{path}: {CARD}")
    return dict(card)


def complete_card(facts: Mapping[str, Any], files: Mapping[str, FileRecord]) -> dict[str, Any]:
    """The facts with all sums."""
    listed = {name: {"bytes": stored.bytes, "sha256": stored.sha256} for name, stored in sorted(files.items())}
    card = {"format": FORMAT, "version": VERSION, **facts, "files": listed}
    return card | {"checksum": checksum_of(card)}


def card_text(facts: Mapping[str, Any], files: Mapping[str, FileRecord]) -> str:
    """card.md: the same facts as sentences and tables."""
    labels, sizes, pool, negatives = (facts[name] for name in ("labels", "sizes", "pool", "negatives"))
    lines = [
        f"# {facts['title']}",
        "",
        facts["description"] or "(no description)",
        "",
        f"- **licence:** {facts['licence']}",
        f"- **sources:** {'; '.join(facts['sources'])}",
        f"- **size:** {sizes['queries']:,} queries against a gallery of {sizes['gallery']:,} images "
        f"({sizes['images']:,} images of {sizes['items']:,} items in all; pictures {_pictures(facts)})",
        f"- **labels:** {sizes['labels']:,} pairs, {labels['n_similar']:,} of them similar",
        f"- **labelled by:** {labels['labelled_by']}",
        f"- **consensus rule:** {labels['rule']}",
        f"- **agreement on the pool's pairs:** Fleiss' kappa {_measure(labels['fleiss_kappa'])}; "
        f"Krippendorff's alpha {_measure(labels['krippendorff_alpha'])}",
        f"- **pool:** {sizes['pool_pairs']:,} pairs, {_pool_design(pool)}",
        f"- **sampled negatives:** {negatives['n']:,}, from ranks {negatives['ranks'][0]} to "
        f"{negatives['ranks'][1] - 1} (from 0) of these models' lists, {negatives['per_positive']:g} per "
        f"similar candidate, seed {negatives['seed']}",
        f"- **made with:** likewise {facts['likewise']}",
        "",
        "Measure a model: encode the images of `catalog.parquet` in its order (or store keys with the vectors), then",
        "`likewise evaluate BUNDLE --vectors mine.npy`.",
        "",
        "| file | bytes | SHA-256 |",
        "|---|---|---|",
        *(
            f"| {name} | {stored.bytes:,} | {stored.sha256} |"
            for name, stored in sorted(files.items())
            if not name.startswith("images/")
        ),
    ]
    return "\n".join(lines) + "\n"


def _pool_design(pool: Mapping[str, Any]) -> str:
    by = ", ".join(pool["generators"])
    if pool["design"] == "eds":
        return f"the best {pool['k']} of {by}"
    ranks = f" that follow the ranks of {by}" if by else ""
    return f"drawn among all pairs with known probabilities{ranks} (design {pool['design']})"


def _pictures(facts: Mapping[str, Any]) -> str:
    return "included" if facts["with_images"] else "not included"


def _measure(measure: Mapping[str, Any]) -> str:
    if measure["value"] is None:
        return f"undefined ({measure['reason']})"
    return f"{measure['value']:.3f} over {measure['n_pairs']:,} pairs"
