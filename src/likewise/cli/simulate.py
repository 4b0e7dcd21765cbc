"""`likewise label simulate`: simulated experts answer the pool of a drawn workspace."""

from typing import Annotated

import typer

from likewise.cli.console import AsJson, Seed, WorkspacePath, echo, echo_json, open_workspace
from likewise.cli.label import RuleOption, print_labels, rebuild_labels, result_json


def simulate(
    workspace: WorkspacePath,
    experts: Annotated[int, typer.Option(help="How many simulated experts.")] = 3,
    rule: RuleOption = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Let simulated experts answer every pair of the pool; only for the wardrobe, whose truth is known.

    Example: `likewise label simulate demo --experts 3`
    """
    from likewise.synthetic.truth import add_missing_truth
    from likewise.synthetic.votes import add_simulated_votes

    target = open_workspace(workspace)
    add_missing_truth(target)
    n_pairs, added = add_simulated_votes(target, experts, seed)
    labelled = rebuild_labels(target, rule)
    if as_json:
        echo_json({"added": added.to_dict(), "labels": result_json(labelled)})
        return
    if added.added:
        echo(f"{experts} simulated experts gave {added.added:,} votes on {n_pairs:,} pairs")
    else:
        echo(f"the {added.repeated:,} votes of {experts} simulated experts were already stored")
    print_labels(labelled)
