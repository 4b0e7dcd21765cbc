"""Identities of the numbers that the VSD paper and the Reality Check print, by the functions that the commands use."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest

from likewise.discovery.prevalence import SECONDS_PER_PAIR, lower_bound, map_estimate, random_pairs_needed
from likewise.evaluation.clustering import random_nmi
from likewise.evaluation.measures import VSD_MRR, P
from likewise.evaluation.measures.ranked import RankedResults
from likewise.evaluation.rank_correlation import spearman_p
from likewise.evaluation.sampled_negatives import VSD_SAMPLING
from likewise.training.methods import METHODS_BY_NAME, PAPER_METHODS, PUBLISHED_BEST_VALUES, SEARCH_RANGES
from likewise.training.plan import PRESETS

DOCS = Path(__file__).parents[1] / "docs"
PUBLISHED = DOCS / "published"
N_IMAGES, N_QUERIES, N_GENERATORS, K = 52_712, 2_000, 6, 6
N_PAIRS, N_SIMILAR = 54_170, 45_920


def read(name: str) -> pl.DataFrame:
    return pl.read_csv(PUBLISHED / f"{name}.csv")


def script(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A script of docs/ as a module."""
    monkeypatch.syspath_prepend(DOCS)
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, made)
    spec.loader.exec_module(made)
    return made


def test_counts_of_the_vsd_run() -> None:
    assert N_PAIRS <= N_GENERATORS * N_QUERIES * K
    assert pytest.approx(0.848, abs=5e-4) == N_SIMILAR / N_PAIRS
    assert N_IMAGES // (N_GENERATORS * K) == 1_464  # "about 1,400x"
    n_all = N_QUERIES * (N_IMAGES - 1)
    assert round(n_all / N_PAIRS) == 1_946  # by the pairs that were really labelled
    assert lower_bound(N_SIMILAR, n_all) == pytest.approx(0.00044, abs=1e-5)  # printed as 0.00045
    assert map_estimate(lower_bound(N_SIMILAR, n_all), 2, 2_000) == 0.001
    assert round(N_PAIRS / N_QUERIES, 1) == 27.1
    assert N_SIMILAR / N_PAIRS / (8 * 0.001) > 100  # "100x higher", were the estimate wrong by a factor of 8
    for error, chance in ((0.01, 0.05), (0.001, 0.5)):
        assert random_pairs_needed(error, chance) == round(1 / (error * chance))  # b = 1 / (eps q)


def test_what_labelling_costs() -> None:
    days = SECONDS_PER_PAIR / 86_400
    assert 4.5 < 10_000 * 1_000 * days / 365 < 5  # every pair of 1,000 queries and 10,000 candidates: years
    assert round(100 / 0.001 * days) == 17  # until 100 similar pairs are found at random, one in a thousand


def test_table_2_is_symmetric_and_its_mean_is_about_ten_percent() -> None:
    table = read("vsd_table_2").drop("generator").to_numpy().astype(float)
    assert np.array_equal(table, table.T, equal_nan=True)
    assert np.nanmean(table) == pytest.approx(10.0, abs=0.5)
    # 6.2: of 30 candidates 24.4 differ. Two of six lists share 10.4 % of a list on average, 15 pairs of lists: by
    # inclusion and exclusion at least 30 - 15 * 0.104 * 5 = 22.2 are different.
    assert 30 - 15 * np.nanmean(table) / 100 * 5 <= 24.4 <= 30


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_table_3_p_values_are_the_t_approximation_over_six_models(average: str) -> None:
    for spearman, p in read("vsd_table_3").select(f"{average} spearman", f"{average} p_value").iter_rows():
        lowest, highest = (spearman_p(min(1.0, spearman + step), N_GENERATORS) for step in (0.005, -0.005))
        assert lowest - 0.001 <= p <= highest + 0.001, (spearman, p)  # both are rounded or cut


