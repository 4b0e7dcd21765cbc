"""`likewise condition train-text`: pseudo-words learned from captions alone, without a picture (LinCIR).

In a caption its keywords (nouns and what describes them) are replaced by the pseudo-word of the caption's own features,
blurred by noise because a picture's features lie elsewhere than its caption's; the features of what comes out should be
those of the caption:  loss = 1 - cos(text("a $ on a $" with phi(z + noise)), z),  z = text("a black dog on a beach").
"""

import copy
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from likewise.catalog.table import read_catalog, select_catalog_rows
from likewise.conditional.mining.tagging import textblob_tagger
from likewise.conditional.pseudo_words import SETTINGS, PseudoWords, SentenceSide, projection, write_pseudo_words
from likewise.conditional.screening import tower_lineage
from likewise.conditional.towers import TwoTower
from likewise.conditional.two_tower import check_steps
from likewise.encoders.networks.device import move_to_device, repeatable_kernels, to_device, to_numpy
from likewise.errors import LikewiseError
from likewise.files import finish_writing, written_together
from likewise.lineage.halves import select_half
from likewise.lineage.record import lesson_from_workspace
from likewise.optional_dependencies import import_optional
from likewise.progress import ProgressCallback
from likewise.spreadsheets import csv_text
from likewise.workspace import WorkspaceFolder, write_text

KEYWORD_TAGS = ("NN", "NNS", "NNP", "NNPS", "JJ", "JJR", "JJS")
MIN_CAPTIONS = 32
N_HELD_OUT = 256


@dataclass(frozen=True)
class TextTrainingSettings:
    """How pseudo-words are learned; a few minutes on one core."""

    columns: tuple[str, ...] = ("caption",)
    where: str | None = None
    half: str | None = None
    """The half of the items whose captions are learned from, `train` for instance."""
    steps: int = 400
    batch: int = 64
    learning_rate: float = 3e-4
    weight_decay: float = 0.01
    noise: float = 1.0
    """The blur's length beside that of the features, at most; drawn between 0 and this for every caption."""
    dropout: float = 0.5
    validate_every: int = 50
    seed: int = 0


@dataclass(frozen=True)
class TextTrainingResult:
    """What was learned, and its course."""

    words: PseudoWords
    history: list[dict[str, float]]
    """step, held_out: 1 - cosine on captions that are not trained on."""
    best_step: int
    n_captions: int
    seconds: float


