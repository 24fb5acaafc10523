"""What drawings, and the ways to other packages, need of a decomposition."""

from __future__ import annotations

from typing import Any, Optional, Protocol

from . import _rows, _tables


class Result(Protocol):
    """See Decomposition, which is one."""

    @property
    def artifact(self) -> dict[str, Any]: ...

    @property
    def result(self) -> str: ...

    @property
    def predictors(self) -> list[str]: ...

    @property
    def contributions(self) -> _tables.Table: ...

    def file(self, name: str) -> str: ...

    def predictor(self, name: Optional[str] = None) -> dict[str, Any]: ...

    def prefix(self, predictor: dict[str, Any]) -> str: ...

    def apply(self, rows: _rows.Rows) -> Any: ...


def told(predictor: dict[str, Any]) -> list[dict[str, Any]]:
    """What the rows tell of a predictor, in the order of its terms: a term, or terms of which only the sum is identified.

    A record has ``name``, ``terms`` (their names), ``features`` and ``kind``, which is "sum" of several.
    """
    sums = {name: e["terms"] for e in predictor.get("entangled") or [] for name in e["terms"]}
    own = {t["name"]: t for t in predictor["terms"]}
    out, done = [], set()
    for t in predictor["terms"]:
        names = sums.get(t["name"], [t["name"]])
        if t["name"] not in done:
            features = list(dict.fromkeys(f for n in names for f in own[n]["features"]))
            out.append({"name": " + ".join(names), "terms": names, "features": features, "kind": t["kind"] if len(names) == 1 else "sum"})
        done.update(names)
    return out
