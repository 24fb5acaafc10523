"""A network decomposed over a Spark DataFrame."""

from __future__ import annotations

import shutil
import tempfile
from typing import Any, Mapping, Optional, Sequence, Union

from .. import _command, _formulas, _labels, _models, _route, _sample
from .._need import need
from ..errors import Error, UsageError
from . import _rows, _shipping
from ._decomposition import Decomposition
from ._passes import Passes

_OWN = ("model", "data", "input", "out", "log", "counts", "shards", "plan", "workers", "contributions")


def decompose(
    model: Union[_models.Model, Sequence[_models.Model]],
    df: _rows.Frame,
    formula: _formulas.Formula = None,
    *,
    response: Optional[str] = None,
    order_by: _rows.Order = None,
    inputs: Union[Sequence[str], Mapping[str, Sequence[str]], None] = None,
    labels: Optional[_labels.Labels] = None,
    rows_per_task: int = 1 << 18,
    ship: Optional[bool] = None,
    any_kernel: bool = False,
    **options: Any,
) -> Decomposition:
    """Split a trained network's predictor over the rows of a Spark DataFrame.

    As :func:`pho.decompose`, with every pass over the rows a Spark job. The frame is persisted
    meanwhile: leave out columns that are not needed.

    Parameters
    ----------
    model, formula, inputs, labels
        As for :func:`pho.decompose`.
    df : pyspark.sql.DataFrame
        The rows. Columns other than numbers, truth values and text are passed over.
    response : str, optional
        Name of the response's column.
    order_by : str, Column or list, optional
        Columns by which rows are sorted first; rows that are equal in them go by all others. The
        result then has the same bytes whatever the cluster does, those of ``pho.decompose`` on
        the sorted rows. Needs Spark 4.1. None: the rows as they come, which after a shuffle is
        another order each time, so that last digits may differ (a warning says so).
    rows_per_task : int
        With order_by: rows of a task. The result's bytes are those of one machine if it is a multiple of the
        rows of a chunk: 4,096 up to 512 columns, from there on p^2/64 and the next power of two.
    ship : bool, optional
        Send the program and this package to the executors. False: they have ``pho-go`` installed.
        None: send them if the driver runs Linux.
    any_kernel : bool
        Go on where an executor's processor computes last digits in another way than the driver's.
    **options
        The flags of ``pho decompose`` with underscores.

    Returns
    -------
    Decomposition
        It has no contributions: ``apply`` computes them where the rows are.

    Raises
    ------
    UsageError
        The call is wrong.
    Error
        The work failed.
    """
    _check(df, options, response, rows_per_task)
    folder = tempfile.mkdtemp(prefix="pho-")
    shards = None
    try:
        frame = _rows.readable(df)
        several = model if isinstance(model, (list, tuple)) else [model]
        without = frame.drop(response) if response is not None else frame
        few: Any = dict.fromkeys(without.columns, ()) if all(map(_models.is_network, several)) else without.limit(_sample.ROWS).toPandas()
        route = _route.routed(model, few, _formulas.listed(formula), None, inputs, (None, None, True), options, folder, lambda event: None)
        if route.predictor is not None:
            told = "; ".join(route.warnings) or "the model is called, and has no file"
            raise Error(f"{told}. On Spark the model is a file: let Spark write its predictions, and decompose them by pho.decompose")
        networks = route.flags["model"]
        named = None if labels is None else _labels.file(labels, folder)
        arguments = _command.flags({**route.flags, "response": response, "labels": named, **options})
        program = _shipping.ship(df.sparkSession.sparkContext, ship)
        shards = _rows.cut(frame, order_by, rows_per_task)
        flags = ["--any-kernel"] if any_kernel else []
        result = Passes(shards, folder, networks, program, flags).run(arguments)
        return Decomposition(result, route.place, folder, program)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        if shards is not None:
            shards.release()


def _check(df: Any, options: Mapping[str, Any], response: Any, rows_per_task: int) -> None:
    need("pyspark", "for pho.spark", "pyspark>=4.1")
    need("pyarrow", "for pho.spark")
    if not type(df).__module__.startswith("pyspark.sql") or not hasattr(df, "mapInArrow"):
        raise UsageError(f"the rows are a {type(df).__module__}.{type(df).__qualname__}: give a DataFrame of Spark; pho.decompose takes others")
    if not hasattr(df, "_jdf"):
        raise UsageError("the frame is one of Spark Connect, which has no way to send files to executors: use a classic Spark session")
    for name in _OWN:
        if name in options:
            raise UsageError(f"{name}= is not an option of pho.spark.decompose")
    if response is not None and not isinstance(response, str):
        raise UsageError("response= is the name of one of the frame's columns")
    if rows_per_task < 1:
        raise UsageError(f"rows_per_task={rows_per_task}: it is at least 1")
