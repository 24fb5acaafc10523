"""Few rows that hold what many do: missing cells, each level, the extremes of each column."""

from __future__ import annotations

from typing import Any, Iterable, Optional, Sequence

from ._need import need

ROWS = 2_000
_FLOAT32 = 2.0**-22  # relative gap below which float32 may take two numbers for one
_LEVELS = 50  # of a column of numbers, at most, that are looked at one by one


def of(frames: Iterable[Any], columns: Sequence[str], whole: bool) -> Optional[Any]:
    """At most ROWS rows of DataFrames, of these columns; None if there is none.

    Parameters
    ----------
    whole : bool
        Rows without missing cells only.
    """
    pandas = need("pandas", "to choose rows")
    kept: list[Any] = []
    for frame in frames:
        own = frame[list(columns)]
        kept.append(_chosen(own[own.notna().all(axis=1)] if whole else own))
        if sum(map(len, kept)) > 10 * ROWS:
            kept = [_chosen(pandas.concat(kept))]
    kept = [k for k in kept if len(k)]
    return _chosen(pandas.concat(kept) if len(kept) > 1 else kept[0]) if kept else None


def _chosen(frame: Any) -> Any:
    if len(frame) <= ROWS:
        return frame
    numpy = need("numpy", "to choose rows")
    share = max(ROWS // (2 * frame.shape[1]), 3)
    special: set[int] = set()
    for j in range(frame.shape[1]):
        special.update(_special(numpy, frame.iloc[:, j], share))
    at = sorted(special)[:: max(1, -(-len(special) // ROWS))]
    rest = numpy.linspace(0, len(frame) - 1, ROWS).round().astype(int)
    others = [i for i in rest.tolist() if i not in special]
    room = ROWS - len(at)
    spread = [others[k] for k in numpy.linspace(0, len(others) - 1, min(room, len(others))).astype(int)] if room > 0 and others else []
    return frame.iloc[sorted({*at, *spread})]


def _special(numpy: Any, column: Any, share: int) -> Any:
    """Rows of a column's levels, extremes and holes, and of numbers that float32 hardly tells apart."""
    holes = numpy.flatnonzero(column.isna().to_numpy())[: max(share // 4, 1)].tolist()
    try:
        number = column.dtype.kind in "iuf" and column.nunique() > _LEVELS
        if not number:
            return holes + numpy.flatnonzero(~column.duplicated().to_numpy())[:share].tolist()
        order = numpy.argsort(column.to_numpy(float, na_value=numpy.nan), kind="stable")
    except (TypeError, ValueError):
        return holes
    known = order[: len(order) - int(column.isna().sum())]
    values = column.to_numpy(float, na_value=numpy.nan)[known]
    gap = numpy.diff(values)
    close = numpy.flatnonzero((gap > 0) & (gap <= _FLOAT32 * numpy.abs(values[1:])))[: share // 4]
    return holes + [int(k) for k in (*known[: share // 4 + 1], *known[-(share // 4 + 1) :], *known[close], *known[close + 1])]
