"""The tables with photographs of outfits_checkpoints.md and stylist.md, on outfits of real stylists:
`python docs/stylists_photographs.py --data FOLDER --work FOLDER` (goes on where it stopped).

FOLDER holds catalog.csv and outfits.csv. Items are dealt to four folds that share none; two folds become two tests, and
models learn from the outfits without any item of either. Those two that leave most outfits to learn from were taken.
"""

import argparse
import io
from collections.abc import Sequence
from pathlib import Path

import polars as pl
from marks import fill, paragraph
from outfits_checkpoints import EPOCHS, SEEDS, chosen_table, gain_table, power, verdict
from papers_catalogs import likewise
from PIL import Image
from stylist_page import KINDS, cell, index_table
from stylist_plots import short

from likewise.catalog import make_catalog, read_catalog
from likewise.encoders.running.encode import encode_catalog
from likewise.intervals import wilson_interval
from likewise.outfits.benchmark.folds import copy_groups, split_items
from likewise.outfits.bundle import OutfitTest, open_test, read_images, write_test
from likewise.outfits.checkpoints_step import compare_checkpoint_files
from likewise.outfits.judge_test import compare_judges
from likewise.outfits.models import FeatureSource, WorkspaceFeatures, open_model
from likewise.outfits.models.card import OutfitModelCard, models_folder
from likewise.outfits.protocol import Outfit
from likewise.outfits.results import OutfitTestFeatures, OutfitTestResults, score_models
from likewise.outfits.scoring import grade_answers, score_table
from likewise.outfits.stylists_test import stylists_aat, stylists_lat
from likewise.outfits.training.step import TrainingRequest, read_outfits, train_outfit_model
from likewise.workspace import WorkspaceFolder

HERE = Path(__file__).parent
ENCODER = "efficientnet-lite0?pooling=stages"
N_FOLDS, SEED = 4, 1
FOLDS = {"choose": 3, "report": 1}
N_LAT, N_AAT = 300, 600
CHECKED, BLINDED = "type-aware", "type-aware"
BASELINES = ("random", f"mean-cosine:{ENCODER}", "popular")
MEASURED = ("LATs", "AATs")
"""The stylists' choice counts as one person's, so mLATs are LATs."""


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.work.mkdir(parents=True, exist_ok=True)
    workspace = make_looks(given.work, given.data)
    outfits = given.data / "outfits.csv"
    tests = make_tests(workspace, given.work, outfits)
    features = WorkspaceFeatures(workspace)
    said = f"{len(read_catalog(workspace)):,} packshots of a fashion house"
    fill(HERE / "outfits_checkpoints.md", checkpoint_blocks(workspace, given.work, outfits, features, said))
    fill(HERE / "stylist.md", taste_blocks(workspace, given.work, outfits, features, tests["report"]))


def make_looks(work: Path, data: Path) -> WorkspaceFolder:
    workspace = WorkspaceFolder(work / "looks")
    if not (workspace.path / "catalog.parquet").exists():
        likewise("new", workspace.path, data / "catalog.csv")
    likewise("encode", workspace.path, "--with", ENCODER, "--workers", 1)
    return workspace


def make_tests(workspace: WorkspaceFolder, work: Path, outfits: Path) -> dict[str, OutfitTest]:
    """Of each of the two folds a test; as `likewise outfits stylists-test` makes them, of some of the outfits."""
    paths = {name: work / name for name in FOLDS}
    if not all(path.exists() for path in paths.values()):
        catalog = read_catalog(workspace)
        groups = copy_groups(workspace, catalog)
        folds = split_items(read_outfits(workspace, catalog, outfits)[0], N_FOLDS, groups=groups, seed=SEED)
        for name, fold in FOLDS.items():
            write_fold(workspace, catalog, groups, paths[name], folds.test(fold))
    return {name: open_test(path) for name, path in paths.items()}


