"""Decompositions: read, shown, applied, kept."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
import weakref
from typing import Any, Mapping, Optional, Union

from . import _command, _explanation, _labels, _models, _predicted, _route, _rows, _session, _summary, _tables
from ._predictor import Predictor
from ._report import Report
from .errors import Error, UsageError

__all__ = ["Decomposition", "load"]

# Tables of at most so many rows go through the resident process.
_FEW = 100_000


def load(path: Union[str, "os.PathLike[str]"], model: Optional[_models.Model] = None) -> "Decomposition":
    """Open a result that :meth:`Decomposition.save` or ``pho decompose`` wrote.

    Parameters
    ----------
    path : path
        The result's directory.
    model : path, bytes, estimator or callable, optional
        The network's file, if it is not where it was; or the model that was called, for new rows.
    """
    path = os.fspath(path)
    if not os.path.isfile(os.path.join(path, "decomposition.json")):
        raise UsageError(f"{path!r} is not a result: it has no decomposition.json")
    folder = tempfile.mkdtemp(prefix="pho-")
    try:
        if model is not None and not _models.is_network(model):
            return Decomposition(path, None, folder, predictor=_predicted.again(model, path))
        network = None if model is None else _models.network(model, None, folder).path
        return Decomposition(path, network, folder, predictor=_predicted.again(None, path))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


class Decomposition:
    """A network split over rows; made by :func:`decompose` or :func:`load`.

    For every row, intercept + sum of terms + unstructured = eta, the network's own
    output on the scale of its predictor.
    """

    def __init__(self, result: str, model: Optional[str], folder: str, index: Any = None, predictor: Optional[Predictor] = None) -> None:
        self._result = result
        self._folder = folder
        self._index = index  # of the rows, for contributions
        self._predictor = predictor  # of a model that is called
        self._guard = threading.Lock()
        self._kept: Optional[_session.Session] = None
        self._found: Optional[_summary.Summary] = None
        self._delete = weakref.finalize(self, _remove, folder, os.getpid())
        with open(self.file("decomposition.json"), encoding="utf-8") as file:
            self._artifact: dict[str, Any] = json.load(file)
        self._model = model or self._recorded()

    def _recorded(self) -> Optional[str]:
        """The network's file, or the folder of several, as the artifact has it; None if it is not there, or the model has no file."""
        recorded = self._artifact["model"].get("path")
        if not recorded:
            return None
        path = os.path.join(os.path.realpath(self._result), recorded)
        return os.path.normpath(path) if os.path.exists(path) else None

    def file(self, name: str) -> str:
        """The path of a file of the result, such as ``effects.csv``. It lives as long as this object."""
        return os.path.join(self._result, name)

    @property
    def result(self) -> str:
        """The directory of the result, which lives as long as this object."""
        return self._result

    @property
    def network(self) -> Optional[str]:
        """The network's file, or the folder of several; None if it is not where it was, or the model has no file."""
        return self._model

    def predictor(self, name: Optional[str] = None) -> dict[str, Any]:
        """What the artifact says of a predictor; of the only one without a name."""
        for p in self._artifact["predictors"]:
            if p["name"] == name or (name is None and len(self.predictors) == 1):
                return dict(p)
        raise UsageError(f"the network has the predictors {', '.join(self.predictors)}: name one as predictor=")

    def prefix(self, predictor: dict[str, Any]) -> str:
        """What the names of a predictor's parts begin with."""
        return f"{predictor['name']}." if len(self.predictors) > 1 else ""

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
    def links(self) -> dict[str, Optional[dict[str, Any]]]:
        """How a parameter of the response hangs on each predictor eta: ``name`` of the link, and where
        they are not 0, 1 and 1 ``shift``, ``scale`` and ``beta``: it is shift + scale h(beta eta)/beta, h
        being the link's inverse. ``of`` says what it is, as "mean". None: not known.
        """
        return {p["name"]: p.get("link") for p in self._artifact["predictors"]}

    @property
    def formulas(self) -> list[str]:
        """The formulas that terms were taken from, with every dot expanded."""
        return list(self._artifact.get("formulas", []))

    @property
    def warnings(self) -> list[str]:
        """What to take with care."""
        return list(self._artifact["warnings"] or [])

    @property
    def contributions(self) -> _tables.Table:
        """The parts of every row, in order: intercept, a column for each term, unstructured, eta."""
        for name in ("contributions.parquet", "contributions.csv"):
            if os.path.exists(self.file(name)):
                table = _tables.read(self.file(name))
                return _tables.indexed(table, self._index) if self._index is not None and len(self._index) == len(table) else table
        raise Error("the result was written without contributions: use apply on the rows")

    @property
    def effects(self) -> _tables.Table:
        """Curves of the terms on grids, before and after, with standard errors and bands."""
        return _tables.read(self.file("effects.csv"))

    @property
    def terms(self) -> _tables.Table:
        """One row for each term: kind, columns, edf, sd before and after, whether it is identified, or the kinds of reasons why not."""
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
                        "reasons": ", ".join(r["kind"] for r in t.get("reasons", [])),
                    }
                )
        names = ["predictor", "term", "kind", "features", "columns", "edf", "sd_before", "sd_after", "identified", "verdict", "why", "reasons"]
        return _tables.of(records, names)

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

    @property
    def coefficients(self) -> _tables.Table:
        """One row for each coefficient of the parametric part: estimate, standard error, interval of 95 %, and what the
        model itself had.
        """
        return _tables.of(self._summary().coefficients(), _summary.COEFFICIENTS)

    def to_frame(self) -> _tables.Table:
        """The table of :meth:`summary`: one row for each term, or sum of terms of which only that is identified, with its
        degrees of freedom, share of the predictor's variance, standard deviation before and after, and verdict.
        """
        return _tables.of(self._summary().terms(), _summary.TERMS)

    def to_latex(self) -> str:
        """Coefficients and terms as tables for LaTeX, with the rules of booktabs."""
        return _command.run(["summary", self._result, "--latex"])

    def card(self) -> str:
        """A section of a model card in Markdown, as Hugging Face and MLflow show them: what the model has learned, how
        much of it terms explain, and what to take with care.
        """
        return self._summary().card()

    def summary(self, *, html: bool = False, full: bool = False) -> str:
        """What was found, in words and a table.

        Parameters
        ----------
        html : bool
            As tables of HTML, which a notebook shows.
        full : bool
            All predictors, terms, reasons and warnings, however many they are; tables of HTML have all.
        """
        if html:
            return self._summary().html()
        return _command.run(["summary", self._result, *_command.flags({"full": full})])

    def _summary(self) -> _summary.Summary:
        if self._found is None:
            self._found = _summary.Summary(self)
        return self._found

    def verify(self) -> None:
        """Check that the result is as it was written and fits its model.

        Raises
        ------
        Error
            What differs.
        """
        _command.run(["verify", self._result, *_command.flags({"model": self._model})])

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
        with open(self.file("decomposition.json"), encoding="utf-8") as file:
            self._artifact = json.load(file)
        self._found = None
        return self

    def report(self, title: Optional[str] = None) -> "Report":
        """The report: shown in a notebook, or kept with ``.save("report.html")``.

        Parameters
        ----------
        title : str, optional
            What it is called from now on, in the result; "": what is predicted, and by which model.
        """
        if title is not None:
            _command.run(["report", self._result, f"--title={title}", *_command.flags({"model": self._model})])
        return Report(self.file("report.html"), self._delete)

    def plot(
        self,
        term: Optional[str] = None,
        predictor: Optional[str] = None,
        ax: Any = None,
        *,
        scale: str = "link",
        before: bool = True,
        members: bool = False,
    ) -> Any:
        """Draw a term's curve, its band, and what it was before; or all terms. Needs matplotlib.

        Parameters
        ----------
        term : str, optional
            The term's name, as ``"s(age)"``; a sum of terms, as ``"age + s(age)"``; or a column that has one. None: a
            panel for each, sums in the place of terms that are identified only together.
        predictor : str, optional
            Of which predictor; None: the first that has the term, or all.
        ax : matplotlib axes, optional
            Where to draw one term; None: a new figure.
        scale : {"link", "response"}
            The contribution to the predictor; or what the response's mean, probability or other parameter is where all
            other terms are at their mean.
        before : bool
            Draw what the model's own term was, where it had one; on the scale of the link only.
        members : bool
            Draw each model of several, too.

        Returns
        -------
        matplotlib axes of one term, the figure of all
        """
        from . import _plot

        if term is not None:
            return _plot.draw(self, term, predictor, ax, scale, before, members)
        if ax is not None:
            raise UsageError("ax= is for one term: name it")
        return _plot.draw_all(self, predictor, scale, before, members)

    def explain(
        self, rows: Any, predictor: Optional[str] = None, *, inputs: Optional[Mapping[str, Any]] = None, **options: Any
    ) -> _explanation.Explanation:
        """Say how the model's predictions of single rows are made up.

        Parameters
        ----------
        rows : int, dict of cells, Series, table or path
            Rows to explain; a number is a row of those that were decomposed, counted from 0.
        predictor : str, optional
            Only this predictor, or class; None: all.
        inputs : dict of arrays, optional
            As of :meth:`apply`.
        **options
            The flags of ``pho explain`` with underscores.

        Returns
        -------
        Explanation
            Shown as text, drawn by ``.plot()``; ``.to_frame()`` has the parts.
        """
        joined = None if self._predictor is None else self._predictor.joined
        return _explanation.explain(self, self._model, joined, rows, predictor, inputs or {}, options)

    def apply(self, rows: Any, *, se: bool = False, predictions: Any = None, inputs: Optional[Mapping[str, Any]] = None, **options: Any) -> Any:
        """The parts of new rows: coefficients and centring are those of the decomposition.

        Tables in memory of up to 100,000 rows go to a process that stays open as long as the
        decomposition; see :meth:`session`.

        Parameters
        ----------
        rows : path, list of paths, table, or dict of cells or Series for one row
        se : bool
            A column ``TERM.se`` after each term.
        predictions : array, optional
            Of the rows, where predictions are the model: None calls it, if it can be called.
        inputs : dict of arrays, optional
            Of the network's inputs that are no columns, as :func:`decompose` was given them.
        **options
            The flags of ``pho apply`` with underscores: ``na="drop"``, ``member="seed-2"``, ``unseen="zero"``
            for levels that training did not have.

        Returns
        -------
        table, dict or Series
            A table with the index of the rows; of one row what it is given as.
        """
        if not isinstance(rows, (str, os.PathLike, list, tuple)):
            if not _session.is_row(rows) and (_rows.columns(rows) is not None or hasattr(rows, "__arrow_c_stream__")):
                rows = _rows.readable(rows)
            if self._predictor is not None:
                rows = self._predictor.joined(rows, predictions)
            if inputs is None and set(options) <= {"na", "unseen"} and _session.count(rows) <= _FEW:
                return self._resident().apply(rows, se=se, **options)
        row = rows if _session.is_row(rows) else None
        rows = rows if row is None else _session.one(row)
        name = "applied.parquet" if _tables.parquet() else "applied.csv"
        with tempfile.TemporaryDirectory(prefix="pho-") as folder:
            out = os.path.join(folder, name)
            if not isinstance(rows, (str, os.PathLike, list, tuple)):
                rows, inputs = _route.apart(rows, inputs or {}, self.artifact)
            data = _rows.files(rows, folder) if rows is not None else []
            if self._predictor is not None and isinstance(rows, (str, os.PathLike, list, tuple)):
                data = self._predictor.file(data, folder)
            arguments = ["apply", f"--decomposition={self._result}", f"--out={out}"]
            options["input"] = _route.bound(inputs or {}, folder)
            arguments += _command.flags({"data": data, "model": self._model, "se": se, **options})
            named = {path: "the rows" for path in data if os.path.dirname(path) == folder}
            _command.run(arguments, files=named, warn=options.get("unseen", "error") != "error")
            parts = _tables.read(out)
            if row is not None:
                return _session.like(row, {name: _tables.column(parts, name)[0] for name in _rows.columns(parts) or []})
            return _tables.indexed(parts, _rows.index(rows))

    def session(self) -> _session.Session:
        """A process that keeps the decomposition open, for rows that come one by one.

        Close it, or use it as a context manager: ``with d.session() as s: s.apply(row)``.
        """
        prepare = None if self._predictor is None else self._predictor.joined
        return _session.Session(_session.arguments(self._result, self._model), keep=self._delete, prepare=prepare)

    def _resident(self) -> _session.Session:
        with self._guard:
            if self._kept is None:
                self._kept = self.session()
            return self._kept

    def to_shap(self, rows: Optional[_rows.Rows] = None, predictor: Optional[str] = None) -> Any:
        """Contributions as a ``shap.Explanation``, for shap's waterfall, beeswarm, bar and scatter.

        They are exact contributions of terms, not Shapley values, whatever the plots' axes say
        (``plt.gca().set_xlabel("contribution")`` mends that). The base value is the intercept,
        which is the mean over the decomposed rows; ``unstructured``, "all columns", is what no
        term explains. They add up to eta on the scale of the predictor.

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

    def to_interpret(self, rows: Optional[_rows.Rows] = None, predictor: Optional[str] = None, response: Any = None) -> Any:
        """An explanation for InterpretML's viewer, ``interpret.show(d.to_interpret())``.

        Curves with their bands, surfaces, and mean absolute contributions; or, of rows, bars of
        their parts, ``unstructured`` among them. On the scale of the predictor.

        Parameters
        ----------
        rows : optional
            Rows to explain one by one; None: the terms.
        predictor : str, optional
            Needed of a network that has several.
        response : column, optional
            What the rows' response was, on the predictor's scale, to be shown beside it.
        """
        from . import _interpret

        return _interpret.explanation(self, rows, predictor, response)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write the result to the directory `path`, and a model that was in memory beside it, a network to `path`.onnx.

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
                shutil.copy2(self.file(name), os.path.join(fresh, name))
            if self._model is not None:
                network = self._model
                if os.path.dirname(network) == self._folder:
                    network = _copied(network, os.path.abspath(path))
                self._point(os.path.join(fresh, "decomposition.json"), network, path)
                _command.run(["verify", fresh, "--sign", f"--model={network}"])
            if os.path.isdir(path):
                shutil.rmtree(path)
            os.replace(fresh, path)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise

    def _point(self, artifact: str, network: str, result: str) -> None:
        """Let an artifact that is to lie in `result` name its network there. Its digest does not fit any more."""
        with open(artifact, encoding="utf-8") as file:
            text = file.read()
        recorded = self._artifact["model"]
        old, new = os.path.normpath(recorded["path"]), os.path.relpath(os.path.realpath(network), os.path.realpath(result))
        for entry in [recorded, *recorded.get("members", [])]:
            at = os.path.relpath(os.path.normpath(entry["path"]), old)
            moved = os.path.normpath(os.path.join(new, at)).replace(os.sep, "/")
            text = text.replace('"path": ' + json.dumps(entry["path"], ensure_ascii=False), '"path": ' + json.dumps(moved, ensure_ascii=False), 1)
        with open(artifact, "w", encoding="utf-8") as file:
            file.write(text)

    def __getstate__(self) -> dict[str, Any]:
        """The result's files and, unless it is a file of yours, the network."""
        own = self._model is not None and os.path.dirname(self._model) == self._folder
        return {
            "result": _contents(self._result),
            "network": _contents(self._model) if own and self._model is not None else self._model,
            "name": os.path.basename(self._model) if own and self._model is not None else None,
            "index": self._index,
            "predictor": self._predictor,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        folder = tempfile.mkdtemp(prefix="pho-")
        network = state["network"]
        if isinstance(network, dict):
            network = _write(os.path.join(folder, state["name"]), network)
        Decomposition.__init__(self, _write(os.path.join(folder, "result"), state["result"]), network, folder, state["index"], state["predictor"])

    def adapted_onnx(self) -> bytes:
        """The model's file, as ONNX, with an output for every term, the remainder and eta; of a model that is no file its structured part.

        Needs ``export_onnx=True`` in the call of :func:`decompose`.
        """
        for name in ("adapted.onnx", "surrogate.onnx"):
            try:
                with open(self.file(name), "rb") as file:
                    return file.read()
            except FileNotFoundError:
                pass
        raise UsageError("the result has no adapted network: decompose with export_onnx=True")


def _remove(folder: str, pid: int) -> None:
    """Remove a folder, if this process made it and is not a fork of the one that did."""
    if pid == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)


def _copied(network: str, beside: str) -> str:
    """A copy of a network's file, or of the folder of several, beside a result."""
    if os.path.isdir(network):
        place = beside + ".networks"
        shutil.copytree(network, place, dirs_exist_ok=True)
        return place
    return shutil.copy2(network, beside + os.path.splitext(network)[1])


def _contents(folder: str) -> dict[str, bytes]:
    """The files below a folder, by their paths in it; of a file itself, by no name."""
    if os.path.isfile(folder):
        return {"": _bytes(folder)}
    paths = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
    return {os.path.relpath(path, folder): _bytes(path) for path in sorted(paths)}


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _write(folder: str, contents: dict[str, bytes]) -> str:
    """What _contents read, at another place."""
    for name, content in contents.items():
        path = os.path.join(folder, name) if name else folder
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    return folder


def need_decomposition(name: str, d: Any) -> None:
    """Refuse an argument of that name that is no decomposition."""
    if not isinstance(d, Decomposition):
        raise UsageError(
            f"{name} is a {type(d).__name__}, not a decomposition: pho.decompose makes one of a model and rows, d.apply(rows) "
            "has the parts of new rows, and pho.monitor(d, rows, time=...) compares rows of several periods"
        )
