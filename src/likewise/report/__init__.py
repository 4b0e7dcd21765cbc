"""Everything a person would rather look at: one self-contained page drawn from the tables of a workspace."""

from likewise.report.step import make_report
from likewise.report.write import write_report

__all__ = ["make_report", "write_report"]
