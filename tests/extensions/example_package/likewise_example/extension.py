"""What this package adds to likewise."""

from likewise.extensions import Extension

EXTENSION = Extension(
    name="brightness",
    summary="How bright are the pictures of a catalog?",
    commands={"brightness": "likewise_example.cli:brightness"},
    readers="likewise_example.readers:LAYOUTS",
    report_sections=("likewise_example.report:SECTION",),
    pages="likewise_example.web:PAGES",
    workspace_methods={"mean_brightness": "likewise_example.measure:mean_brightness"},
)
