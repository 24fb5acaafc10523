"""Curves and surfaces of terms, and the parts of rows, by matplotlib."""

from __future__ import annotations

import math
import textwrap
from typing import Any, Callable, Optional, Sequence

from . import _curves, _labels, _links
from ._need import need
from ._result import Result
from .errors import UsageError

_COLUMNS = 3  # panels side by side

Scale = Callable[[Optional[float]], float]


def draw(d: Result, term: str, predictor: Optional[str], ax: Any, scale: str, before: bool, members: bool) -> Any:
    """See Decomposition.plot, of one term."""
    plt = need("matplotlib.pyplot", "to plot", "matplotlib")
    name, curve = _curves.one(d, term, predictor)
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, max(4.8, _height(curve))), layout="constrained")
    return _panel(d, name, curve, ax, scale, before, members)


def draw_all(d: Result, predictor: Optional[str], scale: str, before: bool, members: bool) -> Any:
    """See Decomposition.plot, of all terms."""
    plt = need("matplotlib.pyplot", "to plot", "matplotlib")
    chosen = [predictor] if predictor is not None else d.predictors
    curves = [(name, c) for name in chosen for c in _curves.identified(d, d.predictor(name)["name"]).values()]
    if not curves:
        raise UsageError("there is no term with a curve to draw")
    across = min(_COLUMNS, len(curves))
    down = -(-len(curves) // across)
    heights = [max(3.0, *(_height(c) for _, c in curves[i * across : (i + 1) * across])) for i in range(down)]
    figure, axes = plt.subplots(down, across, figsize=(4 * across, sum(heights)), height_ratios=heights, squeeze=False, layout="constrained")
    panels = list(axes.flat)
    for ax, (name, curve) in zip(panels, curves):
        _panel(d, name, curve, ax, scale, before, members)
        if len(chosen) > 1:
            ax.set_title(f"{_labels.Words(d.artifact).predictor(name)}: {ax.get_title()}")
    for ax in panels[len(curves) :]:
        ax.remove()
    return figure


def _height(c: _curves.Curve) -> float:
    """Inches in which the names of levels do not run into each other, but for very many."""
    return min(0.18 * len(c.x), 30.0) if c.kind == "levels" else 0.0


def _panel(d: Result, predictor: str, curve: _curves.Curve, ax: Any, scale: str, before: bool, members: bool) -> Any:
    to, axis = _scale(d, predictor, scale)
    _rug(d, curve, ax)
    {"surface": _surface, "levels": _levels, "curve": _curve}[curve.kind](curve, ax, to, axis, before and scale == "link", members)
    ax.set_title(curve.term)
    _labels.dress(ax, d.artifact, curve.term, curve.kind)
    terms = {t["name"]: t for t in d.predictor(predictor)["terms"]}
    others = terms.get(curve.term, {}).get("aliased_with")
    if others:
        words = _labels.Words(d.artifact)
        note = textwrap.fill(f"known only in sum with {', '.join(words.term(t, terms[t]['features']) for t in others)}", 24)
        ax.set_title(f"{ax.get_title()}\n{note}", fontsize="medium")
    return ax


def _rug(d: Result, c: _curves.Curve, ax: Any) -> None:
    """Ticks below a curve at the quantiles of its column: where the rows are."""
    column: dict[str, Any] = next((f for f in d.artifact["features"] if c.kind == "curve" and [f["name"]] == c.features[:1]), {})
    at = [v for v in column.get("quantiles") or [] if v is not None]
    if at:
        ax.plot(at, [0.015] * len(at), "|", color="0.4", markersize=5, transform=ax.get_xaxis_transform())


def _scale(d: Result, predictor: str, scale: str) -> tuple[Scale, str]:
    """What a term's value becomes, and the axis' name: itself, or the response where all other terms are at their mean."""
    if scale == "link":
        return lambda v: math.nan if v is None else v, "contribution"
    if scale != "response":
        raise UsageError(f"scale={scale!r}: it is link or response")
    p = d.predictor(predictor)
    inverse = _links.inverse(p.get("link"))
    if inverse is None:
        raise UsageError(f"predictor {predictor!r} has no scale of the response that one predictor gives: draw it with scale='link'")
    name = str(p["link"].get("of") or "response")
    return lambda v: math.nan if v is None else inverse(p["intercept"] + v), f"{name}, all else at its mean"


def _curve(c: _curves.Curve, ax: Any, to: Scale, axis: str, before: bool, members: bool) -> None:
    at = [i for i, v in enumerate(c.value) if v is not None]
    band = [i for i in at if c.lower[i] is not None]
    if band:
        ax.fill_between([c.x[i] for i in band], [to(c.lower[i]) for i in band], [to(c.upper[i]) for i in band], alpha=0.25, linewidth=0)
    for name, values in c.members.items() if members else []:
        ax.plot(c.x, [to(v) for v in values], color="0.6", linewidth=0.7, label="each model" if name == next(iter(c.members)) else None)
    if before and any(v for _, v in c.before):
        ax.plot([x for x, _ in c.before], [to(v) for _, v in c.before], linestyle="--", color="0.6", label="before")
    ax.plot([c.x[i] for i in at], [to(c.value[i]) for i in at], color="C0", label="after")
    ax.set_xlabel(c.features[0] if c.features else "")
    ax.set_ylabel(axis)
    if ax.get_legend_handles_labels()[1] != ["after"]:
        ax.legend()


def _levels(c: _curves.Curve, ax: Any, to: Scale, axis: str, before: bool, members: bool) -> None:
    at = [i for i, v in enumerate(c.value) if v is not None]
    places = {str(c.x[i]): place for place, i in enumerate(at)}
    ax.plot([to(c.value[i]) for i in at], range(len(at)), "o", color="C0", label="after")
    for place, i in enumerate(at):
        if c.lower[i] is not None:
            ax.plot([to(c.lower[i]), to(c.upper[i])], [place, place], color="C0", alpha=0.5)
    own = [(places[str(x)], v) for x, v in c.before if str(x) in places]
    if before and any(v for _, v in own):
        ax.plot([to(v) for _, v in own], [place for place, _ in own], "o", markerfacecolor="none", color="0.6", label="before")
        ax.legend()
    for values in c.members.values() if members else []:
        ax.plot([to(values[i]) for i in at], range(len(at)), "|", color="0.6")
    ax.set_yticks(range(len(at)), [str(c.x[i]) for i in at])
    ax.invert_yaxis()  # the first level above
    ax.set_xlabel(axis)
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


def _surface(c: _curves.Curve, ax: Any, to: Scale, axis: str, before: bool, members: bool) -> None:
    xs, ys, values = grid(c)
    numeric = [all(isinstance(v, float) for v in places) for places in (xs, ys)]
    middle = to(0.0)
    values = [[to(None if math.isnan(v) else v) for v in row] for row in values]
    largest = max((abs(v - middle) for row in values for v in row if not math.isnan(v)), default=1.0) or 1.0
    at = [places if n else list(range(len(places))) for places, n in zip((xs, ys), numeric)]
    mesh = ax.pcolormesh(at[0], at[1], values, shading="nearest", cmap="RdBu_r", vmin=middle - largest, vmax=middle + largest)
    if not numeric[0]:
        ax.set_xticks(at[0], [str(v) for v in xs])
    if not numeric[1]:
        ax.set_yticks(at[1], [str(v) for v in ys])
    names = [*c.features, "", ""]
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.figure.colorbar(mesh, ax=ax, label=axis)


def waterfall(intercept: float, parts: Sequence[tuple[str, float]], ax: Any, most: int, response: str = "") -> Any:
    """Draw parts that lead from an intercept to its sum with them, and what that is on the scale of the response: the
    largest first, the smallest of many together.
    """
    plt = need("matplotlib.pyplot", "to plot", "matplotlib")
    if most < 1:
        raise UsageError(f"most={most!r}: 1 or more")
    ordered = sorted(parts, key=lambda p: -abs(p[1]))
    rest = ordered[most:]
    shown = ordered[:most] + ([(f"{len(rest)} more", math.fsum(v for _, v in rest))] if rest else [])
    if ax is None:
        _, ax = plt.subplots(figsize=(8, 1.2 + 0.35 * len(shown)), layout="constrained")
    at = intercept
    for place, (_, v) in enumerate(shown):
        ax.barh(place, v, left=at, color="C0" if v >= 0 else "C3")
        ax.annotate(f"{v:+.3g}", (max(at, at + v), place), xytext=(3, 0), textcoords="offset points", va="center", fontsize="small")
        ax.plot([at + v] * 2, [place - 0.4, place + 1.4], color="0.5", linewidth=0.7)
        at += v
    ax.axvline(intercept, color="0.6", linestyle=":", linewidth=1)
    ax.set_yticks(range(len(shown) + 1), [name for name, _ in shown] + [f"prediction = {at:.4g}"])
    ax.plot([at], [len(shown)], "D", color="0.2")
    ax.invert_yaxis()
    ax.use_sticky_edges = False
    ax.margins(x=0.12)
    ax.set_xlabel(f"from the mean, {intercept:.4g}, to the model's output")
    ax.set_title(response)
    return ax
