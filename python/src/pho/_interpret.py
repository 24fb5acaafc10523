"""Explanations that InterpretML's viewer shows: those of its EBM, of the same make."""

from __future__ import annotations

import math
from typing import Any, Optional, Sequence

from . import _curves, _plot, _rows, _tables
from ._need import need
from ._result import Result, told
from .errors import Error, UsageError


def explanation(d: Result, rows: Optional[_rows.Rows], predictor: Optional[str], response: Any) -> Any:
    """See Decomposition.to_interpret."""
    need("interpret", "for this")
    try:  # a private place, tested with the versions that the tests pin
        from interpret.glassbox._ebm._ebm import EBMExplanation
    except ImportError as fault:
        import interpret

        raise Error(f"interpret {interpret.__version__} keeps its EBMExplanation elsewhere: 0.6 and 0.7 are known") from fault
    chosen = d.predictor(predictor)
    return _global(d, chosen, EBMExplanation) if rows is None else _local(d, chosen, rows, response, EBMExplanation)


_TYPES = {"curve": "continuous", "levels": "nominal", "surface": "interaction"}


def _global(d: Result, predictor: dict[str, Any], kind: Any) -> Any:
    import pandas

    units = told(predictor)
    own = {u["name"] for u in units}
    curves = {name: c for name, c in _curves.of(d, predictor["name"]).items() if name in own}
    span = _span(list(curves.values()))
    histograms = {f["name"]: f for f in d.artifact.get("features") or []}
    shown = [_graph(c, span, histograms) for c in curves.values()]
    names = [" & ".join(c.features) if c.kind == "surface" else c.term for c in curves.values()]
    types = [_TYPES[c.kind] for c in curves.values()]
    label = dict(zip(curves, names))
    overall = {
        "type": "univariate",
        "names": [label.get(u["name"], u["name"]) for u in units] + ["unstructured"],
        "scores": _importances(d, predictor, units),
    }
    graphs = [{**g, "scores": list(g["scores"])} if g["type"] == "univariate" else g for g in shown]
    inside = {
        "overall": overall,
        "specific": shown,
        "mli": [
            {"explanation_type": "ebm_global", "value": {"feature_list": graphs}},
            {"explanation_type": "density", "value": {"density": [g.get("density", {}) for g in shown]}},
        ],
    }
    kinds = ["categorical" if t == "nominal" else t for t in types]
    selector = pandas.DataFrame({"Name": names, "Type": kinds, "# Unique": math.nan, "% Non-zero": math.nan})
    return kind("global", inside, feature_names=names, feature_types=types, name=f"pho: {predictor['name']}", selector=selector)


def _importances(d: Result, predictor: dict[str, Any], units: Sequence[dict[str, Any]]) -> list[float]:
    """Mean absolute contributions; without contributions standard deviations, which rank alike."""
    try:
        table = d.contributions
    except Error:
        variance = {tuple(e["terms"]): e["after"]["variance"] for e in predictor.get("entangled") or [] if e.get("after")}
        variance.update({(t["name"],): t["after"]["variance"] for t in predictor["terms"]})
        return [variance.get(tuple(u["terms"]), 0.0) ** 0.5 for u in units] + [predictor["variance"]["unstructured"] ** 0.5]
    import numpy

    parts = _tables.sums(table, d.prefix(predictor), [*(u["terms"] for u in units), ["unstructured"]])
    return [float(v) for v in numpy.nanmean(numpy.abs(parts), axis=0)]


def _span(curves: list[_curves.Curve]) -> tuple[float, float]:
    """The range of all values and bands."""
    all_of_them = [v for c in curves for v in (*c.value, *c.lower, *c.upper) if v is not None]
    return (min(all_of_them, default=0.0), max(all_of_them, default=0.0))


