"""How models in memory reach the program: as files that predict what they do, else as their predictions."""

from __future__ import annotations

import functools
import json
import os
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from . import _boosters, _causes, _check, _columns, _command, _frames, _functions, _links, _models, _predictions, _rows, _sample
from ._need import need
from ._predictor import Predictor, asked, written
from .errors import Error, UsageError

Progress = Callable[[dict[str, Any]], None]


@dataclass
class Call:
    """What a model is called on, and how.

    Attributes
    ----------
    rows
        Rows in memory, as _rows.readable has them; or the paths of files.
    files : Files, optional
        Rows of files.
    fed : list of str
        Columns of models that name none.
    response : str, optional
        Column of the response.
    family : str, optional
        Of the response.
    na : str, optional
        What is done about missing cells.
    link, clip, check
        As in :func:`decompose`.
    progress : callable
        Receives events.
    """

    rows: Any
    files: Optional[_frames.Files]
    fed: list[str]
    response: Optional[str]
    family: Optional[str]
    na: Optional[str]
    link: Optional[str]
    clip: Optional[float]
    check: bool
    progress: Progress

    @functools.cached_property
    def frame(self) -> Any:
        """The rows in memory as a DataFrame; of files the first."""
        return _frames.frame(self.rows) if self.files is None else next(iter(self.files.batches(1000))).to_pandas()

    @functools.cached_property
    def columns(self) -> list[str]:
        """Names of the rows' columns."""
        return self.files.columns if self.files is not None else [str(c) for c in self.frame.columns]

    def frames(self) -> Any:
        """The rows as DataFrames."""
        return [self.frame] if self.files is None else (b.to_pandas() for b in self.files.batches(1 << 16))


@dataclass
class Route:
    """How models reach the program.

    Attributes
    ----------
    flags : dict
        Its options: model and input, of predictions formula and no_structure too.
    rows
        The rows, with predictions where these are the model.
    response : str, optional
        Column of the response, if the model's predictors fit one.
    place : str
        Where networks are that were written here.
    predictor : Predictor, optional
        Where predictions are the model.
    warnings : list of str
        What to say of it.
    checked : dict
        How the model was compared: rows, largest difference, against what.
    """

    flags: dict[str, Any]
    rows: Any
    response: Optional[str]
    place: Optional[str]
    predictor: Optional[Predictor] = None
    warnings: list[str] = field(default_factory=list)
    checked: dict[str, Any] = field(default_factory=dict)


def routed(
    model: Any,
    rows: _rows.Rows,
    formula: Sequence[str],
    response: Optional[str],
    inputs: Any,
    settings: tuple[Optional[str], Optional[float], bool],
    options: Mapping[str, Any],
    folder: str,
    progress: Any,
) -> Route:
    """How the model reaches the program."""
    role = [response] + [options.get(k) for k in ("weights", "offset", "groups", "cluster", "event", "id")]
    roles = [c for c in role if isinstance(c, str)]
    several = isinstance(model, (list, tuple)) and not _functions.is_array(model)
    models = list(model) if several else [model]
    if not models:
        raise UsageError("the list of models is empty")
    networks = [_models.is_network(m) for m in models]
    if all(networks):
        if settings[0] is not None or settings[1] is not None:
            raise UsageError("link= and clip= are of models that are called, and of predictions: a network has its own")
        made = _models.networks(model, _fed(inputs, rows, roles), folder)
        flags = {"model": [n.path for n in made], "input": _given(inputs, made[0], folder), "formula": formula}
        return Route(flags, rows, response, _models.place(made, folder))
    if any(networks):
        raise UsageError("networks and models that are called cannot be mixed: they are of one kind")
    for m in models:
        if not _functions.is_array(m) and not _functions.predicts(m):
            raise _functions.unknown(m)
    if _rows.columns(rows) is None and not _rows.is_files(rows):
        raise _rows.unfit(rows)
    files = _frames.Files(_rows.files(rows, folder), options.get("delimiter")) if _rows.is_files(rows) else None
    fed = _fed(inputs, rows if files is None else dict.fromkeys(files.columns, ()), roles)
    listed = [c for own in fed.values() for c in own] if isinstance(fed, dict) else list(fed or [])
    call = Call(rows, files, listed, response, options.get("family"), options.get("na"), *settings, progress)
    return choose(models, call, formula, folder)


