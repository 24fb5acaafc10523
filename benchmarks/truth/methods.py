"""The peers of pho: curves of a function that is known by its values, each method in several settings.

A setting is a function (problem) -> {column: the curve at the problem's rows}. The judge keeps the best one, told by
the truth, which no user could: a comparison with a peer at its best.
"""

from __future__ import annotations

import dataclasses
import time
import warnings
from functools import partial
from typing import Callable

import numpy as np
import pandas as pd
from scipy.interpolate import make_smoothing_spline

from networks import Network, Rows


@dataclasses.dataclass
class Problem:
    """Rows of a network, and its function."""

    network: Network
    rows: Rows
    predict: Callable[[Rows], np.ndarray]

    def __post_init__(self):
        self.eta = self.predict(self.rows)
        self.shared_seconds = 0.0  # of work that the settings of a method share
        self.columns = self.network.columns
        self.levels = {c: np.unique(self.rows[c]) for c in self.network.factors}

    def matrix(self) -> np.ndarray:
        """The rows as numbers; text by the level's position."""
        return np.column_stack([np.searchsorted(self.levels[c], self.rows[c]) if c in self.levels else self.rows[c] for c in self.columns]).astype(
            float
        )

    def of_matrix(self, x: np.ndarray) -> np.ndarray:
        """Predictions for such a matrix."""
        return self.predict({c: self.levels[c][x[:, j].astype(int)] if c in self.levels else x[:, j] for j, c in enumerate(self.columns)})


Curves = dict[str, np.ndarray]


def partial_dependence(problem: Problem, points: int) -> Curves:
    """Mean prediction with a column set to a value, for all rows (Friedman 2001): at quantiles, linear between them."""
    rows, out = problem.rows, {}
    for c in problem.columns:
        at, own = np.unique(rows[c], return_inverse=True)
        if c not in problem.levels and points < len(at):
            at = np.unique(np.quantile(rows[c], np.linspace(0, 1, points)))
        mean = np.array([problem.predict({**rows, c: np.full(len(problem.eta), v)}).mean() for v in at])
        out[c] = mean[own] if c in problem.levels else np.interp(rows[c], at, mean)
    return out


def accumulated(problem: Problem, bins: int) -> Curves:
    """Accumulated local effects (Apley and Zhu 2020): by quantile bins, linear between their edges.

    Of text the levels are in their own order, and the difference of two neighbours is a mean over the rows of both.
    """
    rows, out = problem.rows, {}
    for c in problem.columns:
        x = rows[c]
        if c in problem.levels:
            levels = problem.levels[c]
            steps = [0.0]
            for low, high in zip(levels, levels[1:]):
                own = {k: v[(x == low) | (x == high)] for k, v in rows.items()}
                n = len(own[c])
                steps.append((problem.predict({**own, c: np.full(n, high)}) - problem.predict({**own, c: np.full(n, low)})).mean())
            out[c] = np.cumsum(steps)[np.searchsorted(levels, x)]
            continue
        edges = np.unique(np.quantile(x, np.linspace(0, 1, bins + 1)))
        bin_ = np.clip(np.searchsorted(edges, x, side="left"), 1, len(edges) - 1)
        difference = problem.predict({**rows, c: edges[bin_]}) - problem.predict({**rows, c: edges[bin_ - 1]})
        counts = np.bincount(bin_, minlength=len(edges))[1:]
        effect = np.bincount(bin_, difference, len(edges))[1:] / np.maximum(counts, 1)
        out[c] = np.interp(x, edges, np.concatenate([[0], np.cumsum(effect)]))
    return out


def shapley(problem: Problem, background: int) -> np.ndarray:
    """Exact Shapley values of all rows, by the package shap: one function of columns that others replace (interventional)."""
    import shap

    x = problem.matrix()
    some = x[np.random.default_rng(0).choice(len(x), background, replace=False)]
    explainer = shap.explainers.Exact(problem.of_matrix, shap.maskers.Independent(some, max_samples=background))
    return explainer(x, silent=True).values


