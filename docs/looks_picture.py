"""Make the picture of the page of looks again, over a workspace whose images have categories and stored vectors.

python docs/looks_picture.py WORKSPACE --item ITEM --with mean-cosine:efficientnet-lite0  (needs chromium)
"""

import argparse
from pathlib import Path
from urllib.parse import urlencode

from search_picture import HERE, SITE, save_picture, served_page

from likewise.workspace import WorkspaceFolder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--item", action="append", required=True, help="an item of the look")
    parser.add_argument("--slot", default="shoes", help="what is looked for")
    parser.add_argument("--with", dest="model", required=True, help="the model that says what fits")
    given = parser.parse_args()
    look = [*(("item", item) for item in given.item), ("with", given.model), ("slot", given.slot)]
    with served_page(WorkspaceFolder(given.workspace)) as page:
        page.goto(f"{SITE}/owner/looks?{urlencode(look)}")
        page.wait_for_selector("#offers img", timeout=120_000)
        save_picture(page, HERE / "looks.jpg")


if __name__ == "__main__":
    main()
