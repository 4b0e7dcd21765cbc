"""Finding the folder of a transformers model: a path, `LIKEWISE_MODELS`, the Hugging Face cache, and then the hub.

Without a network nothing waits: one short look decides, and the answer says what to fetch and where to put it.
"""

import os
import socket
from pathlib import Path
from urllib.parse import urlsplit

from likewise.encoders.cache import cache_folder
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional, require_installed

SECONDS_TO_CONNECT = 3.0
FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]
OLD_WEIGHTS = ["pytorch_model*.bin"]


def models_folder() -> Path:
    """Where models copied by hand may lie: `LIKEWISE_MODELS`, or `models` in the cache."""
    chosen = os.environ.get("LIKEWISE_MODELS")
    return Path(chosen).expanduser() if chosen else cache_folder() / "models"


def local_folder(model: str) -> Path | None:
    """The folder of a model that is complete on this machine; nothing is imported that is not needed."""
    for folder in (Path(model).expanduser(), models_folder() / model, models_folder() / Path(model).name):
        if (folder / "config.json").is_file():
            return folder
    if model.count("/") == 1 and not model.startswith((".", "/", "~")):
        return _in_hub_cache(model)
    return None


def find_folder(model: str) -> Path:
    """The folder of a model, downloaded when it is a model id and the hub can be reached."""
    found = local_folder(model)
    if found is not None:
        return found
    if model.startswith((".", "/", "~")) or model.count("/") != 1 or Path(model).expanduser().exists():
        raise LikewiseError(
            f"there is no transformers model in {model}: a folder with config.json, preprocessor_config.json and "
            "model.safetensors is needed, or a model id such as facebook/dinov2-base."
        )
    return _download(model)


def _in_hub_cache(model: str) -> Path | None:
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface").expanduser()
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub").expanduser()
    snapshots = hub / f"models--{model.replace('/', '--')}" / "snapshots"
    main = snapshots.parent / "refs" / "main"
    newest = [snapshots / main.read_text().strip()] if main.is_file() else sorted(snapshots.glob("*"))
    complete = [each for each in newest if (each / "config.json").is_file() and weight_files(each)]
    return complete[0] if complete else None


def weight_files(folder: Path) -> list[Path]:
    """The files that hold the numbers, safetensors before the older pickles."""
    return sorted(folder.glob("*.safetensors")) or sorted(folder.glob("pytorch_model*.bin"))


def _download(model: str) -> Path:
    require_installed("transformers", f"hf:{model}")  # before anybody fetches what could not be opened
    place = models_folder() / model
    by_hand = (
        f"on a machine with a network run `hf download {model} --local-dir {place.name}` and copy the folder "
        f"to {place}, or name its path as hf:PATH"
    )
    if _offline():
        raise LikewiseError(f"{model} is not on this machine, and the hub cannot be reached: {by_hand}.")
    hub = import_optional("huggingface_hub", f"hf:{model}")
    try:
        folder = Path(hub.snapshot_download(model, allow_patterns=FILES, etag_timeout=SECONDS_TO_CONNECT))
        if not weight_files(folder):
            folder = Path(hub.snapshot_download(model, allow_patterns=[*FILES, *OLD_WEIGHTS]))
        return folder
    except hub.errors.GatedRepoError as error:
        raise LikewiseError(
            f"{model} asks for your consent: accept its licence at https://huggingface.co/{model}, "
            "sign in with `hf auth login`, and run again."
        ) from error
    except hub.errors.RepositoryNotFoundError as error:
        raise LikewiseError(f"the hub knows no model {model!r} that you may read: check its spelling.") from error
    except Exception as error:  # any trouble of the network
        raise LikewiseError(f"{model} could not be downloaded ({type(error).__name__}): {by_hand}.") from error


def _offline() -> bool:
    if any(os.environ.get(name, "").upper() in ("1", "TRUE", "YES", "ON") for name in _OFFLINE_SETTINGS):
        return True
    if os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy"):
        return False  # only the proxy knows
    hub = urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
    try:
        socket.create_connection((hub.hostname or "", hub.port or 443), SECONDS_TO_CONNECT).close()
    except OSError:
        return True
    return False


_OFFLINE_SETTINGS = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
