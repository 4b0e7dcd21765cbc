"""What similarity under a condition adds to likewise."""

from likewise.extensions import Extension

EXTENSION = Extension(
    name="conditional",
    summary="Similarity under a condition (GeneCIS): templates, mining, Combiner, search with a text.",
    commands={
        "condition": "likewise.conditional.cli:app",
        "ask": "likewise.conditional.cli.ask:ask",
        "mine": "likewise.conditional.cli.mine:mine",
    },
    readers="likewise.conditional.readers:LAYOUTS",
    pages="likewise.conditional.web:PAGES",
)
