"""Contributions as an explanation that shap's plots show."""

from __future__ import annotations

import math
from typing import Any, Optional

from . import _rows, _tables
from ._need import need
from ._result import Result, told

# What plots write before "= unstructured", where the value of a column stands elsewhere.
_ALL = "all columns"


def explanation(d: Result, rows: Optional[_rows.Rows], predictor: Optional[str]) -> Any:
    """See Decomposition.to_shap."""
    shap = need("shap", "for this")
    import numpy

    chosen = d.predictor(predictor)
    prefix = d.prefix(chosen)
    table = rows is not None and _rows.columns(rows) is not None
    if table:
        rows = _rows.readable(rows)
    parts = d.contributions if rows is None else d.apply(rows)
    units = told(chosen)
    values = _tables.sums(parts, prefix, [*(u["terms"] for u in units), ["unstructured"]])
    data, shown = None, None
    if table:
        columns = [_shown(rows, u["features"]) for u in units]
        data = numpy.full(values.shape, math.nan)
        shown = numpy.full(values.shape, _ALL, dtype=object)
        for j, (codes, cells) in enumerate(columns):
            data[:, j], shown[:, j] = codes, cells
    return shap.Explanation(
        values=values,
        base_values=numpy.asarray(_tables.column(parts, prefix + "intercept"), dtype=float),
        data=data,
        display_data=shown,
        feature_names=[*(u["name"] for u in units), "unstructured"],
        output_names=chosen["name"],
    )


def _shown(rows: _rows.Rows, features: list[str]) -> tuple[Any, list[Any]]:
    """What colours a term's points, and what is written: a column's numbers, or numbers of its
    levels; several columns have no colour.
    """
    cells = [_rows.cells(rows, f) for f in features]
    if len(cells) == 1:
        return _codes(cells[0]), cells[0]
    return math.nan, ["(" + ", ".join(_text(v) for v in row) + ")" for row in zip(*cells)]


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _codes(column: list[Any]) -> list[float]:
    """Numbers as they are, texts as numbers of their levels in order."""
    try:
        return [float(v) for v in column]
    except (TypeError, ValueError):
        code = {v: float(i) for i, v in enumerate(sorted({str(v) for v in column}))}
        return [code[str(v)] for v in column]
