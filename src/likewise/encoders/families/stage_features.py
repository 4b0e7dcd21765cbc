"""`efficientnet-lite0?pooling=stages`: what every stage of the network saw, not only what the last one concluded.

Mean and spread of each stage over the picture, means of the middle stages in its four quarters, the last features, and
a soft histogram of colours in five regions.  An ImageNet network forgets colour and surface on its way to the class;
a text such as "in red" asks for just these.
"""

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from likewise.optional_dependencies import import_optional

if TYPE_CHECKING:
    from torch import nn

QUARTERED = (2, 3, 4)
"""The middle stages, counted from 0."""
LEVELS = (-0.9, -0.3, 0.3, 0.9)
"""Of each channel, as the network sees it: the histogram has 4 x 4 x 4 colours."""
SHARPNESS = 12.0
REGIONS = (
    ("all", 0.0, 1.0, 0.0, 1.0),
    ("middle", 0.3, 0.7, 0.3, 0.7),
    ("top", 0.1, 0.4, 0.2, 0.8),
    ("waist", 0.4, 0.6, 0.2, 0.8),
    ("bottom", 0.6, 0.9, 0.2, 0.8),
)


@dataclass(frozen=True)
class Stages:
    """The stages of a network; the first one says nothing that the second does not."""

    blocks: tuple[int, ...]
    widths: tuple[int, ...]

    @property
    def of_last_block(self) -> dict[int, int]:
        """Number of the last block of each stage from the second on -> the stage, counted from 0."""
        ends = [end - 1 for end in accumulate(self.blocks)]
        return {end: stage for stage, end in enumerate(ends) if stage}


def build_stage_features(network: Any, stages: Stages) -> "nn.Module":
    """The module (n, 3, height, width) -> (n, dim) around an EfficientNet-Lite."""
    torch = import_optional("torch", "pooling=stages")
    of_last_block = stages.of_last_block

    class StageFeatures(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.network = network
            grid = torch.tensor(LEVELS)
            self.register_buffer("colours", torch.cartesian_prod(grid, grid, grid))

        def forward(self, pixels: Any) -> Any:
            found = [self.histogram(pixels)]
            x = self.network._swish(self.network._bn0(self.network._conv_stem(pixels)))
            for number, block in enumerate(self.network._blocks):
                x = block(x)
                if number in of_last_block:
                    mean = x.mean((2, 3))
                    spread = ((x - mean[:, :, None, None]) ** 2).mean((2, 3)).clamp_min(1e-8).sqrt()
                    found += [mean, spread]
                if of_last_block.get(number) in QUARTERED:
                    half = x.shape[2] // 2
                    found += [
                        x[:, :, :half, :half].mean((2, 3)),
                        x[:, :, :half, half:].mean((2, 3)),
                        x[:, :, half:, :half].mean((2, 3)),
                        x[:, :, half:, half:].mean((2, 3)),
                    ]
            last = self.network._swish(self.network._bn1(self.network._conv_head(x)))
            return torch.cat([*found, last.mean((2, 3))], dim=1)

        def histogram(self, pixels: Any) -> Any:
            """Shares of 64 colours in each region, square-rooted so that small shares count."""
            small = torch.nn.functional.avg_pool2d(pixels, 4)
            near = -((small[:, None] - self.colours[None, :, :, None, None]) ** 2).sum(2) * SHARPNESS
            share = near.softmax(1)
            height, width = share.shape[2:]
            parts = []
            for _, top, bottom, left, right in REGIONS:
                rows = slice(int(top * height), int(bottom * height))
                part = share[:, :, rows, int(left * width) : int(right * width)]
                parts.append(part.mean((2, 3)).clamp_min(1e-8).sqrt())
            return torch.cat(parts, dim=1)

    module: nn.Module = StageFeatures().eval()
    return module


def stage_features_dim(stages: Stages, last: int) -> int:
    """Length of the vector, for `last` features behind the stages."""
    ends = sum(2 * width for width in stages.widths[1:])
    quarters = sum(4 * stages.widths[stage] for stage in QUARTERED)
    return len(REGIONS) * len(LEVELS) ** 3 + ends + quarters + last
