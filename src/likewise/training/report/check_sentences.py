"""Sentences about a check that its page and its command share: what it could find, and what went wrong."""

from likewise.report.formatting import plural
from likewise.training.differences import MAIN, CheckVerdict
from likewise.training.summary import CheckSummary


def describe_power(found: CheckVerdict, n_reruns: int) -> str:
    """What a check of this size can find."""
    if found.detectable is None:
        return "One rerun of a method says nothing about the next one, so nothing is tested: use --reruns 5 or more."
    return (
        f"With {plural(n_reruns, 'rerun')} a true difference of {100 * found.detectable:.2f} points in concatenated "
        f"{MAIN} is found with a probability of 80 % (median over the methods, corrected for "
        f"{plural(found.n_pairs, 'pair')}); smaller ones need more reruns or more test classes."
    )


def describe_failed_reruns(summary: CheckSummary) -> list[str]:
    """One sentence for every method of which a rerun gave no model."""
    sentences = []
    for method in summary.methods.values():
        if method.n_reruns_failed:
            n_all = method.n_reruns + method.n_reruns_failed
            rest = "are not in its mean" if method.n_reruns else "it is in no table"
            sentences.append(
                f"{method.title}: {method.n_reruns_failed} of {n_all} reruns diverged or failed and {rest}."
            )
    return sentences