def test_table_4_needs_division_by_the_harmonic_sum() -> None:
    """Argus-ID finds all there is (99.9) at 5 and at 9; its MRR falls from 91.8 to 83.2 because H_k grows."""
    rows = {row["model"]: row for row in read("vsd_table_4").iter_rows(named=True)}
    h = {k: sum(1 / n for n in range(1, k + 1)) for k in (5, 9)}
    found = rows["AS ID"]
    sums = {k: found[f"MRR@{k}"] / 100 * h[k] for k in (5, 9)}  # of the reciprocal ranks of what was found
    assert sums[9] > sums[5]  # more is found at 9, as it must be
    assert found["MRR@5"] > found["MRR@9"]  # undivided, or divided by what there is, it would not fall
    n_others = 4
    listed = np.zeros((1, 9), np.int64)
    listed[0, :n_others] = 1
    results = RankedResults(listed, np.array([n_others]))
    at = {k: (VSD_MRR @ k).estimate(results).value() for k in (5, 9)}
    assert at[5] > at[9] and at[9] == pytest.approx(at[5] * h[5] / h[9])
    assert (P @ 5).estimate(results).value() == 0.8


@pytest.mark.parametrize("table", [5, 6])
def test_tables_5_and_6_divide_by_k_and_by_the_harmonic_sum(table: int) -> None:
    """What the first nine places hold is at least what the first five hold, in every row; the shares do not rise."""
    h = {k: sum(1 / n for n in range(1, k + 1)) for k in (5, 9)}
    for row in read(f"vsd_table_{table}").iter_rows(named=True):
        assert 9 * row["HR@9"] >= 5 * row["HR@5"] and row["HR@9"] <= row["HR@5"], row["model"]
        assert h[9] * row["MRR@9"] > h[5] * row["MRR@5"] and row["MRR@9"] <= row["MRR@5"], row["model"]
    listed = np.ones((1, 9), np.int64)
    listed[0, 5:] = 0
    results = RankedResults(listed, np.array([5]))
    at = {k: ((P @ k).estimate(results).value(), (VSD_MRR @ k).estimate(results).value()) for k in (5, 9)}
    assert at[5] == (1.0, 1.0) and at[9] == pytest.approx((5 / 9, h[5] / h[9]))


def test_table_5_repeats_five_cells_of_the_row_above() -> None:
    """A slip of the paper: from macro ROC-AUC Neg on, Argus CAT has the numbers of Argus ID+C."""
    rows = {row[0]: row for row in read("vsd_table_5").iter_rows()}
    assert rows["Argus CAT"][9:] == rows["Argus ID+C"][9:]
    assert rows["Argus CAT"][2:9] != rows["Argus ID+C"][2:9]


def test_the_papers_pr_auc_says_how_many_negatives_it_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    found = script("vsd_negatives", monkeypatch)
    known = (N_PAIRS - N_SIMILAR) / N_SIMILAR
    assert found.solve(0.8, found.average_precision(0.8, known)) == pytest.approx(known, rel=1e-3)
    assert (
        0.7 * known < np.median(found.solve_table(5).labelled) < 1.05 * known
    )  # the method, where the number is known
    per_query = [float(np.median(found.solve_table(table).sampled)) * n for table, n in ((5, 22.96), (6, 13.1))]
    assert max(per_query) - min(per_query) < 0.3 and 3 < min(per_query) < max(per_query) < 5
    assert VSD_SAMPLING.per_query == 4 and VSD_SAMPLING.band == (100, 500)
    for table, positives in ((5, 22.96), (6, 13.1)):
        assert found.far_off(table, 4 / positives) < 1.0 < 15 < found.far_off(table, 1.0)  # points of PR-AUC


def test_the_twelve_methods_of_the_reality_check() -> None:
    titles = read("reality_check_tables")["method"].unique(maintain_order=True).to_list()
    assert titles == ["Pretrained", *(method.title for method in PAPER_METHODS)]
    years = [method.year for method in PAPER_METHODS]
    assert years == [2006, 2006, 2017, 2017, 2017, 2018, 2019, 2019, 2019, 2019, 2019, 2019]
    for name, best in PUBLISHED_BEST_VALUES.items():
        assert set(best) == set(SEARCH_RANGES[name])
        for parameter, values in best.items():
            searched = SEARCH_RANGES[name][parameter]
            for value in values:
                assert np.isnan(value) or searched.low <= value <= searched.high, (name, parameter, value)
    kinds = {name: method.images_per_class for name, method in METHODS_BY_NAME.items()}
    assert {name for name, m in kinds.items() if m == 1} == {
        "proxy-nca", "normalized-softmax", "cosface", "arcface", "soft-triple",
    }  # fmt: skip


