"""The wheel, installed into a new environment without the checkout, runs the demo and serves the site."""

import json
import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from .web.servers import free_port, logged_in, wait_until_up

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_an_installed_wheel_runs_the_demo_and_the_site(tmp_path: Path) -> None:
    python = [sys.executable, "-m"]
    subprocess.run([*python, "build", "--no-isolation", "--wheel", "--outdir", str(tmp_path), str(ROOT)], check=True)
    subprocess.run([*python, "venv", str(tmp_path / "venv")], check=True)
    bin_folder = f"{tmp_path}/venv/bin"
    wheel = str(next(tmp_path.glob("*.whl")))
    install = [f"{bin_folder}/python", "-m", "pip", "install", "--quiet", "-c", f"{ROOT}/constraints.txt", wheel]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(install, env=clean, check=True)  # what is on the path of this process is not installed there
    likewise = f"{bin_folder}/likewise"
    subprocess.run([likewise, "demo", "demo"], cwd=tmp_path, env=clean, check=True)
    assert "ROC_AUC" in (tmp_path / "demo" / "report" / "index.html").read_text(encoding="utf-8")
    invite = [likewise, "label", "invite", "demo", "--name", "Anna", "--json"]
    invited = subprocess.run(invite, cwd=tmp_path, env=clean, capture_output=True, text=True, check=True)
    port, token = free_port(), json.loads(invited.stdout)["link"].rpartition("/")[2]
    site = subprocess.Popen([likewise, "label", "serve", "demo", "--port", str(port)], cwd=tmp_path, env=clean)
    try:
        wait_until_up(site, port)
        with closing(logged_in(port, token)) as anna:
            parts = re.findall(r'(?:href|src)="(/static/[^"]+)"', anna.get("/work").text)
            assert parts and all(anna.get(each).status_code == 200 for each in parts)
    finally:
        site.terminate()
        site.wait(20)
