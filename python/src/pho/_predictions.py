"""Predictions as the model: columns of the data in place of a network."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence


@dataclass
class Columns:
    """Models that are columns of the data.

    Attributes
    ----------
    names : list of list of str
        The columns of each model, one for each of its predictors.
    link : str
        Of the predictions.
    others : list of str
        Columns of the rows that the models do not read, of which no term is chosen.
    """

    names: list[list[str]]
    link: str
    others: Sequence[str]


def flags(columns: Columns, formula: Optional[Sequence[str]]) -> dict[str, Any]:
    """The program's options for such models."""
    return {"predictions": [_listed(names) for names in columns.names], "link": columns.link, "formula": _undotted(formula, columns.others)}


def recorded(artifact: Mapping[str, Any]) -> list[list[str]]:
    """The columns of predictions that an artifact names, by model; none of a network."""
    model = artifact["model"]
    if model.get("kind") != "columns":
        return []
    return [list(m["predictions"]) for m in model.get("members") or [model]]


def _listed(names: Sequence[str]) -> str:
    """The names as a line of CSV."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


def _undotted(formula: Optional[Sequence[str]], names: Sequence[str]) -> list[str]:
    """Formulas whose dot does not stand for these columns."""
    without = "".join(f" - `{n}`" for n in names)
    return [f + without if re.search(r"(?<![\w.`])\.(?![\w.`])", f) else f for f in formula or ["~ ."]]


def tell(model: Any, response: Optional[str] = None, classes: Sequence[str] = (), levels: Optional[Mapping[str, Sequence[str]]] = None) -> None:
    """Let a network's file say what numbers stand for: classes of the response, levels of columns of text."""
    entry = model.metadata_props.add()
    told: dict[str, Any] = {"format": "pho.labels/1"}
    if levels:
        told["columns"] = {name: list(own) for name, own in levels.items()}
    if response is not None:
        told.update(response=response, classes=list(classes))
    entry.key, entry.value = "pho.labels", json.dumps(told, ensure_ascii=False)