def choose(models: Sequence[Any], call: Call, formula: Optional[Sequence[str]], folder: str) -> Route:
    """The route of models that can be called, or of predictions that were given."""
    given = [_functions.is_array(m) for m in models]
    if any(given):
        if not all(given):
            raise UsageError("predictions of one model and other models cannot be mixed: give predictions of all")
        return _predicted([], _arrays(models, call), call, formula, folder, [], {"against": "the predictions"})
    functions = [_functions.function(m, call.fed, call.columns, call.link) for m in models]
    for f in functions:
        f.fits(call.columns)
        if call.files is None:
            f.dtypes = {str(c): call.frame[c].dtype for c in f.columns or [] if c in call.frame and hasattr(call.frame[c].dtype, "categories")}
    made, reasons, differences = [], [], []
    for i, (model, f) in enumerate(zip(models, functions)):
        own = folder if len(models) == 1 else os.path.join(folder, _models.SEVERAL, str(i + 1))
        os.makedirs(own, exist_ok=True)
        network, reason, difference = _exported(model, f, call, own)
        made.append(network)
        reasons.append(reason)
        differences.append(difference)
    networks = [n for n in made if n is not None]
    if len(networks) == len(models):
        checked = [d for d in differences if d is not None]
        told = {"rows": checked[0].rows, "largest": max(d.largest for d in checked), "against": functions[0].what} if checked else {}
        said = [] if call.check else [f"the exported file was not compared with {functions[0].what} (check=False)"]
        response, without = _responding(call, any(d.plain for d in checked))
        flags = {"model": [n.path for n in networks], "input": bound(networks[0].inputs, folder), "formula": formula}
        flags.update(_family(call, functions[0].link))
        return Route(flags, _coded(call, functions[0]), response, _models.place(networks, folder), None, said + without, told)
    warnings = [f"{f.what}, called on the rows, is the model, and no exported file: {r}" for f, r in zip(functions, reasons) if r]
    return _predicted(functions, None, call, formula, folder, warnings, {"against": functions[0].what})


def _exported(model: Any, f: _functions.Function, call: Call, folder: str) -> tuple[Optional[_models.Network], str, Optional[_check.Difference]]:
    """The model's file, if there is one that predicts what it does, why not, and how far it is off."""
    if f.columns is None or f.shape == "series" or call.link is not None or call.clip is not None:
        return None, "", None
    kinds = _kinds(call, f.columns)
    sample = wanted = None
    reason, why = "", ""
    ways = _models.exports(model, f.columns, [c for c in f.columns if c in (f.dtypes or {})], kinds, folder)
    for way in ways:
        if wanted is None:
            sample = _sample.of(call.frames(), f.columns, call.na != "keep")
            if sample is None:
                raise UsageError("no row is complete: every one has a missing cell in a column of the model; na='keep' lets the model fill them in")
            wanted = f(sample)
        try:
            network = way()
        except Error as fault:
            reason = reason or _boosters.short(fault)
            continue
        _named(network, call, f)
        if not call.check:
            return network, "", None
        try:
            difference = _check.compare(network.path, bound(network.inputs, folder), sample, wanted, call.na)
        except Error as fault:
            reason = reason or f"the exported file is refused: {_boosters.short(fault)}"
            continue
        if not difference.off:
            return network, "", difference
        reason, why = difference.said, _causes.cause(model, sample, difference.off / difference.rows) or ""
    return None, f"{reason} ({why})" if why else reason, None


def _kinds(call: Call, columns: Sequence[str]) -> dict[str, bool]:
    """Which columns hold text."""
    return {c: _columns.is_text(call.frame[c]) for c in columns if c in call.frame}


def _named(network: _models.Network, call: Call, f: _functions.Function) -> None:
    """Let the file of two classes say how their column calls them."""
    if call.files is None or call.response is None or f.classes is None or len(f.classes) != 2 or not all(isinstance(c, str) for c in f.classes):
        return
    import onnx

    model = onnx.load(network.path)
    _predictions.tell(model, call.response, f.classes)
    onnx.save(model, network.path)