def _graph(c: _curves.Curve, span: tuple[float, float], histograms: dict[str, Any]) -> dict[str, Any]:
    """What the viewer draws of a term: arrays, and of a curve the edges of its values."""
    import numpy

    if c.kind == "surface":
        xs, ys, values = _plot.grid(c)
        return {
            "type": "interaction",
            "left_names": _edges(xs),
            "right_names": _edges(ys),
            "scores": numpy.asarray(values, dtype=float).T,
            "scores_range": span,
        }
    names = [str(x) for x in c.x] if c.kind == "levels" else _edges(c.x)
    banded = any(v is not None for v in c.lower)
    return {
        "type": "univariate",
        "names": names,
        "scores": numpy.asarray(c.value, dtype=float),
        "scores_range": span,
        "upper_bounds": numpy.asarray(c.upper, dtype=float) if banded else None,
        "lower_bounds": numpy.asarray(c.lower, dtype=float) if banded else None,
        "density": _density(c, names, histograms),
    }


def _edges(places: Sequence[Any]) -> list[Any]:
    """Edges between places that are numbers, and at both ends; other places as they are."""
    if not all(isinstance(p, float) for p in places):
        return [str(p) for p in places]
    return [places[0], *((a + b) / 2 for a, b in zip(places, places[1:])), places[-1]]


def _density(c: _curves.Curve, names: list[Any], histograms: dict[str, Any]) -> dict[str, Any]:
    """How many rows there are, where the result says so."""
    feature = histograms.get(c.features[0] if c.features else "", {})
    counts = feature.get("counts") or []
    levels = feature.get("levels")
    if c.kind == "levels":
        known = dict(zip(levels or [], counts))
        return {"names": names, "scores": [known.get(n, 0) for n in names]}
    if not counts or levels:
        return {"names": names, "scores": [0] * (len(names) - 1)}
    low, high = feature["min"], feature["max"]
    return {"names": [low + (high - low) * i / len(counts) for i in range(len(counts) + 1)], "scores": counts}


def _local(d: Result, predictor: dict[str, Any], rows: _rows.Rows, response: Any, kind: Any) -> Any:
    import numpy
    import pandas

    if _rows.columns(rows) is None:
        raise UsageError("the rows are to be a table in memory, whose values are shown")
    rows = _rows.readable(rows)
    parts, prefix = d.apply(rows), d.prefix(predictor)
    terms = told(predictor)
    names = [t["name"] for t in terms] + ["unstructured"]
    scores = _tables.sums(parts, prefix, [*(t["terms"] for t in terms), ["unstructured"]])
    eta = numpy.asarray(_tables.column(parts, prefix + "eta"), dtype=float)
    intercept = numpy.asarray(_tables.column(parts, prefix + "intercept"), dtype=float)
    shown = [_rows.cells(rows, t["features"][0]) if len(t["features"]) == 1 else [""] * len(eta) for t in terms] + [[""] * len(eta)]
    truth = [math.nan] * len(eta) if response is None else [float(v) for v in response]
    specific = []
    for i, value in enumerate(eta):
        performance = {"is_classification": False, "actual": truth[i], "predicted": value, "actual_score": truth[i], "predicted_score": value}
        specific.append(
            {
                "type": "univariate",
                "names": names,
                "scores": list(scores[i]),
                "values": [column[i] for column in shown],
                "extra": {"names": ["Intercept"], "scores": [intercept[i]], "values": [1]},
                "perf": performance,
            }
        )
    residual = numpy.asarray(truth) - eta
    selector = pandas.DataFrame({"Actual": truth, "Predicted": eta, "Resid": residual, "AbsResid": abs(residual)}).round(3)
    inside = {"overall": None, "specific": specific, "mli": []}
    types = [_type(t) for t in terms] + ["continuous"]
    return kind("local", inside, feature_names=names, feature_types=types, name=f"pho: {predictor['name']}", selector=selector)


def _type(term: dict[str, Any]) -> str:
    return "interaction" if len(term["features"]) > 1 else "nominal" if term["kind"] == "factor" else "continuous"
