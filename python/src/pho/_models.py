"""Models of any kind as ONNX files."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from typing import Any, Iterator, Optional, Sequence, Union

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
        return _catboost(model, listed)
    if hasattr(model, "export_onnx_"):
        return model.export_onnx_(), {}
    if modules & {"lightgbm", "xgboost"} or "sklearn" in modules:
        return _estimator(model, listed, kinds)
    raise UsageError(
        f"the model is a {type(model).__module__}.{type(model).__qualname__}: give the path or bytes of an ONNX file, "
        "a torch module, or a fitted estimator of scikit-learn, LightGBM, XGBoost or CatBoost"
    )


def _catboost(model: Any, columns: Optional[list[str]]) -> tuple[bytes, dict[str, Sequence[str]]]:
    """CatBoost writes its own files."""
    names = list(model.feature_names_) if not all(n.isdigit() for n in model.feature_names_) else list(columns or [])
    if not names:
        raise UsageError("the model was not fitted on named columns: give them, in order, as inputs=[...]")
    with tempfile.TemporaryDirectory(prefix="pho-") as folder:
        path = os.path.join(folder, "model.onnx")
        try:
            model.save_model(path, format="onnx")
        except Exception as fault:
            why = "its files of ONNX have no categorical features: encode them before"
            raise Error(f"CatBoost could not export the model: {_short(fault)}; {why}") from fault
        with open(path, "rb") as file:
            return file.read(), {"features": names}


def _estimator(model: Any, columns: Optional[list[str]], kinds: dict[str, bool]) -> tuple[bytes, dict[str, Sequence[str]]]:
    """A fitted estimator: an input for each column that it was fitted on, by name; a matrix if it was
    fitted on one.
    """
    named = _names(model)
    if named is None and not columns:
        raise UsageError("the estimator was not fitted on named columns: give them, in order, as inputs=[...]")
    names = named if named is not None else list(columns or [])
    if type(model).__name__ == "Booster":
        return _booster(model, names)
    skl2onnx = need("skl2onnx", "to export an estimator")
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    _register_boosters()
    if _takes_columns(model):
        types = [(n, (StringTensorType if kinds.get(n) else FloatTensorType)([None, 1])) for n in names]
        inputs: dict[str, Sequence[str]] = {}
    else:
        types = [("X", FloatTensorType([None, len(names)]))]
        inputs = {"X": names}
    model = _unnamed(model)
    options = {id(model): {"zipmap": False}} if hasattr(model, "predict_proba") else None
    versions = None if _is_sklearn(model) else {"": 15, "ai.onnx.ml": 3}  # the boosters' converters know no later ones
    try:
        with _plain_attributes():
            onnx = skl2onnx.to_onnx(model, initial_types=types, options=options, target_opset=versions)
    except Exception as fault:
        raise Error(f"skl2onnx could not export the {type(model).__name__}: {_short(fault)}") from fault
    return onnx.SerializeToString(), inputs


def _short(fault: Exception) -> str:
    """An exporter's message, which may hold a whole model."""
    text = str(fault)
    return text if len(text) <= 600 else text[:400] + " ... " + text[-150:]


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


def _unnamed(model: Any) -> Any:
    """An XGBoost model whose features have no names, as its converter wants it; others as they are."""
    if not type(model).__module__.startswith("xgboost"):
        return model
    import copy

    model = copy.deepcopy(model)
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    booster.feature_names = booster.feature_types = None
    return model


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


def _register_boosters() -> None:
    """Teach skl2onnx the estimators of LightGBM and XGBoost, those that are installed."""
    import importlib.util as find

    if find.find_spec("onnxmltools") is None:
        return
    from skl2onnx import update_registered_converter
    from skl2onnx.common.shape_calculator import (
        calculate_linear_classifier_output_shapes as of_classifier,
    )
    from skl2onnx.common.shape_calculator import (
        calculate_linear_regressor_output_shapes as of_regressor,
    )

    classes: dict[str, Any] = {"zipmap": [True, False, "columns"], "nocl": [True, False]}
    if find.find_spec("lightgbm") is not None:
        import lightgbm
        from onnxmltools.convert.lightgbm.operator_converters.LightGbm import convert_lightgbm

        update_registered_converter(lightgbm.LGBMRegressor, "LightGbmLGBMRegressor", of_regressor, convert_lightgbm, options={"split": None})
        update_registered_converter(lightgbm.LGBMClassifier, "LightGbmLGBMClassifier", of_classifier, convert_lightgbm, options=classes)
    if find.find_spec("xgboost") is not None:
        import xgboost
        from onnxmltools.convert.xgboost.operator_converters.XGBoost import convert_xgboost

        update_registered_converter(xgboost.XGBRegressor, "XGBoostXGBRegressor", of_regressor, convert_xgboost)
        update_registered_converter(xgboost.XGBClassifier, "XGBoostXGBClassifier", of_classifier, convert_xgboost, options=classes)


def _booster(model: Any, names: list[str]) -> tuple[bytes, dict[str, Sequence[str]]]:
    onnxmltools = need("onnxmltools", "to export a booster")
    model = _unnamed(model)
    from onnxmltools.convert.common.data_types import FloatTensorType

    convert = onnxmltools.convert_lightgbm if type(model).__module__.startswith("lightgbm") else onnxmltools.convert_xgboost
    try:
        onnx = convert(model, initial_types=[("X", FloatTensorType([None, len(names)]))])
    except Exception as fault:
        raise Error(f"onnxmltools could not export the booster: {_short(fault)}") from fault
    return onnx.SerializeToString(), {"X": names}
