"""What training adds to likewise."""

from likewise.extensions import Extension

EXTENSION = Extension(
    name="training",
    summary="Fair comparison of losses, fine-tuning, and learning from experts.",
    commands={"train": "likewise.training.cli:app"},
    workspace_methods={
        "finetune": "likewise.training.workspace_methods:finetune",
        "train_check": "likewise.training.workspace_methods:train_check",
        "train_perceptual": "likewise.training.workspace_methods:train_perceptual",
    },
    report_sections=("likewise.training.report.sections:TRAINED", "likewise.training.report.sections:LEARNED"),
)
