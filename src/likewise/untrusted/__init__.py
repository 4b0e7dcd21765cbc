"""The door for files from elsewhere: what they hold is checked once, here, and what they would become before it is."""

from likewise.untrusted.checks import (
    TEXT,
    ColumnRule,
    check_columns,
    check_line,
    check_shape,
    parse_json,
    read_untrusted_csv,
    read_untrusted_parquet,
    refuse_deep_nesting,
    tidy_headers,
)

__all__ = [
    "TEXT",
    "ColumnRule",
    "check_columns",
    "check_line",
    "check_shape",
    "parse_json",
    "read_untrusted_csv",
    "read_untrusted_parquet",
    "refuse_deep_nesting",
    "tidy_headers",
]
