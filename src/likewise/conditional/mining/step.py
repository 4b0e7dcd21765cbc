"""`likewise condition mine`: captions -> relations -> filters -> triplets, in one folder of ordinary files.

captions.parquet          image, caption
relations/part-*.parquet  row (of the caption), subject, relation, object
triplets.parquet          reference, target, condition, and what they rest on
funnel.parquet            how much every filter left, and why
mine.json                 the settings
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from likewise.conditional.mining.captions import CAPTION_COLUMNS
from likewise.conditional.mining.concreteness import Concreteness
from likewise.conditional.mining.filters import (
    DEFAULT_FILTER,
    FILTERS,
    FilterStage,
    MiningThresholds,
    RelationTable,
    filter_relations,
)
from likewise.conditional.mining.parsers import installed_parser
from likewise.conditional.mining.parsing import ROWS_PER_SHARD, captions_file, parse_captions
from likewise.conditional.mining.triplets import draw_triplets
from likewise.errors import LikewiseError
from likewise.files import finish_writing, written_together
from likewise.progress import ProgressCallback
from likewise.workspace import read_json, read_parquet, write_json, write_parquet

N_TRIPLETS = 1_600_000
ROWS_PER_SLICE = 1_000_000


@dataclass(frozen=True)
class MiningResult:
    """What a run left behind."""

    folder: Path
    n_captions: int
    n_triplets: int
    funnel: list[FilterStage]
    seconds: dict[str, float]


def triplets_file(folder: Path) -> Path:
    return folder / "triplets.parquet"


def mine_triplets(
    source: Path,
    folder: Path,
    *,
    ratings: Path | None,
    rules: MiningThresholds | None = None,
    n_triplets: int = N_TRIPLETS,
    seed: int = 0,
    half: str | None = None,
    where: str | None = None,
    columns: Sequence[str] = CAPTION_COLUMNS,
    parser: str | None = None,
    workers: int | None = None,
    rows_per_shard: int = ROWS_PER_SHARD,
    force: bool = False,
    on_progress: ProgressCallback | None = None,
) -> MiningResult:
    """Mine `source` into `folder`; relations that are there already are used again.

    `ratings` is the file of concreteness ratings; None leaves the filter out, as the paper's ablation does. With `half`
    only the captions of one half of a workspace's items are mined, with `where` those of some images; captions may
    stand in several `columns`.
    """
    rules = rules or FILTERS[DEFAULT_FILTER]
    if n_triplets < 1:
        raise LikewiseError(f"n_triplets is {n_triplets}: ask for 1 or more.")
    parser = parser or installed_parser()
    settings: dict[str, object] = {
        "rules": asdict(rules),
        "ratings": ratings.name if ratings else None,
        "n_triplets": n_triplets,
        "seed": seed,
        "parser": parser,
        **_captions_asked_for(half, where, columns),
    }
    if not source.exists():
        raise LikewiseError(f"{source} does not exist: give a file of captions.")
    finish_writing(folder)
    _check_settings(folder, settings, force)
    known = Concreteness.read(ratings) if ratings else None
    clock = [time.monotonic()]
    n_captions = parse_captions(
        source,
        folder,
        parser=parser,
        half=half,
        where=where,
        columns=columns,
        workers=workers,
        rows_per_shard=rows_per_shard,
        force=force,
        on_progress=on_progress,
    )
    clock.append(time.monotonic())
    relations, funnel = filter_relations(folder, known, rules)
    clock.append(time.monotonic())
    drawn, more = draw_triplets(relations, rules, n_triplets, seed=seed, on_progress=on_progress)
    clock.append(time.monotonic())
    triplets = to_triplet_table(folder, relations, drawn)
    if known is None:
        triplets = triplets.with_columns(pl.lit(None, pl.Float64).alias("concreteness"))
    _store_triplets(folder, triplets, [*funnel, *more], settings)
    clock.append(time.monotonic())
    names = ("parse", "filter", "draw", "write")
    seconds = {name: after - before for name, before, after in zip(names, clock, clock[1:], strict=False)}
    return MiningResult(folder, n_captions, drawn.height, [*funnel, *more], seconds)


def _captions_asked_for(half: str | None, where: str | None, columns: Sequence[str]) -> dict[str, object]:
    """What differs from all captions of the usual column."""
    of_columns = list(columns) if tuple(columns) != CAPTION_COLUMNS else None
    asked = {"half": half or None, "where": where or None, "columns": of_columns}
    return {name: said for name, said in asked.items() if said is not None}


def _store_triplets(
    folder: Path, triplets: pl.DataFrame, funnel: Sequence[FilterStage], settings: dict[str, object]
) -> None:
    with written_together(folder) as staged:
        write_parquet(triplets, triplets_file(staged.staging))
        write_parquet(pl.DataFrame([asdict(step) for step in funnel]), staged.staging / "funnel.parquet")
        write_json(settings, staged.staging / "mine.json")


def _check_settings(folder: Path, settings: dict[str, object], force: bool) -> None:
    """Triplets drawn by other rules are not overwritten silently."""
    path = folder / "mine.json"
    if path.exists() and triplets_file(folder).exists() and read_json(path) != settings and not force:
        raise LikewiseError(
            f"{triplets_file(folder)} was mined with other settings: add `--force` to make it again "
            "(its relations are kept), or name another folder with `--output`."
        )


def to_triplet_table(folder: Path, relations: RelationTable, drawn: pl.DataFrame) -> pl.DataFrame:
    """Positions to images and words: reference, target, condition, subject, objects, distractors, concreteness."""
    places = ("reference", "target", "same_subject", "same_object")
    rows = {name: pl.Series(relations.row).gather(drawn[name]) for name in places}
    different = pl.concat(rows.values()).drop_nulls().unique().sort()
    images = _images_of(folder, different)

    def image(name: str) -> pl.Series:
        return rows[name].replace_strict(different, images, default=None, return_dtype=pl.String).alias(name)

    reference, target = drawn["reference"], drawn["target"]
    first, second = drawn["reference"].to_numpy(), drawn["target"].to_numpy()
    total = (
        2 * relations.subject_concreteness[first]
        + relations.object_concreteness[first]
        + relations.object_concreteness[second]
    )
    said = relations.surface("relation", target) + " " + relations.surface("object", target)
    table = pl.DataFrame(
        [
            image("reference"),
            image("target"),
            said.str.strip_chars().alias("condition"),
            relations.surface("subject", target),
            relations.surface("relation", reference).alias("reference_relation"),
            relations.surface("object", reference).alias("reference_object"),
            relations.surface("object", target).alias("target_object"),
            image("same_subject"),
            image("same_object"),
            rows["reference"].alias("reference_row"),
            rows["target"].alias("target_row"),
            pl.Series("concreteness", total / 4),
        ]
    )
    return drop_possible_answers(table, captions_file(folder))


def drop_possible_answers(triplets: pl.DataFrame, captions: Path) -> pl.DataFrame:
    """Without distractors that may be answers: no caption of theirs may have the word that should tell them apart.

    `same_subject` must not name the target's object, `same_object` not the subject; a word that only begins alike
    counts, so what stays is surely wrong as far as captions say.
    """
    told = {"same_subject": "target_object", "same_object": "subject"}
    images = pl.concat([triplets[name] for name in told]).drop_nulls().unique()
    texts = (
        pl.scan_parquet(captions, glob=False)
        .filter(pl.col("image").is_in(images.implode()))
        .group_by("image")
        .agg(pl.col("caption").str.join(" ").str.to_lowercase().str.replace_all(r"[^\w]+", " ").alias("text"))
        .with_columns((" " + pl.col("text")).alias("text"))
        .collect()
    )
    for name, word in told.items():
        said = triplets.select(pl.col(name), (" " + pl.col(word)).alias("word")).join(
            texts, left_on=name, right_on="image", how="left", maintain_order="left"
        )
        named = said.select(pl.col("text").str.contains(pl.col("word"), literal=True).fill_null(True)).to_series()
        triplets = triplets.with_columns(pl.when(~named).then(pl.col(name)).alias(name))
    return triplets


def _images_of(folder: Path, rows: pl.Series) -> pl.Series:
    """The images of some captions, by their sorted row numbers; the captions are read a slice at a time."""
    captions = pl.scan_parquet(captions_file(folder), glob=False).select("image")
    found = [pl.Series("image", [], dtype=pl.String)]
    for start in range(0, rows[-1] + 1 if len(rows) else 0, ROWS_PER_SLICE):
        wanted = rows.filter(rows.is_between(start, start + ROWS_PER_SLICE - 1)) - start
        found.append(captions.slice(start, ROWS_PER_SLICE).collect().to_series().gather(wanted))
    return pl.concat(found)


def read_triplets(path: Path) -> pl.DataFrame:
    """The mined triplets of a folder or a Parquet file; reference, target and condition are needed."""
    if not path.is_dir() and path.suffix != ".parquet":
        raise LikewiseError(f"{path} is no table of triplets: give a folder of `likewise condition mine`, or Parquet.")
    path = triplets_file(path) if path.is_dir() else path
    triplets = read_parquet(path, "likewise condition mine CAPTIONS")
    missing = {"reference", "target", "condition"} - set(triplets.columns)
    if missing:
        raise LikewiseError(f"{path} has no column {', '.join(sorted(missing))}: triplets need all three.")
    return triplets
