"""Commands of earlier versions: whoever types one is told the new one (until 1.0)."""

MOVED = {
    ("readers",): "list readers",
    ("encoders",): "list encoders",
    ("encoders", "export"): "bundle encoder",
    ("budget",): "plan labels",
    ("simulate",): "label simulate",
    ("retrieval",): "evaluate WORKSPACE --classes COLUMN",
    ("triplets",): "evaluate WORKSPACE --triplets FILE --order ORDER",
    ("leaderboard",): "bundle leaderboard",
    ("import-labels",): "label import",
    ("export-labels",): "label export",
    ("export-run",): "bundle run",
    ("ask",): "condition ask",
    ("mine",): "condition mine",
}


def new_command(words: list[str]) -> str | None:
    """What the command that `words` begin with is called now; None for one that never was."""
    for length in (2, 1):
        found = MOVED.get(tuple(words[:length]))
        if found is not None:
            return found
    return None
