"""What outfits add to likewise."""

from likewise.extensions import Extension

EXTENSION = Extension(
    name="outfits",
    summary="Outfits and tests of taste (A100): rules, questions, models that complete a look.",
    commands={"outfits": "likewise.outfits.cli:app"},
    workspace_methods={
        "generate_outfits": "likewise.outfits.workspace_methods:generate_outfits",
        "train_outfit_model": "likewise.outfits.workspace_methods:train_outfit_model",
    },
    readers="likewise.outfits.readers:LAYOUTS",
    pages="likewise.outfits.web:PAGES",
)
