"""Every estimator of the zoo, decomposed, next to its own predictions: python judge.py [NAME ...].

Fails if one is wrong or refused. With names it judges the cases that have one of them in theirs, and says more.
"""

import collections
import sys
import time
import warnings

import numpy
import zoo

import pho

WRONG = 1e-3  # of the predictions' standard deviation


def wanted(case, model, rows):
    """The model's own predictions, n x K: of two classes the second's."""
    if case.wanted is not None:
        own = case.wanted(model, rows)
    else:
        given = rows if hasattr(model, "feature_names_in_") or not hasattr(model, "n_features_in_") else rows.to_numpy()
        ask = next(m for m in ("predict_proba", "decision_function", "predict") if hasattr(model, m))
        if not hasattr(model, "classes_") and ask == "decision_function" and hasattr(model, "predict") and not hasattr(model, "score_samples"):
            ask = "predict"
        own = getattr(model, ask)(given)
    if isinstance(own, list):
        own = numpy.column_stack([p[:, 1] for p in own])
    own = numpy.asarray(own, float).reshape(len(rows), -1)
    return own[:, 1:] if own.shape[1] == 2 and len(getattr(model, "classes_", ())) == 2 and not numpy.ndim(model.classes_[0]) else own


def got(d, parts):
    """What a decomposition says on the scale of the response."""
    heads = [p.get("head") for p in d.artifact["predictors"]]
    eta = numpy.column_stack([parts["eta" if len(heads) == 1 else f"{p}.eta"] for p in d.predictors])
    if "softmax" in heads:
        e = numpy.exp(eta - eta.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)
    inverse = {None: lambda v: v, "exp": numpy.exp, "sigmoid": lambda v: 1 / (1 + numpy.exp(-v))}
    return numpy.column_stack([inverse[h](eta[:, j]) for j, h in enumerate(heads)])


def off(d, parts, own):
    found = got(d, parts)
    if found.shape[1] == 2 * own.shape[1]:
        found = found[:, -1:]  # both of two classes
    if found.shape != own.shape:
        return numpy.inf
    size = numpy.abs(own).max(axis=0)
    spread = numpy.where(own.std(axis=0) > 1e-10 * size, own.std(axis=0), 1e-3 * size + 1e-300)
    return float((numpy.abs(found - own) / spread).max())


def judge(case):
    """The route of a case, and what is wrong with it: empty if nothing is."""
    model, rows = case.make()
    own = wanted(case, model, rows)
    try:
        d = pho.decompose(model, rows, "~ temp" if "temp" in rows else None, **case.options)
    except pho.Error as fault:
        return "refused", f"{type(fault).__name__}: {fault}", ""
    route = "predictions" if d.artifact["model"].get("checked", {}).get("rows") is None else "file"
    gap = off(d, d.contributions, own)
    if not gap < WRONG:
        return "wrong", f"{gap:.2g} standard deviations, by its {route}", ""
    few = rows.head(20)
    try:
        given = {"predictions": own[:20]} if case.name.startswith(("an array", "a Series")) else {}
        again = d.apply(few, **given, **{k: v for k, v in case.options.items() if k == "na"})
    except pho.Error as fault:
        return "wrong", f"apply: {fault}", ""
    if not numpy.allclose(got(d, again), got(d, d.contributions)[:20], atol=1e-9):
        return "wrong", "apply gives other parts", ""
    said = next((w for w in d.warnings if "no exported file" in w), "")
    if route == "predictions":
        route += (
            ": its file is another model" if "the exported file predicts" in said else ": no file that pho takes" if said else ": it never had a file"
        )
    return route, "", said


def main(names):
    warnings.simplefilter("ignore")
    counts, bad, began = collections.Counter(), [], time.time()
    for case in zoo.cases():
        if names and not any(n in case.name for n in names):
            continue
        try:
            route, fault, said = judge(case)
        except Exception as raised:  # of a library, or of ours: a case that is not judged
            route, fault, said = "raised", f"{type(raised).__name__}: {raised}"[:400], ""
        counts[route] += 1
        if fault:
            bad.append(case.name)
        if fault or names:
            print(f"{case.name}: {route} {fault}{said}", flush=True)
    print(f"{sum(counts.values())} estimators in {time.time() - began:.0f} s")
    for route, n in sorted(counts.items()):
        print(f"{n:5d} {route}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
