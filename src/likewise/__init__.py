"""likewise: which model finds what looks alike to people?"""

from likewise.errors import LikewiseError

__version__ = "0.1.0"

__all__ = ["LikewiseError", "__version__"]
