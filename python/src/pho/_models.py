"""Models of any kind as ONNX files."""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass, field
from typing import Any, Iterator, Optional, Sequence, Union

from . import _boosters
from ._need import need
from .errors import Error, UsageError

Model = Any  # a path, bytes, onnx.ModelProto, torch module, or fitted estimator

_SEVERAL = "networks"  # the folder of several


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
    """

    path: str
    made: bool = False
    inputs: dict[str, Sequence[str]] = field(default_factory=dict)


Columns = Union[list[str], dict[str, list[str]], None]


def networks(models: Any, columns: Columns, kinds: dict[str, bool], folder: str) -> list[Network]:
    """A model, or each of a list, as :func:`network` has it."""
    if not isinstance(models, (list, tuple)):
        return [network(models, columns, kinds, folder)]
    if not models:
        raise UsageError("the list of models is empty")
    if all(isinstance(m, (str, os.PathLike)) for m in models):
        return [network(m, columns, kinds, folder) for m in models]
    made = []
    for i, model in enumerate(models):
        own = os.path.join(folder, _SEVERAL, str(i + 1))
        os.makedirs(own)
        n = network(model, columns, kinds, own)
        if not n.made:
            n = Network(shutil.copy2(n.path, os.path.join(own, "model.onnx")), True)
        made.append(n)
    return made


def place(made: list[Network], folder: str) -> Optional[str]:
    """Where networks are that were written here: a file, or the folder of several; else None."""
    if not all(n.made for n in made):
        return None
    return made[0].path if len(made) == 1 else os.path.join(folder, _SEVERAL)


def network(model: Model, columns: Columns, kinds: dict[str, bool], folder: str) -> Network:
    """The model as an ONNX file, in `folder` if it is not a file already.

    Parameters
    ----------
    model
        A path; the bytes of a file; an ``onnx.ModelProto``; a ``torch.nn.Module``; a fitted
        scikit-learn estimator or pipeline; a LightGBM, XGBoost or CatBoost model.
    columns : list or dict of str, optional
        The columns that the model is to be fed, in order, of a model that does not name them; by
        input, of one that has several.
    kinds : dict
        Columns of the rows, as far as they are known: True of those that hold text.
    """
    if isinstance(model, (str, os.PathLike)):
        return Network(os.fspath(model))
    inputs: dict[str, Sequence[str]] = {}
    if isinstance(model, (bytes, bytearray, memoryview)):
        content = bytes(model)
    elif hasattr(model, "SerializeToString"):
        content = model.SerializeToString()
    else:
        content, inputs = _export(model, columns, kinds)
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as file:
        file.write(content)
    return Network(path, True, inputs)


def _export(model: Model, columns: Columns, kinds: dict[str, bool]) -> tuple[bytes, dict[str, Sequence[str]]]:
    bases = {f"{c.__module__.split('.')[0]}.{c.__name__}" for c in type(model).__mro__}
    modules = {b.split(".")[0] for b in bases}
    if "torch.Module" in bases:
        from . import _torch

        return _torch.export(model, columns)
    if "keras" in modules or "tensorflow" in modules:
        raise UsageError(
            "a Keras model is given as the ONNX file that Keras writes: model.export('model.onnx', format='onnx'), "
            "which needs the package tf2onnx or, with torch as backend, onnxscript; then pass the path"
        )
    listed = [c for own in columns.values() for c in own] if isinstance(columns, dict) else columns
    if "catboost" in modules:
        return _boosters.catboost(model, listed)
    if hasattr(model, "export_onnx_"):
        return model.export_onnx_(), {}
    if modules & {"lightgbm", "xgboost"} or "sklearn" in modules:
        return _estimator(model, listed, kinds)
    raise UsageError(
        f"the model is a {type(model).__module__}.{type(model).__qualname__}: give the path or bytes of an ONNX file, "
        "a torch module, or a fitted estimator of scikit-learn, LightGBM, XGBoost or CatBoost"
    )


def _estimator(model: Any, columns: Optional[list[str]], kinds: dict[str, bool]) -> tuple[bytes, dict[str, Sequence[str]]]:
    """A fitted estimator: an input for each column that it was fitted on, by name; a matrix if it was
    fitted on one.
    """
    named = _names(model)
    if named is None and not columns:
        raise UsageError("the estimator was not fitted on named columns: give them, in order, as inputs=[...]")
    names = named if named is not None else list(columns or [])
    _boosters.check(model)
    if type(model).__name__ == "Booster":
        return _boosters.booster(model, names)
    skl2onnx = need("skl2onnx", "to export an estimator")
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    _boosters.register()
    if _takes_columns(model):
        types = [(n, (StringTensorType if kinds.get(n) else FloatTensorType)([None, 1])) for n in names]
        inputs: dict[str, Sequence[str]] = {}
    else:
        types = [("X", FloatTensorType([None, len(names)]))]
        inputs = {"X": names}
    model = _boosters.unnamed(model)
    options = {id(model): {"zipmap": False}} if hasattr(model, "predict_proba") else None
    versions = None if _is_sklearn(model) else {"": 15, "ai.onnx.ml": 3}  # the boosters' converters know no later ones
    try:
        with _plain_attributes():
            onnx = skl2onnx.to_onnx(model, initial_types=types, options=options, target_opset=versions)
    except Exception as fault:
        raise Error(f"skl2onnx could not export the {type(model).__name__}: {_boosters.short(fault)}") from fault
    return onnx.SerializeToString(), inputs


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


def _names(model: Any) -> Optional[list[str]]:
    names = getattr(model, "feature_names_in_", None)
    if names is None and hasattr(model, "feature_name") and callable(model.feature_name):
        names = model.feature_name()
    if names is None and type(model).__name__ == "Booster":
        names = getattr(model, "feature_names", None)
    return None if names is None else [str(n) for n in names]


def _is_sklearn(model: Any) -> bool:
    """Whether no step comes from another library."""
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    return all(type(step).__module__.startswith("sklearn") for step in steps)


def _takes_columns(model: Any) -> bool:
    """Whether the estimator picks columns by name, and so needs an input for each."""
    steps = [model]
    if hasattr(model, "steps"):
        steps = [step for _, step in model.steps]
    return any(type(step).__name__ in ("ColumnTransformer", "FeatureUnion") for step in steps)
