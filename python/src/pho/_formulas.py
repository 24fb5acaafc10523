"""Formulas as they are given: text, several, or by predictor."""

from __future__ import annotations

from typing import Mapping, Optional, Sequence, Union

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


def responding(formulas: Sequence[str], columns: Sequence[str]) -> tuple[Optional[str], list[str]]:
    """The column on the left of a formula, as ``y ~ s(age)``, and the formulas without it."""
    response, out = None, []
    for text in formulas:
        left, tilde, right = text.partition("~")
        name = left.strip().strip("`")
        if tilde and name in columns:
            response, text = name, "~" + right
        out.append(text)
    return response, out
