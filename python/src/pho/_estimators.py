"""Networks that the program trains, by scikit-learn's conventions.

Attributes of all, once fitted: ``decomposition_``, the network decomposed over its training rows;
``training_``, how training went; ``n_features_in_``, ``feature_names_in_``, ``n_iter_`` and, of
classifiers, ``classes_``.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

from . import _training
from ._trained import Classifier, Regressor

__all__ = ["GAMClassifier", "GAMRegressor", "NAMClassifier", "NAMRegressor", "SSNClassifier", "SSNRegressor"]

Formula = Union[str, Sequence[str], dict[str, str], None]


class _SSN:
    _kind = "ssn"
    formula: Formula
    deep: Optional[Sequence[str]]

    def _settings(self: Any, rows: Any, names: Sequence[str]) -> dict[str, Any]:
        return {
            "formula": _training.formulas(self.formula, rows, names),
            "deep": _training.listed(names if self.deep is None else self.deep),
            "hidden": ",".join(str(w) for w in self.hidden),
            "dropout": self.dropout,
            **_training.loop(self, rows),
        }


class _NAM:
    _kind = "nam"
    features: Optional[Sequence[str]]

    def _settings(self: Any, rows: Any, names: Sequence[str]) -> dict[str, Any]:
        return {"features": _training.listed(names if self.features is None else self.features), **_training.loop(self, rows)}


class _GAM:
    _kind = "gam"
    formula: Formula

    def _settings(self: Any, rows: Any, names: Sequence[str]) -> dict[str, Any]:
        # Solved, of a Gaussian response; of others a network without deep columns, in steps of all rows.
        options: dict[str, Any] = {"formula": _training.formulas(self.formula, rows, names)}
        if getattr(self, "family", "") != "gaussian":
            options.update(kind="ssn", epochs=300, learning_rate=0.01, validation=0.0, batch_size=_training.all_rows(rows))
        return options


class SSNRegressor(_SSN, Regressor):
    """Semi-structured network: terms of a formula and, beside them, a deep network.

    Parameters
    ----------
    formula : str, list or dict of str, optional
        The terms, as ``"~ s(age) + region"``; a dict has them by predictor of the family. None: a
        smooth of each column of numbers, a factor of each of texts.
    deep : list of str, optional
        The columns of the deep network; None: all.
    family : str
        Distribution of the response, as ``"gaussian"`` or ``"poisson"``; see ``pho train``.
    hidden : sequence of int
        Widths of the deep network's hidden layers.
    dropout : float
        Share of hidden units that each step leaves out.
    epochs, batch_size, learning_rate, validation, patience
        Training: most passes over the rows, rows of a step, Adam's rate, share of the rows that
        decide when to stop, and epochs without improvement after which it does.
    random_state : int, RandomState or None
        Of the start, the order of rows and the rows held out.
    n_jobs : int, optional
        Threads; None: one for each processor. Results do not depend on it.

    Examples
    --------
    >>> model = pho.SSNRegressor("~ s(age) + region").fit(X, y)  # doctest: +SKIP
    >>> model.decomposition_.plot("s(age)")  # doctest: +SKIP
    """

    def __init__(
        self,
        formula: Formula = None,
        deep: Optional[Sequence[str]] = None,
        *,
        family: str = "gaussian",
        hidden: Sequence[int] = (64, 32),
        dropout: float = 0.0,
        epochs: int = 500,
        batch_size: int = 256,
        learning_rate: float = 0.003,
        validation: float = 0.2,
        patience: int = 25,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.formula = formula
        self.deep = deep
        self.family = family
        self.hidden = hidden
        self.dropout = dropout
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.validation = validation
        self.patience = patience
        self.random_state = random_state
        self.n_jobs = n_jobs


class SSNClassifier(_SSN, Classifier):
    """Semi-structured network of classes; see :class:`SSNRegressor` for its parameters.

    ``decision_function`` is the log odds of the second of two classes, or of more a predictor for
    each, centred over the classes of every row.
    """

    def __init__(
        self,
        formula: Formula = None,
        deep: Optional[Sequence[str]] = None,
        *,
        hidden: Sequence[int] = (64, 32),
        dropout: float = 0.0,
        epochs: int = 500,
        batch_size: int = 256,
        learning_rate: float = 0.003,
        validation: float = 0.2,
        patience: int = 25,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.formula = formula
        self.deep = deep
        self.hidden = hidden
        self.dropout = dropout
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.validation = validation
        self.patience = patience
        self.random_state = random_state
        self.n_jobs = n_jobs


class NAMRegressor(_NAM, Regressor):
    """Neural additive model: a network of its own for each column.

    Parameters
    ----------
    features : list of str, optional
        The columns; None: all. A column of texts has an effect for each.
    family, epochs, batch_size, learning_rate, validation, patience, random_state, n_jobs
        As of :class:`SSNRegressor`.
    """

    def __init__(
        self,
        features: Optional[Sequence[str]] = None,
        *,
        family: str = "gaussian",
        epochs: int = 500,
        batch_size: int = 256,
        learning_rate: float = 0.003,
        validation: float = 0.2,
        patience: int = 25,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.features = features
        self.family = family
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.validation = validation
        self.patience = patience
        self.random_state = random_state
        self.n_jobs = n_jobs


class NAMClassifier(_NAM, Classifier):
    """Neural additive model of classes; see :class:`NAMRegressor` for its parameters."""

    def __init__(
        self,
        features: Optional[Sequence[str]] = None,
        *,
        epochs: int = 500,
        batch_size: int = 256,
        learning_rate: float = 0.003,
        validation: float = 0.2,
        patience: int = 25,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.features = features
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.validation = validation
        self.patience = patience
        self.random_state = random_state
        self.n_jobs = n_jobs


class GAMRegressor(_GAM, Regressor):
    """Generalized additive model: the terms of a formula, smoothing by REML.

    Parameters
    ----------
    formula, family, random_state, n_jobs
        As of :class:`SSNRegressor`.
    """

    def __init__(self, formula: Formula = None, *, family: str = "gaussian", random_state: Any = None, n_jobs: Optional[int] = None) -> None:
        self.formula = formula
        self.family = family
        self.random_state = random_state
        self.n_jobs = n_jobs


class GAMClassifier(_GAM, Classifier):
    """Generalized additive model of classes; see :class:`GAMRegressor` for its parameters."""

    def __init__(self, formula: Formula = None, *, random_state: Any = None, n_jobs: Optional[int] = None) -> None:
        self.formula = formula
        self.random_state = random_state
        self.n_jobs = n_jobs
