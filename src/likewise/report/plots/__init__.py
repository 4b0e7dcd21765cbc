"""Plots of the report: matplotlib figures without pyplot, as SVG that takes its colours from the page's style."""
