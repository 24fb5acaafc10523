"""The columns that a model was fitted on."""

from __future__ import annotations

import re
from typing import Any, Iterator, Optional, Sequence


def names(model: Any, available: Optional[Sequence[str]]) -> Optional[list[str]]:
    """The columns that a model was fitted on, as the rows call them; None if it does not say."""
    found = None
    for of in _parts(model):
        found = getattr(of, "feature_names_in_", None)
        if found is None and callable(getattr(of, "feature_name", None)):
            found = of.feature_name()
        if found is None and library(of) in ("catboost", "xgboost"):
            found = getattr(of, "feature_names_" if library(of) == "catboost" else "feature_names", None)
        if found is None and library(of) == "statsmodels":
            found = _regressors(of, available)
        if found is not None:
            break
    if found is None or not len(found):
        return None
    listed = [str(n) for n in found]
    if _numbered(listed) and not set(listed) <= set(available or ()):
        return None
    spelt = {re.sub(r"\s", "_", c): c for c in available or ()}  # as LightGBM does
    return [n if n in (available or (n,)) else spelt.get(n, n) for n in listed]


def _parts(model: Any) -> Iterator[Any]:
    """The model, and of a pipeline its first step."""
    while model is not None:
        yield model
        own = getattr(model, "best_estimator_", None)
        steps = getattr(model, "steps", None)
        model = own if own is not None else steps[0][1] if steps else None


def _regressors(result: Any, available: Optional[Sequence[str]]) -> Optional[list[str]]:
    """The columns of a result of statsmodels: None of a formula's, which takes the frame as it is."""
    own = getattr(result, "model", None)
    if own is None or hasattr(getattr(own, "data", None), "design_info") or getattr(getattr(own, "data", None), "model_spec", None) is not None:
        return None
    names = list(getattr(own, "exog_names", None) or [])
    return names if set(names) <= set(available or ()) else None


def _numbered(names: Sequence[str]) -> bool:
    """Names that a library made up: 0, 1, ..., f0, f1, ..., or Column_0, Column_1, ..."""
    return any(list(names) == [f"{stem}{j}" for j in range(len(names))] for stem in ("", "f", "Column_"))


def reads_texts(model: Any) -> bool:
    """Whether a pipeline begins with a vectorizer, which is given a column, not a table."""
    return any(hasattr(of, "vocabulary_") or type(of).__name__.endswith("Vectorizer") for of in _parts(model))


def library(model: Any) -> str:
    """The package that a model's class comes from."""
    return type(model).__module__.split(".")[0]
