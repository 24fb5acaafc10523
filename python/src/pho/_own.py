"""Boosters by the files that their libraries write, and the trees of scikit-learn's, which writes none."""

from __future__ import annotations

import json
from typing import Any, Callable, Mapping, Optional, Sequence

from . import _command, _fitted
from ._need import need
from .errors import Error

Writer = Callable[[str], Optional[Sequence[str]]]  # writes the file; its names of the columns, None: it has none


def writer(model: Any, names: Sequence[str], rows: Any = None) -> Optional[tuple[str, Writer]]:
    """The name of a file and what writes the model to it; None if the model is of no such library.

    Parameters
    ----------
    model
        A fitted estimator, or a booster.
    names : list of str
        The columns that it is fed, in order.
    rows : DataFrame, optional
        Rows of these columns; a file of CatBoost then has the names of their categories, without which it cannot be written
        as ONNX.
    """
    library, kind = _fitted.library(model), type(model).__name__
    if library == "xgboost" and (hasattr(model, "get_booster") or kind == "Booster"):
        return "model.ubj", lambda path: _xgboost(model, path)
    if library == "lightgbm" and (hasattr(model, "booster_") or kind == "Booster"):
        return "model.txt", lambda path: _lightgbm(model, path)
    if library == "catboost" and hasattr(model, "save_model") and rows is not None and model.get_cat_feature_indices():
        return "model.json", lambda path: _catboost(model, path, rows)
    if library == "catboost" and hasattr(model, "save_model"):
        return "model.cbm", lambda path: _catboost(model, path)
    if library == "interpret" and hasattr(model, "to_json"):
        return "model.json", lambda path: _interpret(model, path)
    if library == "sklearn" and kind in ("HistGradientBoostingRegressor", "HistGradientBoostingClassifier"):
        return "model.json", lambda path: _histogram(model, list(names), path)
    return None


def _xgboost(model: Any, path: str) -> Optional[Sequence[str]]:
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    best = booster.attr("best_iteration") if booster is not model else None
    if best is not None and int(best) + 1 < booster.num_boosted_rounds():  # those that the estimator's predict uses
        booster = booster[: int(best) + 1]
    booster.save_model(path)
    named: Optional[Sequence[str]] = booster.feature_names
    return named


def _lightgbm(model: Any, path: str) -> Sequence[str]:
    booster = getattr(model, "booster_", model)
    booster.save_model(path)
    return list(booster.feature_name())


def _catboost(model: Any, path: str, rows: Any = None) -> Sequence[str]:
    if rows is None:
        model.save_model(path, format="cbm")
    else:
        pool = need("catboost", "to save its model").Pool(rows, cat_features=model.get_cat_feature_indices())
        model.save_model(path, format="json", pool=pool)
    return list(model.feature_names_)


def _interpret(model: Any, path: str) -> Sequence[str]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the format is a beta
        model.to_json(path, detail="minimal")
    return [str(n) for n in model.feature_names_in_]


def _histogram(model: Any, names: list[str], path: str) -> Sequence[str]:
    """Histogram boosting as the program's own format of trees (adapters/boosters/trees.go).

    The trees compare numbers as they are; categories are those of the estimator's encoder. A category that it does
    not know goes where missing values go.
    """
    link = {"IdentityLink": "identity", "LogLink": "log", "LogitLink": "logit", "MultinomialLogit": "softmax", "HalfLogitLink": "logit"}.get(
        type(model._loss.link).__name__
    )
    if link is None:
        raise Error(f"the link {type(model._loss.link).__name__} of the {type(model).__name__} is not known")
    order, levels = _encoded(model, names)
    known = model._bin_mapper.make_known_categories_bitsets()
    columns = [{"name": n} for n in names]
    for i, own in levels.items():
        if own and isinstance(own[0], str):
            columns[i]["categories"] = own  # type: ignore[assignment]
    sets: list[list[float]] = []
    trees = []
    for iteration in model._predictors:
        for target, predictor in enumerate(iteration):
            nodes = predictor.nodes
            tree: dict[str, Any] = {"target": target, **{k: [] for k in ("feature", "threshold", "set", "left", "right", "missing_left", "value")}}
            for node in nodes:
                column, left, right, missing, which = -1, int(node["left"]), int(node["right"]), bool(node["missing_go_to_left"]), -1
                if not node["is_leaf"]:
                    column = order[int(node["feature_idx"])]
                if not node["is_leaf"] and node["is_categorical"]:
                    codes = _bits(predictor.raw_left_cat_bitsets[node["bitset_idx"]])
                    if missing:  # what is not known goes left, so the set is that of the right
                        codes = _bits(known[0][known[1][int(node["feature_idx"])]]) - codes
                        left, right, missing = right, left, False
                    values = levels.get(column)
                    which = len(sets)
                    sets.append(sorted(float(c) if values is None or isinstance(values[0], str) else float(values[c]) for c in codes))
                for key, value in (
                    ("feature", column),
                    ("threshold", float(node["num_threshold"])),
                    ("set", which),
                    ("left", left),
                    ("right", right),
                ):
                    tree[key].append(value)
                tree["missing_left"].append(int(missing))
                tree["value"].append(float(node["value"]))
            trees.append(tree)
    import sklearn

    base = need("numpy", "to write the trees").ravel(model._baseline_prediction).tolist()
    told = {
        "format": "pho.trees/1",
        "library": f"scikit-learn {sklearn.__version__}",
        "link": link,
        "base": base,
        "columns": columns,
        "sets": sets,
        "trees": trees,
    }
    if link == "softmax":
        told["classes"] = [str(c) for c in model.classes_]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(told, file)
    return names


def _bits(words: Any) -> set[int]:
    """The numbers whose bits are set."""
    return {32 * i + j for i, word in enumerate(words) for j in range(32) if int(word) >> j & 1}


def _encoded(model: Any, names: list[str]) -> tuple[list[int], dict[int, list[Any]]]:
    """The column of each feature of the trees, and the categories that its codes are, by column: the encoder puts columns
    of categories in front.
    """
    encoder = getattr(model, "_preprocessor", None)
    if encoder is None:
        return list(range(len(names))), {}
    categorical = [bool(c) for c in model.is_categorical_]
    order = [i for i, c in enumerate(categorical) if c] + [i for i, c in enumerate(categorical) if not c]
    listed = encoder.named_transformers_["encoder"].categories_
    levels = {i: [v.item() if hasattr(v, "item") else v for v in own if v is not None and v == v] for i, own in zip(order, listed)}
    return order, levels


def saved(model: Any, write: Writer, path: str, names: Sequence[str], kinds: Mapping[str, bool]) -> tuple[dict[str, Sequence[str]], list[str]]:
    """Write a model; the columns of the file's inputs that are called otherwise, and those of numbers that it takes as categories.

    Parameters
    ----------
    model
        What :func:`writer` has `write` of.
    names : list of str
        The columns that the model is fed, in order.
    kinds : dict
        Columns of the rows: True of those that hold text.
    """
    try:
        own = write(path)
    except Error:
        raise
    except Exception as fault:
        raise Error(f"{_fitted.library(model)} could not write the model: {fault}") from fault
    bound: dict[str, Sequence[str]] = {}
    factors = []
    place = {n: i for i, n in enumerate(own or ())}
    for given in json.loads(_command.run(["inspect", path, "--json"]))["inputs"]:
        name = given["name"]
        columns = [names[place[name]]] if name in place else list(names)
        if columns != [name]:
            bound[name] = columns
        if given["type"] == "string":
            factors += [c for c in columns if not kinds.get(c, False)]
    return bound, factors
