"""What training adds to likewise."""

from likewise.extensions import Extension

EXTENSION = Extension(
    name="training",
    summary="Fair comparison of losses, fine-tuning, and learning from experts.",
    commands={"train": "likewise.training.cli:app"},
)
