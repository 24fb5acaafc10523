"""A network decomposed over rows."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any, Mapping, Optional, Sequence, Union

from . import _artifact, _columns, _command, _formulas, _labels, _models, _progress, _route, _rows, _tables
from ._decomposition import Decomposition
from .errors import UsageError

__all__ = ["decompose"]

_OWN = ("model", "data", "input", "out", "log")


def decompose(
    model: Union[_models.Model, Sequence[_models.Model]],
    rows: _rows.Rows,
    formula: _formulas.Formula = None,
    response: Any = None,
    *,
    inputs: Union[Sequence[str], Mapping[str, Any], None] = None,
    labels: Optional[_labels.Labels] = None,
    progress: Optional[bool] = None,
    link: Optional[str] = None,
    clip: Optional[float] = None,
    check: bool = True,
    **options: Any,
) -> Decomposition:
    """Split a trained network's predictor over rows into terms and a remainder orthogonal to them.

    Parameters
    ----------
    model : path, address, bytes, onnx.ModelProto, torch.nn.Module, estimator, callable or array, or a list of them
        The model. The address of one that is served, ``http://HOST/v2/models/NAME`` or ``http://HOST/invocations``, is
        asked for its predictions. A fitted estimator, pipelines included, is exported to ONNX in memory, its raw
        columns kept, if the file predicts what the estimator does; else it is called on the rows,
        as is every object with ``predict_proba`` or ``predict``. A callable is given DataFrames of
        at most 10,000 rows, and returns a prediction for each row, or a column for each class. An
        array holds the predictions themselves. A list is several models of one task, trained
        from other seeds or resamples: terms are those of their mean, and say how far they differ.
    rows : path, list of paths, DataFrame, Arrow table, matrix or dict of columns
        The rows to decompose over. Columns of text are categories, and so are pandas'
        categoricals. The columns of a NumPy matrix are x0, x1, ...
    formula : str, list or dict of str, optional
        Terms in the syntax of mgcv, as ``'~ s(age) + region'`` or ``'y ~ s(age)'``; ``.`` stands
        for all columns. A dict has them by predictor. None: the structure that the network has,
        or, for a black box, terms of all columns that it reads.
    response : str or column, optional
        Column of the response, for importance: its name, or its values.
    inputs : list of str or dict, optional
        Columns that the network is fed, in order; a dict has them by name of the input, or an array
        of any shape in place of columns, its first axis the rows.
    labels : path or dict, optional
        What the report calls columns, terms, levels and units; a dict is written as the JSON
        file that ``pho decompose --labels`` takes.
    progress : bool, optional
        Show how far the work is. None: on a terminal and in a notebook.
    link : {"identity", "log", "logit", "softmax"}, optional
        Of a model that is called or served, or of predictions: the function of a prediction that is split
        into terms; of one that is served also the further ones of ``--link``. None: what is known of an estimator, else the identity.
    clip : float, optional
        Moves probabilities of 0 and 1 by so much, whose log odds are infinite.
    check : bool
        Compare an exported estimator with its own predictions, on up to 2,000 of the rows.
    **options
        The flags of ``pho decompose`` with underscores: ``smoothing="gcv"``, ``weights="w"``,
        ``sp={"s(x2)": 0.3}``, ``factor=["month"]``, ``interactions=3``, ``na="drop"``,
        ``export_onnx=True``, ``engine="onnxruntime"`` for a network of convolutions or attention.

    Returns
    -------
    Decomposition
        Its contributions have the index of the rows.

    Raises
    ------
    UsageError
        The call is wrong.
    Error
        The work failed.

    Examples
    --------
    >>> import pho
    >>> d = pho.decompose("net.onnx", frame, "~ s(age) + region", response="y")  # doctest: +SKIP
    >>> d.contributions  # doctest: +SKIP
    """
    for name in _OWN:
        if name in options:
            raise UsageError(f"{name}= is not an option: the model, the rows and inputs= are arguments of their own")
    folder = tempfile.mkdtemp(prefix="pho-")
    try:
        rows, response = _responding(rows, response)
        if _rows.columns(rows) is not None or hasattr(rows, "__arrow_c_stream__"):
            rows = _rows.readable(rows)
        index = _rows.index(rows)
        with _progress.shown(progress) as on_event:
            route = _route.routed(model, rows, _formulas.listed(formula), response, inputs, (link, clip, check), options, folder, on_event)
            data = _rows.files(route.rows, folder)
            result = os.path.join(folder, "result")
            options.setdefault("contributions", "parquet" if _tables.parquet() else "csv")
            options["factor"] = list(dict.fromkeys(_factors(options.get("factor"), rows) + list(route.flags.get("factor", ()))))
            options["text"] = _letters(options.get("text"), data, rows)
            named = None if labels is None else _labels.file(labels, folder)
            arguments = ["decompose", "--log=json", f"--out={result}"]
            arguments += _command.flags({**route.flags, "data": data, "response": route.response, "labels": named, **options})
            spoken = {path: "the rows" for path in data} if not _rows.is_files(rows) else {}
            spoken.update({path: "the model" for path in route.flags.get("model", ()) if path.startswith(folder)})
            _command.run(arguments, on_event, spoken)
        network = route.place or next(iter(route.flags.get("model", ())), None)
        _artifact.note(result, network, route.warnings, route.checked, route.fed)
        return Decomposition(result, route.place, folder, index, route.predictor)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _responding(rows: _rows.Rows, response: Any) -> tuple[_rows.Rows, Optional[str]]:
    """The rows with the response among their columns, and its name."""
    if response is None or isinstance(response, str):
        return rows, response
    if _rows.is_files(rows):
        raise UsageError("the rows are files: response= is the name of one of their columns")
    rows = _rows.readable(rows)
    taken = _rows.columns(rows) or []
    named = getattr(response, "name", None)
    name = str(named) if named is not None and str(named) not in taken else next(n for n in ("y", "response", "_response") if n not in taken)
    return _rows.joined(rows, name, response), name


def _factors(given: Any, rows: _rows.Rows) -> list[str]:
    """The columns of numbers that are categories: those given, and pandas' categoricals."""
    named = [given] if isinstance(given, str) else list(given or [])
    return named + [c for c in _rows.numbered(rows) if c not in named]


def _letters(given: Any, data: list[str], rows: _rows.Rows) -> list[str]:
    """The columns that are read as text: those given, and of a table that had to be written as CSV those of text."""
    named = [given] if isinstance(given, str) else list(given or [])
    if _rows.is_files(rows) or not data[0].endswith(".csv"):
        return named
    return named + [c for c, text in _texts(rows).items() if text and c not in named]


def _texts(rows: _rows.Rows) -> dict[str, bool]:
    """Which columns of a table hold text."""
    return {n: _columns.is_text(_rows.column(rows, n)) for n in _rows.columns(rows) or []}
