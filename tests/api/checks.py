"""What holds of everything that the API returns."""

from pathlib import Path
from typing import Any

import pytest

import likewise as lw
from likewise.errors import LikewiseError


def check_result(result: Any, *, plot: bool, tmp_path: Path) -> None:
    assert isinstance(result, lw.TableResult)
    assert 0 < len(repr(result).splitlines()) < 30 and "pl.DataFrame" not in repr(result)
    assert "<" in result._repr_html_()
    assert list(result.to_pandas().columns) == result.table.columns
    if not plot:
        with pytest.raises(LikewiseError, match="has no plot"):
            result.plot()
        return
    picture = tmp_path / "plot.png"
    result.plot().savefig(picture)
    assert picture.stat().st_size > 2000
