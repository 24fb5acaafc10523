"""New rows followed from period to period."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from typing import Any, Optional, Union

from . import _command, _rows, _tables
from ._decomposition import Decomposition, need_decomposition
from ._report import Report
from .errors import UsageError

__all__ = ["Monitor", "monitor"]


def monitor(
    d: Optional[Decomposition],
    rows: Optional[_rows.Rows] = None,
    *,
    state: Union[str, "os.PathLike[str]", None] = None,
    predictions: Any = None,
    **options: Any,
) -> "Monitor":
    """Add new rows to what is known of every day, week or other period, and compare the periods with a reference.

    The change of the prediction's mean, and of its variance, is split by terms exactly, and each
    change is tested against chance.

    Parameters
    ----------
    d : Decomposition or None
        None with no rows: the state is shown as it is.
    rows : optional
        New rows; None: nothing is added.
    state : path, optional
        The file that keeps what is known of the periods, some numbers for each, for rows that come later; made if it is not
        there. None: nothing is kept, and the periods of these rows are compared.
    predictions : array, optional
        Of the rows, where predictions are the model: None calls it, if it can be called.
    **options
        The flags of ``pho monitor`` with underscores: ``time="when", by="day"``, or ``period="2026-05"`` for all rows;
        ``cluster="day"``, ``response="y"``, ``reference="2026-01"``, ``roll_up="month"``.

    Returns
    -------
    Monitor
    """
    if (d is None) != (rows is None):
        raise UsageError("monitor takes a decomposition and rows, or neither to show the state as it is")
    if d is None and state is None:
        raise UsageError("state= is missing: name the file to be shown")
    if d is not None:
        need_decomposition("d", d)
    folder = tempfile.mkdtemp(prefix="pho-")
    try:
        out = os.path.join(folder, "monitor")
        arguments, files = ["monitor"], {}
        if d is not None:
            if d._predictor is not None and not _rows.is_files(rows):
                rows = d._predictor.joined(_rows.readable(rows), predictions)
            data = _rows.files(rows, folder)
            if d._predictor is not None and _rows.is_files(rows):
                data = d._predictor.file(data, folder)
            arguments += [d.result, *_command.flags({"data": data, "model": d.network})]
            files = {path: "the rows" for path in data if os.path.dirname(path) == folder}
        arguments += _command.flags({"state": state or os.path.join(folder, "state.json"), "out": out, **options})
        return Monitor(out, folder, _command.run(arguments, files=files, warn=True))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


class Monitor:
    """What :func:`monitor` found of the periods."""

    def __init__(self, result: str, folder: str, text: str) -> None:
        self._result, self._text = result, text
        self._delete = weakref.finalize(self, shutil.rmtree, folder, True)
        with open(os.path.join(result, "monitor.json"), encoding="utf-8") as file:
            self._document: dict[str, Any] = json.load(file)

    @property
    def document(self) -> dict[str, Any]:
        """What monitor.json holds."""
        return self._document

    @property
    def changes(self) -> _tables.Table:
        """One row for each period and part: how far its mean went from the reference's, by how many standard errors,
        whether that is drift (by the p-value that Holm's rule leaves), and the same of the predictor as a whole.
        """
        names = ["reference", "period", "predictor", "part", "change", "se", "ratio", "p", "p_holm", "drift"]
        records = []
        for c in self._document["changes"]:
            for p in c["predictors"]:
                own = {"reference": c["reference"], "period": c["period"], "predictor": p["name"]}
                for part, mean in [(p["name"], p["mean"]), *((t["name"], t["mean"]) for t in p["parts"])]:
                    records.append({**own, "part": part, **{n: mean.get(n) for n in names[4:]}})
        return _tables.of(records, names)

    def summary(self) -> str:
        """What was found, in words and a table."""
        return self._text

    def report(self) -> Report:
        """The page with the periods: shown in a notebook, or kept with ``.save(path)``."""
        return Report(os.path.join(self._result, "monitor.html"), self._delete)

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()
