"""Networks trained by the program."""

from __future__ import annotations

import json
import os
import re
import tempfile
from typing import Any, Sequence

from . import _columns, _command, _formulas, _rows

_MANY = 20  # distinct values from which a column of numbers has a smooth
_WIDE = 30  # columns from which none has


def train(rows: _rows.Rows, options: dict[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """Run ``pho train`` on rows in memory.

    Returns
    -------
    bytes
        The network's ONNX file.
    dict
        What training.json says of how training went.
    """
    with tempfile.TemporaryDirectory(prefix="pho-") as folder:
        data, out = _rows.files(rows, folder), os.path.join(folder, "trained")
        _command.run(
            ["train", *_command.flags({"data": data, "out": out, **options})],
            files={path: "the rows" for path in data},
        )
        with open(os.path.join(out, "model.onnx"), "rb") as network, open(os.path.join(out, "training.json"), encoding="utf-8") as told:
            return network.read(), json.load(told)


def formula(rows: _rows.Rows, names: Sequence[str]) -> str:
    """Terms for columns as they are: a smooth of numbers that differ enough, else a linear term;
    a factor of texts.
    """
    smooth = len(names) < _WIDE
    return "~ " + " + ".join(_term(rows, n, smooth) for n in names)


def _term(rows: _rows.Rows, name: str, smooth: bool) -> str:
    column = _rows.column(rows, name)
    written = quoted(name)
    if not smooth or _columns.is_text(column) or len(set(column)) < _MANY:
        return written
    return f"s({written})"


def quoted(name: str) -> str:
    """A column's name as a formula has it."""
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        return name
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def unused(taken: Sequence[str], name: str) -> str:
    """The name, or one like it that no column has."""
    while name in taken:
        name += "_"
    return str(name)


def formulas(given: Any, rows: _rows.Rows, names: Sequence[str]) -> list[str]:
    """The formulas of a parameter: text, several, by predictor, or None for all columns."""
    return _formulas.listed(formula(rows, names) if given is None else given)


def listed(names: Any) -> str:
    """Columns as the program takes them."""
    return str(names) if isinstance(names, str) else ",".join(str(n) for n in names)


def loop(estimator: Any, rows: _rows.Rows) -> dict[str, Any]:
    """The options of training's loop: an estimator's parameters. Of rows so few that the share for
    validation is none, none is held out.
    """
    n = _rows.rows_in(rows)
    return {
        "epochs": estimator.epochs,
        "batch_size": estimator.batch_size,
        "learning_rate": estimator.learning_rate,
        "validation": estimator.validation if int(n * estimator.validation) >= 1 else 0.0,
        "patience": estimator.patience,
    }


def all_rows(rows: _rows.Rows) -> int:
    """A step of all rows, as far as memory is worth it."""
    return min(max(_rows.rows_in(rows), 1), 1 << 16)
