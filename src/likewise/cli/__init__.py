"""The command line: parses, calls, prints; every command imports what it needs only when it runs."""

import sys
from contextlib import suppress

from likewise.cli.stopping import StoppedCommand, signals_end_commands
from likewise.errors import LikewiseError


def main() -> None:
    """Run the app; a user's mistake becomes one sentence on standard error and exit code 2."""
    try:
        with signals_end_commands():
            _run()
    except KeyboardInterrupt as interrupt:  # before a command began, or after
        _stop(StoppedCommand(interrupt))
    except StoppedCommand as stopped:
        _stop(stopped)


def _run() -> None:
    from likewise.cli.app import app
    from likewise.cli.output import outlive_readers
    from likewise.extensions import outdated_install

    outlive_readers()
    if sentence := outdated_install():
        _print_error(sentence)
    if odd := next((each for each in sys.argv[1:] if any("\ud800" <= letter <= "\udfff" for letter in each)), None):
        _print_error(f"{odd!a} is not UTF-8 text: write it in UTF-8, or rename the file.")
        sys.exit(2)
    try:
        app()
    except LikewiseError as error:
        _print_error(str(error))
        sys.exit(2)
    except OSError as error:
        if error.filename is None and error.strerror is None:
            raise
        _print_error(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}.")
        sys.exit(2)


def _stop(stopped: StoppedCommand) -> None:
    with suppress(OSError):  # the terminal may be what went away
        _print_error(str(stopped))
    sys.exit(stopped.code)


def _print_error(sentence: str) -> None:
    sys.stderr.write(f"likewise: {sentence}\n")
