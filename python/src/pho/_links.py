"""The scale that a model adds up on, as far as a model tells, and predictions on it."""

from __future__ import annotations

import json
import math
from typing import Any, Callable, Iterator, Optional, Sequence

from ._need import need
from .errors import UsageError

LINKS = ("identity", "log", "logit", "softmax")

_SUM = 1e-3  # how far probabilities may be from a sum of one
_LOG = ("poisson", "gamma", "tweedie", "survival:aft", "survival:cox", "mape_log", "negbin", "negativebinomial")
_LOGIT = ("logistic", "binary", "cross_entropy", "xentropy", "logit", "binomial")


def of(model: Any, classes: Optional[Sequence[Any]]) -> str:
    """The link of a model's predictions; the identity where nothing else is known."""
    if classes is not None:
        return "logit" if len(classes) == 2 else "softmax"
    if hasattr(model, "predict_proba"):
        return "logit"  # labels, each of two classes
    for part in _followed(model):
        try:
            name = _link(part)
        except Exception:  # a library's own, of a model that is not fitted, which its predict will say
            return "identity"
        if name is not None:
            return name
    return "identity"


def _followed(model: Any) -> Iterator[Any]:
    """The model and, inside of wrappers and pipelines, the estimator that predicts."""
    while model is not None:
        yield model
        steps = getattr(model, "steps", None)
        model = getattr(model, "best_estimator_", None) or (steps[-1][1] if steps else None) or getattr(model, "__self__", None)


def _link(model: Any) -> Optional[str]:
    library, name = type(model).__module__.split(".")[0], type(model).__name__
    if name == "TransformedTargetRegressor":
        return "log" if getattr(getattr(model, "inverse_func", None), "__name__", "") == "exp" else None
    if name in ("PoissonRegressor", "GammaRegressor"):
        return "log"
    if name == "TweedieRegressor":
        return "log" if model.link == "log" or (model.link == "auto" and model.power > 0) else None
    if library == "sklearn":
        return "log" if getattr(model, "loss", None) in ("poisson", "gamma") else None
    if library == "statsmodels":
        return _statsmodels(model)
    objective = _objective(library, model)
    return None if objective is None else _named(objective)


def _named(objective: str) -> Optional[str]:
    text = objective.lower()
    if text in LINKS:
        return text
    if text == "mlogit":
        return "softmax"
    if text.startswith(("multi:", "multiclass", "softmax")) and "ova" not in text:
        return "softmax"
    if "logitraw" in text or "rank" in text:
        return None
    if any(word in text for word in _LOG):
        return "log"
    return "logit" if "ova" in text or any(word in text for word in _LOGIT) else None


def _objective(library: str, model: Any) -> Optional[str]:
    if library == "xgboost":
        booster = model.get_booster() if hasattr(model, "get_booster") else model
        if hasattr(booster, "save_config"):
            return str(json.loads(booster.save_config())["learner"]["objective"]["name"])
    if library == "lightgbm":
        booster = getattr(model, "booster_", model)
        if hasattr(booster, "dump_model"):
            return str(booster.dump_model(num_iteration=1).get("objective", ""))
    if library == "catboost" and type(model).__name__ == "CatBoostRegressor":
        return str(model.get_all_params().get("loss_function", ""))
    if library == "interpret":
        return str(getattr(model, "link_", None) or getattr(model, "objective", "") or "")
    return None


def _statsmodels(result: Any) -> Optional[str]:
    own = getattr(result, "model", None)
    link = getattr(getattr(own, "family", None), "link", None)
    named = type(link).__name__.lower() if link is not None else type(own).__name__.lower()
    if named == "mnlogit":
        return "softmax"
    if named in ("logit", "log"):
        return named
    return "log" if link is None and named in ("poisson", "negativebinomial", "negativebinomialp", "generalizedpoisson") else None


