"""What people call columns, levels and terms: the labels of a result (docs/labels.md)."""

from __future__ import annotations

import json
import math
import os
import re
from typing import Any, Callable, Mapping, Union

Labels = Union[str, "os.PathLike[str]", Mapping[str, Any]]

# The functions of a back-transformation, each with what undoes it.
_FUNCTIONS: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "linear": (lambda v: v, lambda v: v),
    "exp": (math.exp, math.log),
    "exp10": (lambda v: float(10.0**v), math.log10),
    "expm1": (math.expm1, math.log1p),
}


def file(labels: Labels, folder: str) -> str:
    """The path of a labels file: a dict is written to one in `folder`."""
    if not isinstance(labels, Mapping):
        return os.fspath(labels)
    path = os.path.join(folder, "labels.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(labels, out, ensure_ascii=False)
    return path


class Words:
    """The labels in an artifact; none say that everything is called as it is."""

    def __init__(self, artifact: Mapping[str, Any]) -> None:
        labels = artifact.get("labels") or {}
        self._columns: dict[str, dict[str, Any]] = labels.get("columns") or {}
        self._terms: dict[str, str] = labels.get("terms") or {}
        self._predictors: dict[str, str] = labels.get("predictors") or {}
        self._deep: dict[str, Any] = {p["name"]: p["deep"] for p in artifact.get("predictors") or [] if p.get("deep")}
        self.empty = not (self._columns or self._terms or self._predictors)

    def feature(self, column: str) -> str:
        """What a column is called."""
        return str(self._columns.get(column, {}).get("name", column))

    def axis(self, column: str) -> str:
        """A column's name with its unit."""
        unit = self._columns.get(column, {}).get("unit")
        return f"{self.feature(column)} ({unit})" if unit else self.feature(column)

    def predictor(self, name: str) -> str:
        """What a predictor is called."""
        return self._predictors.get(name, name)

    def remainder(self, predictor: str) -> str:
        """What no term of a predictor, by its name, explains."""
        deep = self._deep.get(predictor)
        if deep is None:
            return "not explained by any term"
        arrays = ", ".join(self.feature(a["column"]) for a in deep["arrays"])
        columns = ", ".join(self.feature(c) for c in deep["columns"])
        return f"{arrays} with {columns}" if columns else f"{arrays}, beyond the table"

    def level(self, column: str, level: str) -> str:
        """What a level is called."""
        return str(self._columns.get(column, {}).get("levels", {}).get(level, level))

    def shown(self, column: str, value: float) -> float:
        """A number of a column in the units that are shown."""
        back = self._columns.get(column, {}).get("back_transform") or {}
        return _FUNCTIONS[back.get("function", "linear")][0](back.get("scale", 1.0) * value + back.get("shift", 0.0))

    def value(self, column: str, shown: float) -> float:
        """The number that is shown so; NaN if there is none."""
        back = self._columns.get(column, {}).get("back_transform") or {}
        try:
            inner = _FUNCTIONS[back.get("function", "linear")][1](shown)
        except ValueError:
            return math.nan
        return float((inner - back.get("shift", 0.0)) / back.get("scale", 1.0))

    def term(self, name: str, features: list[str]) -> str:
        """What a term is called: its own label, or its name with those of its columns."""
        if name in self._terms:
            return self._terms[name]
        tail = ""
        for by in features[1:]:
            head, found, level = name.rpartition(f"):{by}")
            if found and level and (self.feature(by), self.level(by, level)) != (by, level):
                name, tail = head + ")", f":{self.feature(by)} = {self.level(by, level)}"
                break
        known = "|".join(re.escape(f) for f in sorted(features, key=len, reverse=True))
        if not known or all(self.feature(f) == f for f in features):
            return name + tail
        parts = re.split(rf"(?:(?<=[(),: ])|(?<=\.\.)|^)({known})(?=[(),: ]|\.\.|$)", name)
        return "".join(self.feature(p) if i % 2 else p.replace(",", ", ") for i, p in enumerate(parts)) + tail


def dress(ax: Any, artifact: Mapping[str, Any], term: str, kind: str) -> None:
    """Put labels on the axes of a term's plot: a "curve", "levels" (upwards) or a "surface"."""
    words = Words(artifact)
    found = [t for p in artifact["predictors"] for t in p["terms"] if t["name"] == term]
    if words.empty or not found:
        return
    features = found[0]["features"]
    ax.set_title(words.term(term, features))
    if kind == "levels":
        ax.set_yticks(ax.get_yticks(), [words.level(features[0], t.get_text()) for t in ax.get_yticklabels()])
        ax.set_ylabel(words.feature(features[0]))
        return
    _numbers(ax.xaxis, ax.get_xlim(), words, features[0])
    if kind == "surface":
        _numbers(ax.yaxis, ax.get_ylim(), words, features[1])


def _numbers(axis: Any, limits: tuple[float, float], words: Words, column: str) -> None:
    """Round numbers as they are shown, at the places of the data's."""
    from matplotlib import ticker

    axis.set_label_text(words.axis(column))
    if words.shown(column, limits[0]) == limits[0] and words.shown(column, limits[1]) == limits[1]:
        return
    low, high = sorted(words.shown(column, v) for v in limits)
    decades = low > 0 and high > 20 * low
    locator = ticker.LogLocator(subs=(1.0, 2.0, 5.0) if high < 1e3 * low else (1.0,)) if decades else ticker.MaxNLocator(6)
    at = [(words.value(column, v), v) for v in locator.tick_values(low, high) if low <= v <= high]
    at = [(place, v) for place, v in at if not math.isnan(place)]
    axis.set_ticks([place for place, _ in at], [f"{v:.10g}" for _, v in at])
