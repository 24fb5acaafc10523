"""Formulas as they are given: text, several, or by predictor."""

from __future__ import annotations

from typing import Iterable, Mapping, Optional, Sequence, Union

from .errors import UsageError

Formula = Union[str, Sequence[str], Mapping[str, str], None]


def listed(formula: Formula) -> list[str]:
    """The formulas, one text for each."""
    if formula is None:
        return []
    if isinstance(formula, str):
        return [formula]
    if isinstance(formula, Mapping):
        return [f"{predictor} = {terms if '~' in terms else '~ ' + terms}" for predictor, terms in formula.items()]
    if not isinstance(formula, Iterable) or not all(isinstance(text, str) for text in formula):
        raise UsageError("formula= is text, as '~ s(age) + region', or several; the values of a response are given by their name: response=y")
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
