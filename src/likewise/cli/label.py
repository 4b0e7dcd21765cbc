"""`likewise label ...`: answers of people become labels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli import label_backup, label_goal, label_judge, label_sheet, label_site, label_votes
from likewise.cli.console import (
    AsJson,
    WorkspacePath,
    echo,
    echo_json,
    escape,
    open_workspace,
    parse_names,
    progress_bars,
)
from likewise.cli.exchange import import_labels
from likewise.cli.label_site import Database
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder

if TYPE_CHECKING:
    from likewise.labeling.agreement_coefficient import AgreementCoefficient
    from likewise.labeling.step import LabelingResult

app = typer.Typer(
    help="Experts' answers: the site, sheets, import and export, consensus.",
    no_args_is_help=True,
)
app.command("serve")(label_site.serve)
app.command("invite")(label_site.invite)
app.command("revoke")(label_site.revoke)
app.command("status")(label_site.status)
app.command("goal")(label_goal.goal)
app.command("backup")(label_backup.backup)
app.command("restore")(label_backup.restore)
app.command("judge")(label_judge.judge)
app.command("settings")(label_site.settings)
app.command("pause")(label_site.pause)
app.command("resume")(label_site.resume)
app.command("add-pairs")(label_votes.add_pairs)
app.command("remove-votes")(label_votes.remove_votes)
app.command("export")(label_votes.export)
app.command("sheet")(label_sheet.sheet)

RuleOption = Annotated[
    str | None,
    typer.Option(
        help="majority (a tie is negative; of grades the median), exclude (a tie gets no label), mean (of grades, or "
        "the share of votes, for nDCG), or dawid-skene; the current rule by default."
    ),
]


@app.command("import")
def import_votes(
    workspace: WorkspacePath,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="Votes (query, candidate, expert, answer) or labels without votes (query, candidate, label; VSD "
            ".json, TREC .qrels and .prels); the labels that the data set brought along by default.",
            show_default=False,
        ),
    ] = None,
    rule: RuleOption = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace earlier answers to the same pairs, or the stored labels.")
    ] = False,
    positive_from: Annotated[
        float | None,
        typer.Option(
            help="Labels: grades from this value up count as similar; default: 1, or more than half of the votes where "
            "labels are shares. nDCG uses the grades.",
            show_default=False,
        ),
    ] = None,
    gallery: Annotated[
        str | None,
        typer.Option(
            help="Labels without a pool: restrict the candidates, e.g. domain=shop.",
            show_default="the data set's gallery, or all",
        ),
    ] = None,
    every_image: Annotated[
        bool, typer.Option("--every-image", help="Labels drawn by a design: it drew images, not items.")
    ] = False,
    generators: Annotated[
        str | None,
        typer.Option(
            help="Labels without a pool: the encoders whose candidates were labelled, comma-separated; their lists are "
            "made again from their vectors, which are computed where they are missing."
        ),
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="With --generators: candidates per query and generator.")] = 6,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Add experts' votes and rebuild the labels; or take labels that come without votes.

    Example: `likewise label import shoes votes.csv`, `likewise label import shoes vsd-tags.json
    --generators dinov2-base,colour`, `likewise label import vsd --generators argus,dino,beit,clip`
    """
    from likewise.labeling.imports import holds_votes
    from likewise.labeling.step import import_votes_file
    from likewise.labeling.store import use_database

    target = open_workspace(workspace)
    votes = file or _released_labels(target)
    if not holds_votes(votes):
        import_labels(
            target,
            votes,
            positive_from=positive_from,
            gallery=gallery,
            every_image=every_image,
            generators=parse_names(generators),
            k=k,
            replace=replace,
            as_json=as_json,
        )
        return
    _check_rule(rule)
    with progress_bars("steps") as update:
        update("storing votes", 0, 2)
        use_database(target, database)
        stored = import_votes_file(target, votes, replace=replace)
        update("storing votes", 1, 2)
        labelled = rebuild_labels(target, rule)
    added = stored.added
    if as_json:
        echo_json({"added": added.to_dict(), "blank": stored.n_blank, "labels": result_json(labelled)})
        return
    outside = f", {stored.n_pairs_outside_pool} pairs are not in the pool" if stored.n_pairs_outside_pool else ""
    echo(f"{added.added:,} votes added, {added.repeated:,} already stored, {stored.n_blank:,} left blank{outside}")
    if stored.n_adjudicated:
        echo(f"  {stored.n_adjudicated:,} of them are an adjudicator's: they count in the labels, not in the agreement")
    print_labels(labelled)


