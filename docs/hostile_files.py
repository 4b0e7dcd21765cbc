"""The table of damaged files in docs/security.md: for each format, how many are refused, and which are read.

`python docs/hostile_files.py --work FOLDER` keeps what became of every input in FOLDER, a file per format, for whoever
judges what is read; `--only` takes some formats.
"""

import argparse
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from marks import fill

from likewise.workspace import read_json, write_json

sys.path.append(str(Path(__file__).parents[1]))

from tests.hostile.attacking import Attack, attack, bundle_format, make_outfit_test, make_valid_bundle, outfit_formats
from tests.hostile.extension_formats import EXTENSION_FORMATS
from tests.hostile.formats import FORMATS, Format

PAGE = Path(__file__).with_name("security.md")
N_INPUTS = 200


def all_formats(work: Path) -> list[Format]:
    for name, make in (("bundle", make_valid_bundle), ("outfits", make_outfit_test)):
        if not (work / name).exists():
            (work / name).mkdir(parents=True)
            make(work / name)
    made = (bundle_format(work / "bundle" / "bundle"), *outfit_formats(work / "outfits"))
    return [*FORMATS, *made, *EXTENSION_FORMATS]


def row(form: Format, found: Attack) -> str:
    same = sum(change == "nothing" for change in found.read)
    return f"| {form.name} | {found.n_inputs} | {found.n_refused} | {same} | {len(found.read) - same} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", action="append", default=[], help="the name of a format; may be repeated")
    asked = parser.parse_args()
    lines = ["| format | inputs | refused with a sentence | read, unchanged | read |", "|---|---|---|---|---|"]
    for form in all_formats(asked.work):
        kept = asked.work / f"{form.name}.attack.json"
        if form.name in asked.only or (not asked.only and not kept.exists()):
            found = attack(form, N_INPUTS)
            write_json(asdict(found), kept)
            for change, times in Counter(found.read).most_common():
                print(f"{form.name}: {times} x {change}")
        if kept.exists():
            lines.append(row(form, Attack(**read_json(kept))))
    fill(PAGE, {"security-formats": "\n".join(lines)})


if __name__ == "__main__":
    main()
