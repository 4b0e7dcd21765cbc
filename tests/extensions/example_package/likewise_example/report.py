"""One more section of the report."""

from likewise.report.sections import Section, SectionContext

from .measure import mean_brightness


def write(context: SectionContext) -> str:
    value = mean_brightness(context.workspace)
    return f'<section id="brightness"><h2>Brightness</h2><p>{100 * value:.0f} % on average.</p></section>'


SECTION = Section(after="gallery", write=write)
