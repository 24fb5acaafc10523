"""Boosted ensembles of trees as ONNX: LightGBM, XGBoost, CatBoost."""

from __future__ import annotations

import copy
import os
import re
import tempfile
from typing import Any, Dict, Sequence, Tuple

from . import _steps
from ._need import need
from .errors import Error

Exported = Tuple[bytes, Dict[str, Sequence[str]]]  # a file, and the columns of its input


def catboost(model: Any, names: list[str]) -> Exported:
    """CatBoost writes its own files; of a classifier's the probabilities are kept, not the labels."""
    with tempfile.TemporaryDirectory(prefix="pho-") as folder:
        path = os.path.join(folder, "model.onnx")
        try:
            model.save_model(path, format="onnx")
        except Exception as fault:
            raise Error(f"CatBoost could not export the model: {short(fault)}") from fault
        with open(path, "rb") as file:
            return _probabilities(file.read()), {"features": names}


def _probabilities(content: bytes) -> bytes:
    """The file of a classifier with its probabilities as a matrix, the only output. Of two classes
    CatBoost writes the sum of the trees and its negative; the second is kept, whose sigmoid is
    the second class's probability, as others write it.
    """
    onnx = need("onnx", "to export a model of CatBoost")
    model = onnx.load_from_string(content)
    tree = next((n for n in model.graph.node if n.op_type == "TreeEnsembleClassifier"), None)
    if tree is None:
        return content
    attributes = {a.name: a for a in tree.attribute}
    classes = sum(len(a.strings) + len(a.ints) for name, a in attributes.items() if name.startswith("classlabels_"))
    if classes == 2:
        of_second = [i for i, c in enumerate(attributes["class_ids"].ints) if c == 1]
        for name, kind in (("class_ids", "ints"), ("class_nodeids", "ints"), ("class_treeids", "ints"), ("class_weights", "floats")):
            values = getattr(attributes[name], kind)
            kept = [values[i] for i in of_second]
            del values[:]
            values.extend([0] * len(kept) if name == "class_ids" else kept)
    del model.graph.node[:], model.graph.output[:]
    model.graph.node.append(tree)
    float_ = onnx.TensorProto.FLOAT
    model.graph.output.append(onnx.helper.make_tensor_value_info(tree.output[1], float_, [None, classes]))
    return bytes(model.SerializeToString())


def short(fault: Exception) -> str:
    """An exporter's message, which may hold a whole model, or the stack of a library: its first words."""
    text = next((line.strip() for line in str(fault).splitlines() if line.strip()), type(fault).__name__)
    text = re.sub(r"^\[[\d:]+\] \S+:\d+: |^\S+\.(?:cpp|cc|h):\d+: ", "", text)
    return text if len(text) <= 250 else text[:250] + "..."


def unnamed(model: Any) -> Any:
    """A copy in which the features of XGBoost's models have no names, as their converter wants it; a
    model without any as it is.
    """

    def of_xgboost(whole: Any) -> list[Any]:
        return [step for step in _steps.every(whole) if type(step).__module__.startswith("xgboost")]

    if not of_xgboost(model):
        return model
    model = copy.deepcopy(model)
    for step in of_xgboost(model):
        if hasattr(step, "get_booster") and not step.__sklearn_is_fitted__():
            continue
        booster = step.get_booster() if hasattr(step, "get_booster") else step
        booster.feature_names = booster.feature_types = None
    return model


def register() -> None:
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


def booster(model: Any, names: list[str]) -> Exported:
    onnxmltools = need("onnxmltools", "to export a booster")
    model = unnamed(model)
    from onnxmltools.convert.common.data_types import FloatTensorType

    convert = onnxmltools.convert_lightgbm if type(model).__module__.startswith("lightgbm") else onnxmltools.convert_xgboost
    try:
        onnx = convert(model, initial_types=[("X", FloatTensorType([None, len(names)]))])
    except Exception as fault:
        raise Error(f"onnxmltools could not export the booster: {short(fault)}") from fault
    return onnx.SerializeToString(), {"X": names}
