"""Models that are their predictions, computed here unless they were given."""

from __future__ import annotations

import json
import os
from typing import Any, Optional, Sequence, Union

from . import _columns, _functions, _links, _predictions, _rows
from ._call import Call, Route, coded, codes, family, responding
from ._predictor import Adding, Predictor, asked
from .errors import Error, UsageError


def route(
    functions: list[_functions.Function],
    values: Optional[list[Any]],
    call: Call,
    formula: Optional[Sequence[str]],
    folder: str,
    warnings: list[str],
    checked: dict[str, Any],
) -> Route:
    """The route of functions, or of the values of predictions."""
    seen = _links.Seen()
    first = functions[0] if functions else _functions.Function("", None, link=call.link or "identity", sure=call.link is not None)
    clip = (first.link, call.clip) if call.clip is not None and first.link != "identity" else None
    names = {i: v.columns for i, v in enumerate(values or ()) if isinstance(v, _functions.Named)}

    def named(i: int, k: int) -> list[str]:
        return _named(i, k, len(functions) or len(values or ()), first.classes, call.columns)

    if call.files is not None:
        rows: Any = call.files.added(Adding(functions, names, named, clip, call.na, seen, codes(call, first)), folder, call.progress)
    else:
        seen.missing(call.frame)
        rows, found = coded(call, first), values if values is not None else [_called(f, call) for f in functions]
        for i, v in enumerate(found):
            seen.add(v)
            v = _links.clipped(v, *clip) if clip else v
            names[i] = named(i, v.shape[1])
            for j, name in enumerate(names[i]):
                rows = _rows.joined(rows, name, v[:, j])
    if len({len(n) for n in names.values()}) > 1:
        raise UsageError("the models have different numbers of predictions a row: they are of different tasks")
    link, said = seen.link(first.link, first.sure, call.clip)
    predictor = Predictor(functions, [names[i] for i in sorted(names)], link, call.clip if clip else None)
    response, without = responding(call, seen.columns > 1 and link != "softmax")
    read = _read(functions, call, seen.holes if call.na == "keep" else set())
    taken = {response, *call.roles}
    others = [c for c in call.columns if c not in read and c not in taken]
    flags = {**_predictions.flags(_predictions.Columns(predictor.names, link, others), formula), **family(call, link)}
    fed = list(functions[0].columns or call.fed) if functions else []
    return Route(flags, rows, response, None, predictor, warnings + ([said] if said else []) + without, checked, fed)


def given(models: Sequence[Any], call: Call) -> list[Any]:
    """The values of models that are arrays of predictions."""
    if call.files is not None and not all(isinstance(m, _functions.Named) for m in models):
        told = "the rows are files, and the model is an array of predictions"
        raise UsageError(f"{told}: read the rows, or give the model as a function of a DataFrame")
    return [m if isinstance(m, _functions.Named) else _functions.array(m, _rows.rows_in(call.rows)) for m in models]


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


def _named(i: int, k: int, models: int, classes: Optional[Sequence[Any]], taken: Sequence[str]) -> list[str]:
    """What the columns of a model's predictions are called, not as others are."""
    stem = "prediction" if models == 1 else f"prediction{i + 1}"
    of = [str(c) for c in classes] if classes is not None and len(classes) == k > 1 else [str(j + 1) for j in range(k)]
    while any(t.startswith(stem) for t in taken):
        stem = "_" + stem
    return [stem] if k == 1 else [f"{stem} {c}" for c in of]


def _read(functions: Sequence[_functions.Function], call: Call, holes: set[str]) -> set[str]:
    """The columns that terms are chosen of: those that the models are given, of numbers or of text, with
    a value in each row that is kept.
    """
    listed: Union[Sequence[str], None] = functions[0].columns if functions else None

    def fit(column: Any) -> bool:
        return _columns.is_text(column) or getattr(column.dtype, "kind", "O") in "biuf" or hasattr(column.dtype, "categories")

    return {name for name in (listed if listed is not None else call.fed) if name not in holes and fit(call.frame[name])}


def again(model: Any, result: str) -> Optional[Predictor]:
    """What calls the model of a result anew, or takes its predictions; None of a network's.

    Raises
    ------
    UsageError
        A model was given, and the result is a network's.
    """
    with open(os.path.join(result, "decomposition.json"), encoding="utf-8") as file:
        artifact = json.load(file)
    own = _predictions.recorded(artifact)
    if not own:
        if model is not None:
            raise UsageError("the result is a network's: give the file of that as model=, or nothing")
        return None
    models = [] if model is None else list(model) if isinstance(model, (list, tuple)) else [model]
    if models and len(models) != len(own):
        raise UsageError(f"the result is of {len(own)} models, and {len(models)} are given")
    read = list(artifact["model"].get("columns") or ())
    return Predictor([_functions.function(m, read, read, None) for m in models], own, "identity")
