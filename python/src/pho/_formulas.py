"""Formulas as they are given: text, several, or by predictor."""

from __future__ import annotations

from typing import Mapping, Sequence, Union

Formula = Union[str, Sequence[str], Mapping[str, str], None]


def listed(formula: Formula) -> list[str]:
    """The formulas, one text for each."""
    if formula is None:
        return []
    if isinstance(formula, str):
        return [formula]
    if isinstance(formula, Mapping):
        return [f"{predictor} = {terms if '~' in terms else '~ ' + terms}" for predictor, terms in formula.items()]
    return list(formula)
