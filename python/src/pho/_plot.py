"""Curves and surfaces of terms, by matplotlib."""

from __future__ import annotations

import math
from typing import Any, Optional

from . import _curves, _labels
from ._need import need
from ._result import Result


def draw(d: Result, term: str, predictor: Optional[str], ax: Any) -> Any:
    """See Decomposition.plot."""
    plt = need("matplotlib.pyplot", "to plot", "matplotlib")
    curve = _curves.one(d, term, predictor)
    if ax is None:
        ax = plt.gca()
    {"surface": _surface, "levels": _levels, "curve": _curve}[curve.kind](curve, ax)
    ax.set_title(term)
    _labels.dress(ax, d.artifact, term, curve.kind)
    return ax


def _curve(c: _curves.Curve, ax: Any) -> None:
    at = [i for i, v in enumerate(c.value) if v is not None]
    band = [i for i in at if c.lower[i] is not None]
    if band:
        ax.fill_between([c.x[i] for i in band], [c.lower[i] for i in band], [c.upper[i] for i in band], alpha=0.25, linewidth=0)
    if any(v for _, v in c.before):
        ax.plot([x for x, _ in c.before], [v for _, v in c.before], linestyle="--", color="0.6", label="before")
    ax.plot([c.x[i] for i in at], [c.value[i] for i in at], label="after")
    ax.set_xlabel(c.features[0] if c.features else "")
    ax.set_ylabel("contribution")
    if ax.get_legend_handles_labels()[1] != ["after"]:
        ax.legend()


def _levels(c: _curves.Curve, ax: Any) -> None:
    at = [i for i, v in enumerate(c.value) if v is not None]
    ax.barh(range(len(at)), [c.value[i] for i in at])
    for place, i in enumerate(at):
        if c.lower[i] is not None:
            ax.plot([c.lower[i], c.upper[i]], [place, place], color="0.2")
    ax.set_yticks(range(len(at)), [str(c.x[i]) for i in at])
    ax.set_xlabel("contribution")
    ax.set_ylabel(c.features[0] if c.features else "")


def grid(c: _curves.Curve) -> tuple[list[Any], list[Any], list[list[float]]]:
    """A surface's places along both columns, in order, and its values: a list for each place of the
    second, NaN where there is none.
    """
    xs, ys = _order(c.x), _order(c.x2)
    value = {(x, y): v for x, y, v in zip(c.x, c.x2, c.value)}
    cells = [[value.get((x, y)) for x in xs] for y in ys]
    return xs, ys, [[math.nan if v is None else v for v in row] for row in cells]


def _order(places: list[Any]) -> list[Any]:
    known = list(dict.fromkeys(places))
    return sorted(known) if all(isinstance(v, float) for v in known) else known


def _surface(c: _curves.Curve, ax: Any) -> None:
    xs, ys, values = grid(c)
    numeric = [all(isinstance(v, float) for v in places) for places in (xs, ys)]
    largest = max((abs(v) for row in values for v in row if not math.isnan(v)), default=1.0) or 1.0
    at = [places if n else list(range(len(places))) for places, n in zip((xs, ys), numeric)]
    mesh = ax.pcolormesh(at[0], at[1], values, shading="nearest", cmap="RdBu_r", vmin=-largest, vmax=largest)
    if not numeric[0]:
        ax.set_xticks(at[0], [str(v) for v in xs])
    if not numeric[1]:
        ax.set_yticks(at[1], [str(v) for v in ys])
    names = [*c.features, "", ""]
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.figure.colorbar(mesh, ax=ax, label="contribution")
