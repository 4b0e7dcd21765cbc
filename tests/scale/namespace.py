"""Ray listens on the network card, whatever it is told, so tests give it a network that reaches nothing.

`run_alone` starts a function of a test module in its own network and process namespace (loopback only), where it ends
by itself: with the time it may take, or with the process that started it.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parents[2]
SECONDS = 420


def run_alone(function: str, folder: Path) -> Any:
    """What `function` (MODULE:NAME, called with the folder) returned, as JSON."""
    if sys.platform != "linux" or os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("ip"):
        pytest.skip("not run: Ray's tests need root, unshare and ip, for a network of their own")
    module, name = function.split(":")
    answer = folder / "answer.json"
    code = (
        f"import json, pathlib, {module}; "
        f"answer = {module}.{name}(pathlib.Path({str(folder)!r})); "
        f"pathlib.Path({str(answer)!r}).write_text(json.dumps(answer))"
    )
    shell = f'ip link set lo up && exec timeout -k 5 {SECONDS} "$0" -c "$1"'
    alone = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    ran = subprocess.run(
        [*alone, "sh", "-c", shell, sys.executable, code],
        cwd=PROJECT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(PROJECT), str(PROJECT / "src")])},
        capture_output=True,
        text=True,
        timeout=SECONDS + 30,
    )
    if "unshare failed" in ran.stderr:
        pytest.skip(f"not run: no namespaces here ({ran.stderr.strip()})")
    assert ran.returncode == 0, ran.stderr[-4000:]
    return json.loads(answer.read_text())
