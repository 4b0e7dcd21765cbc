"""What similarity under a condition adds to likewise."""

from likewise.extensions import Extension

EXTENSION = Extension(
    name="conditional",
    summary="Similarity under a condition (GeneCIS): templates, mining, Combiner, search with a text.",
    commands={
        "condition": "likewise.conditional.cli:app",
    },
    workspace_methods={
        "build_template_set": "likewise.conditional.templates.step:build_template_set",
        "audit_template_set": "likewise.conditional.templates.step:audit_template_set",
        "train_two_tower": "likewise.conditional.workspace_methods:train_two_tower",
        "train_combiner": "likewise.conditional.workspace_methods:train_combiner",
        "evaluate_conditions": "likewise.conditional.workspace_methods:evaluate_conditions",
    },
    readers="likewise.conditional.readers:LAYOUTS",
    pages="likewise.conditional.web:PAGES",
)
