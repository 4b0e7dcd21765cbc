"""Training a small two-tower encoder on a captioned catalog, in minutes and without a download.

The image side sits on features of a network that is not trained; the text side starts from nothing, or sits on the
vectors of a sentence encoder that is not trained either.  Both learn to agree by a contrastive loss over the batch in
both directions (CLIP, Radford et al. 2021), where a text that fits several pictures of the batch shares its target
among them.
"""

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog.table import read_catalog, select_catalog_rows
from likewise.conditional.base_features import unscaled_spec
from likewise.conditional.caption_sampling import CaptionTexts, caption_texts, text_matches
from likewise.conditional.caption_vectors import draw_texts, sentence_vectors
from likewise.conditional.protocol import Features
from likewise.conditional.towers import FeatureWorkspace
from likewise.encoders.families.two_tower import (
    SETTINGS,
    TwoTowerConfig,
    base_network,
    image_head,
    text_inputs,
    text_tower,
    write_two_tower,
)
from likewise.encoders.lineage import encoder_lineage
from likewise.encoders.networks.device import move_to_device, repeatable_kernels, to_device, to_numpy
from likewise.encoders.registry import get_encoder
from likewise.encoders.storage.files import vectors_folder
from likewise.errors import LikewiseError
from likewise.files import finish_writing, written_together
from likewise.intervals import clopper_pearson
from likewise.lineage.guard import EvaluationSet, screen_models
from likewise.lineage.halves import select_half
from likewise.lineage.record import examples_from_catalog, lesson_from_workspace
from likewise.lineage.states import earlier_states, with_earlier_states
from likewise.optional_dependencies import import_optional
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

COMPONENTS = 384
DEFAULT_BASE = "efficientnet-lite0?pooling=stages"
MIN_IMAGES = 16
TIMED_STEPS = 5  # after so many the time of all is known


@dataclass(frozen=True)
class TwoTowerSettings:
    """How it is trained; the defaults take a few minutes on two cores."""

    base: str = DEFAULT_BASE
    columns: tuple[str, ...] = ("caption",)
    sentences: str = ""
    """A pre-trained sentence encoder below the text side, `minilm` for instance; none for hashed words."""
    where: str | None = None
    half: str | None = None
    """The half of the items to learn from, `train` for instance."""
    dim: int = 128
    steps: int = 1500
    batch: int = 256
    learning_rate: float = 1e-3
    weight_decay: float = 0.02
    held_out: float = 0.1
    """Share of items that are not trained on, to measure how well texts find pictures."""
    seed: int = 0


@dataclass(frozen=True)
class TwoTowerTrainingResult:
    """What was learned, measured on items that were held out: from a picture to its own caption."""

    folder: Path
    n_images: int
    n_held_out: int
    recall_at_1: float
    recall_at_5: float
    n_captions: int
    """Different captions among which a picture's own had to be found."""
    seconds: float
    notes: tuple[str, ...] = ()
    """Where the base has seen the held-out items."""

    @property
    def above_chance(self) -> bool:
        """Whether more held-out pictures find their caption than guessing explains (exact binomial interval)."""
        if not self.n_captions:
            return False
        return clopper_pearson(self.recall_at_1 * self.n_held_out, self.n_held_out)[0] > 1.0 / self.n_captions


def check_steps(steps: int, batch: int) -> None:
    """Whether so many steps of so many examples can teach anything that compares the examples of a batch."""
    if steps < 1 or batch < 2:
        raise LikewiseError(f"{steps} steps of batches of {batch}: at least one step and batches of two are needed.")


