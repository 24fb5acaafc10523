"""Open trained networks: an additive part that is identified, and a remainder orthogonal to it.

Post-hoc orthogonalization moves what terms can explain out of a trained network's deep part
into those terms, without touching its predictions::

    import pho

    d = pho.decompose("net.onnx", frame, "~ s(age) + region", response="y")
    print(d.summary())
    d.contributions            # a DataFrame: intercept, terms, unstructured, eta
    d.plot("s(age)")
    d.apply(new_rows)
    d.save("result")

``pho.SSNRegressor``, ``pho.NAMRegressor``, ``pho.GAMRegressor`` and their classifiers train networks
by scikit-learn's conventions.

The work is done by the program ``pho``, which comes with this package.
"""

import importlib
from typing import TYPE_CHECKING, Any

from ._compare import Comparison, compare
from ._decompose import decompose
from ._decomposition import Decomposition, load
from ._explanation import Explanation
from ._inspect import Inspection, inspect
from ._monitor import Monitor, monitor
from ._session import Session
from ._version import __version__
from .errors import Error, UsageError

if TYPE_CHECKING:
    from ._estimators import GAMClassifier, GAMRegressor, NAMClassifier, NAMRegressor, SSNClassifier, SSNRegressor

# Estimators of scikit-learn, which is imported when one is asked for.
_ESTIMATORS = ("GAMClassifier", "GAMRegressor", "NAMClassifier", "NAMRegressor", "SSNClassifier", "SSNRegressor")

__all__ = [
    "Comparison",
    "Decomposition",
    "Error",
    "Explanation",
    "GAMClassifier",
    "GAMRegressor",
    "Inspection",
    "Monitor",
    "NAMClassifier",
    "NAMRegressor",
    "SSNClassifier",
    "SSNRegressor",
    "Session",
    "UsageError",
    "__version__",
    "compare",
    "decompose",
    "inspect",
    "load",
    "monitor",
]


def __getattr__(name: str) -> Any:
    if name == "spark":
        return importlib.import_module("pho.spark")
    if name not in _ESTIMATORS:
        raise AttributeError(f"module 'pho' has no attribute {name!r}")
    from ._need import need

    need("sklearn", f"for pho.{name}", "scikit-learn>=1.6")
    from . import _estimators

    return getattr(_estimators, name)


def __dir__() -> list[str]:
    return sorted(__all__)
