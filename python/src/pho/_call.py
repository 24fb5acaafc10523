"""What a model is called on, and how it reaches the program."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any, Callable, Optional, Sequence

from . import _frames, _functions, _rows
from ._predictor import Predictor

Progress = Callable[[dict[str, Any]], None]


@dataclass
class Call:
    """What a model is called on, and how.

    Attributes
    ----------
    rows
        Rows in memory, as _rows.readable has them; or the paths of files.
    files : Files, optional
        Rows of files.
    fed : list of str
        Columns of models that name none.
    response : str, optional
        Column of the response.
    family : str, optional
        Of the response.
    na : str, optional
        What is done about missing cells.
    link, clip, check
        As in :func:`decompose`.
    progress : callable
        Receives events.
    roles : list of str
        Columns of weights and the like.
    onnx : bool
        The model is to be written as a file of ONNX.
    """

    rows: Any
    files: Optional[_frames.Files]
    fed: list[str]
    response: Optional[str]
    family: Optional[str]
    na: Optional[str]
    link: Optional[str]
    clip: Optional[float]
    check: bool
    progress: Progress
    roles: Sequence[str] = ()
    onnx: bool = False

    @functools.cached_property
    def frame(self) -> Any:
        """The rows in memory as a DataFrame; of files the first."""
        return _frames.frame(self.rows) if self.files is None else next(iter(self.files.batches(1000))).to_pandas()

    @functools.cached_property
    def columns(self) -> list[str]:
        """Names of the rows' columns."""
        return self.files.columns if self.files is not None else [str(c) for c in self.frame.columns]

    def frames(self) -> Any:
        """The rows as DataFrames."""
        return [self.frame] if self.files is None else (b.to_pandas() for b in self.files.batches(1 << 16))


@dataclass
class Route:
    """How models reach the program.

    Attributes
    ----------
    flags : dict
        Its options: model and input, or predictions and their link.
    rows
        The rows, with predictions where these are the model.
    response : str, optional
        Column of the response, if the model's predictors fit one.
    place : str, optional
        Where networks are that were written here.
    predictor : Predictor, optional
        Where predictions are the model.
    warnings : list of str
        What to say of it.
    checked : dict
        How the model was compared: rows, largest difference, against what.
    fed : list of str
        The columns that a model is called on.
    """

    flags: dict[str, Any]
    rows: Any
    response: Optional[str]
    place: Optional[str]
    predictor: Optional[Predictor] = None
    warnings: list[str] = field(default_factory=list)
    checked: dict[str, Any] = field(default_factory=dict)
    fed: list[str] = field(default_factory=list)


def responding(call: Call, plain: bool) -> tuple[Optional[str], list[str]]:
    """The column of the response, and what to say if there is none for several plain predictors."""
    if call.response is None or call.family is not None or not plain:
        return call.response, []
    return None, [
        f"the response {call.response!r} is not used: the model has several predictors a row that are no classes on the scale of a softmax; "
        "family= says whose they are, and of probabilities link='softmax' with clip=1e-6"
    ]


def family(call: Call, link: str) -> dict[str, str]:
    """The family of a response whose mean has a logarithm, where it is no count."""
    if link != "log" or call.response is None or call.family is not None or call.response not in call.frame:
        return {}
    y = call.frame[call.response].dropna()
    if y.dtype.kind not in "iuf" or not len(y) or (y < 0).any() or (y % 1 == 0).all():
        return {}
    return {"family": "gamma" if (y > 0).all() else "tweedie"}


def codes(call: Call, f: _functions.Function) -> Optional[tuple[str, Callable[[Any], Any]]]:
    """The response of two classes, and what makes 0 and 1 of it; None where it is not of such."""
    if call.response is None or f.classes is None or len(f.classes) != 2 or call.response not in call.frame:
        return None
    first, second = f.classes
    if not set(call.frame[call.response].dropna().unique()) <= {first, second} or {first, second} == {0, 1}:
        return None

    def numbers(column: Any) -> Any:
        return column.eq(second).astype(float).where(column.notna()).to_numpy()

    return call.response, numbers


def coded(call: Call, f: _functions.Function) -> Any:
    """The rows in memory with a response of two classes as 0 and 1; files as they are."""
    own = codes(call, f) if call.files is None else None
    return call.rows if own is None else _rows.joined(call.rows, own[0], own[1](call.frame[own[0]]))
