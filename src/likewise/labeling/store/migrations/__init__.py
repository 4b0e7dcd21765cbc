"""The history of the votes database, oldest first in `versions/`."""
