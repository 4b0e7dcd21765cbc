"""The catalogs of the zero-shot study; it learns from photographs with captions and packshots with written texts.

The packshots' texts are written from the columns of their catalog: the name of the colour (translated), what the thing
is made of, and what it is ("A black knitted sweater"), then each of these alone and the family of things.

    python docs/zero_shot_catalogs.py --data FOLDER lessons.csv      # for `likewise new`
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from zero_shot_plan import (
    CAPTIONED,
    CAPTIONS,
    CLOTHES,
    HOUSE,
    HOUSE_ATTRIBUTES,
    LESSONS,
    N_CLOTHES,
    N_HOUSE_HELD,
    N_ITEMS,
    OTHER_PHOTOGRAPHS,
    SOURCES,
    TRAINED,
    VALIDATED,
)

from likewise.catalog import make_catalog
from likewise.synthetic import build_wardrobe
from likewise.workspace import WARDROBE, WorkspaceFolder

HOUSE_COLOURS = {
    "AGUA": "aqua",
    "AMARILLO": "yellow",
    "AMARILLO PASTEL": "pastel yellow",
    "ANTRACITA": "charcoal",
    "ARENA": "sand",
    "ASFALTO": "asphalt grey",
    "AZUL": "blue",
    "AZUL NOCHE": "midnight blue",
    "BEIGE": "beige",
    "BILLAR": "green",
    "BLANCO": "white",
    "BLEACH": "light blue",
    "BLOOD": "blood red",
    "BLUEBLACK": "blue black",
    "BOTELLA": "bottle green",
    "BURDEOS": "burgundy",
    "CALDERO": "copper brown",
    "CAMEL": "camel",
    "CARAMELO": "caramel",
    "CAZA": "green",
    "CELESTE": "light blue",
    "CENIZA": "ash grey",
    "CEREZA": "cherry red",
    "CHICLE": "bubblegum pink",
    "CHOCOLATE": "chocolate brown",
    "CIRUELA": "plum",
    "COBRE": "copper",
    "COFFEE": "coffee brown",
    "COGNAC": "cognac",
    "CORAL": "coral",
    "CRUDO": "ecru",
    "CUERO": "leather brown",
    "DIRTY": "blue",
    "DIRTY CLARO": "light blue",
    "DIRTY OSCURO": "dark blue",
    "ESMERALDA": "emerald green",
    "FRESA": "strawberry red",
    "FUCSIA": "fuchsia",
    "GRANATE": "maroon",
    "GRIS": "grey",
    "GRIS CLARO VIGORE": "light grey",
    "GRIS MEDIO VIGORE": "grey",
    "GRIS OSCURO VIGORE": "dark grey",
    "GUNMETAL": "gunmetal",
    "HIELO": "ice blue",
    "INDIGO": "indigo",
    "KHAKI": "khaki",
    "LILA": "lilac",
    "LIMA": "lime",
    "MALVA": "mauve",
    "MANDARINA": "tangerine",
    "MARFIL": "ivory",
    "MARINO": "navy blue",
    "MARRON": "brown",
    "MENTA": "mint green",
    "MISTERIO": "dark",
    "MORADO": "purple",
    "MOSTAZA": "mustard",
    "MUSGO": "moss green",
    "NARANJA": "orange",
    "NARANJA PASTEL": "pastel orange",
    "NAVY": "navy blue",
    "NEGRO": "black",
    "NUDE": "nude",
    "OCRE": "ochre",
    "OFFWHITE": "off white",
    "OLIVA": "olive",
    "ORO": "gold",
    "PEACH": "peach",
    "PERLA": "pearl",
    "PETROLEO": "petrol blue",
    "PIEDRA": "stone",
    "PLATA": "silver",
    "PRUSIA": "prussian blue",
    "ROJO": "red",
    "ROSA": "pink",
    "ROSA LIGHT": "light pink",
    "ROSA PALO": "pale pink",
    "ROSA PASTEL": "pastel pink",
    "SALMON": "salmon",
    "TABACO": "tobacco brown",
    "TAUPE": "taupe",
    "TEJANO CLARO": "light blue",
    "TEJANO GRIS CLARO": "light grey",
    "TEJANO GRIS OSCURO": "dark grey",
    "TEJANO MEDIO": "blue",
    "TEJANO NEGRO": "black",
    "TEJANO OSCURO": "dark blue",
    "TEJANO SOFT": "light blue",
    "TERRACOTA": "terracotta",
    "TINTA": "ink blue",
    "TOPO": "taupe",
    "TURQUESA": "turquoise",
    "VAINILLA": "vanilla",
    "VERDE": "green",
    "VERDE PASTEL": "pastel green",
    "VINO": "wine red",
    "VIOLETA": "violet",
    "VISON": "mink",
}
"""The house's names of colours in English; of denim its shade."""
HOUSE_FABRICS = {
    "J-JEANS": "denim",
    "K-CIRCULAR": "jersey",
    "L-PIEL": "leather",
    "O-POLIPIEL": "faux leather",
    "P-PLANA": "woven",
    "T-TRICOT": "knitted",
}
"""Accessories say nothing."""
SPELLED = {"fragance": "perfume", "dinning": "dining"}


