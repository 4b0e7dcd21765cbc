"""How numbers are written on the page: percentages with one decimal, a dash where a value is undefined."""

from shlex import quote

from likewise.intervals import few_queries_note

DASH = "–"
MINUS = "−"
NBSP = "\u00a0"  # keeps a number and its sign on one line


def percent(value: float | None, digits: int = 1) -> str:
    return DASH if value is None else f"{100 * value:.{digits}f}"


def small_percent(value: float | None) -> str:
    """Shares that may be far below one percent keep two meaningful digits."""
    if value is None:
        return DASH
    if value == 0:
        return "0"
    digits = 1
    while digits < 6 and abs(100 * value) < 10 ** (1 - digits):
        digits += 1
    return percent(value, digits)


def count(value: float | None) -> str:
    return DASH if value is None else f"{value:,.0f}"


def format_amount(value: float | None) -> str:
    """Hours and factors: one decimal below a hundred, none above."""
    if value is None:
        return DASH
    return f"{value:,.1f}" if abs(value) < 99.95 else f"{value:,.0f}"


def fraction(value: float | None) -> str:
    return signed(value)


def interval(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """`61.0–63.5`; with signs, as of differences, `−1.2 to +3.4`."""
    if low is None or high is None:
        return DASH
    return f"{points(low)} to {points(high)}" if signed else f"{percent(low)}–{percent(high)}"


def points(value: float | None) -> str:
    """A difference of shares in percentage points, with its sign."""
    return DASH if value is None else f"{100 * value:+.1f}".replace("-", MINUS)


def signed(value: float | None) -> str:
    """A correlation: two decimals and a true minus."""
    return DASH if value is None else f"{value:.2f}".replace("-0.00", "0.00").replace("-", MINUS)


def p_value(p: float | None) -> str:
    if p is None:
        return "p undefined"
    return f"p{NBSP}<{NBSP}0.001" if p < 0.001 else f"p{NBSP}={NBSP}{p:.3f}"


def plural(n: int, one: str, more: str | None = None) -> str:
    """`1 query`, `12 queries`."""
    return f"{n:,} {one if n == 1 else more or one + 's'}"


def join_names(names: list[str], max_names: int = 4) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b, c and 5 others`."""
    if len(names) > max_names + 1:
        names = [*names[:max_names], f"{len(names) - max_names} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def few_queries(n_queries: int | None) -> str:
    """The sentence about intervals over few queries; empty where there are enough."""
    note = few_queries_note(n_queries)
    return f"{note[0].upper()}{note[1:]}." if note else ""


FILTERS = {
    "percent": percent,
    "small_percent": small_percent,
    "count": count,
    "amount": format_amount,
    "fraction": fraction,
    "interval": interval,
    "points": points,
    "p_value": p_value,
    "signed": signed,
    "plural": plural,
    "few_queries": few_queries,
    "quoted": quote,
}
