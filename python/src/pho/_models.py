"""Models of any kind as ONNX files."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Optional, Sequence

from .errors import Error, UsageError

Model = Any  # a path, bytes, onnx.ModelProto, torch module, or fitted estimator


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


def network(model: Model, columns: Optional[list[str]], kinds: dict[str, bool], folder: str) -> Network:
    """The model as an ONNX file, in `folder` if it is not a file already.

    Parameters
    ----------
    model
        A path; the bytes of a file; an ``onnx.ModelProto``; a ``torch.nn.Module``; a fitted
        scikit-learn estimator or pipeline; a LightGBM or XGBoost model.
    columns : list of str, optional
        The columns that the model is to be fed, in order, of a model that does not name them.
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


def _export(model: Model, columns: Optional[list[str]], kinds: dict[str, bool]) -> tuple[bytes, dict[str, Sequence[str]]]:
    bases = {f"{c.__module__.split('.')[0]}.{c.__name__}" for c in type(model).__mro__}
    modules = {b.split(".")[0] for b in bases}
    if "torch.Module" in bases:
        return _torch(model, columns)
    if modules & {"lightgbm", "xgboost"} or "sklearn" in modules:
        return _estimator(model, columns, kinds)
    raise UsageError(
        f"the model is a {type(model).__module__}.{type(model).__qualname__}: give the path or bytes of an ONNX file, "
        "a torch module, or a fitted estimator of scikit-learn, LightGBM or XGBoost"
    )


def _torch(module: Any, columns: Optional[list[str]]) -> tuple[bytes, dict[str, Sequence[str]]]:
    """A torch module of one input, rows x columns."""
    torch = _need("torch", "to export a torch module")
    _need("onnxscript", "to export a torch module")
    if not columns:
        raise UsageError("a torch module does not name its columns: give them, in order, as inputs=[...]")
    import io
    import logging
    import warnings

    log = logging.getLogger("torch.onnx")
    level = log.level
    first = next(module.parameters(), None)
    kind = torch.float32 if first is None else first.dtype
    training = module.training
    module.eval()
    try:
        example = torch.zeros((2, len(columns)), dtype=kind, device=None if first is None else first.device)
        buffer = io.BytesIO()
        rows = torch.export.Dim("rows")
        log.setLevel(logging.ERROR)  # what the exporter tells of itself
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                module, (example,), dynamo=True, dynamic_shapes=({0: rows},), input_names=["x"], verbose=False
            )
        program.save(buffer)
    except Error:
        raise
    except Exception as fault:
        raise Error(f"torch could not export the module to ONNX: {fault}") from fault
    finally:
        log.setLevel(level)
        module.train(training)
    return buffer.getvalue(), {"x": list(columns)}


def _estimator(model: Any, columns: Optional[list[str]], kinds: dict[str, bool]) -> tuple[bytes, dict[str, Sequence[str]]]:
    """A fitted estimator: an input for each column that it was fitted on, by name; a matrix if it was
    fitted on one."""
    named = _names(model)
    if named is None and not columns:
        raise UsageError("the estimator was not fitted on named columns: give them, in order, as inputs=[...]")
    names = named if named is not None else list(columns or [])
    if type(model).__name__ == "Booster":
        return _booster(model, names)
    skl2onnx = _need("skl2onnx", "to export an estimator")
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
        onnx = skl2onnx.to_onnx(model, initial_types=types, options=options, target_opset=versions)
    except Exception as fault:
        raise Error(f"skl2onnx could not export the {type(model).__name__}: {fault}") from fault
    return onnx.SerializeToString(), inputs


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
    onnxmltools = _need("onnxmltools", "to export a booster")
    model = _unnamed(model)
    from onnxmltools.convert.common.data_types import FloatTensorType

    convert = onnxmltools.convert_lightgbm if type(model).__module__.startswith("lightgbm") else onnxmltools.convert_xgboost
    try:
        onnx = convert(model, initial_types=[("X", FloatTensorType([None, len(names)]))])
    except Exception as fault:
        raise Error(f"onnxmltools could not export the booster: {fault}") from fault
    return onnx.SerializeToString(), {"X": names}


def _need(module: str, why: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as fault:
        raise Error(f"{module} is needed {why}: pip install {module}") from fault
