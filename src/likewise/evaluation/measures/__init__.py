"""Measures as values: `P @ 5` is an object whose text is `P@5`; one file per family, with formula and citation."""

from likewise.evaluation.measures.average_precision import AP
from likewise.evaluation.measures.base import CutoffMeasure, Measure
from likewise.evaluation.measures.bpref import bpref
from likewise.evaluation.measures.judged import Judged
from likewise.evaluation.measures.ndcg import nDCG
from likewise.evaluation.measures.parse import cutoff_of, cutoffs, heading, is_sampled, parse_measure, parse_measures
from likewise.evaluation.measures.precision import P
from likewise.evaluation.measures.r_precision import MAP_at_R, R_Precision
from likewise.evaluation.measures.recall import Recall, Recall_cap, Success
from likewise.evaluation.measures.reciprocal_rank import MRR, VSD_MRR
from likewise.evaluation.measures.registry import known_measures, register_measure
from likewise.evaluation.measures.roc_auc import ROC_AUC

__all__ = [
    "AP",
    "MRR",
    "ROC_AUC",
    "VSD_MRR",
    "CutoffMeasure",
    "Judged",
    "MAP_at_R",
    "Measure",
    "P",
    "R_Precision",
    "Recall",
    "Recall_cap",
    "Success",
    "bpref",
    "cutoff_of",
    "cutoffs",
    "heading",
    "is_sampled",
    "known_measures",
    "nDCG",
    "parse_measure",
    "parse_measures",
    "register_measure",
]
