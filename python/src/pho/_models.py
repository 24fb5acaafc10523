"""Models of any kind as files: of ONNX, or of a booster's library."""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence, Union

from . import _boosters, _own, _predictions, _steps
from ._need import need
from .errors import Error, UsageError

Model = Any  # a path, bytes, onnx.ModelProto, torch module, fitted estimator, callable, or predictions

SEVERAL = "networks"  # the folder of several


@dataclass
class Network:
    """An ONNX file, and what the program must be told of its inputs.

    Attributes
    ----------
    path : str
        The file.
    made : bool
        It was written here, from a model in memory.
    inputs : dict
        Columns by name of the input, in order, where names do not say it.
    factors : list of str
        Columns of numbers that it takes as categories.
    """

    path: str
    made: bool = False
    inputs: dict[str, Sequence[str]] = field(default_factory=dict)
    factors: list[str] = field(default_factory=list)


Columns = Union[list[str], dict[str, list[str]], None]


def networks(models: Any, columns: Columns, folder: str) -> list[Network]:
    """A model, or each of a list, as :func:`network` has it."""
    if not isinstance(models, (list, tuple)):
        return [network(models, columns, folder)]
    if not models:
        raise UsageError("the list of models is empty")
    if all(isinstance(m, (str, os.PathLike)) for m in models):
        return [network(m, columns, folder) for m in models]
    made = []
    for i, model in enumerate(models):
        own = os.path.join(folder, SEVERAL, str(i + 1))
        os.makedirs(own)
        n = network(model, columns, own)
        if not n.made:
            n = Network(shutil.copy2(n.path, os.path.join(own, "model.onnx")), True)
        made.append(n)
    return made


def place(made: list[Network], folder: str) -> Optional[str]:
    """Where networks are that were written here: a file, or the folder of several; else None."""
    if not all(n.made for n in made):
        return None
    return made[0].path if len(made) == 1 else os.path.join(folder, SEVERAL)


def network(model: Model, columns: Columns, folder: str) -> Network:
    """The model as an ONNX file, in `folder` if it is not a file already.

    Parameters
    ----------
    model
        A path; the bytes of a file; an ``onnx.ModelProto``; a ``torch.nn.Module``.
    columns : list or dict of str, optional
        The columns that the model is to be fed, in order, of a model that does not name them; by
        input, of one that has several.
    """
    if isinstance(model, (str, os.PathLike)):
        return Network(os.fspath(model))
    inputs: dict[str, Sequence[str]] = {}
    if isinstance(model, (bytes, bytearray, memoryview)):
        content = bytes(model)
    elif hasattr(model, "SerializeToString"):
        content = model.SerializeToString()
    else:
        content, inputs = _export(model, columns)
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as file:
        file.write(content)
    return Network(path, True, inputs)


def is_address(model: Model) -> bool:
    """Whether a model is named by the address that it is served at."""
    return isinstance(model, str) and model.startswith(("http://", "https://"))


def is_network(model: Model) -> bool:
    """Whether a model is an ONNX file, its content or an address, or a module that has no predict of a table."""
    bases = _bases(model)
    if isinstance(model, (str, os.PathLike, bytes, bytearray, memoryview)):
        return True
    return hasattr(model, "SerializeToString") or "torch.Module" in bases or hasattr(model, "export_onnx_") or bool(_keras(bases))


def _bases(model: Model) -> set[str]:
    return {f"{c.__module__.split('.')[0]}.{c.__name__}" for c in type(model).__mro__}


def _keras(bases: set[str]) -> set[str]:
    return {b.split(".")[0] for b in bases} & {"keras", "tensorflow"}


def _export(model: Model, columns: Columns) -> tuple[bytes, dict[str, Sequence[str]]]:
    bases = _bases(model)
    if "torch.Module" in bases:
        from . import _torch

        return _torch.export(model, columns)
    if _keras(bases):
        raise UsageError(
            "a Keras model is given as the ONNX file that Keras writes: model.export('model.onnx', format='onnx'), "
            "which needs the package tf2onnx or, with torch as backend, onnxscript; then pass the path. "
            "Or give a function of a DataFrame that calls it"
        )
    return model.export_onnx_(), {}


