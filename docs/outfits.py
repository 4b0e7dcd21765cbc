"""Make the pictures of outfits.md again: `python docs/outfits.py` (builds a test and takes it; needs chromium)."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
MODELS = ("random", "mean-cosine:colour", "mean-cosine:shape")
SHOWN = "AAT-003"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = [sys.executable, "-m", "likewise", "outfits"]
        subprocess.run([*run, "wardrobe-test", "taste", "--seed", "0"], cwd=folder, check=True)
        named = [word for model in MODELS for word in ("--model", model)]
        subprocess.run([*run, "score", "taste", *named], cwd=folder, check=True)
        page = Path(folder) / "taste-results" / "index.html"
        picture(page.as_uri(), HERE / "outfits_scores.png", (1180, 1130), Path(folder))
        alone = page.with_name("question.html")
        alone.write_text(only(page.read_text(encoding="utf-8"), SHOWN), encoding="utf-8")
        picture(alone.as_uri(), HERE / "outfits_question.png", (700, 430), Path(folder))


def only(page: str, question: str) -> str:
    """The page with nothing on it but one question."""
    rules = "details.group > summary, section, article, header.page { display: none !important }"
    rules += f" #questions, #{question} {{ display: block !important }}"
    more = (
        "#questions > :is(h2, p) { display: none } main { padding-top: 0 } section { margin: 0; padding: 0; border: 0 }"
    )
    return page.replace('<details class="group"', '<details open class="group"').replace(
        "</head>", f"<style>{rules} {more}</style></head>"
    )


def picture(address: str, target: Path, size: tuple[int, int], folder: Path) -> None:
    chromium = shutil.which("chromium") or sys.exit("chromium is needed for the pictures")
    screenshot = folder / target.name
    window, profile = f"--window-size={size[0]},{size[1]}", f"--user-data-dir={folder / 'profile'}"
    subprocess.run([chromium, *FLAGS, window, profile, f"--screenshot={screenshot}", address], check=True)
    Image.open(screenshot).convert("RGB").save(target, optimize=True)


if __name__ == "__main__":
    main()
