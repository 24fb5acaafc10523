"""What is known of the differences between models and the files that exporters write of them."""

from __future__ import annotations

from typing import Any, Optional

from . import _steps

_MOST = 0.9  # of the rows: rounding is not the cause where more are off

# docs/networks.md has the same as a table, with the versions that were measured.


def cause(model: Any, sample: Any, share: float) -> Optional[str]:
    """Why the exported file of a model predicts something else in a share of rows; None if nothing is known of it."""
    steps = list(_steps.every(model))
    names = [type(s).__name__ for s in steps]
    for step, name in zip(steps, names):
        library = type(step).__module__.split(".")[0]
        said = _OF.get(library, _nothing)(step, name, names, sample)
        if said is not None:
            return str(said)
    inexact = rounded(sample)
    if inexact and share < _MOST:
        return f"float32, in which the file is fed, rounds the column{'s' * (len(inexact) > 1)} {', '.join(inexact[:5])}"
    return None


def rounded(sample: Any) -> list[str]:
    """Columns of numbers that float32 does not hold; where it takes different ones for one, those alone."""
    out, joined = [], []
    for name in sample.columns:
        column = sample[name]
        if getattr(column.dtype, "kind", "O") in "iuf":
            values = column.to_numpy(float, na_value=float("nan"))
            known = values[values == values]
            if (known.astype("float32") != known).any():
                out.append(str(name))
                if len(set(known.astype("float32").tolist())) < len(set(known.tolist())):
                    joined.append(str(name))
    return joined or out


def _nothing(step: Any, name: str, names: list[str], sample: Any) -> Optional[str]:
    return None


def _sklearn(step: Any, name: str, names: list[str], sample: Any) -> Optional[str]:
    if name.startswith("HistGradientBoosting") and getattr(step, "is_categorical_", None) is not None:
        return "skl2onnx splits the codes of categories as numbers"
    if name.startswith("HistGradientBoosting") and getattr(step, "loss", None) in ("poisson", "gamma"):
        return "skl2onnx leaves out the exponential"
    if name in ("SVC", "NuSVC") and len(step.classes_) == 2:
        return "skl2onnx writes the scores of two classes with the other sign"
    if name in ("RFE", "RFECV"):
        return "skl2onnx writes the columns that are chosen, not the prediction"
    if name == "LinearDiscriminantAnalysis" and len(step.classes_) == 2:
        return "skl2onnx doubles the log odds of a linear discriminant of two classes"
    if (name == "CalibratedClassifierCV" and step.method == "isotonic") or name == "IsotonicRegression":
        return "the steps of isotonic calibration are searched in float32"
    return None


def _xgboost(step: Any, name: str, names: list[str], sample: Any) -> Optional[str]:
    if any("OneHotEncoder" in n for n in names):
        return "zeros of sparse one-hot columns are missing values to XGBoost, and zeros in the file"
    if any("Scaler" in n or "Transform" in n for n in names):
        return "XGBoost's splits lie on values of the data, and the file scales them in float32"
    if any(getattr(d, "name", "") == "category" for d in sample.dtypes):
        return "onnxmltools knows no categories of XGBoost"
    return "onnxmltools knows one target, and not every objective"


def _lightgbm(step: Any, name: str, names: list[str], sample: Any) -> Optional[str]:
    params = {**getattr(step, "params", {}), **(step.get_params() if hasattr(step, "get_params") else {})}
    for key in ("zero_as_missing", "reg_sqrt", "linear_tree"):
        if params.get(key):
            return f"onnxmltools writes LightGBM's {key} not"
    if "rf" in (params.get("boosting_type"), params.get("boosting")):
        return "onnxmltools writes the sum of a forest of LightGBM, not its mean"
    if params.get("sigmoid", 1) != 1 or params.get("objective") in ("multiclassova", "ova"):
        return "onnxmltools writes another link"
    if any(getattr(d, "name", "") == "category" for d in sample.dtypes):
        return "the file of a LightGBM with categories is fed their codes"
    return None


def _catboost(step: Any, name: str, names: list[str], sample: Any) -> Optional[str]:
    return "CatBoost writes the trees without the objective's link, and no categories"


_OF = {"sklearn": _sklearn, "xgboost": _xgboost, "lightgbm": _lightgbm, "catboost": _catboost}
