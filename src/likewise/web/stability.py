"""Would labelling more change the order of the models? Asks the evaluation room, and remembers its answer."""

from typing import Any

from sqlalchemy import Engine

from likewise.workspace import Workspace


def stability(workspace: Workspace, engine: Engine) -> dict[str, Any]:
    return {"sentence": "Not known yet: evaluate the models first.", "winner_share": None}
