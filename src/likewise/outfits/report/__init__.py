"""Pages and curves of outfits: tests of taste, checkpoints, training."""
