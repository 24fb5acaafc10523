"""The curves of terms, as effects.csv has them."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from typing import Optional, Union

from ._result import Result
from .errors import UsageError

Place = Union[float, str]


@dataclass
class Curve:
    """A term's values on a grid.

    Attributes
    ----------
    kind : str
        curve, of numbers; levels, of texts; or surface, of two columns.
    x, x2 : list
        Where; x2 only of surfaces.
    value : list of float
        The term there.
    before : list of (place, float)
        What the network's own term was, where it had one.
    members : dict of list
        Of several networks, the values of each, by its name.
    lower, upper : list of float or None
        Its band, where it has one.
    """

    term: str
    features: list[str]
    kind: str
    x: list[Place] = field(default_factory=list)
    x2: list[Place] = field(default_factory=list)
    value: list[Optional[float]] = field(default_factory=list)
    lower: list[Optional[float]] = field(default_factory=list)
    upper: list[Optional[float]] = field(default_factory=list)
    before: list[tuple[Place, float]] = field(default_factory=list)
    members: dict[str, list[Optional[float]]] = field(default_factory=dict)


def of(d: Result, predictor: str) -> dict[str, Curve]:
    """The curves of a predictor's terms, by term, in order, and of the sums of those that are identified only together;
    without terms of more columns than two.
    """
    terms = next(p["terms"] for p in d.artifact["predictors"] if p["name"] == predictor)
    factors = {t["name"] for t in terms if t["kind"] in ("factor", "random")}
    curves: dict[str, Curve] = {}
    with open(d.file("effects.csv"), newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["predictor"] != predictor:
                continue
            name = row["term"]
            if row.get("member"):
                if row["stage"] == "after":
                    curves[name].members.setdefault(row["member"], []).append(_number(row["value"]))
                continue
            if name not in curves:
                features: list[str] = next((t["features"] for t in terms if name.startswith(t["name"] + " + ") or t["name"] == name), [])
                curves[name] = Curve(name, list(features), "surface" if row["x2"] else "curve")
            _add(curves[name], row)
    for curve in curves.values():
        _type(curve, curve.term in factors)
    own = [t["name"] for t in terms if t["name"] in curves]
    return {name: curves[name] for name in [*own, *(c for c in curves if c not in own)]}


def identified(d: Result, predictor: str) -> dict[str, Curve]:
    """The curves of a predictor as its summary lists them: a sum in the place of terms that are identified only together."""
    curves = of(d, predictor)
    terms = next(p["terms"] for p in d.artifact["predictors"] if p["name"] == predictor)
    names = {t["name"] for t in terms}
    summed = {part: name for name in curves if name not in names for part in name.split(" + ")}
    return {name: curves[name] for name in dict.fromkeys(summed.get(name, name) for name in curves if name in names)}


def one(d: Result, term: str, predictor: Optional[str]) -> tuple[str, Curve]:
    """The curve of a term, of a sum of terms, or of the only one of a column, and its predictor: that one, or the
    first that has it.
    """
    known: list[str] = []
    for name in d.predictors if predictor is None else [predictor]:
        if name not in d.predictors:
            raise UsageError(f"there is no predictor {name!r}: there are {', '.join(d.predictors)}")
        curves = of(d, name)
        if term in curves:
            return name, curves[term]
        shown = identified(d, name)
        own = [c for c in shown.values() if c.features == [term]]
        if len(own) == 1:
            return name, own[0]
        if own:
            raise UsageError(f"column {term!r} has several terms: {', '.join(c.term for c in own)}; name one")
        known += [k for k in shown if k not in known]
    raise UsageError(f"there is no term or column {term!r} with a curve: there are {', '.join(known)}")


def _add(curve: Curve, row: dict[str, str]) -> None:
    value = _number(row["value"])
    if row["stage"] == "before":
        if value is not None:
            curve.before.append((row["x"], value))
        return
    curve.x.append(row["x"])
    curve.x2.append(row["x2"])
    curve.value.append(value)
    curve.lower.append(_number(row.get("lower", "")))
    curve.upper.append(_number(row.get("upper", "")))


def _type(curve: Curve, factor: bool) -> None:
    """Make the places numbers, unless they are levels."""
    if curve.kind == "curve" and (factor or any(not _is_number(str(x)) for x in curve.x)):
        curve.kind = "levels"
        return
    if all(_is_number(str(x)) for x in curve.x):
        curve.x = [float(x) for x in curve.x]
        curve.before = [(float(x), v) for x, v in curve.before]
    if all(_is_number(str(x)) for x in curve.x2):
        curve.x2 = [float(x) for x in curve.x2]


def _is_number(text: str) -> bool:
    return _number(text) is not None


def _number(text: str) -> Optional[float]:
    try:
        return float(text)
    except ValueError:
        return None
