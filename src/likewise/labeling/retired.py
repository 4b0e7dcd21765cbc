"""Imported labels in a catalog that lives: they follow renames, are put aside while an image is gone, and come back.

Labels made from votes need none of this: they are made again from the votes, which follow the catalog.
"""

import polars as pl

from likewise.catalog.versions import key_changes, rename_keys, split_retired
from likewise.chain import table_digest
from likewise.labeling.state import read_labels_note
from likewise.labeling.votes import PAIR
from likewise.workspace import WorkspaceFolder, read_parquet, write_json, write_parquet


def stage_imported_labels(
    workspace: WorkspaceFolder, staged: WorkspaceFolder, history: pl.DataFrame, version: int
) -> None:
    """Write imported labels for a next version of the catalog (`history`) into the folder where they wait."""
    changes = key_changes(history, version, version + 1)
    if workspace.imported_labels_file.exists():
        kept, gone = split_retired(rename_keys(every_imported_label(workspace), changes, *PAIR), *PAIR)
        kept = kept.sort(PAIR)
        write_parquet(kept, staged.imported_labels_file)
        write_parquet(gone.sort(PAIR), staged.retired_labels_file)
        note = read_labels_note(workspace) if workspace.labels_settings_file.exists() else {}
        if "imported" in note:
            n_similar = int(kept["label"].cast(pl.Int64).sum())
            counts = {"n_pairs": len(kept), "n_labelled": len(kept), "n_similar": n_similar}
            write_parquet(kept, staged.labels_file)
            note |= {"labels": table_digest(kept), "consensus": note["consensus"] | counts}
            write_json(note, staged.labels_settings_file)
    if workspace.votes_copy_file.exists():
        copy = read_parquet(workspace.votes_copy_file, "likewise label consensus")
        write_parquet(rename_keys(copy, changes, *PAIR), staged.votes_copy_file)


def every_imported_label(workspace: WorkspaceFolder) -> pl.DataFrame:
    """Imported labels and those that were put aside, by the keys of now."""
    rows = read_parquet(workspace.imported_labels_file, "likewise label import")
    if not workspace.retired_labels_file.exists():
        return rows
    return pl.concat([rows, read_parquet(workspace.retired_labels_file, "likewise label import")])