def workspace_of(name: str, data: Path, work: Path) -> WorkspaceFolder:
    """A catalog of the study, made where it is missing."""
    found = WorkspaceFolder(work / name)
    if found.catalog_file.exists():
        return found
    if name == "wardrobe":
        drawn = build_wardrobe(work / "pictures", n_items=400, views_per_item=2, seed=7, workers=1)
        make_catalog(found, drawn, work / "pictures", WARDROBE)
    elif name == LESSONS:
        make_catalog(found, lessons(data), data, LESSONS)
    elif name in (CAPTIONED, OTHER_PHOTOGRAPHS):
        rows = photographs(data).filter((pl.col("split") == "test") == (name == OTHER_PHOTOGRAPHS))
        make_catalog(found, rows, data / CAPTIONED, CAPTIONED)
    else:
        rows = read_rows(data, name)
        if name == CLOTHES:
            rows = rows.sample(N_CLOTHES, seed=1)
        if name in N_ITEMS:
            chosen = drawn_items(rows, N_ITEMS[name])
            rows = rows.filter(chosen).filter(pl.int_range(pl.len()).shuffle(seed=11).over("item") == 0)
        make_catalog(found, rows, data / name, name)
    return found


def read_rows(data: Path, name: str) -> pl.DataFrame:
    return pl.read_csv(data / name / "catalog.csv", infer_schema_length=None).with_columns(
        pl.col("item").cast(pl.String)
    )


def drawn_items(rows: pl.DataFrame, n: int) -> pl.Expr:
    """Whether a row is of one of `n` items that are drawn at random."""
    items = np.random.default_rng(11).permutation(rows["item"].unique().sort().to_numpy())
    return pl.col("item").is_in(pl.Series(items[:n], dtype=pl.String).implode())


def photographs(data: Path) -> pl.DataFrame:
    """All captioned photographs, with the part that each is in."""
    rows = read_rows(data, CAPTIONED)
    parts = np.full(rows.height, "test", object)
    order = np.random.default_rng(11).permutation(rows.height)
    parts[order[TRAINED]], parts[order[VALIDATED]] = "train", "validate"
    return rows.with_columns(pl.Series("split", parts.tolist()))


def packshots(data: Path) -> pl.DataFrame:
    """The fashion house's, with written texts and the part that each is in, whole items apart."""
    rows = read_rows(data, HOUSE)
    held = pl.when(drawn_items(rows, N_HOUSE_HELD)).then(pl.lit("validate")).otherwise(pl.lit("train"))
    texts = [written_texts(row) for row in rows.iter_rows(named=True)]
    columns = [pl.Series(name, [each[place] for each in texts]) for place, name in enumerate(CAPTIONS)]
    return rows.with_columns(held.alias("split"), *columns)


def written_texts(row: dict[str, str]) -> tuple[str | None, ...]:
    """What a person might write about a packshot: all of it, the thing, its colour, its family, its material."""
    colour, made_of = HOUSE_COLOURS[row["colour_name"]], HOUSE_FABRICS.get(row["fabric"])
    thing, family = (_spelled(row[name].split(" (")[0].lower()) for name in ("type", "family"))
    article = "An" if colour[0] in "aeiou" else "A"
    return " ".join(word for word in (article, colour, made_of, thing) if word), thing, colour, family, made_of


def _spelled(text: str) -> str:
    return " ".join(SPELLED.get(word, word) for word in text.split())


def lessons(data: Path) -> pl.DataFrame:
    """Both together, without the photographs that the tests ask about; images by their place below the data folder."""
    both = {CAPTIONED: photographs(data).filter(pl.col("split") != "test"), HOUSE: packshots(data)}
    parts = []
    for name, rows in both.items():
        columns = ["image", "item", "split", *CAPTIONS, *(HOUSE_ATTRIBUTES if name == HOUSE else ())]
        image = (pl.lit(f"{name}/") + pl.col("image")).alias("image")
        parts.append(rows.select(columns).with_columns(image, pl.lit(SOURCES[name]).alias("source")))
    return pl.concat(parts, how="diagonal")


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the table to learn from, for `likewise new`.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("table", type=Path)
    asked = parser.parse_args()
    lessons(asked.data).write_csv(asked.table)


if __name__ == "__main__":
    main()
