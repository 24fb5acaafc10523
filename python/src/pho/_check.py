"""Whether an exported file predicts what its model does, on rows at hand."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from dataclasses import dataclass
from typing import Any, Optional, Sequence

from . import _command, _links, _rows
from ._need import need

# A file may be off by this share of the predictions' standard deviation: float32's own error
# is far below it, and a row that takes the other side of a split far above.
TOLERANCE = 2e-4


@dataclass
class Difference:
    """How far a file is from its model.

    Attributes
    ----------
    rows : int
        Compared.
    largest : float
        On the scale of the response.
    off : int
        Rows beyond TOLERANCE.
    said : str
        What to say of it; empty where no row is off.
    plain : bool
        The file has several predictors that are not those of classes.
    """

    rows: int
    largest: float
    off: int
    said: str
    plain: bool = False


def compare(
    path: str, inputs: Sequence[str], sample: Any, wanted: Any, na: Optional[str], factors: Sequence[str] = (), onnx: bool = False
) -> Difference:
    """The file's predictions, as the program computes them, next to those of the model.

    Parameters
    ----------
    path : str
        The exported file.
    inputs : list of str
        How its inputs are bound.
    sample : DataFrame
        Rows.
    wanted : array, n x K
        The model's own predictions of them.
    factors : list of str
        Columns of numbers that the file takes as categories.
    onnx : bool
        It is to be written as ONNX, too.

    Raises
    ------
    Error
        The program refuses the file, or to write it.
    """
    numpy = need("numpy", "to compare predictions")
    with tempfile.TemporaryDirectory(prefix="pho-") as folder:
        out, data = os.path.join(folder, "result"), _rows.files(sample.reset_index(drop=True), folder)
        options: dict[str, Any] = {"model": path, "data": data, "input": list(inputs), "formula": "~ 1", "out": out, "contributions": "csv"}
        options.update(interactions="none", bands="none", na=na, factor=list(factors), export_onnx=onnx)
        _command.run(["decompose", *_command.flags(options)], files={path: "(exported)", **{d: "the rows" for d in data}})
        with open(os.path.join(out, "decomposition.json"), encoding="utf-8") as file:
            predictors = json.load(file)["predictors"]
        names = ["eta"] if len(predictors) == 1 else [f"{p['name']}.eta" for p in predictors]
        with open(os.path.join(out, "contributions.csv"), newline="", encoding="utf-8") as file:
            read = csv.reader(file)
            header = next(read)
            at = [header.index(n) for n in names]
            eta = numpy.array([[float(r[i]) for i in at] for r in read]).reshape(-1, len(at))
    got = _links.response(eta, [p.get("head") for p in predictors])
    if got is None or len(got) != len(wanted) or got.shape[1] not in (wanted.shape[1], 2 * wanted.shape[1]):
        others = ", ".join(p["name"] for p in predictors)
        return Difference(len(wanted), float("inf"), len(wanted), f"the exported file has other predictors, {others}")
    if got.shape[1] != wanted.shape[1]:
        got = got[:, -1:]  # both of two classes
    made = _difference(numpy, got, wanted, sample)
    made.plain = len(predictors) > 1 and not all(p.get("head") == "softmax" for p in predictors)
    return made


def _difference(numpy: Any, got: Any, wanted: Any, sample: Any) -> Difference:
    size, spread = numpy.abs(wanted).max(axis=0), wanted.std(axis=0)
    constant = spread <= 1e-10 * size
    allowed = numpy.where(constant, 1e-6 * size, TOLERANCE * spread)
    gap = numpy.nan_to_num(numpy.abs(got - wanted), nan=numpy.inf)
    off = (gap > allowed).any(axis=1)
    row, column = numpy.unravel_index(gap.argmax(), gap.shape)
    largest = float(gap[row, column])
    if not off.any():
        return Difference(len(wanted), largest, 0, "")
    label = sample.index[row]
    deviations = "" if constant[column] else f" {largest / spread[column]:.2g} standard deviations;"
    said = (
        f"the exported file predicts {got[row, column]:.9g} where the model predicts {wanted[row, column]:.9g}, in row {label}:"
        f"{deviations} {int(off.sum())} of {len(wanted)} rows that were compared differ"
    )
    return Difference(len(wanted), largest, int(off.sum()), said)
