"""`likewise outfits complete`, `swap` and `rate`: looks from a catalog, by a compatibility model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import AsJson, WorkspacePath, console, echo, echo_json, escape, open_workspace, parse_names
from likewise.errors import LikewiseError

if TYPE_CHECKING:
    from likewise.outfits.looks.stylist import LookFilter, LookStylist, Suggestion
    from likewise.outfits.looks.workspace_looks import OpenedLook

Items = Annotated[
    list[str],
    typer.Option(
        "--item", help="An item, an image key, a picture, or CATEGORY=PICTURE; again for more.", show_default=False
    ),
]
Model = Annotated[
    str,
    typer.Option(
        "--with",
        help="A trained model, or mean-cosine:ENCODERS; by default that of the page Looks.",
        show_default=False,
    ),
]
Where = Annotated[list[str] | None, typer.Option(help="Only items with COLUMN=VALUE; again for more.")]
Anchor = Annotated[
    str | None,
    typer.Option(help="Columns in which items must go with what is given: an equal season, at most twice the price."),
]
Variety = Annotated[float, typer.Option(min=0, max=1, help="0: the best; larger: less alike (MMR).")]


def complete(
    workspace: WorkspacePath,
    item: Items,
    model: Model = "",
    want: Annotated[
        str | None, typer.Option(help="What to add, comma-separated: shoes,bag. By default what a valid outfit misses.")
    ] = None,
    n_looks: Annotated[int, typer.Option("--n", min=1, max=50, help="Number of looks.")] = 5,
    where: Where = None,
    anchor: Anchor = None,
    variety: Variety = 0.3,
    save: Annotated[Path | None, typer.Option(help="Also write the looks: .csv or .parquet (outfit, item, …).")] = None,
    as_json: AsJson = False,
) -> None:
    """Complete a look: add what it misses, by the rules of valid outfits and a model's score, varied.

    Example: `likewise outfits complete looks --with set-transformer --item shirt.jpg --want shoes,bag`
    """
    opened = _open(workspace, model, item)
    looks = opened.stylist.complete(opened.worn, parse_names(want), _limit(where, anchor, variety, 10), n_looks)
    stylist = opened.stylist
    if save is not None:
        _save([look.rows for look in looks], stylist, save)
    if as_json:
        found = [
            {"items": _names(stylist, look.rows), "added": _suggestions(stylist, look.added), "broken": look.broken}
            for look in looks
        ]
        echo_json({"looks": found, "notes": opened.said(opened.worn)})
        return
    for number, look in enumerate(looks, 1):
        echo(f"[bold]look {number}[/]" + (f"  [dim]({escape('; '.join(look.broken))})[/]" if look.broken else ""))
        _print_suggestions(stylist, look.added)
    _print_notes(opened)
    if save is not None:
        echo(f"written to {escape(save)}")


def swap(
    workspace: WorkspacePath,
    item: Items,
    change: Annotated[str, typer.Option("--change", help="The item to change: one of --item.")],
    model: Model = "",
    k: Annotated[int, typer.Option("--k", min=1, help="Number of suggestions.")] = 10,
    where: Where = None,
    anchor: Anchor = None,
    variety: Variety = 0.3,
    as_json: AsJson = False,
) -> None:
    """Change one piece of a look: other items of its category that go with the rest.

    Example: `likewise outfits swap looks --item dress-7 --item shoes-3 --change shoes-3 --with type-aware`
    """
    opened = _open(workspace, model, item)
    if change not in item:
        raise LikewiseError(f"{change} is not part of the look: --change names one of the --item.")
    stylist, row = opened.stylist, opened.stylist.wardrobe.row(change)
    rest = [one for one in opened.worn if one != row]
    found = stylist.suggest([*rest], stylist.slot_of(row), _limit(where, anchor, variety, k + 1))
    found = [one for one in found if one.row != row][:k]
    if as_json:
        echo_json({"suggestions": _suggestions(stylist, found), "notes": opened.said(opened.worn)})
        return
    _print_suggestions(stylist, found)
    _print_notes(opened)


def rate(workspace: WorkspacePath, item: Items, model: Model = "", as_json: AsJson = False) -> None:
    """Rate a look: how well each item fits, the weakest, what speaks against it and what would fit better.

    Example: `likewise outfits rate looks --item dress-7 --item shoes-3 --item bag-2 --with type-aware`
    """
    opened = _open(workspace, model, item)
    stylist = opened.stylist
    rating = stylist.rate(opened.worn)
    weakest = rating.items[0]
    if as_json:
        items = [
            {"item": stylist.wardrobe.items[one.row].item, "slot": one.slot, "fit": one.fit} for one in rating.items
        ]
        why = [reason.sentence for reason in weakest.why]
        better = _suggestions(stylist, weakest.better)
        facts = {"fit": rating.fit, "items": items, "why": why, "better": better, "broken": rating.broken}
        echo_json(facts | {"notes": opened.said(opened.worn)})
        return
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(title="How well each item fits, among others of its category (%)", title_justify="left", box=SIMPLE)
    table.add_column("item", overflow="fold")
    table.add_column("category")
    table.add_column("fits better than", justify="right")
    for one in rating.items:
        table.add_row(escape(stylist.wardrobe.items[one.row].item), escape(one.slot), f"{100 * one.fit:.0f}")
    console().print(table)
    echo(f"the look: {100 * rating.fit:.0f} on average; weakest: {escape(stylist.wardrobe.items[weakest.row].item)}")
    for reason in weakest.why:
        echo(f"  {escape(reason.sentence)}")
    for rule in rating.broken:
        echo(f"  [dim]rule: {escape(rule)}[/]")
    if weakest.better:
        echo("would fit better:")
        _print_suggestions(stylist, weakest.better)
    _print_notes(opened)


def _open(workspace: Path, model: str, items: list[str]) -> "OpenedLook":
    from likewise.outfits.looks.workspace_looks import open_look

    return open_look(open_workspace(workspace), model, items)


def _limit(where: list[str] | None, anchor: str | None, variety: float, k: int) -> "LookFilter":
    from likewise.outfits.looks.stylist import LookFilter

    return LookFilter(tuple(where or ()), tuple(parse_names(anchor)), variety, k)


def _names(stylist: "LookStylist", rows: tuple[int, ...]) -> list[str]:
    return [stylist.wardrobe.items[row].item for row in rows]


def _suggestions(stylist: "LookStylist", found: "tuple[Suggestion, ...] | list[Suggestion]") -> list[dict[str, object]]:
    items = stylist.wardrobe.items
    return [
        {"item": items[one.row].item, "image": items[one.row].image, "slot": one.slot, "fit": round(one.fit, 4)}
        for one in found
    ]


def _print_suggestions(stylist: "LookStylist", found: "tuple[Suggestion, ...] | list[Suggestion]") -> None:
    from likewise.outfits.looks.columns import describing_columns

    columns = [name for name in describing_columns(stylist.wardrobe.about) if "colo" in name.lower()][:1]
    for one in found:
        about = [str(stylist.wardrobe.about[name][one.row]) for name in columns]
        item = stylist.wardrobe.items[one.row]
        shown = escape(", ".join([item.category, *about]))
        echo(f"  {escape(one.slot):<10} {escape(item.item):<24} {100 * one.fit:3.0f} %  [dim]{shown}[/]")


def _print_notes(opened: "OpenedLook") -> None:
    echo("[dim]the share is that of items of the category that fit less well[/]")
    for note in opened.said(opened.worn):
        echo(escape(note))


def _save(looks: list[tuple[int, ...]], stylist: "LookStylist", path: Path) -> None:
    from likewise.outfits.looks.files import write_looks

    write_looks([[stylist.wardrobe.items[row] for row in rows] for rows in looks], path)
