"""Mining triplets from millions of captions, against the straightforward loop over samples.

The captions are generated from real ones: a real sentence with its nouns exchanged for other nouns of the same file,
drawn by their frequency, so that the vocabulary, the lengths and the long tail of subjects are real.

    python -m benchmarks.mining --data FOLDER [--captions 3000000] [--triplets 1600000]
"""

import argparse
import json
import random
import resource
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from likewise.conditional.mining.concreteness import Concreteness
from likewise.conditional.mining.filters import Relations, Rules, survivors
from likewise.conditional.mining.step import mine
from likewise.conditional.mining.tagging import textblob_tagger

LOOP_SAMPLES = 300


def generate(source: Path, target: Path, n_captions: int, seed: int = 0) -> None:
    """Write `n_captions` captions made from those of `source`."""
    texts = [line.split("\t")[0] for line in source.read_text(encoding="utf-8").splitlines() if line]
    tagged = textblob_tagger()(texts)
    nouns = [word for words in tagged for word, tag in words if tag in ("NN", "NNS")]
    rng = np.random.default_rng(seed)
    with target.open("w", encoding="utf-8") as file:
        written = 0
        while written < n_captions:
            n = min(100_000, n_captions - written)
            chosen = rng.integers(0, len(tagged), n)
            drawn = iter(rng.integers(0, len(nouns), 24 * n).tolist())
            for row, which in enumerate(chosen.tolist(), written):
                words = [
                    nouns[next(drawn)] if tag in ("NN", "NNS") and row % 3 else word for word, tag in tagged[which][:24]
                ]
                file.write(f"{' '.join(words)}\thttp://example.org/{row}.jpg\n")
            written += n


def loop_seconds(relations: Relations, rules: Rules, n_samples: int, seed: int = 0) -> float:
    """Seconds per triplet of the loop a person would write first: pick one, list what fits, pick again."""
    words = list(zip(relations.subject.tolist(), relations.object.tolist(), relations.image.tolist(), strict=True))
    ratings = dict(zip(relations.object.tolist(), relations.object_concreteness.tolist(), strict=True))
    of_subject = dict(zip(relations.subject.tolist(), relations.subject_concreteness.tolist(), strict=True))
    by_subject = defaultdict(list)
    for subject, thing, image in words:
        by_subject[subject].append((subject, thing, image))
    images = {subject: len({image for _, _, image in same}) for subject, same in by_subject.items()}
    rng = random.Random(seed)
    started, made = time.perf_counter(), 0
    while made < n_samples:
        subject = rng.choices(list(images), weights=list(images.values()))[0]
        _, thing, image = rng.choice(by_subject[subject])
        fitting = [
            other
            for other in by_subject[subject]
            if other[1] != thing
            and other[2] != image
            and (2 * of_subject[subject] + ratings[thing] + ratings[other[1]]) / 4 >= rules.concreteness
        ]
        if fitting:
            rng.choice(fitting)
            made += 1
    return (time.perf_counter() - started) / n_samples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with captions/ and concreteness/")
    parser.add_argument("--captions", type=int, default=100_000)
    parser.add_argument("--triplets", type=int, default=50_000)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    ratings = next((asked.data / "concreteness").glob("*.txt"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generate(asked.data / "captions" / "cc3m_validation.tsv", folder / "captions.tsv", asked.captions)
        cpu = time.process_time() + _children()
        started = time.perf_counter()
        mined = mine(
            folder / "captions.tsv",
            folder / "mined",
            ratings=ratings,
            n_triplets=asked.triplets,
            workers=asked.workers,
            parser="textblob",
        )
        seconds = time.perf_counter() - started
        cpu = time.process_time() + _children() - cpu
        relations, _ = survivors(folder / "mined", Concreteness.read(ratings), Rules())
        per_triplet = loop_seconds(relations, Rules(), LOOP_SAMPLES)
        drawing = mined.seconds["draw"] / max(mined.n_triplets, 1)
    own, workers = (
        resource.getrusage(who).ru_maxrss / 2**20 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(
        json.dumps(
            {
                "captions": asked.captions,
                "relations_left": len(relations),
                "triplets": mined.n_triplets,
                "seconds": round(seconds, 1),
                "cpu_seconds": round(cpu, 1),
                "steps": {step: round(value, 1) for step, value in mined.seconds.items()},
                "peak_gb_main": round(own, 2),
                "peak_gb_largest_worker": round(workers, 2),
                "loop_ms_per_triplet": round(1000 * per_triplet, 3),
                "draw_ms_per_triplet": round(1000 * drawing, 5),
                "times_faster_drawing": round(per_triplet / drawing),
                "times_faster_whole_run": round((per_triplet * mined.n_triplets + mined.seconds["parse"]) / seconds, 1),
            },
            indent=2,
        )
    )


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
