"""Labels that come without votes, put into a workspace: labels.parquet with a note of the file, and no invented votes.

The columns that count votes are there but empty, and labels.json says `imported` where a consensus rule would stand,
so that every later step and page can tell. A copy stays in labels.imported.parquet, so that labels made from votes
later, which take the place of labels.parquet, lose nothing. Where no pool was made, the labelled pairs become the
pool, so that labels from anywhere can be evaluated: their queries against the whole gallery. The models behind them
are those that the file names (its column `generators`), and those named with it, whose lists are made again from
their vectors. Labels of a training part (split `train`) are kept apart. Where the file has inclusion probabilities,
the pool is the drawn pairs with theirs, and the catalog is estimated from it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from dataclasses import replace as fields_replaced
from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog import read_catalog, select_catalog_rows
from likewise.chain import table_digest
from likewise.discovery.pool import DRAWN, IMPORTED, POOL_SCHEMA, QueryGallery, sort_pool
from likewise.discovery.proposals import (
    GENERATORS,
    NO_GENERATORS,
    PROPOSAL_SCHEMA,
    all_proposals,
    fed_by,
    named_proposals,
    with_generators,
)
from likewise.discovery.step import Pool, PoolSettings, add_generators, read_pool, stage_pool_files
from likewise.discovery.unit import IMAGES, ITEMS
from likewise.errors import LikewiseError
from likewise.evaluation.exchange.labels_io import LabelsFile, read_labels_file
from likewise.evaluation.exchange.training_labels import set_apart
from likewise.labeling.grades import GRADE, GradeThreshold
from likewise.labeling.imports import refuse_unknown_images
from likewise.labeling.state import read_labels_note
from likewise.labeling.votes import PAIR
from likewise.workspace import WorkspaceFolder, read_parquet, staged_workspace, write_json, write_parquet

LIST_LENGTH = PoolSettings(()).k
NO_VOTES = "the labels were imported without votes"
VOTE_COLUMNS = {"similar": pl.Int64, "not_similar": pl.Int64, "cannot_tell": pl.Int64, "probability": pl.Float64}


@dataclass(frozen=True)
class ImportedLabels:
    """What an import did; `changed` is False if the very same labels were there."""

    n_labels: int
    n_similar: int
    n_repeated: int
    n_unjudged: int
    n_outside_pool: int | None  # None where the labelled pairs are the pool
    changed: bool
    n_drawn: int | None = None  # pairs of the file's design, judged or not
    n_listed: int | None = None  # labels in the lists of the generators that were named with the file
    generators: tuple[str, ...] = ()  # who contributed to the labels, as far as anybody says
    grades: str | None = None  # which grades are similar, where the file has grades
    n_training: int = 0  # labels of the training part, kept apart

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def import_labels(
    workspace: WorkspaceFolder,
    path: Path,
    *,
    positive_from: float | None = None,
    replace: bool = False,
    gallery: str | None = None,
    every_image: bool = False,
    generators: Sequence[str] = (),
    k: int = LIST_LENGTH,
) -> ImportedLabels:
    """Make the labels of a file those of the workspace; labels already there give way only with `replace`.

    `gallery` is a rule such as `domain=shop` for the candidates, where there is no pool yet that says it (by default
    the images that the catalog calls `is_gallery`); `every_image` says that a design drew images, not items.
    `generators` are encoders whose first `k` candidates were labelled.
    """
    catalog = read_catalog(workspace)
    images = set(catalog["image"])
    read, training = set_apart(read_labels_file(path, positive_from=positive_from, known=images), path, catalog)
    for named in (read.labels, read.design, training):
        if named is not None:
            refuse_unknown_images(named, images, f"{path} names")
    proposals = _has_proposals(workspace)
    if proposals and read.design is not None:
        _refuse_another_design(read_pool(workspace), read.design, path)
    if proposals and (gallery is not None or generators):
        raise LikewiseError(
            "the pool of `likewise discover` has a gallery and generators: leave --gallery and --generators out."
        )
    pool = None
    if not proposals:
        candidates = gallery or stated_gallery(catalog)
        pool = pool_from_labels(workspace, read, candidates, every_image=every_image, generators=generators, k=k)
    known = all_proposals(workspace) if pool is None else pool.rows
    table = _label_table(read.labels, known)
    changed = _labels_changed(workspace, table, named=GENERATORS in read.labels.columns or replace)
    if changed and not replace:
        _refuse_labels_there(workspace)
    asked = read_pool(workspace).rows if pool is None else read.design
    note = _note(table, path, read.threshold, positive_from)
    _store_labels(workspace, table if changed else None, note, training, pool)
    return ImportedLabels(
        n_labels=len(read.labels),
        n_similar=int(read.labels["label"].cast(pl.Int64).sum()),
        n_repeated=read.n_repeated,
        n_unjudged=read.n_unjudged,
        n_outside_pool=None if asked is None else read.labels.join(asked, on=PAIR, how="anti").height,
        changed=changed,
        n_drawn=None if read.design is None else len(read.design),
        n_listed=named_proposals(table).filter(pl.col("generator").is_in(generators)).select(PAIR).n_unique()
        if generators
        else None,
        generators=tuple(fed_by(table)),
        grades=_grades_note(read.threshold, positive_from)["similar"] if GRADE in table.columns else None,
        n_training=0 if training is None else len(training),
    )


def _store_labels(
    workspace: WorkspaceFolder,
    table: pl.DataFrame | None,
    note: dict[str, Any],
    training: pl.DataFrame | None,
    pool: Pool | None,
) -> None:
    """Labels that changed, the part for training, and the pool that they make, all together."""
    with staged_workspace(workspace) as (staged, files):
        if training is not None:
            write_parquet(training, staged.training_labels_file)
        elif table is not None and workspace.training_labels_file.exists():
            files.remove(workspace.training_labels_file)
        if table is not None:
            write_parquet(table, staged.imported_labels_file)
            write_parquet(table, staged.labels_file)
            write_json(note, staged.labels_settings_file)
        if pool is not None:
            stage_pool_files(workspace, staged, pool, replace=True)


def _refuse_labels_there(workspace: WorkspaceFolder) -> None:
    if workspace.labels_file.exists():
        raise LikewiseError(
            f"{workspace.labels_file} holds {_describe_labels(workspace)}: add `--replace` to put these in their place "
            "(votes are kept, and `likewise label consensus` brings their labels back)."
        )


def stated_gallery(catalog: pl.DataFrame) -> str | None:
    """The rule of the candidates, where a data set names them."""
    column = "is_gallery"
    stated = column in catalog.columns and catalog[column].dtype == pl.Boolean and not catalog[column].all()
    return f"{column}=true" if stated else None


def _label_table(labels: pl.DataFrame, proposals: pl.DataFrame) -> pl.DataFrame:
    """As labels.parquet has it: no votes, and who proposed each pair."""
    table = labels.with_columns(pl.lit(None, kind).alias(name) for name, kind in VOTE_COLUMNS.items())
    table = with_generators(table, proposals)
    return table.select(*(name for name in table.columns if name != GENERATORS), GENERATORS)


def _has_proposals(workspace: WorkspaceFolder) -> bool:
    """Whether generators made the pool; labels imported before may have done."""
    if not workspace.pool_file.exists():
        return False
    settings = read_pool(workspace).settings
    return bool(settings.generators) and not settings.of_labels


def _refuse_another_design(pool: Pool, design: pl.DataFrame, path: Path) -> None:
    """Labels drawn by one design cannot stand for pairs that another one chose."""
    elsewhere = "import them into a workspace without a pool (`likewise new` makes one of the same catalog)"
    if pool.settings.design == "eds":
        raise LikewiseError(
            f"{path} has inclusion probabilities, but the pool here is an EDS pool: two designs would be mixed; "
            f"{elsewhere}."
        )
    drawn = pool.rows.select(*PAIR, here=pl.col("probability"))
    other = design.join(drawn, on=PAIR, how="left").filter(pl.col("here").ne_missing(pl.col("probability")))
    if len(other):
        query, candidate, probability, _, here = other.row(0)
        what = "was not drawn here" if here is None else f"was drawn here with {here:g}"
        raise LikewiseError(
            f"{path} has other inclusion probabilities than the pool here for {len(other)} pairs (first: {query} and "
            f"{candidate}, {probability:g}; it {what}): two designs would be mixed; {elsewhere}."
        )


def pool_from_labels(
    workspace: WorkspaceFolder,
    read: LabelsFile,
    gallery: str | None = None,
    *,
    every_image: bool = False,
    generators: Sequence[str] = (),
    k: int = LIST_LENGTH,
) -> Pool:
    """The labelled pairs as a pool: its queries are theirs, its gallery what the rule selects.

    Of a file with a design, the drawn pairs with their probabilities, labelled or not. Otherwise the pairs of the
    generators that the file names, whole lists of the `generators` named with it, and the labelled pairs of neither.
    """
    catalog = read_catalog(workspace)
    candidates = select_catalog_rows(catalog, gallery)["image"]
    asked = read.labels if read.design is None else read.design
    outside = asked.filter(~pl.col("candidate").is_in(candidates.implode()))
    if len(outside):
        raise LikewiseError(
            f"{len(outside)} of {len(asked)} labels are about candidates outside the gallery {gallery!r} "
            f"(first: {outside['candidate'][0]}): choose the gallery they were labelled in."
        )
    searched = QueryGallery.from_catalog(catalog, asked["query"].unique(), candidates)
    n_rounds = 1 if read.design is None else int(read.design["round"].max())  # type: ignore[arg-type]
    settings = PoolSettings(
        (),
        k=max(asked.group_by("query").len()["len"].to_list()),
        n_queries=len(searched.queries),
        gallery=gallery,
        n_random=0,
        unit=IMAGES if every_image else ITEMS,
        design="eds" if read.design is None else "sampled" if n_rounds == 1 else "adaptive",
        n_rounds=n_rounds,
        n_labels=None if read.design is None else len(asked),
        of_labels=True,
    )
    if read.design is not None:
        if generators:
            raise LikewiseError(
                "the pairs of this file were drawn, not proposed by generators: leave --generators out."
            )
        return Pool(_pool_rows(read.design.with_columns(generator=pl.lit(DRAWN))), settings, searched)
    named = named_proposals(read.labels)
    proposed = named.filter(~pl.col("generator").is_in(NO_GENERATORS))
    if len(proposed):
        longest = max(proposed.group_by("query", "generator").len()["len"].to_list())
        settings = fields_replaced(settings, generators=tuple(fed_by(read.labels)), k=longest)
    pool = Pool(_pool_rows(named), fields_replaced(settings, k=k) if generators else settings, searched)
    if generators:
        pool = add_generators(workspace, pool, generators)
    nobody = read.labels.join(pool.rows, on=PAIR, how="anti").with_columns(generator=pl.lit(IMPORTED))
    rows = pl.concat([pool.rows, _pool_rows(nobody)]).unique(PROPOSAL_SCHEMA.names(), keep="first", maintain_order=True)
    every = tuple(dict.fromkeys(pool.settings.generators))
    return fields_replaced(pool, rows=sort_pool(rows), settings=fields_replaced(pool.settings, generators=every))


def _pool_rows(pairs: pl.DataFrame) -> pl.DataFrame:
    """Rows of a pool; what is not known of them is empty."""
    unknown = (pl.lit(None, kind).alias(name) for name, kind in POOL_SCHEMA.items() if name not in pairs.columns)
    return sort_pool(pairs.with_columns(unknown).select(POOL_SCHEMA.names()).cast(POOL_SCHEMA))


def _labels_changed(workspace: WorkspaceFolder, labels: pl.DataFrame, *, named: bool) -> bool:
    """Whether other labels are stored; who proposed them counts where the file names it."""
    if not workspace.labels_file.exists() or not workspace.labels_settings_file.exists():
        return True
    there = read_parquet(workspace.labels_file, f"likewise label consensus {workspace.quoted}")
    if not named and GENERATORS in there.columns:
        there, labels = there.drop(GENERATORS), labels.drop(GENERATORS)
    return "imported" not in read_labels_note(workspace) or not there.equals(labels)


def _describe_labels(workspace: WorkspaceFolder) -> str:
    n = len(read_parquet(workspace.labels_file, f"likewise label consensus {workspace.quoted}"))
    note = read_labels_note(workspace) if workspace.labels_settings_file.exists() else {}
    if note.get("consensus", {}).get("rule") == IMPORTED:
        return f"{n} labels imported from another file"
    return f"{n} labels made from the votes of {note.get('agreement', {}).get('n_experts', 'several')} experts"


def _note(
    labels: pl.DataFrame, path: Path, threshold: GradeThreshold | None, positive_from: float | None
) -> dict[str, Any]:
    """The note that every reader of labels.json understands: nothing is claimed about experts."""
    unknown = {"value": None, "n_pairs": 0, "reason": NO_VOTES}
    return {
        "rests_on": {},
        "labels": table_digest(labels),
        "consensus": {
            "rule": IMPORTED,
            "n_pairs": len(labels),
            "n_labelled": len(labels),
            "n_similar": int(labels["label"].cast(pl.Int64).sum()),
            "n_ties": 0,
            "n_unanswered": 0,
            "iterations": None,
            "converged": None,
        },
        "agreement": {
            "n_experts": 0,
            "n_pairs": 0,
            "n_votes": 0,
            "fleiss_kappa": unknown,
            "krippendorff_alpha": unknown,
            "experts": [],
        },
        "sources": [f"labels {path.name}"],
        "simulated": False,
        "imported": {
            "file": path.name,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "positive_from": positive_from,
        },
    } | ({"grades": _grades_note(threshold, positive_from)} if GRADE in labels.columns else {})


def _grades_note(threshold: GradeThreshold | None, positive_from: float | None) -> dict[str, Any]:
    """Which grades are similar; a file with labels beside its grades decided that itself."""
    if threshold is None and positive_from is None:
        return {"similar": "as the file's column label says"}
    return (threshold or GradeThreshold(positive_from or 0.0)).to_dict()