def train_two_tower(
    workspace: WorkspaceFolder,
    folder: Path,
    settings: TwoTowerSettings | None = None,
    *,
    workers: int | None = None,
    force: bool = False,
    on_start: Callable[[float], None] | None = None,
    on_progress: ProgressCallback | None = None,
) -> TwoTowerTrainingResult:
    """Train on the captions of a catalog and write `folder`, which `two-tower:FOLDER` then names.

    `on_start` is told how many seconds the training will take, by the pace of its first steps.
    """
    settings = settings or TwoTowerSettings()
    check_steps(settings.steps, settings.batch)
    if settings.dim < 1:
        raise LikewiseError(f"vectors of {settings.dim} dimensions: ask for 1 or more.")
    finish_writing(folder)
    if (folder / SETTINGS).exists() and not force:
        raise LikewiseError(f"{folder} holds a two-tower encoder already: name another folder, or add `--force`.")
    started = time.monotonic()
    catalog = captioned_rows(workspace, settings)
    features = encode_base(workspace, settings.base, catalog["image"].to_list(), workers, on_progress)
    train, held = _split(catalog, settings)
    texts_of_images = caption_texts(catalog, settings.columns)
    components = min(COMPONENTS, len(train), features.shape[1])
    shape = TwoTowerConfig(settings.base, features.shape[1], components, settings.dim, sentences=settings.sentences)
    texts = _Texts.draw(workspace, texts_of_images, shape, on_progress)
    with repeatable_kernels():
        head, text = _fit(features, texts, catalog["item"].to_numpy(), train, shape, settings, on_start, on_progress)
    measured = _measure(head, text, shape, features[held], [texts_of_images[place] for place in held])
    found = {"recall_at_1": measured[0], "recall_at_5": measured[1], "n_captions": measured[2], "n": len(held)}
    about = {"settings": asdict(settings), "n_images": len(train), "held_out": found}
    images = catalog["image"]
    below = encoder_lineage(FeatureWorkspace(workspace.path), unscaled_spec(settings.base))
    lesson = lesson_from_workspace(
        workspace,
        "captions",
        "condition two-tower",
        images.gather(train),
        text_columns=settings.columns,
        half=settings.half or "",
    )
    if force:  # features made by the encoder that is replaced go with it
        spec = f"two-tower:{folder}?unscaled=1"
        shutil.rmtree(vectors_folder(FeatureWorkspace(workspace.path), spec), ignore_errors=True)
    config = TwoTowerConfig(**{**asdict(shape), "about": about})
    with written_together(folder) as staged:
        write_two_tower(staged.staging, config, head, text, below.with_lesson(lesson))
    asked = examples_from_catalog(
        read_catalog(workspace), images.gather(held), text_columns=settings.columns, whole_items=False
    )
    asked = with_earlier_states(asked, earlier_states(workspace))
    screening = screen_models({settings.base: below}, EvaluationSet("captions", "the held-out captions", asked))
    notes = tuple(screening.notes([settings.base]))
    return TwoTowerTrainingResult(folder, len(train), len(held), *measured, time.monotonic() - started, notes)


def text_columns(catalog: pl.DataFrame) -> list[str]:
    """The columns that could be texts to learn from, those with the most words first."""
    own = ("image", "item", "digest", "split", "domain")
    texts = [name for name, kind in catalog.schema.items() if kind == pl.String and name not in own]
    words = {name: catalog[name].drop_nulls().str.split(" ").list.len().mean() for name in texts}
    return sorted((name for name in texts if words[name]), key=lambda name: -float(words[name] or 0.0))  # type: ignore[arg-type]


def _suggest_columns(catalog: pl.DataFrame) -> str:
    """A way out where the columns asked for are not there."""
    several = text_columns(catalog)
    if not several:
        return "it has no texts at all; make the workspace from a table with a column of captions or titles."
    return f"learn from others with `--columns {several[0]}` (texts are in {', '.join(several)})."


def captioned_rows(workspace: WorkspaceFolder, settings: TwoTowerSettings) -> pl.DataFrame:
    """The rows to learn from."""
    catalog = select_catalog_rows(select_half(read_catalog(workspace), settings.half), settings.where)
    missing = [name for name in settings.columns if name not in catalog.columns]
    if missing:
        raise LikewiseError(
            f"the catalog of {workspace.path} has no column {', '.join(missing)}: {_suggest_columns(catalog)}"
        )
    said = catalog.filter(pl.any_horizontal(pl.col(name).is_not_null() for name in settings.columns))
    if said.height < MIN_IMAGES:
        raise LikewiseError(
            f"{said.height} images of {workspace.path} have a text: a two-tower encoder needs {MIN_IMAGES} or more."
        )
    return said


def encode_base(
    workspace: WorkspaceFolder,
    base: str,
    images: Sequence[str],
    workers: int | None,
    on_progress: ProgressCallback | None,
) -> Features:
    """Unscaled features of the base network, made where they are missing."""
    from likewise.encoders.running.encode import encode_catalog
    from likewise.encoders.storage.reading import read_vectors

    base_network(base, get_encoder)
    spec = unscaled_spec(base)
    place = FeatureWorkspace(workspace.path)
    encode_catalog(place, [spec], workers=workers, on_progress=on_progress)
    return read_vectors(place, spec, images)


