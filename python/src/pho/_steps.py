"""What wrappers, pipelines and ensembles hold."""

from __future__ import annotations

from typing import Any, Iterator


def every(model: Any) -> Iterator[Any]:
    """A model, the steps of pipelines, and what wrappers hold."""
    yield model
    for name in ("best_estimator_", "regressor_", "estimator", "final_estimator_"):
        if getattr(model, name, None) is not None:
            yield from every(getattr(model, name))
    for name in ("steps", "transformers_"):
        for step in getattr(model, name, ()):
            if not isinstance(step[1], str):
                yield from every(step[1])
    several = getattr(model, "estimators_", ())
    for step in list(several)[:3] if isinstance(several, list) else ():
        yield from every(step)
