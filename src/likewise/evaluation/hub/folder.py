"""Writing a labelled workspace as a folder that can be uploaded to a data-set hub as it is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from likewise.evaluation.bundles.contents import card_fields, collect_tables
from likewise.evaluation.bundles.files import Entry, FileRecord, file_record, refuse_existing, write_entries
from likewise.evaluation.hub.card_head import Value, card_head, licence_fields
from likewise.evaluation.hub.croissant import croissant_text
from likewise.evaluation.hub.tables import HubTable, hub_tables
from likewise.evaluation.provenance import utc_now
from likewise.evaluation.sampled_negatives import DEFAULT_SAMPLING
from likewise.evaluation.stored import read_summary
from likewise.labeling.state import read_labels_note
from likewise.workspace import WorkspaceFolder

README, CROISSANT = "README.md", "croissant.json"
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass(frozen=True)
class HubFolder:
    """What was written: rows of each table."""

    path: Path
    rows: dict[str, int]
    with_images: bool


def write_hub_folder(
    workspace: WorkspaceFolder,
    path: Path,
    *,
    title: str,
    licence: str,
    description: str = "",
    labelled_by: str | None = None,
    sources: Sequence[str] | None = None,
    seed: int = 0,
    with_images: bool = False,
    replace: bool = False,
) -> HubFolder:
    """Write README.md, croissant.json and the Parquet files of a benchmark."""
    refuse_existing(path, is_ours=(path / CROISSANT).is_file(), replace=replace, what="hub folder")
    evaluated = read_summary(workspace)
    sampling = DEFAULT_SAMPLING if evaluated is None else evaluated.settings.negatives
    tables = collect_tables(workspace, (), seed, sampling)
    said = {"title": title.strip(), "description": description.strip(), "licence": licence.strip()}
    facts = card_fields(
        workspace,
        tables,
        said,
        labelled_by=labelled_by,
        sources=sources,
        seed=seed,
        sampling=sampling,
        with_images=with_images,
    )
    grades = read_labels_note(workspace).get("grades")
    facts |= {"date": utc_now()[:10], "similar": None if grades is None else grades["similar"]}
    written = hub_tables(tables, with_images=with_images)
    write_entries(path, _entries(workspace, written, facts))
    return HubFolder(path, {table.name: len(table.rows) for table in written}, with_images)


def _entries(workspace: WorkspaceFolder, tables: Sequence[HubTable], facts: Mapping[str, Any]) -> Iterator[Entry]:
    files: dict[str, FileRecord] = {}
    for table in tables:
        for name, content in table.files(workspace.root):
            files[name] = file_record(content)
            yield name, content
    yield CROISSANT, croissant_text(facts, tables, files).encode()
    yield README, readme_text(facts, tables).encode()


def readme_text(facts: Mapping[str, Any], tables: Sequence[HubTable]) -> str:
    """The data card: its head for the hub, and what people want to know."""
    sizes, labels = facts["sizes"], facts["labels"]
    rows = {table.name: len(table.rows) for table in tables}
    graded = (
        f"Labels are graded; similar: {facts['similar']}."
        if facts["similar"]
        else "A label is 1 (similar) or 0 (not similar)."
    )
    pictures = "" if facts["with_images"] else " The pictures are not included: `id` names them."
    lines = [
        f"# {facts['title']}",
        "",
        *([facts["description"], ""] if facts["description"] else []),
        f"Which pictures look alike to people? {rows['queries']:,} queries are searched in {rows['corpus']:,} images; "
        f"{sizes['labels']:,} pairs are labelled by {labels['labelled_by']}, {labels['n_similar']:,} of them similar. "
        f"{graded}{pictures}",
        "",
        "| part | rows | columns |",
        "|---|---|---|",
        *(f"| `{table.name}` | {len(table.rows):,} | {', '.join(table.features)} |" for table in tables),
        "",
        "`corpus`, `queries` and `qrels` are in MTEB's layout for retrieval. An image is never its own candidate, and "
        "neither is another image of its item: leave both out before measuring. `labels` has every label, also of "
        f"queries without a similar candidate and of random pairs ({rows['labels'] - rows['qrels']:,} that are not "
        "in `qrels`).",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        f'qrels = load_dataset("{facts["title"]}")  # the folder, or its name on the hub',
        f'corpus = load_dataset("{facts["title"]}", "corpus")',
        "```",
        "",
        "Back into a workspace: `likewise new WORKSPACE FOLDER --reader hub`, then "
        "`likewise label import WORKSPACE WORKSPACE/tables/labels.parquet`.",
        "",
        f"Sources: {'; '.join(facts['sources'])}. Licence: {facts['licence']}. Made by likewise {facts['likewise']}.",
    ]
    return card_head(_head(facts, tables)) + "\n" + "\n".join(lines) + "\n"


def _head(facts: Mapping[str, Any], tables: Sequence[HubTable]) -> dict[str, Value]:
    n_images = facts["sizes"]["images"]
    configs: list[Value] = []
    described: list[Value] = []
    for table in tables:
        files: list[Value] = [{"split": "test", "path": f"{table.name}/test-*.parquet"}]
        chosen: dict[str, Value] = {"default": True} if table.name == "qrels" else {}
        configs.append({"config_name": table.name} | chosen | {"data_files": files})
        features: list[Value] = [{"name": name, "dtype": kind} for name, kind in table.features.items()]
        splits: list[Value] = [{"name": "test", "num_examples": len(table.rows)}]
        described.append({"config_name": table.name, "features": features, "splits": splits})
    return {
        "pretty_name": facts["title"],
        **licence_fields(facts["licence"]),
        "task_categories": ["image-feature-extraction"],
        "tags": ["visual-similarity", "image-retrieval", "likewise"],
        "size_categories": [next((name for limit, name in SIZES if n_images < limit), "1M<n<10M")],
        "configs": configs,
        "dataset_info": described,
    }
