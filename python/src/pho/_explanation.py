"""How the predictions of single rows are made up."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Mapping, Optional

from . import _command, _labels, _plot, _route, _rows, _session, _tables
from ._result import Result
from .errors import UsageError


class Explanation:
    """The parts of rows: intercept + terms + what no term holds = the model's own output.

    Made by :meth:`Decomposition.explain`.
    """

    def __init__(self, document: dict[str, Any], text: str, words: _labels.Words) -> None:
        self._document, self._text, self._words = document, text, words

    @property
    def document(self) -> dict[str, Any]:
        """What ``pho explain --json`` prints."""
        return self._document

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text

    def parts(self, row: int = 0, predictor: Optional[str] = None) -> list[tuple[str, float]]:
        """Names and contributions of a row, by position: intercept, terms (of several that are identified only
        together, their sum), unstructured.
        """
        if not -len(self._document["rows"]) <= row < len(self._document["rows"]):
            raise UsageError(f"row={row!r}: the explanation is of {len(self._document['rows'])} rows, counted from 0")
        p = self._predictor(self._document["rows"][row], predictor)
        return [
            ("intercept", p["intercept"]),
            *((" + ".join(t["terms"]), t["contribution"]) for t in p["terms"]),
            ("unstructured", p["unstructured"]),
        ]

    def _predictor(self, row: dict[str, Any], name: Optional[str]) -> dict[str, Any]:
        known: dict[str, dict[str, Any]] = {p["name"]: p for p in row["predictors"]}
        if name is None and len(known) == 1:
            return next(iter(known.values()))
        if name in known:
            return known[name]
        raise UsageError(f"the model has the predictors {', '.join(known)}: name one as predictor=")

    def to_frame(self) -> _tables.Table:
        """A record for each part of each row: row, predictor, part, value of its columns, contribution, standard error."""
        names = ["row", "predictor", "part", "value", "contribution", "se"]
        records = []
        for at, row in enumerate(self._document["rows"]):
            for p in row["predictors"]:
                values = {" + ".join(t["terms"]): t for t in p["terms"]}
                for part, contribution in self.parts(at, p["name"]):
                    t = values.get(part, {})
                    shown = ", ".join(str(v) for v in (t.get("values") or {}).values())
                    records.append(dict(row=at, predictor=p["name"], part=part, value=shown, contribution=contribution, se=t.get("se")))
        return _tables.of(records, names)

    def plot(self, row: int = 0, predictor: Optional[str] = None, ax: Any = None, most: int = 12) -> Any:
        """Draw a row's parts as a waterfall from the intercept to the model's output. Needs matplotlib.

        Parameters
        ----------
        row : int
            Position among the explained rows, counted from 0.
        predictor : str, optional
            Needed of a model that has several.
        most : int
            How many parts are drawn; the smallest of more are put together.
        ax : matplotlib axes, optional
            Where to draw; None: a new figure.

        Returns
        -------
        matplotlib axes
        """
        parts = self.parts(row, predictor)
        of = self._document["rows"][row]
        values = {" + ".join(t["terms"]): t.get("values") or {} for t in self._predictor(of, predictor)["terms"]}
        of_predictor = self._predictor(of, predictor)["name"]
        named = [(self._named(name, values.get(name, {}), of_predictor), v) for name, v in parts[1:]]
        response = of.get("response") or []
        return _plot.waterfall(parts[0][1], named, ax, most, f"{response[0]['name']}: {response[0]['value']:.3g}" if len(response) == 1 else "")

    def _named(self, name: str, values: dict[str, Any], predictor: str) -> str:
        """A part with the row's values of its columns; "unstructured" in plain words."""
        if name == "unstructured":
            return self._words.remainder(predictor)
        if not values:
            return name
        return ", ".join(f"{self._words.feature(c)} = {v}" for c, v in values.items())

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self._text)}</pre>"


def explain(
    d: Result, network: Optional[str], joined: Any, rows: Any, predictor: Optional[str], inputs: Mapping[str, Any], options: dict[str, Any]
) -> Explanation:
    """See Decomposition.explain."""
    with tempfile.TemporaryDirectory(prefix="pho-") as folder:
        arguments, files = ["explain", d.result], {}
        if isinstance(rows, int) and not isinstance(rows, bool):
            count = int(d.artifact["rows"])
            if rows < 0:
                raise UsageError(f"row {rows}: rows are counted from 0")
            arguments.append(f"--row={rows + 1}")
            files[f"--row {rows + 1}"] = f"row {rows} of {count}, counted from 0"
        else:
            if not isinstance(rows, (str, os.PathLike, list, tuple)):
                rows = _session.one(rows) if _session.is_row(rows) else _rows.readable(rows)
                rows = rows if joined is None else joined(rows)
                rows, inputs = _route.apart(rows, inputs, d.artifact)
            paths = _rows.files(rows, folder) if rows is not None else []
            arguments += _command.flags({"data": paths, "model": network})
            files = {path: "the rows" for path in paths if os.path.dirname(path) == folder}
        arguments += _command.flags({"predictor": predictor, "input": _route.bound(inputs, folder), **options})
        document = json.loads(_command.run([*arguments, "--json"], files=files))
        text = _command.run(arguments, files=files)
    if predictor is not None:
        for row in document["rows"]:
            row["predictors"] = [p for p in row["predictors"] if p["name"] == predictor]
    return Explanation(document, text.rstrip("\n"), _labels.Words(d.artifact))
