"""How models in memory reach the program: as files that predict what they do, else as their predictions."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Optional, Sequence, Union

from . import _boosters, _causes, _check, _columns, _command, _formulas, _frames, _functions, _models, _predicted, _predictions, _rows, _sample
from ._call import Call, Route, coded, family, responding
from ._need import need
from .errors import Error, UsageError


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
        asked = {"link": settings[0], "clip": settings[1]} if any(_models.is_address(m) for m in models) else {}
        if not asked and (settings[0] is not None or settings[1] is not None):
            raise UsageError("link= and clip= are of models that are called or served, and of predictions: a network has its own")
        made = _models.networks(model, _fed(inputs, rows, roles), folder)
        flags = {"model": [n.path for n in made], "input": _given(inputs, made[0], folder), "formula": formula, **asked}
        return Route(flags, rows, response, _models.place(made, folder))
    if any(networks):
        raise UsageError("networks and models that are called cannot be mixed: they are of one kind")
    for m in models:
        if not _functions.is_array(m) and not _functions.predicts(m):
            raise _functions.unknown(m)
    if _rows.columns(rows) is None and not _rows.is_files(rows):
        raise _rows.unfit(rows)
    files = rows if isinstance(rows, _frames.Files) else None
    if _rows.is_files(rows):
        files = _frames.Files(_rows.files(rows, folder), options.get("delimiter"))
    named = files.columns if files is not None else _rows.columns(rows) or []
    if response is None:
        response, formula = _formulas.responding(formula, named)
        roles += [response] if response is not None else []
    fed = _fed(inputs, dict.fromkeys(named, ()), roles)
    listed = [c for own in fed.values() for c in own] if isinstance(fed, dict) else list(fed or [])
    call = Call(rows, files, listed, response, options.get("family"), options.get("na"), *settings, progress, roles, bool(options.get("export_onnx")))
    return choose(models, call, formula, folder)


def choose(models: Sequence[Any], call: Call, formula: Optional[Sequence[str]], folder: str) -> Route:
    """The route of models that can be called, or of predictions that were given."""
    given = [_functions.is_array(m) for m in models]
    if any(given):
        if not all(given):
            raise UsageError("predictions of one model and other models cannot be mixed: give predictions of all")
        return _predicted.route([], _predicted.given(models, call), call, formula, folder, [], {"against": "the predictions"})
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
        response, without = responding(call, any(d.plain for d in checked))
        holes = _holes(functions[0], call) if not formula else []
        if holes:
            formula = ["~ ." + "".join(f" - `{c}`" for c in holes)]
            said.append(f"no term is chosen of {', '.join(holes)}, which has missing cells: its share is left in the unstructured part")
        flags = {"model": [n.path for n in networks], "input": bound(networks[0].inputs, folder), "formula": formula}
        flags.update(family(call, functions[0].link))
        flags["factor"] = networks[0].factors
        return Route(flags, coded(call, functions[0]), response, _models.place(networks, folder), None, said + without, told)
    warnings = [f"{f.what}, called on the rows, is the model, and no exported file: {r}" for f, r in zip(functions, reasons) if r]
    return _predicted.route(functions, None, call, formula, folder, warnings, {"against": functions[0].what})


def _holes(f: _functions.Function, call: Call) -> list[str]:
    """The columns of numbers that a model fills in, which no term can have; of text what is missing is a level."""
    if call.na != "keep":
        return []
    return [c for c in f.columns or () if c in call.frame and call.frame[c].isna().any() and not _columns.is_text(call.frame[c])]


def _exported(model: Any, f: _functions.Function, call: Call, folder: str) -> tuple[Optional[_models.Network], str, Optional[_check.Difference]]:
    """The model's file, if there is one that predicts what it does, why not, and how far it is off."""
    if f.columns is None or f.shape == "series" or call.link is not None or call.clip is not None:
        return None, "", None
    kinds = _kinds(call, f.columns)
    sample = wanted = None
    reason, why = "", ""
    rows = call.frame[list(f.columns)] if call.onnx else None
    ways = _models.exports(model, f.columns, [c for c in f.columns if c in (f.dtypes or {})], kinds, folder, _two_texts(call, f), rows)
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
            difference = _check.compare(network.path, bound(network.inputs, folder), sample, wanted, call.na, network.factors, call.onnx)
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


def _two_texts(call: Call, f: _functions.Function) -> bool:
    """Whether a column of files names two classes, which then have to be in the model's file: one of ONNX holds them."""
    return (
        call.files is not None
        and call.response is not None
        and f.classes is not None
        and len(f.classes) == 2
        and all(isinstance(c, str) for c in f.classes)
    )


def _named(network: _models.Network, call: Call, f: _functions.Function) -> None:
    """Let the file of two classes say how their column calls them."""
    if f.classes is None or not _two_texts(call, f):
        return
    import onnx

    model = onnx.load(network.path)
    _predictions.tell(model, call.response, f.classes)
    onnx.save(model, network.path)


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


def apart(rows: Any, inputs: Mapping[str, Any], artifact: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """What _rows.readable returned without its columns of arrays, None if no other is left; `inputs` with those that the network takes."""
    known, own = _rows.columns(rows) or [], artifact["model"].get("inputs", {})
    arrays = [n for n in known if own.get(n) == [n] and _columns.is_arrays(_rows.column(rows, n))]
    if not arrays:
        return rows, dict(inputs)
    rest = [n for n in known if n not in arrays]
    return _rows.selected(rows, rest) if rest else None, {**inputs, **{n: _stacked(rows, n) for n in arrays}}


def _stacked(rows: Any, name: str) -> Any:
    """A column of arrays, or of nested lists, as one array."""
    numpy, own = need("numpy", "to hand arrays over"), _rows.column(rows, name)
    if getattr(own, "ndim", 0) > 1:
        return own
    cells = [numpy.asarray(v, dtype=float) for v in _rows.cells(rows, name)]
    for i, cell in enumerate(cells):
        if cell.shape != cells[0].shape:
            raise Error(f"column {name!r}, row {i}: the array has the shape {cell.shape}, that of row 0 has {cells[0].shape}")
    return numpy.stack(cells)


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
    """The name of a network's only input, or what the program calls the one that a server does not name."""
    if _models.is_address(path):
        return "dataframe_split" if path.rstrip("/").endswith("/invocations") else "input"
    inputs = json.loads(_command.run(["inspect", path, "--json"]))["inputs"]
    if len(inputs) != 1:
        raise UsageError(f"the network has {len(inputs)} inputs, {', '.join(i['name'] for i in inputs)}: give inputs= as a dict of their columns")
    return str(inputs[0]["name"])
