"""Contributions as an explanation that shap's plots show."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Optional

from . import _rows, _tables
from .errors import Error, UsageError

if TYPE_CHECKING:
    from ._decomposition import Decomposition


def explanation(d: "Decomposition", rows: Optional[_rows.Rows], predictor: Optional[str]) -> Any:
    """See Decomposition.to_shap."""
    try:
        import numpy
        import shap
    except ImportError as fault:
        raise Error("shap is needed for this: pip install shap") from fault
    chosen = _predictor(d, predictor)
    prefix = chosen["name"] + "." if len(d.predictors) > 1 else ""
    parts = d.contributions if rows is None else d.apply(rows)
    names = [t["name"] for t in chosen["terms"]] + ["unstructured"]
    values = numpy.column_stack([numpy.asarray(_tables.column(parts, prefix + n), dtype=float) for n in names])
    shown = numpy.full(values.shape, None, dtype=object)
    data = numpy.full(values.shape, math.nan)
    for j, term in enumerate(chosen["terms"]):
        if rows is None or len(term["features"]) != 1 or _rows.columns(rows) is None:
            continue
        column = list(rows[term["features"][0]])
        shown[:, j] = column
        data[:, j] = _codes(column)
    return shap.Explanation(
        values=values,
        base_values=numpy.asarray(_tables.column(parts, prefix + "intercept"), dtype=float),
        data=data,
        display_data=shown if rows is not None else None,
        feature_names=names,
        output_names=chosen["name"],
    )


def _predictor(d: "Decomposition", name: Optional[str]) -> dict[str, Any]:
    all_of_them = d.artifact["predictors"]
    if name is None and len(all_of_them) == 1:
        return dict(all_of_them[0])
    for p in all_of_them:
        if p["name"] == name:
            return dict(p)
    raise UsageError(f"the network has the predictors {', '.join(d.predictors)}: name one as predictor=")


def _codes(column: list[Any]) -> list[float]:
    """Numbers as they are, texts as numbers of their levels in order."""
    try:
        return [float(v) for v in column]
    except (TypeError, ValueError):
        code = {v: float(i) for i, v in enumerate(sorted({str(v) for v in column}))}
        return [code[str(v)] for v in column]
