"""The stand-in device is one: it computes what the CPU computes, and refuses what is not on it."""

import numpy as np
import pytest
import torch

from likewise.encoders.networks.device import device, mixed_precision, move_to_device, to_device, to_numpy
from likewise.errors import LikewiseError
from tests.devices.stand_in import NAME, OtherDeviceError, StandInTensor


def network() -> torch.nn.Module:
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(8 * 36, 4))


def test_it_computes_and_learns_what_the_cpu_does() -> None:
    pixels = torch.from_numpy(np.random.default_rng(0).normal(size=(5, 3, 8, 8)).astype(np.float32))
    found = []
    for where in ("cpu", NAME):
        module = network().to(where)
        optimiser = torch.optim.AdamW(module.parameters(), lr=1e-3)
        losses = []
        for _ in range(3):
            loss = module(pixels.to(where)).square().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        found.append(losses)
    assert isinstance(next(module.parameters()), StandInTensor)
    assert found[0] == pytest.approx(found[1], rel=1e-5) and found[0][2] < found[0][0]


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_recurrent_networks_are_the_cpus(kind: str) -> None:
    inputs = torch.randn(4, 5, 6)
    found = []
    for where in ("cpu", NAME):
        torch.manual_seed(0)
        reader = getattr(torch.nn, kind)(6, 7).to(where)
        states, _ = reader(inputs.to(where))
        states.square().sum().backward()
        found.append([to_numpy(states), *(to_numpy(weight.grad) for weight in reader.parameters())])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_it_refuses_tensors_from_elsewhere() -> None:
    module, pixels = network().to(NAME), torch.zeros(2, 3, 8, 8)
    with pytest.raises(OtherDeviceError, match=r"convolution.*same device"):
        module(pixels)
    there = torch.ones(3, 4).to(NAME)
    with pytest.raises(OtherDeviceError, match="masked_fill"):
        there.masked_fill(torch.ones(3, 4) > 0, 0.0)
    with pytest.raises(OtherDeviceError):
        torch.cat([there, torch.ones(1, 4)])
    with pytest.raises(RuntimeError):
        there.numpy()


def test_one_place_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIKEWISE_DEVICE", raising=False)
    assert device() == "cpu"  # here; CUDA or MPS where they are
    monkeypatch.setenv("LIKEWISE_DEVICE", NAME)
    module = move_to_device(network())
    pixels = to_device(np.zeros((2, 3, 8, 8), np.float32))
    assert {each.device.type for each in (*module.parameters(), *module.buffers(), pixels)} == {NAME}
    assert pixels.is_contiguous(memory_format=torch.channels_last)
    assert to_numpy(module(pixels)).shape == (2, 4)


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ("gpu", "LIKEWISE_DEVICE=gpu names no device of torch: use cuda, cuda:1, mps or cpu"),
        ("cuda", "LIKEWISE_DEVICE=cuda asks for a device that torch .* does not see here"),
        ("mps", "unset LIKEWISE_DEVICE to use what is there"),
        (f"{NAME}:3", "asks for number 3, and there is 1, counted from 0"),
    ],
)
def test_a_device_that_is_not_there_is_a_sentence(wanted: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if wanted in ("cuda", "mps") and (torch.cuda.is_available() or torch.backends.mps.is_available()):
        pytest.skip("this machine has it")
    monkeypatch.setenv("LIKEWISE_DEVICE", wanted)
    with pytest.raises(LikewiseError, match=says):
        device()


def test_precision_is_what_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, rows = torch.nn.Linear(4, 3), torch.ones(2, 4)
    for said, dtype in (("", torch.float32), ("bfloat16", torch.bfloat16), ("float32", torch.float32)):
        monkeypatch.setenv("LIKEWISE_PRECISION", said)
        with mixed_precision():
            assert layer(rows).dtype == dtype
    monkeypatch.setenv("LIKEWISE_PRECISION", "half")
    with pytest.raises(LikewiseError, match="use float32 or bfloat16"):
        mixed_precision()
