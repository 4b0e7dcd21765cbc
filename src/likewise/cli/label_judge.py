"""`likewise label judge`: a model answers pairs, as a disclosed machine; its answers help to estimate."""

from typing import Annotated

import typer

from likewise.cli.console import AsJson, WorkspacePath, echo, echo_json, escape, open_workspace, progress_bars
from likewise.errors import LikewiseError
from likewise.workspace import quoted


def judge(
    workspace: WorkspacePath,
    spec: Annotated[
        str,
        typer.Option(
            "--judge",
            help="run:NAME (a trained encoder), python:MODULE:FUNCTION (of two pictures), or openai:URL#MODEL (any "
            "vision-language model behind the usual chat protocol; its key in LIKEWISE_JUDGE_KEY).",
        ),
    ],
    pairs: Annotated[
        int | None, typer.Option(help="Pairs to draw for it, besides the pool's; ten times the pool's by default.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="openai: requests at a time.")] = 4,
    price: Annotated[
        str | None, typer.Option(help="openai: price of a million tokens in and out, such as 0.15,0.60.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Let a model answer pairs: calibrated on people's labels, its answers narrow the estimates for the whole catalog.

    Example: `likewise label judge shoes --judge openai:http://localhost:8000/v1#qwen2-vl`
    """
    from likewise.evaluation.judging import judge_pairs

    target = open_workspace(workspace)
    prices = _parse_price(price)
    with progress_bars("pairs") as update:
        done = judge_pairs(target, spec, n_pairs=pairs, n_workers=workers, price=prices, on_progress=update)
    if as_json:
        echo_json(done.to_dict())
        return
    silent = f", {done.n_without_answer:,} without an answer" if done.n_without_answer else ""
    echo(f"[bold]{escape(done.judge)}[/], a machine: {done.n_pairs:,} pairs, {done.n_new:,} of them asked now{silent}")
    if done.tokens_in or done.tokens_out:
        cost = "" if done.cost is None else f", {done.cost:,.2f} in all"
        echo(f"  cost: {done.tokens_in:,} tokens in, {done.tokens_out:,} out{cost}; {done.seconds:,.0f} s of answering")
    for note in done.notes:
        echo(f"  {escape(note)}")
    echo(
        f"  `likewise evaluate {quoted(workspace)}` uses the answers where people's labels are there to calibrate them"
    )


def _parse_price(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        [first, second] = [float(part) for part in text.split(",")]
    except ValueError:
        raise LikewiseError(f"--price takes two numbers, in and out, such as 0.15,0.60, not {text!r}.") from None
    return first, second
