"""Two decompositions side by side."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from typing import Any, Optional

from . import _command, _rows, _tables
from ._decomposition import Decomposition, need_decomposition
from ._report import Report

__all__ = ["Comparison", "compare"]


def compare(a: Decomposition, b: Decomposition, rows: Optional[_rows.Rows] = None, **options: Any) -> "Comparison":
    """Compare two decompositions: two trainings of a network, or one network on two periods' rows.

    Parameters
    ----------
    a, b : Decomposition
    rows : optional
        The rows that `b` was made of: they are run through `a`'s network, so that what rows change
        is known for every term; if `a` was made of the same, through both, which gives joint
        standard errors of the differences.
    **options
        The flags of ``pho compare`` with underscores.

    Returns
    -------
    Comparison
    """
    need_decomposition("a", a)
    need_decomposition("b", b)
    folder = tempfile.mkdtemp(prefix="pho-")
    try:
        data = [] if rows is None else _rows.files(rows, folder)
        out = os.path.join(folder, "comparison")
        networks = [d.network for d in (a, b) if d.network is not None]
        arguments = ["compare", a.result, b.result, f"--out={out}"]
        arguments += _command.flags({"data": data, "model": networks if len(networks) == 2 else None, **options})
        files = {a.result: "the first decomposition", b.result: "the second decomposition"}
        files.update({path: "the rows" for path in data if os.path.dirname(path) == folder})
        text = _command.run(arguments, files=files)
        return Comparison(out, folder, text)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


class Comparison:
    """What :func:`compare` found."""

    def __init__(self, result: str, folder: str, text: str) -> None:
        self._result, self._text = result, text
        self._delete = weakref.finalize(self, shutil.rmtree, folder, True)
        with open(os.path.join(result, "compare.json"), encoding="utf-8") as file:
            self._document: dict[str, Any] = json.load(file)

    @property
    def document(self) -> dict[str, Any]:
        """What compare.json holds."""
        return self._document

    @property
    def terms(self) -> _tables.Table:
        """One row for each term: how far its curve moved, by how many standard errors, and its
        standard deviation in both. Terms of the same columns are one row; ``term_b`` is its name in
        `b` where that is another.
        """
        names = ["predictor", "term", "term_b", "in", "rms", "largest", "x", "x2", "ratio", "critical", "beyond_uncertainty", "sd_a", "sd_b", "why"]
        records = []
        for p in self._document["predictors"]:
            for t in p["terms"]:
                curve, sd = t.get("curve") or {}, t.get("sd") or {}
                records.append(
                    {
                        "predictor": p["name"],
                        "term": t["name"],
                        "term_b": t.get("name_b", ""),
                        "in": t["in"],
                        "sd_a": sd.get("a"),
                        "sd_b": sd.get("b"),
                        "why": t.get("why", ""),
                        **{n: curve.get(n) for n in names[4:11]},
                    }
                )
        return _tables.of(records, names)

    def summary(self) -> str:
        """What was found, in words and a table."""
        return self._text

    def report(self) -> Report:
        """The page with both curves of every term: shown in a notebook, or kept with ``.save(path)``."""
        return Report(os.path.join(self._result, "compare.html"), self._delete)

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()