def _arrays(models: Sequence[Any], call: Call) -> list[Any]:
    if call.files is not None:
        told = "the rows are files, and the model is an array of predictions"
        raise UsageError(f"{told}: read the rows, or give the model as a function of a DataFrame")
    return [_functions.array(m, _rows.rows_in(call.rows)) for m in models]


def _predicted(
    functions: list[_functions.Function],
    values: Optional[list[Any]],
    call: Call,
    formula: Optional[Sequence[str]],
    folder: str,
    warnings: list[str],
    checked: dict[str, Any],
) -> Route:
    """The route of predictions, computed here unless they were given."""
    seen = _links.Seen()
    first = functions[0] if functions else _functions.Function("", None, link=call.link or "identity", sure=call.link is not None)
    clip = (first.link, call.clip) if call.clip is not None and first.link != "identity" else None
    names: dict[int, list[str]] = {}

    def named(i: int, k: int) -> list[str]:
        names.setdefault(i, _names(i, k, len(functions) or len(values or ()), first.classes, call.columns))
        if len(names[i]) != k:
            raise Error(f"{first.what} returns {k} predictions a row, and {len(names[i])} before")
        return names[i]

    if call.files is not None:
        rows: Any = written(call.files, functions, named, clip, call.na, folder, seen, _codes(call, first), call.progress)
        holes = seen.holes
    else:
        holes = {str(c) for c in call.frame.columns if call.frame[c].isna().any()} if call.na == "keep" else set()
        rows, found = _coded(call, first), values if values is not None else [_called(f, call) for f in functions]
        for i, v in enumerate(found):
            seen.add(v)
            v = _links.clipped(v, *clip) if clip else v
            for j, name in enumerate(named(i, v.shape[1])):
                rows = _rows.joined(rows, name, v[:, j])
    if len({len(n) for n in names.values()}) > 1:
        raise UsageError("the models have different numbers of predictions a row: they are of different tasks")
    link, said = seen.link(first.link, first.sure, call.clip)
    predictor = Predictor(functions, [names[i] for i in sorted(names)], link, call.clip if clip else None)
    response, without = _responding(call, seen.columns > 1 and link != "softmax")
    classes = [str(c) for c in first.classes or ()]
    columns = _predictions.Columns(predictor.names, link, classes, _read(functions, call, holes if call.na == "keep" else set()))
    flags = {**_predictions.flags(columns, folder, formula), **_family(call, link)}
    return Route(flags, rows, response, _predictions.place(columns, folder), predictor, warnings + ([said] if said else []) + without, checked)


def _responding(call: Call, plain: bool) -> tuple[Optional[str], list[str]]:
    """The column of the response, and what to say if there is none for several plain predictors."""
    if call.response is None or call.family is not None or not plain:
        return call.response, []
    return None, [
        f"the response {call.response!r} is not used: the model has several predictors a row that are no classes on the scale of a softmax; "
        "family= says whose they are, and of probabilities link='softmax' with clip=1e-6"
    ]


def _family(call: Call, link: str) -> dict[str, str]:
    """The family of a response whose mean has a logarithm, where it is no count."""
    if link != "log" or call.response is None or call.family is not None or call.response not in call.frame:
        return {}
    y = call.frame[call.response].dropna()
    if y.dtype.kind not in "iuf" or not len(y) or (y < 0).any() or (y % 1 == 0).all():
        return {}
    return {"family": "gamma" if (y > 0).all() else "tweedie"}


def _codes(call: Call, f: _functions.Function) -> Optional[tuple[str, Callable[[Any], Any]]]:
    """The response of two classes, and what makes 0 and 1 of it; None where it is not of such."""
    if call.response is None or f.classes is None or len(f.classes) != 2 or call.response not in call.frame:
        return None
    first, second = f.classes
    if not set(call.frame[call.response].dropna().unique()) <= {first, second} or {first, second} == {0, 1}:
        return None

    def coded(column: Any) -> Any:
        return column.eq(second).astype(float).where(column.notna()).to_numpy()

    return call.response, coded


def _coded(call: Call, f: _functions.Function) -> Any:
    """The rows in memory with a response of two classes as 0 and 1; files as they are."""
    codes = _codes(call, f) if call.files is None else None
    return call.rows if codes is None else _rows.joined(call.rows, codes[0], codes[1](call.frame[codes[0]]))


