"""Drawing from sorted groups without searching: a member of my group, but not of my block of it.

Relations sorted by (group, block) put every block of a group side by side, so the members outside one's own block are
a range with a gap, and one random number picks among them.  Nothing is tried twice.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class GroupSampler:
    """Where the group and the block of every position start and stop."""

    group_start: Ints
    group_stop: Ints
    block_start: Ints
    block_stop: Ints

    @classmethod
    def from_sorted(cls, groups: Ints, blocks: Ints) -> "GroupSampler":
        """From codes sorted by (group, block)."""
        new_group = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
        new_block = np.flatnonzero(np.r_[True, (groups[1:] != groups[:-1]) | (blocks[1:] != blocks[:-1])])
        return cls(*_spans(new_group, len(groups)), *_spans(new_block, len(groups)))

    def sample_outside_block(self, at: Ints, rng: np.random.Generator) -> Ints:
        """For each position a random one of its group outside its block; -1 where the block is the whole group."""
        size = self.group_stop[at] - self.group_start[at]
        gap = self.block_stop[at] - self.block_start[at]
        choices = size - gap
        pick = np.floor(rng.random(len(at)) * np.maximum(choices, 1)).astype(np.int64)
        picked = self.group_start[at] + np.minimum(pick, np.maximum(choices - 1, 0))
        picked = np.where(picked >= self.block_start[at], picked + gap, picked)
        return np.where(choices > 0, picked, -1)


def _spans(starts: Ints, n: int) -> tuple[Ints, Ints]:
    """First and one-past-last position of the run that each position is in."""
    stops = np.r_[starts[1:], n]
    lengths = stops - starts
    return np.repeat(starts, lengths), np.repeat(stops, lengths)
