"""The same judged lists measured by other tools: how long, what number, and where they disagree and why.

Scores are rounded, so ties occur; a few queries have one class only.
"""

import warnings
from collections.abc import Callable

import numpy as np

from benchmarks.timing import medians, print_beside
from likewise.evaluation.auc import average_precision, roc_auc, sort_pairs
from likewise.evaluation.hits import discounted_gain, look_up_labels

QUERIES, PER_QUERY, ROUNDS = 500, 27, 3
ONE_CLASS = 25  # queries with positives only, and as many with negatives only


def main() -> None:
    import ir_measures
    import pytrec_eval
    import torch
    from ranx import Qrels, Run, evaluate
    from sklearn.metrics import average_precision_score, roc_auc_score
    from torchmetrics.retrieval import RetrievalAUROC, RetrievalMAP, RetrievalNormalizedDCG

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(QUERIES), PER_QUERY)
    score = rng.random(len(query)).round(2)
    label = (rng.random(len(query)) < 0.6).astype(np.int64)
    label[query < ONE_CLASS] = 1
    label[(query >= ONE_CLASS) & (query < 2 * ONE_CLASS)] = 0
    names = [f"d{place:02}" for place in range(PER_QUERY)]
    rows = np.split(np.arange(len(query)), QUERIES)
    qrels = {f"q{q}": {d: int(label[r]) for d, r in zip(names, row, strict=True)} for q, row in enumerate(rows)}
    run = {f"q{q}": {d: float(score[r]) for d, r in zip(names, row, strict=True)} for q, row in enumerate(rows)}
    tensors = torch.tensor(score), torch.tensor(label), torch.tensor(query)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut.5"})
    ranx_qrels, ranx_run = Qrels(qrels), Run(run)

    def ours(metric: str) -> float:
        pairs = sort_pairs(query, score, label, QUERIES)
        if metric == "NDCG@5":
            order = np.lexsort((np.tile(np.arange(PER_QUERY), QUERIES), -score, query)).reshape(QUERIES, PER_QUERY)
            lists = (order % PER_QUERY)[:, :5]
            listed = look_up_labels(lists, query, np.tile(np.arange(PER_QUERY), QUERIES), label, PER_QUERY)
            return discounted_gain(listed, 5, np.bincount(query[label == 1], minlength=QUERIES)).value()
        return float(np.nanmean(roc_auc(pairs) if metric == "ROC-AUC" else average_precision(pairs)))

    def loop(measure: Callable[..., float]) -> float:
        return float(np.mean([measure(label[row], score[row]) for row in rows if 0 < label[row].sum() < len(row)]))

    def trec(name: str) -> float:
        return float(np.mean([values[name] for values in evaluator.evaluate(run).values()]))

    def ir(measure: ir_measures.measures.Measure) -> float:
        return float(ir_measures.calc_aggregate([measure], qrels, run)[measure])

    ways: dict[str, dict[str, Callable[[], float]]] = {
        "ROC-AUC": {
            "likewise": lambda: ours("ROC-AUC"),
            "scikit-learn, one-class queries skipped by hand": lambda: loop(roc_auc_score),
            "torchmetrics RetrievalAUROC": lambda: float(RetrievalAUROC()(tensors[0], tensors[1], indexes=tensors[2])),
            "torchmetrics, empty_target_action='skip'": lambda: float(
                RetrievalAUROC(empty_target_action="skip")(tensors[0], tensors[1], indexes=tensors[2])
            ),
        },
        "average precision": {
            "likewise": lambda: ours("PR-AUC"),
            "scikit-learn, one-class queries skipped by hand": lambda: loop(average_precision_score),
            "pytrec_eval": lambda: trec("map"),
            "ir_measures": lambda: ir(ir_measures.AP),
            "ranx": lambda: float(evaluate(ranx_qrels, ranx_run, "map")),
            "torchmetrics RetrievalMAP": lambda: float(RetrievalMAP()(tensors[0], tensors[1], indexes=tensors[2])),
        },
        "NDCG@5": {
            "likewise": lambda: ours("NDCG@5"),
            "pytrec_eval": lambda: trec("ndcg_cut_5"),
            "ir_measures": lambda: ir(ir_measures.nDCG @ 5),
            "ranx": lambda: float(evaluate(ranx_qrels, ranx_run, "ndcg@5")),
            "torchmetrics RetrievalNormalizedDCG": lambda: float(
                RetrievalNormalizedDCG(top_k=5)(tensors[0], tensors[1], indexes=tensors[2])
            ),
        },
    }
    for metric, by_tool in ways.items():
        timed: dict[str, Callable[[], object]] = dict(by_tool)
        title = (
            f"{metric}: {QUERIES} queries x {PER_QUERY}, ties, {2 * ONE_CLASS} one-class queries (medians of {ROUNDS})"
        )
        print_beside(title, medians(timed, ROUNDS), "likewise")
        mine = by_tool["likewise"]()
        for name, way in by_tool.items():
            print(f"  {name:<52}{way():>9.5f}   {way() - mine:+.5f}")
    print(
        "\n  Why they differ: likewise leaves one-class queries out (undefined) and counts them; trec_eval,\n"
        "  ir_measures and ranx score a query of positives only 1 and one without positives 0, and break ties by\n"
        "  document id or input order instead of treating tied candidates together; torchmetrics gives an empty\n"
        "  query 0 unless told to skip it, and its skip drops queries without positives, not those without negatives."
    )


if __name__ == "__main__":
    main()
