"""The same lessons on one's own encoders and classes: trunks raw and reduced (Table 1), more and more classes, NMI
beside what random vectors score (Table 2), and what choosing by one measure costs in the others.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from likewise.encoders.families.projection import fit_projection
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Vectors
from likewise.errors import LikewiseError
from likewise.evaluation.clustering import RANDOM_VECTORS, clustering, random_clustering
from likewise.training.lessons.spaces import CLASS_COUNTS, MEASURES, score_space
from likewise.training.split import sort_class_names

PAPERS_DIM = 512
DIMS = (PAPERS_DIM, 128, 32)
MIN_CLASSES = 4
MAX_IMAGES = 4000


def choose_images(values: Sequence[str], max_images: int) -> list[int]:
    """Rows of every n-th class, whole, so that they are about as many as wanted; of few classes, every n-th image."""
    step = max(1, round(len(values) / max_images))
    classes = sort_class_names(set(values))
    if len(classes) < MIN_CLASSES:
        raise LikewiseError(f"{len(classes)} classes teach nothing: choose a --column with at least {MIN_CLASSES}.")
    if len(classes) < 10 * step:
        return list(range(0, len(values), step))
    kept = set(classes[::step])
    return [row for row, value in enumerate(values) if value in kept]


def candidate_table(vectors: Mapping[str, Vectors], values: Sequence[str]) -> pl.DataFrame:
    """Every encoder as it is and reduced by principal components, measured on the second half of the classes.

    The components are those of the first half, so that nothing of the classes that are measured is known.
    """
    classes = sort_class_names(set(values))
    first = set(classes[: len(classes) // 2])
    is_first = np.array([value in first for value in values])
    labels = [value for value, known in zip(values, is_first, strict=True) if not known]
    rows = []
    for encoder, every in vectors.items():
        development, test = every[is_first], every[~is_first]
        whole: dict[str, object] = {"encoder": encoder, "dim": every.shape[1], "reduced": None}
        rows.append(whole | score_space(test, labels))
        for dim in DIMS:
            fits = min(dim, every.shape[1], len(development) - 1)
            if fits == dim or dim == PAPERS_DIM:  # where there are fewer, as many as there are
                projection = fit_projection(lambda known=development: iter([known]), fits, whiten=False)  # type: ignore[misc]
                reduced: dict[str, object] = {"encoder": encoder, "dim": every.shape[1], "reduced": fits}
                rows.append(reduced | score_space(unit_rows(projection.apply(test)), labels))
    table = pl.DataFrame(rows, schema_overrides={"reduced": pl.Int64})
    return table.unique(["encoder", "reduced"], keep="first", maintain_order=True)


def trunk_table(candidates: pl.DataFrame) -> pl.DataFrame:
    """Table 1: P@1 and MAP@R of every encoder as it is, and reduced to 512 dimensions, or to all that there are."""
    raw = candidates.filter(pl.col("reduced").is_null()).select("encoder", "dim", "P@1", "MAP@R")
    largest = candidates.filter(pl.col("reduced").is_not_null()).sort("reduced", descending=True, maintain_order=True)
    pca = largest.unique("encoder", keep="first", maintain_order=True)
    with_pca = pca.select("encoder", "reduced", pl.col("P@1").alias("P@1 PCA"), pl.col("MAP@R").alias("MAP@R PCA"))
    return raw.join(with_pca, on="encoder", how="left", maintain_order="left").sort("P@1 PCA", descending=True)


def growing_table(vectors: Mapping[str, Vectors], values: Sequence[str], seed: int = 0) -> pl.DataFrame:
    """Every measure of every encoder on more and more of the classes, drawn once."""
    classes = np.random.default_rng(seed).permutation(sort_class_names(set(values)))
    rows = []
    for n_classes in sorted({*(count for count in CLASS_COUNTS if count < len(classes)), len(classes)}):
        kept = set(classes[:n_classes].tolist())
        chosen = np.array([value in kept for value in values])
        labels = [value for value, known in zip(values, chosen, strict=True) if known]
        for encoder, every in vectors.items():
            rows.append(
                {"encoder": encoder, "n_classes": n_classes, "n_images": len(labels)}
                | score_space(every[chosen], labels)
            )
    return pl.DataFrame(rows)


def nmi_table(vectors: Mapping[str, Vectors], values: Sequence[str]) -> pl.DataFrame:
    """NMI of every encoder beside random vectors, the formula, and the chance of these very clusters; AMI and F1."""
    dim = max(every.shape[1] for every in vectors.values())
    found = {encoder: clustering(every, list(values)) for encoder, every in vectors.items()}
    found[RANDOM_VECTORS] = random_clustering(list(values), dim)
    return pl.DataFrame(
        [
            {
                "encoder": encoder,
                "NMI": one.nmi,
                "by chance": one.expected_nmi,
                "formula": one.nmi_of_random_vectors,
                "AMI": one.ami,
                "F1": one.f1,
                "n_images": one.n_images,
                "n_classes": one.n_classes,
            }
            for encoder, one in found.items()
        ]
    )


def trade_off_table(candidates: pl.DataFrame) -> pl.DataFrame:
    """Whom each measure would choose, and how far behind the best that one is by every measure."""
    best = {measure: float(candidates[measure].max()) for measure in MEASURES}  # type: ignore[arg-type]
    rows = []
    for measure in MEASURES:
        chosen = candidates.sort(measure, descending=True, nulls_last=True, maintain_order=True).row(0, named=True)
        behind = {f"{other} behind": best[other] - chosen[other] for other in MEASURES}
        rows.append({"chosen by": measure, "encoder": chosen["encoder"], "reduced": chosen["reduced"]} | behind)
    return pl.DataFrame(rows, schema_overrides={"reduced": pl.Int64})
