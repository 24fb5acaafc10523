"""What networks trained by the program have in common as estimators of scikit-learn."""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

import numpy
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, assert_all_finite, check_is_fitted, validate_data

from . import _columns, _rows, _training
from ._decompose import decompose
from ._decomposition import Decomposition
from .errors import UsageError

# Families whose first predictor is that of the mean.
_MEANS = ("gaussian", "student-t", "poisson", "negative-binomial", "gamma", "tweedie", "inverse-gaussian", "beta")


class Trained(BaseEstimator):  # type: ignore[misc]
    """A network of one kind of ``pho train``."""

    _kind: str
    training_: dict[str, Any]

    def _settings(self, rows: Any, names: Sequence[str]) -> dict[str, Any]:
        """The options of ``pho train`` that belong to the kind."""
        raise NotImplementedError

    def _train(self, rows: Any, y: Any, response: str, family: str, weights: Any) -> None:
        names = _rows.columns(rows) or []
        options = {"kind": self._kind, "family": family, "response": response, **self._settings(rows, names)}
        rows = _rows.joined(rows, response, y)
        if weights is not None:
            options["weights"] = _training.unused([*names, response], "weights")
            rows = _rows.joined(rows, options["weights"], weights)
        options["seed"] = int(check_random_state(self.random_state).randint(2**31 - 1))
        options["workers"] = self.n_jobs
        self._network, self.training_ = _training.train(rows, options)
        self.n_iter_ = max(len(self.training_.get("epochs") or []), 1)
        self._decomposition = decompose(self._network, rows, response=response, weights=options.get("weights"), progress=False)

    def _frame(self, X: Any) -> bool:
        """Whether X is a table that no array of numbers could hold."""
        names = _rows.columns(X) if hasattr(X, "columns") else None
        return names is not None and any(_columns.is_category(_rows.column(X, c)) for c in X.columns)

    def _read(self, X: Any) -> Any:
        """New rows as a table, their columns named as the network knows them."""
        check_is_fitted(self)
        if self._frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return _rows.readable(X)
        return self._named(validate_data(self, X, reset=False, dtype=numpy.float64))

    def _read_both(self, X: Any, y: Any, numeric: bool) -> tuple[Any, Any]:
        """Rows to train on, and their responses."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        if not self._frame(X):
            X, y = validate_data(self, X, y, dtype=numpy.float64, y_numeric=numeric, ensure_min_samples=2)
            return self._named(X), y
        validate_data(self, X, skip_check_array=True)
        rows, y = _rows.readable(X), column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_consistent_length(y, X)
        return rows, numpy.asarray(y, dtype=numpy.float64) if numeric else y

    def _named(self, matrix: Any) -> dict[str, Any]:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(matrix.shape[1])]
        return {str(name): matrix[:, j] for j, name in enumerate(names)}

    def _etas(self, X: Any) -> Any:
        """The predictors of the rows, n x K, on their own scale."""
        parts, predictors = self._applied(X), self._decomposition.predictors
        names = ["eta"] if len(predictors) == 1 else [f"{p}.eta" for p in predictors]
        return numpy.column_stack([numpy.asarray(parts[n], dtype=float) for n in names])

    def _applied(self, X: Any) -> Any:
        rows = self._read(X)
        return self._decomposition.apply(rows)

    @property
    def decomposition_(self) -> Decomposition:
        """The network decomposed over the rows that it was trained on."""
        check_is_fitted(self)
        return self._decomposition

    def decompose(self, X: Any, formula: Any = None, response: Any = None, **options: Any) -> Decomposition:
        """The network decomposed over other rows, or into other terms: see :func:`pho.decompose`."""
        return decompose(self.export_onnx_(), self._read(X), formula, response, **options)

    def export_onnx_(self) -> bytes:
        """The network's ONNX file."""
        check_is_fitted(self)
        return self._network

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_decomposition")


class Regressor(RegressorMixin, Trained):  # type: ignore[misc]
    """Predicts the mean of a family's response."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train the network.

        Parameters
        ----------
        X : array or DataFrame, rows x columns
            Columns of text, and pandas' categoricals, are categories.
        y : array of n numbers
        sample_weight : array of n numbers, optional
            Weights of the rows, not negative.

        Returns
        -------
        self
        """
        if str(self.family).split("(")[0] not in _MEANS:
            raise UsageError(f"family={self.family!r}: predict returns the mean, which is known of {', '.join(_MEANS)}")
        response = getattr(y, "name", None)
        rows, y = self._read_both(X, y, numeric=True)
        response = _training.unused(_rows.columns(rows) or [], response or "y")
        self._train(rows, y, response, self.family, _weights(sample_weight, y))
        return self

    def predict(self, X: Any) -> Any:
        """The mean of the response in each row."""
        eta = self._etas(X)[:, 0]
        link = self._decomposition.links[self._decomposition.predictors[0]]
        return _INVERSES[link["name"] if link else "identity"](eta)


class Classifier(ClassifierMixin, Trained):  # type: ignore[misc]
    """Predicts classes: two by their log odds, more by the softmax of a predictor each."""

    classes_: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train the network.

        Parameters
        ----------
        X : array or DataFrame, rows x columns
            Columns of text, and pandas' categoricals, are categories.
        y : array of n classes
        sample_weight : array of n numbers, optional
            Weights of the rows, not negative.

        Returns
        -------
        self
        """
        response = getattr(y, "name", None)
        rows, y = self._read_both(X, y, numeric=False)
        check_classification_targets(y)
        self.classes_, codes = numpy.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs at least two classes; the data have one class, {self.classes_[0]!r}")
        response = _training.unused(_rows.columns(rows) or [], response or "y")
        weights = _weights(sample_weight, y)
        if weights is not None and len(numpy.unique(codes[weights > 0])) < 2:
            raise ValueError(f"{type(self).__name__} needs at least two classes among the rows of positive weight; they have one class")
        two = len(self.classes_) == 2
        self._labels = _distinct([str(c) for c in self.classes_])
        given = codes.astype(float) if two else [self._labels[c] for c in codes]
        self._train(rows, given, response, "binomial" if two else "categorical", weights)
        return self

    def decision_function(self, X: Any) -> Any:
        """The predictors: of two classes the log odds of the second, n; of more one for each, n x K."""
        eta = self._etas(X)
        if len(self.classes_) == 2:
            return eta[:, 0]
        order = [self._decomposition.predictors.index(label) for label in self._labels]
        return eta[:, order]

    def predict_proba(self, X: Any) -> Any:
        """The probabilities of the classes, n x K."""
        eta = self.decision_function(X)
        if eta.ndim == 1:
            return numpy.column_stack([_logistic(-eta), _logistic(eta)])
        e = numpy.exp(eta - eta.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Any:
        """The most probable class of each row."""
        eta = self.decision_function(X)
        return self.classes_[(eta > 0).astype(int) if eta.ndim == 1 else eta.argmax(axis=1)]


def _weights(sample_weight: Any, y: Any) -> Optional[Any]:
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, numpy.zeros((len(y), 1)), dtype=numpy.float64, ensure_non_negative=True)


def _distinct(labels: list[str]) -> list[str]:
    """The labels, or numbers, if two are spelt alike."""
    return labels if len(set(labels)) == len(labels) else [str(i) for i in range(len(labels))]


def _logistic(eta: Any) -> Any:
    return numpy.exp(-numpy.logaddexp(0, -eta))


# The inverse functions of the means' links.
_INVERSES: dict[str, Callable[[Any], Any]] = {"identity": lambda eta: eta, "log": numpy.exp, "logit": _logistic}
