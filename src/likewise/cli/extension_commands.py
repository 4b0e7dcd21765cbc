"""The top of the command line: the core's commands, those of extensions behind them, and a help of one screen."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from likewise.cli.moved import new_command
from likewise.cli.stopping import StoppedCommand
from likewise.errors import LikewiseError
from likewise.extensions import command_targets

ROAD = ("new", "update", "encode", "discover", "label", "evaluate", "report")
HELP_WIDTH, HELP_HEIGHT = 78, 24


class GroupWithExtensions(TyperGroup):
    """The core's commands, then those of installed extensions.

    `Any`: contexts and commands are click's, which is inside of typer or beside it, depending on typer's version.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        own = super().list_commands(ctx)
        return own + [name for name in command_targets() if name not in own]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in command_targets():
            return _without_type_of_flags(own)
        extension, target = command_targets()[cmd_name]
        return _without_type_of_flags(_as_command(cmd_name, extension.load(target)))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        moved = new_command(args) if args and self.get_command(ctx, args[0]) is None else None
        if moved is not None:
            raise LikewiseError(
                f"`likewise {args[0]}` is now `likewise {moved}`: see `likewise {moved.split()[0]} --help`."
            )
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; one that is interrupted ends with a sentence."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise StoppedCommand(interrupt) from interrupt

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Every command on a line of its own, the road first, all on one screen of 24 lines."""
        listed = self.list_commands(ctx)
        steps = [name for name in ROAD if name in listed]
        added = [name for name in listed if name in command_targets()]
        further = [name for name in listed if name not in (*ROAD, *added)]
        parts = [["Usage: likewise COMMAND ...   (`likewise COMMAND --help` shows an example)"]]
        for heading, names in (("Steps", steps), ("Tools", further), ("Extensions", added)):
            parts.append([f"{heading}:", *(self._line(ctx, name) for name in names)])
        parts.append([(self.epilog or "").strip()])
        gap = "\n\n" if sum(map(len, parts)) + len(parts) - 1 <= HELP_HEIGHT else "\n"
        formatter.write(gap.join("\n".join(lines) for lines in parts))

    def _line(self, ctx: Any, name: str) -> str:
        text = f"  {name:<11}{self.get_command(ctx, name).get_short_help_str(limit=200)}"
        return text if len(text) <= HELP_WIDTH else text[: HELP_WIDTH - 1].rsplit(" ", 1)[0] + " …"


def _without_type_of_flags(command: Any) -> Any:
    """A flag takes no value: its help shows none (typer writes <bool>)."""
    for inner in [command, *getattr(command, "commands", {}).values()] if command is not None else []:
        for param in inner.params:
            if getattr(param, "is_flag", False) and param.metavar is None:
                param.metavar = ""
        if not hasattr(inner.get_help_option, "__wrapped__"):
            inner.get_help_option = _without_type(inner.get_help_option)
    return command


def _without_type(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`--help`, which a command makes for itself when it is asked for help, is a flag like the others."""

    @wraps(make)
    def make_option(context: Any) -> Any:
        option = make(context)
        if option is not None:
            option.metavar = ""
        return option

    return make_option


def _as_command(name: str, target: Any) -> object:
    """A function or a `typer.Typer` as the command that typer makes of it inside another app."""
    parent = typer.Typer(rich_markup_mode="markdown", pretty_exceptions_enable=False)
    if isinstance(target, typer.Typer):
        parent.add_typer(target, name=name)
    else:
        parent.command(name)(target)
    return get_group(parent).commands[name]