def write_fold(
    workspace: WorkspaceFolder, catalog: pl.DataFrame, groups: dict[str, str], path: Path, outfits: Sequence[Outfit]
) -> None:
    questions = stylists_lat(outfits, N_LAT, groups, SEED) + stylists_aat(outfits, catalog, N_AAT, groups, SEED)
    write_test(
        path,
        questions,
        lambda image: (workspace.root / image).read_bytes(),
        title=f"Outfits of stylists, {path.name}",
        licence="for evaluation only",
        made={"outfits": len(outfits), "seed": SEED},
        overwrite=True,
    )


def request(
    work: Path, outfits: Path, kind: str, name: str, preset: str, seed: int = 0, epochs: int | None = None
) -> TrainingRequest:
    """Outfits with an item of a test are left out."""
    tests = tuple(work / each for each in FOLDS)
    return TrainingRequest(
        kind,
        name,
        ENCODER,
        preset=preset,
        outfits=outfits,
        tests=tests,
        leave_out=True,
        epochs=epochs,
        seed=seed,
    )


def checkpoint_blocks(
    workspace: WorkspaceFolder, work: Path, outfits: Path, features: WorkspaceFeatures, said: str
) -> dict[str, str]:
    """Which epoch each judge chooses, and what its choice is worth on the other test."""
    tables = [experiment(workspace, work, outfits, features, seed) for seed in range(SEEDS)]
    gains = compare_judges(tables)
    card = trained(workspace, request(work, outfits, CHECKED, f"{CHECKED}-0", "quick", 0, EPOCHS), features)
    counts = {name: n_questions(open_test(work / name)) for name in FOLDS}
    text = f"""{said}: type-aware is trained {SEEDS} times, with other seeds, on {card.training.n_outfits:,} outfits of
    its stylists, {EPOCHS} epochs; vectors of `{ENCODER}`. The test that chooses has {counts["choose"]}, the one that
    measures {counts["report"]}; they share no item with each other or with the outfits that are learned from. A LAT
    question counts the stylists' choice as one person's, so mLATs are LATs."""
    named = {CHECKED: tables}
    return {
        "outfits_checkpoints-photographs": paragraph(text),
        "outfits_checkpoints-photographs-chosen": chosen_table(named),
        "outfits_checkpoints-photographs-power": power({CHECKED: gains}),
        "outfits_checkpoints-photographs-gains": f"{gain_table({CHECKED: gains})}\n\n{verdict(gains)}",
    }


def experiment(
    workspace: WorkspaceFolder, work: Path, outfits: Path, features: WorkspaceFeatures, seed: int
) -> pl.DataFrame:
    """Train, let everybody choose, measure."""
    name = f"{CHECKED}-{seed}"
    file = work / f"{name}.parquet"
    if not file.exists():
        trained(workspace, request(work, outfits, CHECKED, name, "quick", seed, EPOCHS), features)
        model = models_folder(workspace) / name
        made = compare_checkpoint_files(model, work / "choose", work / "checkpoints", work / "report")
        made.table.filter(pl.col("test") != "mLATs").write_parquet(file)
    return pl.read_parquet(file, glob=False)


def trained(workspace: WorkspaceFolder, asked: TrainingRequest, features: WorkspaceFeatures) -> OutfitModelCard:
    """A finished model is left as it is."""
    return train_outfit_model(workspace, asked, features=features)


def n_questions(test: OutfitTest) -> str:
    kinds = [question.kind for question in test.questions]
    return f"{kinds.count('LAT'):,} LAT and {kinds.count('AAT'):,} AAT questions"


def taste_blocks(
    workspace: WorkspaceFolder, work: Path, outfits: Path, features: WorkspaceFeatures, test: OutfitTest
) -> dict[str, str]:
    """Every model on the test of one fold, and one of them on the same pictures without colour."""
    for kind in (*KINDS, "popular"):
        card = trained(workspace, request(work, outfits, kind, kind, "usual"), features)
        print(kind, card.training.n_outfits, flush=True)
    results = OutfitTestResults(test, work / "checkpoints" / "reporting")  # whose pictures are encoded
    asked = OutfitTestFeatures(results)
    names = (*BASELINES, *KINDS)
    scores = score_models(results, [open_model(name, asked, models_folder(workspace)) for name in names]).scores
    blind = blindness(workspace, work, test, asked)
    text = f"""{card.training.n_outfits:,} outfits of the stylists to learn from, vectors of `{ENCODER}`, the usual
    preset; {n_questions(test)} of outfits without a common item. Choices of an AAT question share every column but the
    colours, or but the fabric. In percent, with 95 % intervals:"""
    return {
        "stylist-photographs": f"{paragraph(text)}\n\n{taste_table(scores)}\n\n{above(scores)}",
        "stylist-photographs-grey": f"{index_table(blind)}\n\n{change_by_grey(blind)}",
    }