def exports(
    model: Any, names: Sequence[str], categories: Sequence[str], kinds: Mapping[str, bool], folder: str, onnx: bool, rows: Any = None
) -> Iterator[Callable[[], Network]]:
    """Ways to write a fitted estimator as a file, its library's own first; each may raise Error.

    Parameters
    ----------
    names : list of str
        The columns that it is fed, in order.
    categories : list of str
        Those of them that are pandas' categories, in order.
    kinds : dict
        Columns of the rows: True of those that hold text.
    onnx : bool
        Files of ONNX alone.
    rows : DataFrame, optional
        Rows of these columns, if the file is to be written as ONNX.
    """
    bases = _bases(model)
    modules = {b.split(".")[0] for b in bases}

    def written(exported: tuple[bytes, dict[str, Sequence[str]]]) -> Network:
        path = os.path.join(folder, "model.onnx")
        with open(path, "wb") as file:
            file.write(exported[0])
        return Network(path, True, exported[1])

    fitted = _unwrapped(model)
    own = None if onnx else _own.writer(fitted, names, rows)
    if own is not None:
        path = os.path.join(folder, own[0])
        yield lambda: Network(path, True, *_own.saved(fitted, own[1], path, names, kinds))
    if "catboost" in modules:
        yield lambda: written(_boosters.catboost(model, list(names)))
    elif modules & {"lightgbm", "xgboost"} and type(model).__name__ == "Booster":
        yield lambda: written(_boosters.booster(model, list(names)))
    elif modules & {"lightgbm", "xgboost", "sklearn"}:
        levels = _levels(model, categories)
        yield lambda: written(_estimator(model, list(names), kinds, levels, False))
        if all(type(step).__module__.startswith("sklearn") for step in _steps.every(model)):
            yield lambda: written(_estimator(model, list(names), kinds, levels, True))


def _levels(model: Any, categories: Sequence[str]) -> dict[str, list[str]]:
    """The texts that a model of LightGBM codes as 0, 1, ..., by column."""
    known = getattr(getattr(model, "booster_", None), "pandas_categorical", None) or []
    if len(known) != len(categories) or not all(isinstance(level, str) for levels in known for level in levels):
        return {}
    return dict(zip(categories, known))


def _estimator(
    model: Any, names: list[str], kinds: Mapping[str, bool], levels: dict[str, list[str]], double: bool
) -> tuple[bytes, dict[str, Sequence[str]]]:
    """A fitted estimator: an input for each column, by name, if it picks columns; else a matrix. Of
    float64 or of float32.
    """
    skl2onnx = need("skl2onnx", "to export an estimator")
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType

    _boosters.register()
    number = DoubleTensorType if double else FloatTensorType
    if _takes_columns(model):
        types = [(n, (StringTensorType if kinds.get(n) else number)([None, 1])) for n in names]
    else:
        types = [("X", number([None, len(names)]))]
    model = _boosters.unnamed(_unwrapped(model))
    options = {id(model): {"zipmap": False}} if hasattr(model, "predict_proba") else None
    try:
        with _plain_attributes():
            # The boosters' converters, and pho, know no later versions.
            onnx = skl2onnx.to_onnx(model, initial_types=types, options=options, target_opset={"": 15, "ai.onnx.ml": 3})
    except Exception as fault:
        raise Error(f"skl2onnx could not export the {type(model).__name__}: {_boosters.short(fault)}") from fault
    if options is not None and len(onnx.graph.output) == 2:
        del onnx.graph.output[0]  # the label, which the probabilities say
    if levels:
        _predictions.tell(onnx, levels=levels)
    if not _takes_columns(model):
        return onnx.SerializeToString(), {"X": names}
    return onnx.SerializeToString(), {i.name: [n] for i, n in zip(onnx.graph.input, names) if i.name != n}


def _unwrapped(model: Any) -> Any:
    """The estimator that a search chose, or whose threshold alone was chosen."""
    name = "estimator_" if type(model).__name__ in ("FixedThresholdClassifier", "TunedThresholdClassifierCV") else "best_estimator_"
    return _unwrapped(getattr(model, name)) if hasattr(model, name) else model


@contextlib.contextmanager
def _plain_attributes() -> Iterator[None]:
    """Numbers in attributes as Python's own: skl2onnx gives truth values of NumPy for histogram
    boosting, which newer releases of onnx refuse.
    """
    import onnx.helper as helper

    make = helper.make_attribute

    def plain(key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(value, (list, tuple)) and any(type(v).__name__ in ("bool", "bool_") for v in value):
            value = [int(v) for v in value]
        return make(key, value, *args, **kwargs)

    helper.make_attribute = plain
    try:
        yield
    finally:
        helper.make_attribute = make


def _takes_columns(model: Any) -> bool:
    """Whether the estimator picks columns by name, and so needs an input for each."""
    return any(type(step).__name__ in ("ColumnTransformer", "FeatureUnion") for step in _steps.every(model))