def _released_labels(target: WorkspaceFolder) -> Path:
    """The labels that the data set of a workspace brought along."""
    from likewise.catalog.readers import read_stored_table

    tasks = read_stored_table(target, "labels")
    if "task" in tasks.columns and tasks["task"].n_unique() > 1:
        names = ", ".join(tasks["task"].drop_nulls().unique().sort())
        raise LikewiseError(f"the labels are of several tasks ({names}): make a workspace of one task's folder.")
    return target.tables_folder / "labels.parquet"


@app.command("consensus")
def consensus(
    workspace: WorkspacePath, rule: RuleOption = None, database: Database = None, as_json: AsJson = False
) -> None:
    """Rebuild the labels from the stored votes and print the agreement of the experts.

    Example: `likewise label consensus shoes --rule dawid-skene`
    """
    from likewise.labeling.store import use_database

    target = open_workspace(workspace)
    _check_rule(rule)
    use_database(target, database)
    labelled = rebuild_labels(target, rule)
    if as_json:
        echo_json(result_json(labelled))
    else:
        print_labels(labelled)


def _check_rule(rule: str | None) -> str | None:
    """The rule, if there is such a one; asked before anything is stored."""
    from typing import get_args

    from likewise.labeling.consensus import Rule

    if rule is not None and rule not in get_args(Rule):
        raise LikewiseError(f"there is no consensus rule {rule!r}: choose one of {', '.join(get_args(Rule))}.")
    return rule


def rebuild_labels(workspace: WorkspaceFolder, rule: str | None) -> "LabelingResult":
    from likewise.labeling.step import update_labels

    return update_labels(workspace, _check_rule(rule))  # type: ignore[arg-type]


def result_json(labelled: "LabelingResult") -> dict[str, Any]:
    return {"consensus": labelled.consensus.summary.to_dict(), "agreement": labelled.agreement.to_dict()}


def rule_text(rule: str, n_experts: int, kind: str = "expert") -> str:
    """`majority of 3 experts`; one expert alone needs no rule."""
    return f"one {kind}" if n_experts == 1 else f"{rule} of {n_experts} {kind}s"


def print_labels(labelled: "LabelingResult") -> None:
    if labelled.replaced_imported:
        echo(f"[bold]the imported labels[/], whose place these take, are kept in {labelled.replaced_imported}")
    from likewise.labeling.consensus import TIES

    summary, agreed = labelled.consensus.summary, labelled.agreement
    ties = f"{summary.n_ties:,} ties" + (f" ({TIES[summary.rule]})" if summary.n_ties else "")
    echo(
        f"[bold]{summary.n_labelled:,} labels[/] by {rule_text(summary.rule, agreed.n_experts)}: "
        f"{summary.n_similar:,} similar; {ties}, {summary.n_unanswered:,} pairs with no decided answer"
    )
    for where, one in (("agreement on the pool's pairs", agreed), ("on random pairs, apart", agreed.random)):
        if one is not None:
            kappa, alpha = agreement_text(one.fleiss_kappa), agreement_text(one.krippendorff_alpha)
            echo(f"  {where}: Fleiss' kappa {kappa}, Krippendorff's alpha {alpha}")
    if labelled.consensus.threshold is not None:
        echo(f"  graded: a pair is similar where its {labelled.consensus.threshold}; nDCG uses the grades")
    if agreed.graded is not None:
        kappa, alpha = agreement_text(agreed.graded.weighted_kappa), agreement_text(agreed.graded.ordinal_alpha)
        echo(f"  agreement of the grades: weighted kappa {kappa}, ordinal alpha {alpha}")
    for name in labelled.hasty:
        echo(f"  [bold]{escape(name)} answered faster than anybody can look[/]: `likewise label status` says more")


def agreement_text(measure: "AgreementCoefficient") -> str:
    """`0.71 (0.64 to 0.78)`, or why there is none."""
    if measure.value is None:
        return f"undefined ({measure.reason})"
    ends = "" if measure.low is None or measure.high is None else f" ({measure.low:.2f} to {measure.high:.2f})"
    return f"{measure.value:.2f}{ends}"