def interpolate(x: np.ndarray, at: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Linear between the points, and beyond the outer ones as between the last two."""
    low, high = (value[1] - value[0]) / (at[1] - at[0]), (value[-1] - value[-2]) / (at[-1] - at[-2])
    inside = np.interp(x, at, value)
    return inside + low * np.minimum(x - at[0], 0) + high * np.maximum(x - at[-1], 0)


def by_value(problem: Problem, values: np.ndarray, bins: int, spline: bool) -> Curves:
    """Shapley values as a curve: their mean by value, in quantile bins and linear between; or those means by a smoothing spline (GCV)."""
    out = {}
    for j, c in enumerate(problem.columns):
        x, v = problem.rows[c], values[:, j]
        if c in problem.levels:
            out[c] = pd.Series(v).groupby(pd.Series(x)).transform("mean").to_numpy()
        else:
            edges = np.unique(np.quantile(x, np.linspace(0, 1, bins + 1)))
            bin_ = np.clip(np.searchsorted(edges, x, side="left"), 1, len(edges) - 1) - 1
            counts = np.maximum(np.bincount(bin_, minlength=bins), 1)
            at, mean = np.bincount(bin_, x, bins) / counts, np.bincount(bin_, v, bins) / counts
            if spline:  # of a bin's rank: skewed columns have values too close to each other for it
                rank = np.arange(bins, dtype=float)
                mean = make_smoothing_spline(rank, mean, w=counts)(rank)
            out[c] = interpolate(x, at, mean)
    return out


def boosting(problem: Problem, **settings) -> Curves:
    """An explainable boosting machine fitted to the predictions (interpret)."""
    from interpret.glassbox import ExplainableBoostingRegressor

    frame = pd.DataFrame({c: problem.rows[c] for c in problem.columns})
    kinds = ["nominal" if c in problem.levels else "continuous" for c in problem.columns]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = ExplainableBoostingRegressor(feature_types=kinds, n_jobs=1, random_state=0, **settings).fit(frame, problem.eta)
        terms = fitted.eval_terms(frame)
    return {problem.columns[f[0]]: terms[:, j] for j, f in enumerate(fitted.term_features_) if len(f) == 1}


def effector_curves(problem: Problem, method: str, **binning) -> Curves:
    """A method of effector: its curve at every row's value."""
    import effector
    from effector import axis_partitioning

    x = problem.matrix()
    kinds = ["nominal" if c in problem.levels else "continuous" for c in problem.columns]
    schema = effector.Schema(feature_names=list(problem.columns), feature_types=kinds)
    explainer = getattr(effector, method)(x, problem.of_matrix, schema=schema, nof_instances="all")
    if binning:
        ((name, argument),) = binning.items()
        for j, c in enumerate(problem.columns):
            if c not in problem.levels:
                explainer.fit(j, binning_method=getattr(axis_partitioning, name)(argument))
    return {c: np.asarray(explainer.eval(j, x[:, j])) for j, c in enumerate(problem.columns)}


def shap_settings(problem: Problem) -> dict[str, Callable[[], Curves]]:
    """One background, and ways to a curve."""
    values: list[np.ndarray] = []
    # Of an additive network any background gives the same curves.
    background = 100 if problem.network.additive else 200

    def curves(bins: int, spline: bool) -> Curves:
        if not values:
            start = time.process_time()
            values.append(shapley(problem, background))
            problem.shared_seconds = time.process_time() - start
        return by_value(problem, values[0], bins, spline)

    ways = ((20, False), (50, False), (100, False), (200, False), (1000, False), (200, True))
    return {f"background {background}, {k} bins{', spline' if s else ''}": partial(curves, k, s) for k, s in ways}


def settings(method: str, problem: Problem) -> dict[str, Callable[[], Curves]]:
    """All settings of a method that the judge tries."""
    if method == "PDP":
        return {f"{k} values" if k < 10**6 else "every value": partial(partial_dependence, problem, k) for k in (50, 10**6)}
    if method == "ALE":
        return {f"{k} bins": partial(accumulated, problem, k) for k in (10, 20, 50, 100, 200, 500, 2000)}
    if method == "SHAP":
        return shap_settings(problem)
    if method == "EBM":
        # Pairs come after the main effects there, and change none: left out, which is half the time.
        grid = {"defaults": {}, "unsmoothed, faster rate": dict(smoothing_rounds=0, learning_rate=0.1, outer_bags=4)}
        return {name: partial(boosting, problem, interactions=0, **of) for name, of in grid.items()}
    if method == "effector":
        grid = {
            "ALE, 20": ("ALE", {}),
            "ALE, 50": ("ALE", dict(Fixed=50)),
            "ALE, 200": ("ALE", dict(Fixed=200)),
            "ALE, 1000": ("ALE", dict(Fixed=1000)),
            "RHALE": ("RHALE", {}),
            "RHALE, 50": ("RHALE", dict(DynamicProgramming=50)),
            "RHALE, 50 quantiles": ("RHALE", dict(Quantile=50)),
            "RHALE, 200 quantiles": ("RHALE", dict(Quantile=200)),
        }
        return {name: partial(effector_curves, problem, of, **binning) for name, (of, binning) in grid.items()}
    raise ValueError(method)


PEERS = ("PDP", "ALE", "SHAP", "EBM", "effector", "mgcv")
