"""The same lists measured by other tools: how long, what number, where they disagree and why.

Every measure is measured on four sets of lists (`peer_cases.py`): plain ones, with ties in score, with queries of one
class only, and with both. A tool that differs on plain lists has another definition; one that differs in one of the
other columns treats that corner in another way. Times are for the last set, without making each tool's input.

`python -m benchmarks.peers docs/metrics.md` also writes the differences into the page.
"""

import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pages import fill
from benchmarks.peer_cases import KINDS, Case, Classes, classes, judged_lists
from benchmarks.timing import medians
from likewise.evaluation.measures import AP, MRR, ROC_AUC, VSD_MRR, Judged, Measure, P, bpref, nDCG
from likewise.evaluation.partition import adjusted_mutual_information, normalised_mutual_information, partition
from likewise.evaluation.retrieval import retrieval

K, ROUNDS, EQUAL = 5, 3, 5e-6
Way = Callable[[Any], float]
Line = tuple[str, str, list[str]]
WHY = """
Why they differ:
  one class   A query of one class has no area, and one without a positive has nothing to find: likewise leaves it out
              and counts it. trec_eval (pytrec_eval), ir_measures and ranx count 0 for a query without positives, and 1
              for the average precision of one with positives only. torchmetrics gives 0; with
              empty_target_action="skip" it leaves out queries without positives, not those without negatives.
              ranx has no bpref for such a list and gives NaN for all. scikit-learn gives NaN or 0 and a warning, so its
              loop here skips such queries by hand.
  ties        In areas, likewise and scikit-learn take tied candidates together (one half, or one step), and so does
              torchmetrics' ROC-AUC. In lists, likewise orders them by key from a to z, trec_eval and ir_measures from
              z to a, ranx and torchmetrics as their sort leaves them; their average precision is one of lists.
  definition  VSD_MRR@k is that of the VSD paper: every positive in the list counts 1/rank, divided by H_k. MRR@k, here
              and elsewhere, looks at the first one only.
"""


def main() -> None:
    warnings.simplefilter("ignore")
    whole = {kind: judged_lists(kind, everything_judged=True) for kind in KINDS}
    part = {kind: judged_lists(kind, everything_judged=False) for kind in KINDS}
    by_class = {kind: classes(kind) for kind in KINDS}
    lines = [line for measure, ways in areas().items() for line in compare(measure, ways, whole)]
    lines += [line for measure, ways in lists().items() for line in compare(measure, ways, part)]
    lines += [line for measure, ways in class_based().items() for line in compare(measure, ways, by_class)]
    print(WHY)
    for page in sys.argv[1:]:
        if Path(page).suffix == ".md":
            write_into(Path(page), lines)


def compare(measure: str, ways: dict[str, Way], cases: dict[str, Any]) -> list[Line]:
    """One line per tool: its median time, its value on plain lists, and its difference to ours on each set."""
    last = cases[KINDS[-1]]
    seconds = medians({name: partial(way, last) for name, way in ways.items()}, ROUNDS)
    ours = {kind: ways["likewise"](case) for kind, case in cases.items()}
    print(f"\n{measure:<34}{'ms':>9}  {'plain':>8}   difference: " + "".join(f"{kind:>11}" for kind in KINDS))
    lines = []
    for name, way in ways.items():
        values = {kind: way(case) for kind, case in cases.items()}
        apart = [_apart(values[kind] - ours[kind]) for kind in KINDS]
        columns = "".join(f"{text:>11}" for text in apart)
        print(f"  {name:<32}{1000 * seconds[name]:>9.2f}  {values['plain']:>8.5f}               {columns}")
        lines.append((measure, name, apart))
    return lines


def _apart(difference: float) -> str:
    if np.isnan(difference):
        return "undefined"
    return "=" if abs(difference) < EQUAL else f"{difference:+.5f}"


def write_into(page: Path, lines: list[Line]) -> None:
    """The differences to ours as a table between the marks of a page."""
    table = [f"| measure | tool | {' | '.join(KINDS)} |", "|---|---|" + "---|" * len(KINDS)]
    table += [f"| {measure} | {name} | {' | '.join(apart)} |" for measure, name, apart in lines if name != "likewise"]
    fill(page, {"metrics-peers": "\n".join(table)})


def ours(measure: Measure) -> Way:
    return lambda case: measure.estimate(case.results(K)).value()


def areas() -> dict[str, dict[str, Way]]:
    """Everything judged; ROC-AUC and average precision."""
    from sklearn.metrics import average_precision_score, roc_auc_score
    from torchmetrics.retrieval import RetrievalAUROC, RetrievalMAP

    def by_query(measure: Callable[..., float]) -> Way:
        def loop(case: Case) -> float:
            rows = zip(case.label, case.score, strict=True)
            return float(np.mean([measure(label, score) for label, score in rows if 0 < label.sum() < len(label)]))

        return loop

    return {
        str(ROC_AUC): {
            "likewise": ours(ROC_AUC),
            "scikit-learn, query by query": by_query(roc_auc_score),
            "torchmetrics": torch_metric(RetrievalAUROC),
            "torchmetrics, skip": torch_metric(RetrievalAUROC, empty_target_action="skip"),
        },
        str(ROC_AUC(average="micro")): {
            "likewise": ours(ROC_AUC(average="micro")),
            "scikit-learn": lambda case: float(roc_auc_score(case.label.ravel(), case.score.ravel())),
        },
        str(AP): {
            "likewise": ours(AP),
            "scikit-learn, query by query": by_query(average_precision_score),
            "pytrec_eval": trec("map"),
            "ir_measures": ir("AP"),
            "ranx": ranx("map"),
            "torchmetrics": torch_metric(RetrievalMAP),
        },
        str(AP(average="micro")): {
            "likewise": ours(AP(average="micro")),
            "scikit-learn": lambda case: float(average_precision_score(case.label.ravel(), case.score.ravel())),
        },
    }