def _called(f: _functions.Function, call: Call) -> Any:
    """A function's predictions of the rows in memory."""
    import numpy

    out: list[Any] = []
    for batch in _functions.batches(call.frame):
        out.append(asked(f, batch, call.na, not out))
        call.progress({"event": "progress", "pass": "predictions", "rows": sum(map(len, out))})
    if not out:
        raise UsageError("there are no rows")
    if len({v.shape[1] for v in out}) > 1:
        raise Error(f"{f.what} returns other numbers of predictions from batch to batch")
    return numpy.concatenate(out)


def _names(i: int, k: int, models: int, classes: Optional[Sequence[Any]], taken: Sequence[str]) -> list[str]:
    """What the columns of a model's predictions are called, not as others are."""
    stem = "prediction" if models == 1 else f"prediction {i + 1}"
    of = [str(c) for c in classes] if classes is not None and len(classes) == k > 1 else []
    if not of or any("," in c or ".." in c for c in of):
        of = [str(j + 1) for j in range(k)]
    while any(t.startswith(stem) for t in taken):
        stem = "_" + stem
    return [stem] if k == 1 else [f"{stem} {c}" for c in of]


def _read(functions: Sequence[_functions.Function], call: Call, holes: set[str]) -> dict[str, bool]:
    """The columns that terms are chosen of: those that the models are given, of numbers or of text, with
    a value in each row that is kept.
    """
    listed: Union[Sequence[str], None] = functions[0].columns if functions else None
    out = {}
    for name in listed if listed is not None else call.fed:
        if name in holes:
            continue
        column = call.frame[name]
        text = _columns.is_text(column)
        if text or getattr(column.dtype, "kind", "O") in "biuf" or hasattr(column.dtype, "categories"):
            out[name] = text
    return out


def again(model: Any, result: str) -> Optional[Predictor]:
    """What calls the model of a result anew, or takes its predictions; None of a network's.

    Raises
    ------
    UsageError
        A model was given, and the result is a network's.
    """
    with open(os.path.join(result, "decomposition.json"), encoding="utf-8") as file:
        artifact = json.load(file)
    names = _predictions.recorded(artifact)
    if not names:
        if model is not None:
            raise UsageError("the result is a network's: give the file of that as model=, or nothing")
        return None
    if model is None:
        return Predictor([], [names], "identity")
    read = [str(c) for own in artifact["model"]["inputs"].values() for c in own if c not in names]
    return Predictor([_functions.function(model, read, read, None)], [names], "identity")


def _given(inputs: Any, network: _models.Network, folder: str) -> list[str]:
    """The values of --input."""
    named = dict(network.inputs)
    if isinstance(inputs, Mapping):
        return bound(inputs, folder)
    if inputs is not None and not named:
        named = {_only_input(network.path): list(inputs)}
    return bound(named, folder)


def bound(inputs: Mapping[str, Any], folder: str) -> list[str]:
    """The values of --input for columns by name of the input; an array is written to `folder`."""
    out = []
    for i, (name, given) in enumerate(inputs.items()):
        if getattr(given, "ndim", 0) > 1:
            path = os.path.join(folder, f"input{i}.npy")
            need("numpy", "to hand an array over").save(path, given)
            out.append(f"{name}=@{path}")
        else:
            out.append(f"{name}=" + (given if isinstance(given, str) else ",".join(given)))
    return out


def _fed(inputs: Any, rows: _rows.Rows, roles: list[str]) -> Union[list[str], dict[str, list[str]], None]:
    """The columns that a model without names is fed: those given, by input if they were, else all
    that have no role.
    """
    if isinstance(inputs, Mapping):
        return {name: [listed] if isinstance(listed, str) else list(listed) for name, listed in inputs.items() if getattr(listed, "ndim", 0) < 2}
    if inputs is not None:
        return list(inputs)
    names = _rows.columns(rows)
    return None if names is None else [n for n in names if n not in roles]


def _only_input(path: str) -> str:
    """The name of a network's only input."""
    inputs = json.loads(_command.run(["inspect", path, "--json"]))["inputs"]
    if len(inputs) != 1:
        raise UsageError(
            f"the network has {len(inputs)} inputs, {', '.join(i['name'] for i in inputs)}: give inputs= as a dict of their columns"
        )
    return str(inputs[0]["name"])
