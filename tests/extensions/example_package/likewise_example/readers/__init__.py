"""One more layout of data sets."""

from likewise.catalog.readers import DatasetLayout

LAYOUTS = {"lines": DatasetLayout("a text file with one picture per line, relative to the file")}