def lists() -> dict[str, dict[str, Way]]:
    """Lists with unjudged candidates among the judged ones."""
    from torchmetrics.retrieval import RetrievalMRR, RetrievalNormalizedDCG, RetrievalPrecision

    return {
        str(P @ K): {
            "likewise": ours(P @ K),
            "pytrec_eval": trec(f"P.{K}"),
            "ir_measures": ir(f"P@{K}"),
            "ranx": ranx(f"precision@{K}"),
            "torchmetrics": torch_metric(RetrievalPrecision, top_k=K),
        },
        str(MRR @ K): {
            "likewise": ours(MRR @ K),
            "ir_measures": ir(f"RR@{K}"),
            "ranx": ranx(f"mrr@{K}"),
            "torchmetrics": torch_metric(RetrievalMRR, top_k=K),
        },
        str(VSD_MRR @ K): {
            "likewise": ours(VSD_MRR @ K),
            "ir_measures": ir(f"RR@{K}"),
        },
        str(nDCG @ K): {
            "likewise": ours(nDCG @ K),
            "pytrec_eval": trec(f"ndcg_cut.{K}"),
            "ir_measures": ir(f"nDCG@{K}"),
            "ranx": ranx(f"ndcg@{K}"),
            "torchmetrics": torch_metric(RetrievalNormalizedDCG, top_k=K),
        },
        str(Judged @ K): {"likewise": ours(Judged @ K), "ir_measures": ir(f"Judged@{K}")},
        str(bpref): {
            "likewise": ours(bpref),
            "pytrec_eval": trec("bpref"),
            "ir_measures": ir("Bpref"),
            "ranx": ranx("bpref"),
        },
    }


def class_based() -> dict[str, dict[str, Way]]:
    """300 vectors with classes; the others get every image's whole list. MAP@R is in `benchmarks.retrieval`."""
    from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score
    from torchmetrics.retrieval import RetrievalMRR, RetrievalPrecision, RetrievalRPrecision

    def by_class(measure: str) -> Way:
        return lambda made: retrieval(made.vectors, made.labels).value(measure)

    def of_lists(way: Way) -> Way:
        return lambda made: way(made.lists)

    def clusters(made: Classes) -> Any:
        return made.labels, np.abs(made.vectors).argmax(axis=1)  # any cutting into groups will do

    peers: dict[str, tuple[str, str, str, Any, dict[str, int]]] = {
        "P@1": ("P.1", "P@1", "precision@1", RetrievalPrecision, {"top_k": 1}),
        "R_Precision": ("Rprec", "Rprec", "r-precision", RetrievalRPrecision, {}),
        "MRR": ("recip_rank", "RR", "mrr", RetrievalMRR, {}),
    }
    ways: dict[str, dict[str, Way]] = {
        f"{measure}, by class": {
            "likewise": by_class(measure),
            "pytrec_eval": of_lists(trec(in_trec)),
            "ir_measures": of_lists(ir(in_ir)),
            "ranx": of_lists(ranx(in_ranx)),
            "torchmetrics": of_lists(torch_metric(in_torch, **settings)),
        }
        for measure, (in_trec, in_ir, in_ranx, in_torch, settings) in peers.items()
    }
    ways["NMI"] = {
        "likewise": lambda made: normalised_mutual_information(partition(*clusters(made))),
        "scikit-learn": lambda made: float(normalized_mutual_info_score(*clusters(made))),
    }
    ways["AMI"] = {
        "likewise": lambda made: adjusted_mutual_information(partition(*clusters(made))),
        "scikit-learn": lambda made: float(adjusted_mutual_info_score(*clusters(made))),
    }
    return ways


def trec(measure: str) -> Way:
    """pytrec_eval's mean over queries."""
    import pytrec_eval

    name = measure.replace(".", "_")

    def value(case: Case) -> float:
        found = pytrec_eval.RelevanceEvaluator(case.qrels, {measure}).evaluate(case.run)
        return float(np.mean([values[name] for values in found.values()]))

    return value


def ir(measure: str) -> Way:
    import ir_measures

    parsed = ir_measures.parse_measure(measure)
    return lambda case: float(ir_measures.calc_aggregate([parsed], case.qrels, case.run)[parsed])


def ranx(measure: str) -> Way:
    from ranx import evaluate

    return lambda case: float(evaluate(*case.ranx, measure))


def torch_metric(measure: Any, **settings: Any) -> Way:
    def value(case: Case) -> float:
        scores, labels, queries = case.tensors
        return float(measure(**settings)(scores, labels, indexes=queries))

    return value


if __name__ == "__main__":
    main()