def taste_table(scores: pl.DataFrame) -> str:
    index = {row["dimension"]: row for row in scores.filter(pl.col("score") == "index").iter_rows(named=True)}
    first = {name: scores.filter(pl.col("score") == name).row(0, named=True) for name in MEASURED}
    heads = [f"{name} (n = {row['n_questions']})" for name, row in (first | index).items()]
    lines = ["| model | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for model in scores["model"].unique(maintain_order=True):
        cells = [cell(scores, model, pl.col("score") == name, digits=1) for name in MEASURED]
        cells += [
            cell(scores, model, (pl.col("score") == "index") & (pl.col("dimension") == name), digits=1)
            for name in index
        ]
        lines.append(f"| {short(model)} | " + " | ".join(cells) + " |")
    chances = (f"*{100 * row['chance']:.0f}*" for row in (first | index).values())
    return "\n".join([*lines, "| *chance* | " + " | ".join(chances) + " |"])


def above(scores: pl.DataFrame) -> str:
    """Which trained models lie above all baselines with intervals that do not touch."""
    lines = []
    for name in MEASURED:
        rows = {short(row["model"]): row for row in scores.filter(pl.col("score") == name).iter_rows(named=True)}
        bar = max(rows[short(each)]["high"] for each in BASELINES)
        found = [kind for kind in KINDS if rows[kind]["low"] > bar]
        named = f": {', '.join(found)}" if found else ""
        lines.append(
            f"- {name}: {len(found)} of {len(KINDS)} trained models lie above random, mean cosine and popularity with "
            f"intervals that do not touch{named}"
        )
    return "\n".join(lines)


def blindness(workspace: WorkspaceFolder, work: Path, test: OutfitTest, asked: FeatureSource) -> pl.DataFrame:
    """The same model on the test's AAT questions, as photographed and without colour."""
    questions = [question for question in test.questions if question.kind == "AAT"]
    graded = []
    for label, sees in (("as photographed", asked), ("without colour", grey_features(work, test))):
        model = open_model(BLINDED, sees, models_folder(workspace))
        graded.append(grade_answers(f"{BLINDED}, {label}", questions, model.answer(questions)))
    return score_table(pl.concat(graded), questions)


def grey_features(work: Path, test: OutfitTest) -> FeatureSource:
    """Vectors of the same pictures in shades of grey; how light a colour is stays visible."""
    workspace = WorkspaceFolder(work / "grey")
    if not workspace.settings_file.exists():
        shown = {item.image: item for q in test.questions for item in (*q.items, *q.choices)}
        root = workspace.path / "images"
        for name, content in read_images(test):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(without_colour(content))
        rows = [(each.image, each.item, each.category) for _, each in sorted(shown.items())]
        make_catalog(workspace, pl.DataFrame(rows, schema=["image", "item", "category"], orient="row"), root, "grey")
    encode_catalog(workspace, [ENCODER], workers=1)
    return WorkspaceFeatures(workspace)


def without_colour(picture: bytes) -> bytes:
    buffer = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("L").convert("RGB").save(buffer, "PNG")
    return buffer.getvalue()


def change_by_grey(blind: pl.DataFrame) -> str:
    """Of color, with and without it."""
    rows = blind.filter(pl.col("score") == "index", pl.col("dimension") == "color").iter_rows(named=True)
    shares = [(row["model"].partition(", ")[2], row["value"], row["n_questions"]) for row in rows]
    said = [
        f"{label} {100 * value:.1f} % ({', '.join(f'{100 * end:.1f}' for end in wilson_interval(value, n))})"
        for label, value, n in shares
    ]
    return f"- color: {'; '.join(said)}; chance 20 %"


if __name__ == "__main__":
    main()
