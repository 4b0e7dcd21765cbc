"""Weights that torch saved are read without it, and a file that would run code is refused."""

import io
import pickle
import pickletools
import subprocess
import sys
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from likewise.encoders.networks.torch_weights import read_torch_weights
from likewise.errors import LikewiseError

BOTH = pytest.mark.parametrize("as_zip", [True, False], ids=["zip", "legacy"])


def save(path: Path, value: Any, *, as_zip: bool) -> Path:
    torch.save(value, path, _use_new_zipfile_serialization=as_zip)
    return path


@BOTH
def test_tensors_come_out_as_torch_put_them_in(tmp_path: Path, as_zip: bool) -> None:
    grid = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    state = OrderedDict(
        weight=torch.randn(3, 5, 2, 2, generator=torch.Generator().manual_seed(0)),
        turned=grid.T,
        part=grid[1:3, ::2],  # the same storage, from another place
        count=torch.tensor(7),
        half=torch.randn(4).half(),
        flags=torch.tensor([True, False]),
        empty=torch.empty(0, 3, dtype=torch.float64),
    )
    found = read_torch_weights(save(tmp_path / "weights.pth", state, as_zip=as_zip))
    assert list(found) == list(state)
    for name, tensor in state.items():
        assert found[name].dtype == tensor.numpy().dtype and found[name].shape == tuple(tensor.shape)
        assert (found[name] == tensor.numpy()).all()


class Attack:
    """Unpickling it anywhere else creates a file."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return Path.touch, (self.target,)


@BOTH
def test_a_file_that_would_run_code_is_refused_and_nothing_runs(tmp_path: Path, as_zip: bool) -> None:
    target = tmp_path / "owned"
    pickle.loads(pickle.dumps(Attack(target)))
    assert target.exists(), "the attack works on whoever reads without care"
    target.unlink()
    file = save(tmp_path / "weights.pth", {"weight": torch.ones(2), "more": Attack(target)}, as_zip=as_zip)
    with pytest.raises(LikewiseError, match=r"holds more than tensors .*, so it was not read") as caught:
        read_torch_weights(file)
    assert not target.exists()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("asked", ["builtins eval", "os system", "torch load", "collections namedtuple"])
def test_nothing_but_tensors_may_be_named(tmp_path: Path, asked: str) -> None:
    module, name = asked.split()
    file = tmp_path / "weights.pth"
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("weights/data.pkl", f"c{module}\n{name}\n(S'1 + 1'\ntR.")
    with pytest.raises(LikewiseError, match=f"it asks for {module}.{name}"):
        read_torch_weights(file)


@BOTH
def test_a_damaged_file_is_one_sentence(tmp_path: Path, as_zip: bool) -> None:
    file = save(tmp_path / "weights.pth", {"weight": torch.ones(100, 100)}, as_zip=as_zip)
    whole = file.read_bytes()
    for content in (whole[:-20_000], b"nothing of the kind", b""):
        file.write_bytes(content)
        with pytest.raises(LikewiseError, match="cannot be read as weights that torch saved") as caught:
            read_torch_weights(file)
        assert "\n" not in str(caught.value)


def test_a_tensor_cannot_reach_beyond_its_numbers(tmp_path: Path) -> None:
    file = save(tmp_path / "weights.pth", {"weight": torch.ones(4)}, as_zip=True)
    with zipfile.ZipFile(file) as made:
        parts = {name: made.read(name) for name in made.namelist()}
    with zipfile.ZipFile(file, "w") as made:
        for name, content in parts.items():
            made.writestr(name, content[:8] if name.endswith("data/0") else content)
    with pytest.raises(LikewiseError, match="cannot be read as weights"):
        read_torch_weights(file)


STORAGE = "(Vstorage\nctorch\nFloatStorage\nV0\nVcpu\nI4\ntQ"
REBUILT = "ctorch._utils\n_rebuild_tensor_v2\n"


def tensor_pickle(storage: str = STORAGE, length: int = 2, stride: int = 1, after: str = "") -> str:
    """A dictionary with one tensor; `after` is what follows it on the stack."""
    return f"(dVweight\n{REBUILT}({storage}I0\n(I{length}\nt(I{stride}\nttR{after}s."


def write_weights(path: Path, described: str, compression: int = zipfile.ZIP_STORED, numbers: bytes = b"") -> Path:
    pickletools.dis(described.encode(), out=io.StringIO())  # so that it is refused for what it says, not as damaged
    with zipfile.ZipFile(path, "w", compression) as made:
        made.writestr("weights/data.pkl", described)
        made.writestr("weights/data/0", numbers or np.arange(1, 5, dtype="<f4").tobytes())
    return path


def test_the_pickles_of_these_attacks_are_read_where_they_attack_nothing(tmp_path: Path) -> None:
    assert read_torch_weights(write_weights(tmp_path / "weights.pth", tensor_pickle()))["weight"].tolist() == [1, 2]


ATTACKS = {
    "numbers that are addresses of objects": tensor_pickle(STORAGE + "(dVdtype\nV|O\nsb"),
    "the same by another attribute": tensor_pickle(STORAGE + "(dVkind\nVobject\nsb"),
    "the same by slots": tensor_pickle(STORAGE + "(N(dVkind\nVobject\nstb"),
    "the same by the name of the type": tensor_pickle(STORAGE.replace("ctorch\nFloatStorage", "V|O")),
    "a method": tensor_pickle(after="(dVarray\nccollections\nOrderedDict\nsb"),
    "a shape": tensor_pickle(after="(N(dVshape\n(I9\ntstb"),
    "defaults of a function": f"{REBUILT}(N(dV__defaults__\n(I1\ntstb0{tensor_pickle()}",
    "an attribute of a function": f"{REBUILT}(dVitems\nI1\nsb0{tensor_pickle()}",
    "a class": f"ccollections\nOrderedDict\n(N(dVitems\nI1\nstb0{tensor_pickle()}",
    "no numbers": tensor_pickle("Vnothing\n"),
}
READ_ALL = f"""
import pathlib, sys
from {read_torch_weights.__module__} import read_torch_weights
from {LikewiseError.__module__} import LikewiseError
for file in sys.argv[1:]:
    try:
        read_torch_weights(pathlib.Path(file))
        print("read")
    except LikewiseError as error:
        print("cannot be read as weights that torch saved" in str(error))
"""


def test_a_pickle_cannot_change_what_it_names(tmp_path: Path) -> None:
    """In a process of its own: what it would read may be any place in memory."""
    files = [str(write_weights(tmp_path / name, described)) for name, described in ATTACKS.items()]
    done = subprocess.run([sys.executable, "-c", READ_ALL, *files], check=False, capture_output=True, text=True)
    found = dict(zip(ATTACKS, done.stdout.split() + ["ended the process"] * len(ATTACKS), strict=False))
    assert found == dict.fromkeys(ATTACKS, "True"), done.stderr


@pytest.mark.parametrize(("length", "stride"), [(5, 0), (10**12, 0), (-1, 1)])
def test_a_tensor_is_no_larger_than_its_numbers(tmp_path: Path, length: int, stride: int) -> None:
    file = write_weights(tmp_path / "weights.pth", tensor_pickle(length=length, stride=stride))
    with pytest.raises(LikewiseError, match="cannot be read as weights"):
        read_torch_weights(file)


def test_a_small_file_does_not_unpack_to_a_large_one(tmp_path: Path) -> None:
    file = write_weights(tmp_path / "weights.pth", tensor_pickle(), zipfile.ZIP_DEFLATED, bytes(10**6))
    with pytest.raises(LikewiseError, match="compressed"):
        read_torch_weights(file)
