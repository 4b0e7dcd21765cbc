"""The labelling site: pages for experts and for the owner over the votes database; no mathematics."""
