"""Small ways to write votes down in tests."""

import numpy as np
import polars as pl
from hypothesis import strategies as st
from numpy.typing import NDArray

from likewise.labeling import CANNOT_TELL, NOT_SIMILAR, SIMILAR

LETTERS = {"s": SIMILAR, "n": NOT_SIMILAR, "?": CANNOT_TELL}


def votes_of(**answers: str) -> pl.DataFrame:
    """votes_of(ann="sn?", bob="s.n"): one letter per pair (s, n, ? or . for not asked), candidates c0, c1, ..."""
    rows = [
        ("q", f"c{number}", expert, LETTERS[letter])
        for expert, letters in answers.items()
        for number, letter in enumerate(letters)
        if letter != "."
    ]
    schema = dict.fromkeys(("query", "candidate", "expert", "answer"), pl.String)
    return pl.DataFrame(rows, schema=schema, orient="row")


def planted(
    n_pairs: int, prevalence: float, rates: list[tuple[float, float]], seed: int
) -> tuple[pl.DataFrame, NDArray[np.int8]]:
    """Votes drawn from the Dawid–Skene model, (sensitivity, specificity) per expert, and the truth."""
    random = np.random.default_rng(seed)
    truth = (random.random(n_pairs) < prevalence).astype(np.int8)
    tables = []
    for number, (sensitivity, specificity) in enumerate(rates):
        says_similar = random.random(n_pairs) < np.where(truth == 1, sensitivity, 1 - specificity)
        tables.append(
            pl.DataFrame(
                {
                    "query": "q",
                    "candidate": [f"c{pair:06}" for pair in range(n_pairs)],
                    "expert": f"e{number}",
                    "answer": np.where(says_similar, SIMILAR, NOT_SIMILAR).tolist(),
                }
            )
        )
    return pl.concat(tables), truth


@st.composite
def some_votes(draw: st.DrawFn, least: int = 1) -> pl.DataFrame:
    """Up to 5 experts on up to 12 pairs, with abstentions and pairs not asked; `least` experts answer something."""
    n_pairs = draw(st.integers(1, 12))
    letters = st.text("ssnn?.", min_size=n_pairs, max_size=n_pairs)
    answers = {f"e{number}": draw(letters) for number in range(draw(st.integers(least, 5)))}
    for number in range(least if least > 1 else 0):
        answers[f"e{number}"] = draw(st.sampled_from("sn")) + answers[f"e{number}"][1:]
    return votes_of(**answers)
