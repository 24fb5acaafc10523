"""Models as functions of rows: anything that predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Iterator, Optional, Sequence

from . import _fitted, _links
from ._need import need
from .errors import Error, UsageError

BATCH = 10_000  # rows of one call
_FEW = 32  # rows that are asked twice
_WANTED = "one prediction a row is wanted, or a column for each class"


@dataclass
class Function:
    """A model as a function: rows in, predictions on the scale of the response out.

    Attributes
    ----------
    what : str
        What is called, for messages, as ``"predict_proba of the KNeighborsClassifier"``.
    model
        The model.
    columns : list of str, optional
        The columns that it is given, in order; None: all.
    shape : str
        What it is given: a ``"frame"``, a ``"matrix"``, or a ``"series"``, its only column.
    link : str
        Of its predictions: ``"identity"``, ``"log"``, ``"logit"`` or ``"softmax"``.
    classes : list, optional
        Of a classifier, as it calls them.
    sure : bool
        The link was asked for: predictions that it does not take are an error.
    dtypes : dict
        Categories of columns, for rows that do not have them.
    """

    what: str
    model: Any
    columns: Optional[list[str]] = None
    shape: str = "frame"
    link: str = "identity"
    classes: Optional[list[Any]] = None
    sure: bool = False
    dtypes: Optional[dict[str, Any]] = None

    def __call__(self, frame: Any) -> Any:
        """The predictions of a DataFrame's rows, n x K, finite.

        Raises
        ------
        UsageError
            The rows have not the columns, or the model is not fitted.
        Error
            The model raises, or returns what is no prediction.
        """
        numpy = need("numpy", "to call a model")
        given = self._given(frame)
        try:
            out = _call(self.model)[0](given)
        except Exception as fault:
            raise self._raised(fault, given) from fault
        try:
            out = _array(numpy, out, self.classes)
        except (TypeError, ValueError) as fault:
            raise Error(f"{self.what} returns a {type(out).__name__} that holds no numbers: {_line(fault)}") from fault
        if out.ndim != 2 or out.shape[0] != len(frame) or out.shape[1] == 0:
            raise Error(f"{self.what} returns an array of shape {out.shape} for {len(frame)} rows: {_WANTED}")
        bad = ~numpy.isfinite(out).all(axis=1)
        if bad.any():
            at = int(bad.argmax())
            value = float(out[at][~numpy.isfinite(out[at])][0])
            raise Error(f"{self.what} returns {value} in {int(bad.sum())} of {len(frame)} rows, first in row {_row(frame, at)}: leave such rows out")
        return out

    def _given(self, frame: Any) -> Any:
        if self.columns is None:
            return frame
        self.fits(frame.columns)
        given = frame[self.columns]
        for name, dtype in (self.dtypes or {}).items():
            if name in given and given[name].dtype != dtype:
                given = given.assign(**{name: given[name].astype(dtype)})
        return given.to_numpy() if self.shape == "matrix" else given.iloc[:, 0] if self.shape == "series" else given

    def fits(self, columns: Sequence[str]) -> None:
        """Refuse rows that have not the columns.

        Raises
        ------
        UsageError
            It names those that are missing.
        """
        missing = [c for c in self.columns or () if c not in columns]
        if missing:
            listed = ", ".join(repr(c) for c in missing[:8])
            raise UsageError(f"{self.what} needs the column{'s' * (len(missing) > 1)} {listed}, which the rows do not have")

    def _raised(self, fault: Exception, given: Any) -> Error:
        if type(fault).__name__ == "NotFittedError" or "not fitted" in str(fault).lower() or "no trained model" in str(fault).lower():
            return UsageError(f"{self.what.split(' of ', 1)[-1]} is not fitted: call its fit first")
        holes = given.columns[given.isna().any()].tolist() if hasattr(given, "isna") else []
        why = f"; missing values are in {', '.join(map(str, holes[:5]))}: na='drop' leaves such rows out" if holes else ""
        return Error(f"{self.what} raised {type(fault).__name__}: {_line(fault)}{why}")

    def same(self, frame: Any, first: Any) -> None:
        """Refuse a model whose answers change, given those of the first rows.

        Raises
        ------
        Error
            Two calls on the same rows differ.
        """
        numpy = need("numpy", "to call a model")
        few = frame.iloc[:_FEW]
        again = self(few)
        if _close(numpy, again, first[:_FEW]):
            return
        at = int(numpy.abs(again - first[:_FEW]).max(axis=1).argmax())
        told = f"{float(again[at][-1])!r} and {float(first[at][-1])!r} for row {_row(frame, at)}"
        if _close(numpy, self(few), again):
            told += f", among {len(few)} and among {len(frame)}"
            raise Error(f"{self.what} answers by the rows beside a row: {told}. A decomposition is of a function of single rows")
        raise Error(f"{self.what} changes its answer: {told}, asked twice. Fix its seed, or give the predictions of one call")


@dataclass
class Named:
    """Predictions of one model that the rows hold themselves, by the names of their columns."""

    columns: list[str]


def function(model: Any, fed: Optional[Sequence[str]], available: Optional[Sequence[str]], link: Optional[str]) -> Function:
    """The model as a function.

    Parameters
    ----------
    model
        A callable of a DataFrame; an object with ``predict_proba``, ``decision_function`` or ``predict``.
    fed : list of str, optional
        Columns to give it, in order, if it does not name them.
    available : list of str, optional
        The columns that rows have.
    link : str, optional
        Of its predictions; None: what is known of the model, else the identity.
    """
    owner = getattr(model, "__self__", None)
    _, what, classes = _call(model)
    names = _fitted.names(owner if owner is not None and not hasattr(model, "predict") else model, available)
    made = Function(what, model, names, classes=classes)
    if names is None and fed is not None:
        made.columns = list(fed)
        if hasattr(model, "n_features_in_") or _fitted.library(model) in ("sklearn", "lightgbm", "xgboost", "catboost"):
            made.shape = "series" if _fitted.reads_texts(model) and len(made.columns) == 1 else "matrix"
        expected = getattr(model, "n_features_in_", None)
        if made.shape == "matrix" and isinstance(expected, int) and expected != len(made.columns):
            raise UsageError(
                f"{what.split(' of ', 1)[-1]} was fitted on {expected} columns without names, and is given {len(made.columns)}: "
                "name them, in order, as inputs=[...]"
            )
    made.link, made.sure = (link or _links.of(model, classes)), link is not None
    return made


def callable_of_frames(model: Any) -> bool:
    """Whether a model is a plain callable, which is given a DataFrame."""
    return callable(model) and not any(hasattr(model, m) for m in ("predict", "predict_proba", "decision_function"))


def is_array(model: Any) -> bool:
    """Whether a model is its predictions: an array, a Series, a DataFrame of classes, a list of numbers, columns."""
    if isinstance(model, Named):
        return True
    if isinstance(model, (list, tuple)):
        return bool(model) and isinstance(model[0], (int, float)) and not isinstance(model[0], bool)
    if hasattr(model, "predict") or isinstance(model, (str, bytes)):
        return False
    return hasattr(model, "__array__") and hasattr(model, "shape") and not callable(model)


def predicts(model: Any) -> bool:
    """Whether a model can be called."""
    return callable(model) or any(hasattr(model, m) for m in ("predict_proba", "decision_function", "predict"))


def array(values: Any, rows: int) -> Any:
    """Predictions that were given, n x K.

    Raises
    ------
    UsageError
        Their number is not that of the rows, or they are not finite numbers.
    """
    numpy = need("numpy", "to read predictions")
    try:
        out = _array(numpy, values, None)
    except (TypeError, ValueError) as fault:
        raise UsageError(f"the predictions are no numbers: {_line(fault)}") from fault
    if out.ndim != 2 or out.shape[0] != rows:
        raise UsageError(f"the predictions have the shape {numpy.shape(values)}, the rows are {rows}: {_WANTED}")
    bad = ~numpy.isfinite(out).all(axis=1)
    if bad.any():
        told = f"{int(bad.sum())} of {rows} predictions are missing or infinite, first in row {int(bad.argmax())}"
        raise UsageError(f"{told}: leave such rows out, of the predictions too")
    return out


def batches(frame: Any) -> Iterator[Any]:
    """A DataFrame in parts of BATCH rows."""
    for at in range(0, len(frame), BATCH):
        yield frame.iloc[at : at + BATCH]


def _call(model: Any) -> tuple[Callable[[Any], Any], str, Optional[list[Any]]]:
    """How a model is asked, what that is called, and its classes."""
    name, library = type(model).__name__, _fitted.library(model)
    if isinstance(model, type):
        raise UsageError(f"the model is the class {model.__name__}: give an instance that is fitted")
    if callable_of_frames(model):
        return model, f"the function {getattr(model, '__qualname__', name)}", None
    if library == "xgboost" and name == "Booster":
        return lambda x: model.predict(_dmatrix(model, x)), "predict of the Booster", None
    if library == "catboost" and not hasattr(model, "predict_proba"):
        known = _classes(model)
        if known:
            return lambda x: model.predict(x, prediction_type="Probability"), f"predict of the {name}", known
    classes = _classes(model)
    if hasattr(model, "predict_proba"):
        return model.predict_proba, f"predict_proba of the {name}", classes
    if hasattr(model, "decision_function") and (classes is not None or hasattr(model, "score_samples") or not hasattr(model, "predict")):
        return model.decision_function, f"decision_function of the {name}", None
    if hasattr(model, "predict"):
        return model.predict, f"predict of the {name}", classes
    raise unknown(model)


def unknown(model: Any) -> UsageError:
    """The exception for what is no model."""
    return UsageError(
        f"the model is a {type(model).__module__}.{type(model).__qualname__}: give the path or bytes of an ONNX file, a torch module, "
        "an estimator with predict or predict_proba, a function of a DataFrame, or an array of predictions"
    )


def _classes(model: Any) -> Optional[list[Any]]:
    classes = getattr(model, "classes_", None)
    if classes is None or (isinstance(classes, (list, tuple)) and classes and hasattr(classes[0], "__len__") and not isinstance(classes[0], str)):
        return None
    listed = list(classes)
    return listed if listed and getattr(classes, "ndim", 1) == 1 else None


def _dmatrix(model: Any, x: Any) -> Any:
    import xgboost

    return xgboost.DMatrix(x, feature_names=model.feature_names, enable_categorical=True)


def _array(numpy: Any, out: Any, classes: Optional[list[Any]]) -> Any:
    """Predictions as a matrix of float64: of two classes the second's, of labels a column each, of
    several targets those of each.
    """
    if isinstance(out, (list, tuple)) and out and getattr(out[0], "ndim", 0) == 2:  # labels, each of two classes or more
        return numpy.column_stack([numpy.asarray(p, float)[:, 1:] for p in out])
    if hasattr(out, "toarray"):
        out = out.toarray()
    out = numpy.asarray(out)
    if out.dtype.kind == "c":
        raise TypeError("they are complex")
    if classes is not None and out.ndim == 1:  # the labels themselves
        out = numpy.column_stack([out == c for c in classes])
    if out.dtype.kind not in "biuf":
        out = out.astype(object)
        first = next((v for v in out.ravel().tolist() if isinstance(v, (str, bytes))), None)
        if first is not None:
            raise TypeError(f"they hold the text {first!r}")
    out = out.astype(float)
    if out.ndim == 1:
        out = out[:, None]
    if classes is not None and out.ndim == 2 and out.shape[1] == 2 == len(classes):
        out = out[:, 1:]
    return out


def _close(numpy: Any, a: Any, b: Any) -> bool:
    return a.shape == b.shape and bool(numpy.allclose(a, b, rtol=1e-5, atol=1e-6 * float(numpy.abs(b).max(initial=0))))


def _row(frame: Any, at: int) -> Any:
    label = frame.index[at]
    return label if isinstance(label, str) else getattr(label, "item", lambda: label)()


def _line(fault: Exception) -> str:
    """An exception's words, without stacks and pages."""
    text = next((line.strip() for line in str(fault).splitlines() if line.strip()), type(fault).__name__)
    return text.rstrip(".") if len(text) <= 300 else text[:300] + "..."
