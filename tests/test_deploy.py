"""The Dockerfile and the compose file say the same, name files that exist, and lock the site down."""

import json
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]


def instructions() -> list[tuple[str, str]]:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines if line and line[0] != "#")]


def test_compose_and_dockerfile_agree_and_are_locked_down() -> None:
    told = dict(instructions())
    assert told["USER"] == "10001:10001" and "/health" in told["HEALTHCHECK"]
    site = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    assert site["site"]["read_only"] is True and site["site"]["cap_drop"] == ["ALL"]
    assert site["site"]["tmpfs"] == ["/tmp"] and site["site"]["volumes"] == ["workspace:/data"]
    assert site["database"]["healthcheck"] and site["site"]["depends_on"]["database"]["condition"] == "service_healthy"
    assert json.loads(told["CMD"])[:3] == site["site"]["command"][:3]
    for source in [each for word, rest in instructions() if word == "COPY" for each in rest.split()[:-1]]:
        assert (ROOT / source).exists(), source
