"""What an encoder learned from, by its spec or by its stored vectors: read beside models, joined over their parts."""

from collections.abc import Iterable
from pathlib import Path

from likewise.catalog.table import read_catalog, select_catalog_rows
from likewise.encoders.families.derivation import Derivation, derivation_of
from likewise.encoders.families.huggingface.hub import local_folder
from likewise.encoders.families.run_files import read_run
from likewise.encoders.model_cards import BUILT_IN, CARDS_BY_NAME, UNTRAINED
from likewise.encoders.short_names import is_encoder_name, is_external, resolve_short_name
from likewise.encoders.spec import JOINED, Spec, parse_spec
from likewise.encoders.storage.files import read_meta, relocate_run, resolve_stored_spec, vectors_folder
from likewise.lineage.files import (
    lineage_file,
    read_lineage,
    read_model_lineage,
    record_digest,
    sidecar_file,
)
from likewise.lineage.record import NOTHING_LEARNED, Lineage, lesson_from_workspace
from likewise.workspace import WorkspaceFolder


def encoder_lineage(workspace: WorkspaceFolder, encoder: str) -> Lineage:
    """Of an encoder by name or spec: as stored beside its vectors, else as its spec says, else not known."""
    folder, spec = vectors_folder(workspace, encoder), resolve_stored_spec(workspace, encoder)
    meta = read_meta(folder)
    if meta is not None and relocate_run(workspace, meta.spec or encoder) == spec:
        stored, unknown = read_lineage(lineage_file(folder)), Lineage(unknown=(encoder,))
        if stored is not None and meta.lineage in ("", record_digest(lineage_file(folder))):
            return stored
        known_by_spec = bool(meta.spec) or encoder in BUILT_IN
        if stored is not None:  # not the record that was written with these vectors
            return unknown.union(stored, _lineage_of_spec(workspace, spec) if known_by_spec else NOTHING_LEARNED)
        if not known_by_spec and (meta.lineage or not is_encoder_name(encoder)):
            return unknown
    return _lineage_of_spec(workspace, spec)


def _lineage_of_spec(workspace: WorkspaceFolder, spec: str) -> Lineage:
    derivation = derivation_of(spec)
    return picture_lineage(spec) if derivation is None else derived_lineage(workspace, derivation)


def encoder_ancestors(workspace: WorkspaceFolder, encoder: str) -> list[str]:
    """The names of an encoder, of the encoders it is made or trained from, of those these are made from, and so on."""
    found: dict[str, None] = {}

    def visit(spec: str) -> None:
        for part in parse_spec(resolve_stored_spec(workspace, spec)):
            if part.family == JOINED:
                visit(part.target)
                continue
            bare = part.without(*(option for option, _ in part.options))
            found.update(dict.fromkeys((part.name, bare.name)))
            if part.family == "run":
                for base in read_run(Path(part.target)).bases:
                    visit(base)

    visit(encoder)
    return list(found)


def joined_lineage(workspace: WorkspaceFolder, encoders: Iterable[str]) -> Lineage:
    """Of several encoders together, as what is built on their vectors has it."""
    return NOTHING_LEARNED.union(*(encoder_lineage(workspace, encoder) for encoder in encoders))


def derived_lineage(workspace: WorkspaceFolder, derivation: Derivation) -> Lineage:
    """Of vectors made from others: theirs, a trained adapter's own, and the images that components are fitted on."""
    lineage = joined_lineage(workspace, derivation.parts)
    if derivation.run is not None:
        lineage = lineage.union(read_model_lineage(derivation.run.folder, derivation.run.name))
    if derivation.components is not None:
        on = derivation.fitted_on or "all"
        chosen = select_catalog_rows(read_catalog(workspace), None if on == "all" else on.replace(":", "="))["image"]
        step = f"{'whiten' if derivation.whiten else 'pca'}={derivation.components}&on={on}"
        lineage = lineage.with_lesson(lesson_from_workspace(workspace, "pictures", step, chosen))
    return lineage


def picture_lineage(spec: str) -> Lineage:
    """Of an encoder that looks at pictures."""
    parts = parse_spec(spec)
    if len(parts) > 1:
        return NOTHING_LEARNED.union(*(picture_lineage(part.without("weight").text) for part in parts))
    [part] = parts
    if part.family == JOINED:
        return picture_lineage(part.target)
    if is_external(part) or part.family == "python":
        return Lineage(unknown=(part.name,))
    if part.family in ("run", "two-tower"):
        return read_model_lineage(Path(part.target), part.name)
    if part.family == "onnx":
        found = read_lineage(sidecar_file(Path(part.target).expanduser()))
        return Lineage(unknown=(part.name,)) if found is None else found
    if not part.family and part.target in (*BUILT_IN, UNTRAINED.name):
        return NOTHING_LEARNED
    return _pretrained(part)


def _pretrained(part: Spec) -> Lineage:
    """A public network; one that was trained on here keeps its record in its folder."""
    source = resolve_short_name(part)
    folder = local_folder(source.target) if source.family == "hf" else None
    found = read_lineage(lineage_file(folder)) if folder else None
    if found is not None:
        return found
    card = CARDS_BY_NAME.get(part.target)
    said = card.description if card else "pre-trained elsewhere"
    return Lineage(pretrained=(f"{part.target}: {said}",))
