"""`likewise outfits make-test` and `factors`: a test of taste in the making, stage by stage on the labelling site."""

from pathlib import Path
from typing import Annotated, Any

import typer

from likewise.cli.console import AsJson, WorkspacePath, echo, echo_json, escape, open_workspace, parse_names
from likewise.cli.label_site import Database, open_votes_database
from likewise.errors import LikewiseError
from likewise.workspace import quoted


def make_test(
    workspace: WorkspacePath,
    name: Annotated[str, typer.Option(help="The test's name: letters, digits, dashes.")] = "lat",
    outfits: Annotated[int | None, typer.Option(help="Seed outfits to generate (50,000).")] = None,
    experts: Annotated[int | None, typer.Option(help="Experts who sort, select and rate (5).")] = None,
    best: Annotated[
        int | None, typer.Option(help="Number of best-rated outfits that become questions (2,000).")
    ] = None,
    panel: Annotated[int | None, typer.Option(help="People who answer the questions (10).")] = None,
    consistent: Annotated[int | None, typer.Option(help="Number of most consistent questions to keep (500).")] = None,
    rounds: Annotated[int | None, typer.Option(help="How often they are asked again (3).")] = None,
    days: Annotated[float | None, typer.Option(help="Days between rounds (3).")] = None,
    questions: Annotated[int | None, typer.Option(help="Questions of the final test (100).")] = None,
    quota: Annotated[str | None, typer.Option(help="Proportions of the final test: `top=1,bottom=2,…`.")] = None,
    guests: Annotated[
        int | None, typer.Option(help="Maximum number of people who answer the final test (10,000).")
    ] = None,
    where: Annotated[str | None, typer.Option(help="Restrict the images, e.g. domain=shop.")] = None,
    trust: Annotated[
        bool,
        typer.Option("--trust-categories", help="Use the catalog's categories instead of having experts sort items."),
    ] = False,
    close: Annotated[
        bool, typer.Option("--close", help="End the current stage with the answers given so far.")
    ] = False,
    simulate: Annotated[
        int, typer.Option(help="Let simulated people answer everything; their number in the final test.")
    ] = 0,
    bundle: Annotated[Path | None, typer.Option(help="Write the finished test to this folder or .zip.")] = None,
    licence: Annotated[str, typer.Option(help="Licence of the bundle.")] = "",
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same files.")] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Make a LAT with people, stage by stage: each run reports the progress and continues from there.

    Example: `likewise outfits make-test shop --experts 5 --panel 10 --trust-categories`
    """
    from likewise.outfits.builder import OutfitTestBuilder, OutfitTestPlan
    from likewise.outfits.publish import publish_test
    from likewise.outfits.stages import advance_test_stages, trust_categories
    from likewise.synthetic.outfits.people import simulate_test

    target = open_workspace(workspace)
    given: dict[str, Any] = {
        "n_seed_outfits": outfits,
        "n_experts": experts,
        "n_best": best,
        "n_panel": panel,
        "n_consistent": consistent,
        "n_rounds": rounds,
        "days_between_rounds": days,
        "n_questions": questions,
        "max_guests": guests,
        "where": where,
        "seed": seed,
        "quotas": _quotas(quota),
        "sort": False if trust else None,
    }
    given = {key: value for key, value in given.items() if value is not None}
    builder = OutfitTestBuilder(target, name)
    plan = builder.start(OutfitTestPlan(**given), given=tuple(given))
    if not plan.sort:
        trust_categories(builder, plan)
    with open_votes_database(target, database) as engine:
        status = simulate_test(builder, engine, n_crowd=simulate, seed=plan.seed) if simulate else None
        status = status or advance_test_stages(builder, engine, close=close)
        made = publish_test(builder, engine, bundle, licence=licence) if bundle is not None else None
    if as_json:
        facts = {key: getattr(status, key) for key in ("stage", "answered", "wanted", "people", "finished")}
        echo_json(facts | {"sentence": status.sentence, "checksum": made.card["checksum"] if made else None})
        return
    echo(f"[bold]{escape(name)}[/]: {escape(status.sentence)}")
    for person, n in status.people.items():
        echo(f"  {escape(person)}: {n:,} answers")
    if not status.finished and status.wanted:
        echo(f"  invite experts with `likewise label invite {escape(quoted(workspace))} --name NAME`, the site is")
        serve = f"likewise label serve {escape(quoted(workspace))}"
        echo(f"  `{serve}`; `--close` ends this stage with the answers given so far")
    if made is not None:
        echo(f"{escape(bundle)}: {len(made.questions)} questions, checksum {made.card['checksum'][:16]}…")


def factors(workspace: WorkspacePath, database: Database = None, as_json: AsJson = False) -> None:
    """Count the factors that people tagged on the site in the wrong answers of questions (Fig. 3).

    Example: `likewise outfits factors polyvore`
    """
    from dataclasses import asdict

    from likewise.outfits.factors import count_factors
    from likewise.outfits.publish import read_factor_tags

    with open_votes_database(open_workspace(workspace), database) as engine:
        counted = count_factors(read_factor_tags(engine))
    if as_json:
        echo_json(asdict(counted))
        return
    echo(f"{counted.n_questions:,} questions, tagged by {counted.n_people} people")
    for factor, n in sorted(counted.questions_by_factor.items(), key=lambda pair: -pair[1]):
        echo(f"  {factor:<10} {n:>6,} questions")
    for number, n in counted.questions_by_number.items():
        echo(f"  {n:,} questions rest on {number} factors")


def _quotas(text: str | None) -> dict[str, int] | None:
    if text is None:
        return None
    pairs = [part.partition("=") for part in parse_names(text)]
    if wrong := [part for part, equals, value in pairs if not equals or not value.strip().isdecimal()]:
        raise LikewiseError(f"write GROUP=NUMBER, not {wrong[0]!r}.")
    return {group.strip(): int(value) for group, _, value in pairs}