class Seen:
    """What the predictions of rows hold, batch by batch: whether a link takes them."""

    def __init__(self) -> None:
        self.rows = self.columns = 0
        self.holes: set[str] = set()  # columns of the rows with missing cells
        self._negative = self._above = self._zero = self._one = self._off = 0  # rows
        self._low = self._high = self._sum = 0.0

    def missing(self, frame: Any) -> None:
        """Look for missing cells in a DataFrame."""
        self.holes |= {str(c) for c in frame.columns[frame.isna().any()]}

    def join(self, other: "Seen") -> None:
        """Take what was seen of further rows."""
        if other.rows and (abs(other._sum - 1) > abs(self._sum - 1) or not self.rows):
            self._sum = other._sum
        self._low, self._high = min(self._low, other._low), max(self._high, other._high)
        for name in ("_negative", "_above", "_zero", "_one", "_off", "rows"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.columns = max(self.columns, other.columns)
        self.holes |= other.holes

    def add(self, values: Any) -> None:
        """Look at a batch, n x K."""
        numpy = need("numpy", "to read predictions")
        self.columns = values.shape[1]
        if not len(values):
            return
        total = values.sum(axis=1)
        off = numpy.abs(total - 1)
        self._negative += int((values < 0).any(axis=1).sum())
        self._above += int((values > 1).any(axis=1).sum())
        self._zero += int((values == 0).any(axis=1).sum())
        self._one += int((values == 1).any(axis=1).sum())
        self._off += int((off > _SUM).sum())
        self._low = min(self._low, float(numpy.nanmin(values, initial=0)))
        self._high = max(self._high, float(numpy.nanmax(values, initial=0)))
        if off.max() > abs(self._sum - 1) or not self.rows:
            self._sum = float(total[off.argmax()])
        self.rows += len(values)

    def link(self, wanted: str, sure: bool, clip: Optional[float]) -> tuple[str, Optional[str]]:
        """The link of these predictions, and what to say of it.

        One that nobody asked for gives way to the identity where predictions lie outside of what
        it takes, or on the edge; one that was asked for is an error then.

        Raises
        ------
        UsageError
            Predictions that the link does not take.
        """
        if wanted not in LINKS:
            raise UsageError(f"link={wanted!r} is none of {', '.join(LINKS)}")
        if clip is not None and not 0 < clip < 0.5:
            raise UsageError(f"clip={clip!r}: it is between 0 and 0.5, as 1e-6")
        if wanted == "softmax" and not sure and self._off:
            wanted = "logit"  # one class against the rest
        fault = self._fault(wanted) or (self._edge(wanted) if clip is None else None)
        if fault is None:
            return wanted, None
        if sure:
            raise UsageError(f"link={wanted!r}: {fault}")
        return "identity", f"the predictions are decomposed as they are, not on the scale of their {wanted}: {fault}"

    def _fault(self, link: str) -> Optional[str]:
        """What is no prediction of a link; None if nothing is."""
        if link == "identity":
            return None
        if self._negative:
            return f"{self._negative} of {self.rows} rows have negative predictions, down to {self._low:.6g}"
        if link == "log":
            return None
        if self._above:
            return f"{self._above} of {self.rows} rows have probabilities above 1, up to {self._high:.6g}"
        if link == "softmax" and self.columns < 2:
            return "it takes a column for each class; of two classes the second's alone goes with link='logit'"
        if link == "softmax" and self._off:
            return f"the probabilities of {self._off} of {self.rows} rows do not sum to one, but to {self._sum:.6g}"
        return None

    def _edge(self, link: str) -> Optional[str]:
        """Predictions whose link is infinite."""
        if link == "identity":
            return None
        if link == "log":
            return f"{self._zero} of {self.rows} rows have predictions of 0; link='log' with clip=1e-6 takes them for so much" if self._zero else None
        if not self._zero and not self._one:
            return None
        return (
            f"{self._zero} of {self.rows} rows have probabilities of 0 and {self._one} of 1, whose log odds are infinite; "
            f"link={link!r} with clip=1e-6 moves them by so much"
        )


def clipped(values: Any, link: str, clip: Optional[float]) -> Any:
    """Predictions off the edge of a link, by `clip`; None leaves them."""
    numpy = need("numpy", "to read predictions")
    if clip is None or link == "identity":
        return values
    return numpy.clip(values, clip, None if link == "log" else 1 - clip)


def response(eta: Any, heads: Sequence[Optional[str]]) -> Optional[Any]:
    """Predictors, n x K, on the scale of the response; None where a head is unknown."""
    numpy = need("numpy", "to compare predictions")
    out = numpy.array(eta, float)
    soft = [j for j, h in enumerate(heads) if h == "softmax"]
    if soft:
        e = numpy.exp(out[:, soft] - out[:, soft].max(axis=1, keepdims=True))
        out[:, soft] = e / e.sum(axis=1, keepdims=True)
    for j, head in enumerate(heads):
        if head == "sigmoid":
            out[:, j] = numpy.exp(-numpy.logaddexp(0, -out[:, j]))
        elif head == "exp":
            out[:, j] = numpy.exp(out[:, j])
        elif head not in (None, "", "softmax", "identity"):
            return None
    return out


def inverse(link: Optional[dict[str, Any]]) -> Optional[Callable[[float], float]]:
    """What a parameter of the response is of a predictor, by the link that an artifact has; None where other predictors
    take part, or nothing is known.
    """
    name = (link or {}).get("name", "")
    h = _INVERSES.get(name)
    if link is None or h is None:
        return None
    shift, scale, beta = link.get("shift", 0.0), link.get("scale") or 1.0, link.get("beta") or 1.0
    return lambda eta: float(shift + scale * h(beta * eta) / beta)


def _exp(eta: float) -> float:
    return math.exp(min(eta, 709.0))  # the largest there is


def _softplus(eta: float) -> float:
    return max(eta, 0.0) + math.log1p(math.exp(-abs(eta)))


# By the names of family.LinkNames.
_INVERSES: dict[str, Callable[[float], float]] = {
    "identity": lambda eta: eta,
    "log": _exp,
    "logit": lambda eta: 0.5 * (1 + math.tanh(eta / 2)),
    "cloglog": lambda eta: -math.expm1(-_exp(eta)),
    "softplus": _softplus,
    "log hazard ratio": _exp,
}