def _split(catalog: pl.DataFrame, settings: TwoTowerSettings) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to train on and rows held out, whole items apart."""
    items = catalog["item"].unique().sort().to_numpy()
    rng = np.random.default_rng(settings.seed)
    n_held = max(1, round(settings.held_out * len(items))) if settings.held_out > 0 else 0
    held_items = rng.permutation(items)[:n_held]
    held = catalog["item"].is_in(pl.Series(held_items, dtype=pl.String).implode()).to_numpy()
    return np.flatnonzero(~held), np.flatnonzero(held)


@dataclass(frozen=True)
class _Texts:
    """What every picture may be called: drawn anew at every step, or a few texts with their vectors."""

    of_images: Sequence[CaptionTexts]
    shape: TwoTowerConfig
    drawn: Sequence[Sequence[str]] = ()
    vectors: Features | None = None
    row_of: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def draw(
        cls,
        workspace: WorkspaceFolder,
        of_images: Sequence[CaptionTexts],
        shape: TwoTowerConfig,
        on_progress: ProgressCallback | None,
    ) -> "_Texts":
        if not shape.sentences:
            return cls(of_images, shape)
        drawn = draw_texts(of_images)
        different = list(dict.fromkeys(text for texts in drawn for text in texts))
        vectors = sentence_vectors(workspace, shape.sentences, different, on_progress)
        return cls(of_images, shape, drawn, vectors, {text: row for row, text in enumerate(different)})

    def sample(self, row: int, rng: np.random.Generator) -> str:
        return (
            self.drawn[row][int(rng.integers(len(self.drawn[row])))] if self.drawn else self.of_images[row].sample(rng)
        )

    def inputs(self, texts: Sequence[str]) -> tuple[NDArray[Any], ...]:
        if self.vectors is None:
            return text_inputs(self.shape, texts)
        return (self.vectors[[self.row_of[text] for text in texts]],)


def _fit(
    features: Features,
    texts_of_images: _Texts,
    items: NDArray[Any],
    train: NDArray[np.int64],
    shape: TwoTowerConfig,
    settings: TwoTowerSettings,
    on_start: Callable[[float], None] | None,
    on_progress: ProgressCallback | None,
) -> tuple[Any, Any]:
    torch = import_optional("torch", "training a two-tower encoder")
    rng = np.random.default_rng([settings.seed, 1])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        head: Any = image_head(shape)
        text: Any = text_tower(shape)
        head.fit_components(torch.from_numpy(features[train]))
        with torch.inference_mode():
            reduced = to_numpy(head.reduce(torch.from_numpy(features)))
        head, text = move_to_device(head), move_to_device(text)
        scale = torch.nn.Parameter(to_device(np.array([np.log(1 / 0.07)], np.float32)))
        parameters = [*head.parameters(), *text.parameters(), scale]
        optimiser = torch.optim.AdamW(parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimiser, max_lr=settings.learning_rate, total_steps=settings.steps, pct_start=0.1
        )
        by_item = _rows_by_item(items[train])
        started = time.monotonic()
        for step in range(settings.steps):
            if on_start and step == min(TIMED_STEPS, settings.steps - 1):
                on_start((time.monotonic() - started) / max(step, 1) * settings.steps)
            rows = train[_one_per_item(by_item, settings.batch, rng)]
            texts = [texts_of_images.sample(row, rng) for row in rows]
            image = torch.nn.functional.normalize(head.project(to_device(reduced[rows])))
            said = torch.nn.functional.normalize(text(*map(to_device, texts_of_images.inputs(texts))))
            right = to_device(text_matches([texts_of_images.of_images[row] for row in rows], texts)).float()
            logits = scale.clamp(max=np.log(100.0)).exp() * image @ said.T
            loss = (_shared_target(logits, right) + _shared_target(logits.T, right.T)) / 2
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            if on_progress and (step % 20 == 0 or step + 1 == settings.steps):
                on_progress("two-tower encoder", step + 1, settings.steps)
    return head.eval(), text.eval()


def _shared_target(logits: Any, right: Any) -> Any:
    """Cross-entropy with the target shared equally among all that fit."""
    torch = import_optional("torch", "training a two-tower encoder")
    target = right / right.sum(1, keepdim=True).clamp_min(1.0)
    return -(target * torch.nn.functional.log_softmax(logits, dim=1)).sum(1).mean()


def _rows_by_item(items: NDArray[Any]) -> list[NDArray[np.int64]]:
    order = np.argsort(items, kind="stable")
    cuts = np.flatnonzero(items[order][1:] != items[order][:-1]) + 1
    return np.split(order, cuts)


def _one_per_item(by_item: Sequence[NDArray[np.int64]], batch: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """A batch of different items, a random picture of each."""
    chosen = rng.permutation(len(by_item))[:batch]
    return np.array([by_item[item][rng.integers(len(by_item[item]))] for item in chosen], np.int64)


def _measure(
    head: Any, text: Any, shape: TwoTowerConfig, features: Features, texts_of_images: Sequence[CaptionTexts]
) -> tuple[float, float, int]:
    """Recall@1 and @5 from held-out pictures to their captions, and the number of different captions."""
    if not len(texts_of_images):
        return float("nan"), float("nan"), 0
    torch = import_optional("torch", "training a two-tower encoder")
    first = [one.texts[0] if shape.sentences and one.texts else one.caption for one in texts_of_images]
    captions = list(dict.fromkeys(first))
    own = np.array([captions.index(caption) for caption in first])
    with torch.inference_mode():
        image = torch.nn.functional.normalize(head(to_device(features)))
        said = torch.nn.functional.normalize(text(*map(to_device, text_inputs(shape, captions))))
        scores = to_numpy(image @ said.T)
    better = (scores > scores[np.arange(len(own)), own][:, None]).sum(axis=1)
    return float((better < 1).mean()), float((better < 5).mean()), len(captions)
