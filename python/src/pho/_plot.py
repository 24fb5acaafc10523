"""Curves and surfaces of terms, by matplotlib."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Optional

from . import _labels, _tables
from .errors import Error, UsageError

if TYPE_CHECKING:
    from ._decomposition import Decomposition


def draw(d: "Decomposition", term: str, predictor: Optional[str], ax: Any) -> Any:
    """See Decomposition.plot."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as fault:
        raise Error("matplotlib is needed to plot: pip install matplotlib") from fault
    points = _points(d, term, predictor)
    if ax is None:
        ax = plt.gca()
    if any(p["x2"] is not None for p in points):
        kind = "surface"
        _surface(points, ax, plt)
    elif any(isinstance(p["x"], str) for p in points):
        kind = "levels"
        _levels(points, ax)
    else:
        kind = "curve"
        _curve(points, ax)
    ax.set_title(term)
    _labels.dress(ax, d.artifact, term, kind)
    return ax


def _points(d: "Decomposition", term: str, predictor: Optional[str]) -> list[dict[str, Any]]:
    table = d.effects
    names = ["predictor", "term", "stage", "x", "x2", "value", "lower", "upper"]
    columns = {n: _tables.column(table, n) for n in names}
    rows = [{n: _clean(columns[n][i]) for n in names} for i in range(len(columns["term"]))]
    found = [r for r in rows if r["term"] == term and predictor in (None, r["predictor"])]
    if not found:
        known = sorted({str(r["term"]) for r in rows})
        raise UsageError(f"there is no term {term!r} with a curve: there are {', '.join(known)}")
    first = found[0]["predictor"]
    points = [r for r in found if r["predictor"] == first]
    for p in points:
        p["x"], p["x2"] = _numeric(p["x"]), _numeric(p["x2"])
    return points


def _numeric(v: Any) -> Any:
    if isinstance(v, str):
        try:
            return float(v)
        except ValueError:
            return v
    return v


def _clean(v: Any) -> Any:
    return None if isinstance(v, float) and math.isnan(v) else v


def _stage(points: list[dict[str, Any]], stage: str) -> list[dict[str, Any]]:
    return [p for p in points if p["stage"] == stage and p["value"] is not None]


def _curve(points: list[dict[str, Any]], ax: Any) -> None:
    after, before = _stage(points, "after"), _stage(points, "before")
    band = [p for p in after if p["lower"] is not None]
    if band:
        ax.fill_between([p["x"] for p in band], [p["lower"] for p in band], [p["upper"] for p in band], alpha=0.25, linewidth=0)
    if any(p["value"] for p in before):
        ax.plot([p["x"] for p in before], [p["value"] for p in before], linestyle="--", color="0.6", label="before")
    ax.plot([p["x"] for p in after], [p["value"] for p in after], label="after")


def _levels(points: list[dict[str, Any]], ax: Any) -> None:
    after = _stage(points, "after")
    at = range(len(after))
    ax.barh(list(at), [p["value"] for p in after])
    for i, p in zip(at, after):
        if p["lower"] is not None:
            ax.plot([p["lower"], p["upper"]], [i, i], color="0.2")
    ax.set_yticks(list(at), [str(p["x"]) for p in after])


def _surface(points: list[dict[str, Any]], ax: Any, plt: Any) -> None:
    after = _stage(points, "after")
    xs, ys = sorted({p["x"] for p in after}, key=str), sorted({p["x2"] for p in after}, key=str)
    if all(isinstance(v, float) for v in xs + ys):
        xs, ys = sorted(xs), sorted(ys)
    value = {(p["x"], p["x2"]): p["value"] for p in after}
    grid = [[value.get((x, y), math.nan) for x in xs] for y in ys]
    numeric = all(isinstance(v, float) for v in xs + ys)
    mesh = ax.pcolormesh(xs if numeric else range(len(xs)), ys if numeric else range(len(ys)), grid, shading="nearest", cmap="RdBu_r")
    plt.colorbar(mesh, ax=ax)
