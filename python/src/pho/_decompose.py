"""A network decomposed over rows."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from typing import Any, Mapping, Optional, Sequence, Union

from . import _columns, _command, _formulas, _labels, _models, _progress, _rows, _tables
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
    inputs: Union[Sequence[str], Mapping[str, Sequence[str]], None] = None,
    labels: Optional[_labels.Labels] = None,
    progress: Optional[bool] = None,
    **options: Any,
) -> Decomposition:
    """Split a trained network's predictor over rows into terms and a remainder orthogonal to them.

    Parameters
    ----------
    model : path, bytes, onnx.ModelProto, torch.nn.Module or fitted estimator, or a list of them
        The network. Estimators are those of scikit-learn (pipelines included), LightGBM,
        XGBoost and CatBoost; they are exported to ONNX in memory, their raw columns kept. A list
        is several networks of one task, trained from other seeds or resamples: terms are those
        of their mean, and say how far the networks differ.
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
        Columns that the network is fed, in order; a dict has them by name of the input.
    labels : path or dict, optional
        What the report calls columns, terms, levels and units; a dict is written as the JSON
        file that ``pho decompose --labels`` takes.
    progress : bool, optional
        Show how far the work is. None: on a terminal and in a notebook.
    **options
        The flags of ``pho decompose`` with underscores: ``smoothing="gcv"``, ``weights="w"``,
        ``sp={"s(x2)": 0.3}``, ``factor=["month"]``, ``interactions=3``, ``na="drop"``,
        ``export_onnx=True``.

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
        role = [response] + [options.get(k) for k in ("weights", "offset", "groups", "cluster", "event")]
        fed = _fed(inputs, rows, [c for c in role if isinstance(c, str)])
        networks = _models.networks(model, fed, _texts(rows), folder)
        data = _rows.files(rows, folder)
        result = os.path.join(folder, "result")
        options.setdefault("contributions", "parquet" if _tables.parquet() else "csv")
        options["factor"] = _factors(options.get("factor"), rows)
        options["text"] = _letters(options.get("text"), data, rows)
        arguments = ["decompose", "--log=json", f"--out={result}"]
        arguments += _command.flags(
            {"model": [n.path for n in networks], "data": data, "formula": _formulas.listed(formula), "response": response}
        )
        named = None if labels is None else _labels.file(labels, folder)
        arguments += _command.flags({"input": _bound(inputs, networks[0]), "labels": named, **options})
        spoken = {path: "the rows" for path in data} if not _is_files(rows) else {}
        spoken.update({n.path: "the model" for n in networks if n.made})
        with _progress.shown(progress) as on_event:
            _command.run(arguments, on_event, spoken)
        return Decomposition(result, _models.place(networks, folder), folder, _rows.index(rows))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _is_files(rows: _rows.Rows) -> bool:
    return isinstance(rows, (str, os.PathLike, list, tuple))


def _responding(rows: _rows.Rows, response: Any) -> tuple[_rows.Rows, Optional[str]]:
    """The rows with the response among their columns, and its name."""
    if response is None or isinstance(response, str):
        return rows, response
    if _is_files(rows):
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
    if _is_files(rows) or not data[0].endswith(".csv"):
        return named
    return named + [c for c, text in _texts(rows).items() if text and c not in named]


def _bound(inputs: Any, network: _models.Network) -> list[str]:
    """The values of --input."""
    named = dict(network.inputs)
    if isinstance(inputs, Mapping):
        named = {k: [v] if isinstance(v, str) else list(v) for k, v in inputs.items()}
    elif inputs is not None and not named and not network.made:
        named = {_only_input(network.path): list(inputs)}
    return [f"{k}={','.join(v)}" for k, v in named.items()]


def _fed(inputs: Any, rows: _rows.Rows, roles: list[str]) -> Union[list[str], dict[str, list[str]], None]:
    """The columns that a model without names is fed: those given, by input if they were, else all
    that have no role.
    """
    if isinstance(inputs, Mapping):
        return {name: [listed] if isinstance(listed, str) else list(listed) for name, listed in inputs.items()}
    if inputs is not None:
        return list(inputs)
    names = _rows.columns(rows)
    return None if names is None else [n for n in names if n not in roles]


def _texts(rows: _rows.Rows) -> dict[str, bool]:
    """Which columns of a table hold text."""
    return {n: _columns.is_text(_rows.column(rows, n)) for n in _rows.columns(rows) or []}


def _only_input(path: str) -> str:
    """The name of a network's only input."""
    inputs = json.loads(_command.run(["inspect", path, "--json"]))["inputs"]
    if len(inputs) != 1:
        raise UsageError(
            f"the network has {len(inputs)} inputs, {', '.join(i['name'] for i in inputs)}: give inputs= as a dict of their columns"
        )
    return str(inputs[0]["name"])