def test_the_papers_preset_is_the_papers() -> None:
    plan = PRESETS["paper"]
    assert (plan.n_trials, plan.n_reruns, plan.batch, plan.dim, plan.n_folds) == (50, 10, 32, 128, 4)
    assert (plan.learning_rate, plan.weight_decay, plan.momentum, plan.batch_norm) == (1e-6, 1e-4, 0.9, "frozen")
    assert (plan.optimiser, plan.crops, plan.sampling, plan.schedule, plan.patience_steps) == (
        "rmsprop", "resized", "class", "constant", 900,
    )  # fmt: skip


def test_separated_is_below_concatenated_and_nmi_of_random_vectors_is_high() -> None:
    table = read("reality_check_tables").filter(pl.col("method") != "Pretrained")
    wide = table.pivot("embedding", index=["data", "method", "measure"], values="value")
    assert (wide["concatenated"] > wide["separated"]).all()
    by_measure = table.pivot("measure", index=["data", "method", "embedding"], values="value")
    assert (by_measure["MAP@R"] < by_measure["R_Precision"]).all()  # the average precision over the first R places
    assert (by_measure["R_Precision"] < by_measure["P@1"]).all()
    assert PRESETS["paper"].n_folds * PRESETS["paper"].dim == 512  # concatenated
    assert random_nmi(40_000, 10_000) == pytest.approx(0.849, abs=5e-4)


def rows_of(block: str) -> dict[str, list[str]]:
    """The rows of a block of papers.md, by their first cell."""
    text = (DOCS / "papers.md").read_text(encoding="utf-8")
    lines = text.partition(f"<!-- begin: {block} -->")[2].partition(f"<!-- end: {block} -->")[0].strip().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]
    return {row[0].strip(): row[1:] for row in cells}


def test_every_table_of_the_vsd_paper_has_its_rows() -> None:
    """docs/papers.md, "complete for both papers": a column that is printed has a row, and every row a result."""
    rows = rows_of("papers-vsd")
    columns = {number: read(f"vsd_table_{number}").columns for number in (3, 4, 5, 6)}
    wanted = ["Table 1", "Table 2, mean overlap"]
    wanted += [f"Table 4, {name}" for name in columns[4] if name != "model"]
    for number in (5, 6):
        names = [each for each in columns[number] if each not in ("model", "group")]
        wanted += [f"Table {number}, {name}, {group}" for name in names for group in ("generators", "new models")]
    words = {"AUC": "AUC", "sd": "AUC ±", "spearman": "SC", "p_value": "p"}
    wanted += [f"Table 3, {average} {words[name]}" for average, _, name in (c.partition(" ") for c in columns[3][1:])]
    assert set(wanted) <= set(rows), set(wanted) - set(rows)
    sections = {name.partition(",")[0].partition(":")[0] for name in rows}
    assert {"3.1", "3.2", "3.3", "3.3.1", "6.2", "6.4", "6.5", "7"} <= sections
    assert all(all(cells) for cells in rows.values())


def test_every_table_and_figure_of_the_reality_check_has_its_rows() -> None:
    rows = rows_of("papers-reality") | rows_of("papers-reality-losses")
    printed = read("reality_check_tables").select("measure", "embedding").unique().iter_rows()
    tables = [f"Tables 3–5, {measure}, {embedding}" for measure, embedding in printed]
    margins = [name.replace("5, ", "5, ± of ") for name in tables]
    wanted = ["Table 1", "Table 2", *tables, *margins, *(f"{name}, pretrained" for name in tables), "Table 6"]
    wanted += ["Fig. 1", "Fig. 2", "Fig. 3", "Fig. 4a", "Fig. 4b", "Fig. 5", "2.1", "2.2", "2.3"]
    wanted += [
        "2.1, a larger embedding",
        "2.1, crops",
        "2.1 and 3.1, adam",
        "2.1 and 3.1, sgd",
        "3.1",
        "3.2",
        "3.3",
        "4.2",
    ]
    assert not [each for each in wanted if not any(name.startswith(each) for name in rows)]
    assert all(all(cells) for cells in rows.values())
