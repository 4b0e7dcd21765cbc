"""Commands of extensions beside those of the core; each is imported when it is called or listed."""

from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from likewise.extensions import command_targets


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
            return own
        extension, target = command_targets()[cmd_name]
        return _as_command(cmd_name, extension.load(target))


def _as_command(name: str, target: Any) -> object:
    """A function or a `typer.Typer` as the command that typer makes of it inside another app."""
    parent = typer.Typer(rich_markup_mode="markdown", pretty_exceptions_enable=False)
    if isinstance(target, typer.Typer):
        parent.add_typer(target, name=name)
    else:
        parent.command(name)(target)
    return get_group(parent).commands[name]