def train_pseudo_words(
    workspace: WorkspaceFolder,
    tower: TwoTower,
    folder: Path,
    settings: TextTrainingSettings | None = None,
    *,
    force: bool = False,
    on_progress: ProgressCallback | None = None,
) -> TextTrainingResult:
    """Learn from the captions of a workspace; no picture and no feature of a picture is read."""
    settings = settings or TextTrainingSettings()
    check_steps(settings.steps, settings.batch)
    finish_writing(folder)
    if (folder / SETTINGS).exists() and not force:
        raise LikewiseError(f"{folder} holds pseudo-words already: choose another `--name`, or add `--force`.")
    started = time.monotonic()
    side = SentenceSide(tower.spec)
    images, captions, masked = masked_captions(workspace, settings, side.blank)
    rng = np.random.default_rng([settings.seed, 7])
    order = rng.permutation(len(captions))
    n_held = min(N_HELD_OUT, len(captions) // 5)
    held, learned = order[:n_held], order[n_held:]
    torch = import_optional("torch", "training pseudo-words")
    with torch.random.fork_rng(devices=[]), repeatable_kernels():
        torch.manual_seed(settings.seed)
        module: Any = move_to_device(projection(side.dim, side.width, settings.dropout))
        fit = _Fit(side, module, captions, masked, settings)
        history, best_step = fit.run(learned, held, rng, on_progress)
    about = {"settings": asdict(settings), "best_step": best_step, "n_captions": len(learned)}
    chosen = sorted({images[row] for row in learned.tolist()})
    lesson = lesson_from_workspace(
        workspace,
        "captions",
        "condition train-text",
        chosen,
        text_columns=settings.columns,
        half=settings.half or "",
    )
    lineage = tower_lineage(workspace, tower).with_lesson(lesson)
    words = PseudoWords(module.eval(), side, tower.spec, about=about, lineage=lineage)
    with written_together(folder) as staged:
        write_pseudo_words(staged.staging, words)
        write_text(csv_text(pl.DataFrame(history)), staged.staging / "history.csv")
    return TextTrainingResult(words, history, best_step, len(learned), time.monotonic() - started)


def masked_captions(
    workspace: WorkspaceFolder, settings: TextTrainingSettings, blank: str
) -> tuple[list[str], list[str], list[str]]:
    """Images, their captions, and the captions with their keywords blank; those without a keyword are left out."""
    catalog = select_catalog_rows(select_half(read_catalog(workspace), settings.half), settings.where)
    missing = [name for name in settings.columns if name not in catalog.columns]
    if missing:
        raise LikewiseError(f"the catalog of {workspace.path} has no column {', '.join(missing)}: name `--columns`.")
    rows = catalog.select(
        "image", pl.concat_list(pl.col(name).cast(pl.String) for name in settings.columns).alias("text")
    )
    listed = rows.explode("text").filter(pl.col("text").str.strip_chars() != "")
    images, captions = listed["image"].to_list(), listed["text"].to_list()
    hidden = [blank_keywords(words, blank) for words in textblob_tagger()(captions)]
    kept = [row for row, text in enumerate(hidden) if blank in text]
    if len(kept) < MIN_CAPTIONS:
        raise LikewiseError(
            f"{len(kept)} captions of {workspace.path} name something: pseudo-words need {MIN_CAPTIONS} or more."
        )
    return [images[row] for row in kept], [captions[row] for row in kept], [hidden[row] for row in kept]


def blank_keywords(words: Sequence[tuple[str, str]], blank: str) -> str:
    """A tagged caption whose nouns and adjectives are blank, those in a row by one blank."""
    found: list[str] = []
    for word, tag in words:
        if tag not in KEYWORD_TAGS:
            found.append(word)
        elif not found or found[-1] != blank:
            found.append(blank)
    return " ".join(found)


@dataclass
class _Fit:
    """One training."""

    side: SentenceSide
    module: Any
    captions: Sequence[str]
    masked: Sequence[str]
    settings: TextTrainingSettings

    def run(
        self,
        learned: "np.ndarray[Any, np.dtype[np.int64]]",
        held: "np.ndarray[Any, np.dtype[np.int64]]",
        rng: np.random.Generator,
        on_progress: ProgressCallback | None,
    ) -> tuple[list[dict[str, float]], int]:
        torch = import_optional("torch", "training pseudo-words")
        settings = self.settings
        optimiser = torch.optim.AdamW(
            self.module.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, settings.steps)
        history: list[dict[str, float]] = []
        best, best_step, kept = float("inf"), 0, None
        for step in range(settings.steps + 1):
            if step % settings.validate_every == 0 or step == settings.steps:
                missed = self.held_out(held)
                history.append({"step": step, "held_out": missed})
                if missed < best:
                    best, best_step, kept = missed, step, copy.deepcopy(self.module.state_dict())
                if on_progress:
                    on_progress(f"pseudo-words (held-out loss {best:.3f})", step, settings.steps)
            if step == settings.steps:
                break
            rows = rng.choice(learned, min(settings.batch, len(learned)), replace=False)
            self.module.train()
            loss = self.loss(rows, rng)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        self.module.load_state_dict(kept)
        return history, best_step

    def loss(self, rows: Any, rng: np.random.Generator | None) -> Any:
        """1 - cosine between captions and captions whose keywords are their own pseudo-word."""
        torch = import_optional("torch", "training pseudo-words")
        cosine = torch.nn.functional.cosine_similarity
        with torch.no_grad():
            whole = torch.nn.functional.normalize(self.side.features([self.captions[row] for row in rows]))
        blurred = whole
        if rng is not None:
            blur = rng.standard_normal((len(rows), self.side.dim)) / np.sqrt(self.side.dim)
            blur *= self.settings.noise * rng.random((len(rows), 1))
            blurred = torch.nn.functional.normalize(whole + to_device(blur.astype(np.float32)))
        found = self.side.features([self.masked[row] for row in rows], self.module(blurred))
        return (1 - cosine(found, whole)).mean()

    def held_out(self, held: Any) -> float:
        torch = import_optional("torch", "training pseudo-words")
        self.module.eval()
        with torch.inference_mode():
            parts = [self.loss(held[start : start + 128], None) for start in range(0, len(held), 128)]
        sizes = [len(held[start : start + 128]) for start in range(0, len(held), 128)]
        return float(np.average([float(to_numpy(part)) for part in parts], weights=sizes))
