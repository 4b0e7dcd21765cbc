"""A hook of mkdocs: writes the reference of every command, from its own help, and of every public Python name."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.main import get_command

import likewise
from likewise.cli.app import app
from likewise.extensions import workspace_method_targets

CALLED_FOR = "For people who know what they want to do and look for the exact spelling."


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for uri, content in (("reference/commands.md", commands_page()), ("reference/python.md", python_page())):
        files.append(File.generated(config, uri, content=content))
    return files


def commands_page() -> str:
    """Every command with its arguments, options and defaults."""
    root: Any = get_command(app)
    context = click.Context(root, info_name="likewise")
    parts = ["# Commands", "", f"{CALLED_FOR} Every command prints the same with `--help`.", ""]
    for path, command in sorted(leaves(root, context, ("likewise",))):
        parts += command_part(path, command)
    return "\n".join(parts)


def leaves(group: Any, context: click.Context, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The commands below a group that people may type; hidden ones only say what replaced them."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        if hasattr(command, "list_commands"):
            yield from leaves(command, click.Context(command, info_name=name, parent=context), (*path, name))
        else:
            yield (*path, name), command


def command_part(path: tuple[str, ...], command: Any) -> list[str]:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option" and not param.hidden]
    usage = " ".join([*path, *(argument_name(param) for param in arguments), "[OPTIONS]"])
    parts = [f"## {' '.join(path)}", "", "```text", usage, "```", "", *help_text(command.help or ""), ""]
    rows = [(f"`{param.name}`", param.help or "") for param in arguments if getattr(param, "help", None)]
    rows += [(option_names(param), option_help(param)) for param in options]
    if rows:
        parts += ["| | |", "|---|---|", *(f"| {name} | {cell(text)} |" for name, text in rows), ""]
    return parts


def argument_name(param: Any) -> str:
    name = param.name.upper()
    return name if param.required else f"[{name}]"


def help_text(text: str) -> list[str]:
    """A command's help as Markdown: lines that begin with four spaces are its examples."""
    return text.replace("\b\n", "").splitlines()


def option_names(param: Any) -> str:
    return ", ".join(f"`{name}`" for name in [*param.opts, *param.secondary_opts])


def option_help(param: Any) -> str:
    default = param.default
    shown = default if isinstance(default, str | int | float) and not isinstance(default, bool) else None
    return f"{param.help or ''}{f' Default: `{shown}`.' if shown not in (None, '') else ''}"


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def python_page() -> str:
    """Every public name, rendered by mkdocstrings from where it lives."""
    parts = ["# Python", "", f"{CALLED_FOR} `import likewise as lw`; [the guide](../python.md) shows them at work.", ""]
    for name in likewise.__all__:
        value = getattr(likewise, name)
        if isinstance(value, ModuleType):
            parts += [f"## likewise.{name}", "", f"::: {value.__name__}", ""]
        elif callable(value):
            parts += [f"## likewise.{name}", "", f"::: {value.__module__}.{value.__qualname__}", ""]
    parts += ["## Methods that extensions add to Workspace", ""]
    for name, (extension, target) in sorted(workspace_method_targets().items()):
        parts += [f"### workspace.{name}", "", f"From `{extension.name}`.", "", f"::: {target.replace(':', '.')}", ""]
    return "\n".join(parts)
