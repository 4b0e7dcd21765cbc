"""Commands and scripts in processes that need not import anything again: forks of one that has.

`[*warm("-m", "likewise"), "new", ...]` is run as `[sys.executable, "-m", "likewise", "new", ...]` would be: in a
process of its own, with its own folder, environment, standard streams and exit code. What a process costs before it
does anything, most of a second of imports, is paid once for all of them. Signals reach only the one that waits for
the answer; a test that kills starts Python itself. Where there is no fork, everything is started anew.
"""

import atexit
import functools
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

SERVER = Path(__file__).with_name("warm_server.py")
CLIENT = Path(__file__).with_name("warm_client.py")


def warm(*python_options: str) -> list[str]:
    """The beginning of a command: a Python whose imports are done, with `-m MODULE` or `-c CODE`."""
    if sys.platform != "linux":
        return [sys.executable, *python_options]
    return [sys.executable, "-I", "-S", str(CLIENT), _server(), *python_options]


@functools.cache
def _server() -> str:
    """The socket of a server that ends with this process."""
    folder = tempfile.TemporaryDirectory(prefix="likewise-warm-")
    address = f"{folder.name}/socket"
    process = subprocess.Popen([sys.executable, str(SERVER), address], stdout=subprocess.PIPE, stdin=subprocess.PIPE)

    def end() -> None:
        process.kill()
        process.communicate()
        folder.cleanup()

    atexit.register(end)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return address


def likewise_command(folder: Path) -> Path:
    """A new folder that has `likewise` as a command of a shell, for the front of its PATH."""
    folder.mkdir()
    command = folder / "likewise"
    command.write_text(f'#!/bin/sh\nexec {shlex.join(warm("-m", "likewise"))} "$@"\n')
    command.chmod(0o755)
    return folder
