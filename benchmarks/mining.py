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
from collections.abc import Callable
from pathlib import Path

import numpy as np

from likewise.conditional.mining.concreteness import Concreteness
from likewise.conditional.mining.filters import MiningThresholds, RelationTable, filter_relations
from likewise.conditional.mining.step import mine_triplets
from likewise.conditional.mining.tagging import textblob_tagger
from likewise.conditional.mining.triplets import draw_triplets

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


class Loop:
    """Triplets one at a time in plain Python, from lists of a subject's relations; both loops a person would write."""

    def __init__(self, relations: RelationTable, rules: MiningThresholds, seed: int = 0) -> None:
        columns = (relations.subject, relations.object, relations.image)
        by_subject: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for subject, thing, image in zip(*(column.tolist() for column in columns), strict=True):
            by_subject[subject].append((thing, image))
        self.by_subject = by_subject
        self.of_object = dict(zip(relations.object.tolist(), relations.object_concreteness.tolist(), strict=True))
        self.of_subject = dict(zip(relations.subject.tolist(), relations.subject_concreteness.tolist(), strict=True))
        self.subjects = list(by_subject)
        self.images = [len({image for _, image in same}) for same in by_subject.values()]
        self.rules, self.rng = rules, random.Random(seed)

    def fits(self, subject: int, reference: tuple[int, int], other: tuple[int, int]) -> bool:
        """Another object, another image, and concrete enough."""
        mean = (2 * self.of_subject[subject] + self.of_object[reference[0]] + self.of_object[other[0]]) / 4
        return other[0] != reference[0] and other[1] != reference[1] and mean >= self.rules.concreteness

    def listing(self) -> bool:
        """Pick a relation, list every target that fits, pick one."""
        subject = self.rng.choices(self.subjects, weights=self.images)[0]
        reference = self.rng.choice(self.by_subject[subject])
        fitting = [other for other in self.by_subject[subject] if self.fits(subject, reference, other)]
        return bool(fitting and self.rng.choice(fitting))

    def trying(self) -> bool:
        """Pick a relation, pick another of its subject, and begin again where they do not fit."""
        subject = self.rng.choices(self.subjects, weights=self.images)[0]
        reference, other = (self.rng.choice(self.by_subject[subject]) for _ in range(2))
        return self.fits(subject, reference, other)

    def seconds(self, way: Callable[[], bool], n_samples: int) -> float:
        """Of the processor, per triplet."""
        started, made = time.process_time(), 0
        while made < n_samples:
            made += way()
        return (time.process_time() - started) / n_samples


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
        mined = mine_triplets(
            folder / "captions.tsv",
            folder / "mined",
            ratings=ratings,
            n_triplets=asked.triplets,
            workers=asked.workers,
            parser="textblob",
        )
        seconds = time.perf_counter() - started
        cpu = time.process_time() + _children() - cpu
        relations, _ = filter_relations(folder / "mined", Concreteness.read(ratings), MiningThresholds())
    own, workers = (
        resource.getrusage(who).ru_maxrss / 2**20 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    begun = time.process_time()
    drawn, _ = draw_triplets(relations, MiningThresholds(), asked.triplets)
    drawing = (time.process_time() - begun) / max(drawn.height, 1)
    loop = Loop(relations, MiningThresholds())
    listing, trying = (loop.seconds(way, LOOP_SAMPLES) for way in (loop.listing, loop.trying))
    print(
        json.dumps(
            {
                "captions": asked.captions,
                "relations_left": len(relations),
                "triplets": mined.n_triplets,
                "seconds": round(seconds, 1),
                "cpu_seconds": round(cpu, 1),
                "steps": {step: round(value, 1) for step, value in mined.seconds.items()},
                "workers": asked.workers,
                "peak_gb_main": round(own, 2),
                "peak_gb_largest_worker": round(workers, 2),
                "cpu_ms_per_triplet": {
                    "drawing": round(1000 * drawing, 5),
                    "loop that lists what fits": round(1000 * listing, 3),
                    "loop that tries again": round(1000 * trying, 3),
                },
                "times_faster": {
                    "drawing, than listing": round(listing / drawing),
                    "drawing, than trying": round(trying / drawing),
                    "whole run, than listing": round(_whole(listing, drawing, mined.n_triplets, cpu), 1),
                    "whole run, than trying": round(_whole(trying, drawing, mined.n_triplets, cpu), 1),
                },
            },
            indent=2,
        )
    )


def _whole(loop: float, drawing: float, n_triplets: int, cpu: float) -> float:
    """How much more of the processor a run takes that is the same but for the loop."""
    return (cpu + n_triplets * (loop - drawing)) / cpu


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
