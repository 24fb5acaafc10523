"""Decompositions: made, read, shown, applied."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from typing import Any, Optional, Sequence, Union

from . import _command, _labels, _models, _progress, _rows, _tables
from .errors import Error, UsageError

__all__ = ["Decomposition", "decompose", "load"]


def decompose(
    model: _models.Model,
    rows: _rows.Rows,
    formula: Union[str, Sequence[str], None] = None,
    response: Optional[str] = None,
    *,
    inputs: Union[Sequence[str], dict[str, Sequence[str]], None] = None,
    progress: Optional[bool] = None,
    **options: Any,
) -> "Decomposition":
    """Split a trained network's predictor over rows into terms and a remainder orthogonal to them.

    Parameters
    ----------
    model : path, bytes, onnx.ModelProto, torch.nn.Module or fitted estimator
        The network. Estimators are those of scikit-learn (pipelines included), LightGBM and
        XGBoost; they are exported to ONNX in memory, their raw columns kept.
    rows : path, list of paths, DataFrame, pyarrow.Table or dict of columns
        The rows to decompose over. Columns of text are categories.
    formula : str or list of str, optional
        Terms in the syntax of mgcv, as ``'~ s(age) + region'`` or ``'y ~ s(age)'``; ``.`` stands
        for all columns. None: the structure that the network has, or, for a black box, terms
        of all columns that it reads.
    response : str, optional
        Column of the response, for importance.
    inputs : list of str or dict, optional
        Columns that the network is fed, in order; a dict has them by name of the input.
    progress : bool, optional
        Show how far the work is. None: on a terminal and in a notebook.
    **options
        The flags of ``pho decompose`` with underscores: ``smoothing="gcv"``, ``weights="w"``,
        ``sp={"s(x2)": 0.3}``, ``factor=["month"]``, ``interactions=3``, ``export_onnx=True``,
        ``id="customer"``. ``labels`` is a labels file or what it holds, as a dict: names, units
        and levels for the report and for plots.

    Returns
    -------
    Decomposition

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
    for name in ("model", "data", "input", "out", "log"):
        if name in options:
            raise UsageError(f"{name}= is not an option: the model, the rows and inputs= are arguments of their own")
    folder = tempfile.mkdtemp(prefix="pho-")
    try:
        role = [response] + [options.get(k) for k in ("weights", "offset", "groups", "cluster")]
        columns = _fed(inputs, rows, [c for c in role if isinstance(c, str)])
        network = _models.network(model, columns, _texts(rows), folder)
        named = dict(network.inputs)
        if isinstance(inputs, dict):
            named = {k: list(v) for k, v in inputs.items()}
        elif inputs is not None and not named:
            named = {_only_input(network.path): list(inputs)}
        result = os.path.join(folder, "result")
        if options.get("labels") is not None:
            options["labels"] = _labels.file(options["labels"], folder)
        options.setdefault("contributions", "parquet" if _tables.parquet() else "csv")
        arguments = ["decompose", "--log=json", f"--model={network.path}", f"--out={result}"]
        arguments += _command.flags({"data": _rows.files(rows, folder), "formula": _list(formula), "response": response})
        arguments += _command.flags({"input": [f"{k}={','.join(v)}" for k, v in named.items()], **options})
        with _progress.shown(progress) as on_event:
            _command.run(arguments, on_event)
        return Decomposition(result, network.path, folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def load(path: Union[str, "os.PathLike[str]"], model: Optional[_models.Model] = None) -> "Decomposition":
    """Open a result that :meth:`Decomposition.save` or ``pho decompose`` wrote.

    Parameters
    ----------
    path : path
        The result's directory.
    model : path or bytes, optional
        The network's file, if it is not where it was.
    """
    path = os.fspath(path)
    if not os.path.isfile(os.path.join(path, "decomposition.json")):
        raise UsageError(f"{path!r} is not a result: it has no decomposition.json")
    folder = tempfile.mkdtemp(prefix="pho-")
    try:
        network: Optional[str] = None
        if model is not None:
            network = _models.network(model, None, {}, folder).path
        return Decomposition(path, network, folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


class Decomposition:
    """A network split over rows; made by :func:`decompose` or :func:`load`.

    For every row, intercept + sum of terms + unstructured = eta, the network's own
    output on the scale of its predictor.
    """

    def __init__(self, result: str, model: Optional[str], folder: str) -> None:
        self._result = result
        self._model = model
        self._folder = folder
        self._delete = weakref.finalize(self, shutil.rmtree, folder, True)
        with open(self._file("decomposition.json"), encoding="utf-8") as file:
            self._artifact: dict[str, Any] = json.load(file)

    def _file(self, name: str) -> str:
        return os.path.join(self._result, name)

    def __repr__(self) -> str:
        parts = []
        for p in self._artifact["predictors"]:
            v = p["variance"]
            total = v["total"] or float("nan")
            parts.append(f"{p['name']}: {len(p['terms'])} terms explain {100 * v['structured'] / total:.1f} % of the variance")
        return f"<pho.Decomposition of {self.rows} rows; {'; '.join(parts)}>"

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()

    @property
    def artifact(self) -> dict[str, Any]:
        """What decomposition.json holds."""
        return self._artifact

    @property
    def rows(self) -> int:
        """How many rows of positive weight were decomposed."""
        return int(self._artifact["rows"])

    @property
    def predictors(self) -> list[str]:
        """Names of the network's predictors."""
        return [p["name"] for p in self._artifact["predictors"]]

    @property
    def formulas(self) -> list[str]:
        """The formulas that terms were taken from, with every dot expanded."""
        return list(self._artifact.get("formulas", []))

    @property
    def warnings(self) -> list[str]:
        """What to take with care."""
        return list(self._artifact["warnings"])

    @property
    def contributions(self) -> _tables.Table:
        """The parts of every row, in order: intercept, a column for each term, unstructured, eta."""
        for name in ("contributions.parquet", "contributions.csv"):
            if os.path.exists(self._file(name)):
                return _tables.read(self._file(name))
        raise Error("the result was written without contributions: use apply on the rows")

    @property
    def effects(self) -> _tables.Table:
        """Curves of the terms on grids, before and after, with standard errors and bands."""
        return _tables.read(self._file("effects.csv"))

    @property
    def terms(self) -> _tables.Table:
        """One row for each term: kind, columns, edf, sd before and after, whether it is identified."""
        records = []
        for p in self._artifact["predictors"]:
            for t in p["terms"]:
                records.append(
                    {
                        "predictor": p["name"],
                        "term": t["name"],
                        "kind": t["kind"],
                        "features": ", ".join(t["features"]),
                        "columns": t["columns"],
                        "edf": t["edf"],
                        "sd_before": t["before"]["variance"] ** 0.5,
                        "sd_after": t["after"]["variance"] ** 0.5,
                        "identified": t["identified"],
                        "verdict": t.get("verdict") or ("identified" if t["identified"] else "sum"),
                        "why": t.get("why", ""),
                    }
                )
        return _tables.of(records, ["predictor", "term", "kind", "features", "columns", "edf", "sd_before", "sd_after", "identified", "verdict", "why"])

    @property
    def importance(self) -> _tables.Table:
        """What the model loses when the contributions of a feature, or of one term, are set to zero."""
        records = []
        for p in self._artifact["predictors"]:
            for e in p["importance"]:
                records.append({"predictor": p["name"], **e, "feature": e.get("feature", ""), "terms": ", ".join(e["terms"])})
        return _tables.of(
            records,
            ["predictor", "feature", "terms", "variance_share", "mcfadden", "mcfadden_valid", "delta_loglik_per_row", "deviance_r2"],
        )

    def summary(self) -> str:
        """What was found, in words and a table."""
        return _command.run(["summary", self._result])

    def label(self, labels: _labels.Labels) -> "Decomposition":
        """Replace the labels, what the report and plots call columns, levels and terms.

        The report is written again; nothing else changes, and nothing is computed anew. A
        result that was loaded keeps the labels in its directory.

        Parameters
        ----------
        labels : path or dict
            A labels file, or what it holds; ``{}`` takes labels away.

        Returns
        -------
        Decomposition
            This one.
        """
        with tempfile.TemporaryDirectory(prefix="pho-") as folder:
            arguments = ["report", self._result, f"--labels={_labels.file(labels, folder)}"]
            _command.run(arguments + _command.flags({"model": self._model}))
        with open(self._file("decomposition.json"), encoding="utf-8") as file:
            self._artifact = json.load(file)
        return self

    def report(self) -> "Report":
        """The report: shown in a notebook, or kept with ``.save("report.html")``."""
        return Report(self._file("report.html"), self._delete)

    def plot(self, term: str, predictor: Optional[str] = None, ax: Any = None) -> Any:
        """Draw a term's curve, its band, and what it was before. Needs matplotlib.

        Parameters
        ----------
        term : str
            The term's name, as ``"s(age)"``.
        predictor : str, optional
            Of which predictor; None: the first that has the term.
        ax : matplotlib axes, optional
            Where to draw; None: the current axes.

        Returns
        -------
        matplotlib axes
        """
        from . import _plot

        return _plot.draw(self, term, predictor, ax)

    def apply(self, rows: _rows.Rows, *, se: bool = False, **options: Any) -> _tables.Table:
        """The parts of new rows: coefficients and centring are those of the decomposition.

        Parameters
        ----------
        rows : path, list of paths, DataFrame, pyarrow.Table or dict of columns
        se : bool
            A column ``TERM.se`` after each term.
        **options
            The flags of ``pho apply`` with underscores.
        """
        out_name = "applied.parquet" if _tables.parquet() else "applied.csv"
        with tempfile.TemporaryDirectory(prefix="pho-") as folder:
            out = os.path.join(folder, out_name)
            arguments = ["apply", f"--decomposition={self._result}", f"--out={out}"]
            arguments += _command.flags({"data": _rows.files(rows, folder), "model": self._model, "se": se, **options})
            _command.run(arguments)
            return _tables.read(out)

    def to_shap(self, rows: Optional[_rows.Rows] = None, predictor: Optional[str] = None) -> Any:
        """Contributions as a ``shap.Explanation``, for shap's waterfall, beeswarm, bar and scatter.

        They are exact contributions of terms, not Shapley values, whatever the plots' axes say;
        the base value is the intercept, and ``unstructured`` what no term explains. They add up
        to eta on the scale of the predictor.

        Parameters
        ----------
        rows : optional
            Rows to explain, whose values the plots show; None: those that were decomposed,
            without values.
        predictor : str, optional
            Needed of a network that has several.
        """
        from . import _shap

        return _shap.explanation(self, rows, predictor)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write the result to the directory `path`, and a network that was in memory to `path`.onnx.

        The directory must be absent, empty, or an earlier result.
        """
        path = os.fspath(path)
        if os.path.isdir(path) and os.listdir(path) and not os.path.exists(os.path.join(path, "decomposition.json")):
            raise UsageError(f"{path!r} has other files: give a directory that is absent, empty or an earlier result")
        parent = os.path.dirname(os.path.abspath(path))
        os.makedirs(parent, exist_ok=True)
        fresh = tempfile.mkdtemp(prefix=".pho-", dir=parent)
        try:
            for name in os.listdir(self._result):
                shutil.copy2(self._file(name), os.path.join(fresh, name))
            if self._model is not None:
                network = self._model
                if os.path.dirname(network) == self._folder:
                    network = os.path.abspath(path) + ".onnx"
                    shutil.copy2(self._model, network)
                _point(os.path.join(fresh, "decomposition.json"), self._artifact["model"]["path"], os.path.relpath(network, path))
                _command.run(["verify", fresh, "--sign", f"--model={network}"])
            if os.path.isdir(path):
                shutil.rmtree(path)
            os.replace(fresh, path)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise

    def adapted_onnx(self) -> bytes:
        """The network's file with an output for every term, the remainder and eta.

        Needs ``export_onnx=True`` in the call of :func:`decompose`.
        """
        try:
            with open(self._file("adapted.onnx"), "rb") as file:
                return file.read()
        except FileNotFoundError:
            raise UsageError("the result has no adapted network: decompose with export_onnx=True") from None


class Report:
    """A report of one file, without network access."""

    def __init__(self, path: str, keep: Any) -> None:
        self.path = path
        self._keep = keep  # the decomposition's files live as long as this

    def html(self) -> str:
        """The page."""
        with open(self.path, encoding="utf-8") as file:
            return file.read()

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write the page to a file."""
        shutil.copyfile(self.path, path)

    def _repr_html_(self) -> str:
        from html import escape

        return f'<iframe srcdoc="{escape(self.html(), quote=True)}" style="width:100%;height:720px;border:1px solid #ccc"></iframe>'


def _point(artifact: str, old: str, new: str) -> None:
    """Let an artifact name its network's file by another path. Its digest does not fit any more."""
    with open(artifact, encoding="utf-8") as file:
        text = file.read()
    entry = '"path": %s'
    if text.count(entry % json.dumps(old, ensure_ascii=False)) != 1:
        return  # loading finds a network beside the result, or is told
    text = text.replace(entry % json.dumps(old, ensure_ascii=False), entry % json.dumps(new, ensure_ascii=False))
    with open(artifact, "w", encoding="utf-8") as file:
        file.write(text)


def _list(formula: Union[str, Sequence[str], None]) -> Sequence[str]:
    return [] if formula is None else [formula] if isinstance(formula, str) else formula


def _fed(inputs: Any, rows: _rows.Rows, roles: list[str]) -> Optional[list[str]]:
    """The columns that a model without names is fed: those given, else all that have no role."""
    if isinstance(inputs, dict):
        return [c for listed in inputs.values() for c in listed]
    if inputs is not None:
        return list(inputs)
    names = _rows.columns(rows)
    return None if names is None else [n for n in names if n not in roles]


def _texts(rows: _rows.Rows) -> dict[str, bool]:
    """Which columns of a table hold text."""
    names = _rows.columns(rows) or []
    return {n: _is_text(rows[n]) for n in names}


def _is_text(column: Any) -> bool:
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if kind in ("", "object"):
        first = next((v for v in column if v is not None), None)
        return isinstance(first, str)
    return kind.startswith(("str", "large_str", "utf8", "categor", "dictionary", "enum", "string"))


def _only_input(path: str) -> str:
    """The name of a network's only input."""
    inputs = json.loads(_command.run(["inspect", path, "--json"]))["inputs"]
    if len(inputs) != 1:
        raise UsageError(
            f"the network has {len(inputs)} inputs, {', '.join(i['name'] for i in inputs)}: give inputs= as a dict of their columns"
        )
    return str(inputs[0]["name"])
