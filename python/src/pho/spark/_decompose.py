"""A network decomposed over a Spark DataFrame."""

from __future__ import annotations

import shutil
import tempfile
from typing import Any, Mapping, Optional, Sequence, Union

from .. import _artifact, _command, _formulas, _functions, _labels, _models, _route
from .._need import need
from ..errors import UsageError
from . import _rows, _shipping, _table
from ._decomposition import Decomposition
from ._passes import Passes

_OWN = ("model", "data", "input", "out", "log", "counts", "shards", "plan", "workers", "contributions")


def decompose(
    model: Union[_models.Model, _rows.Frame, Sequence[Any]],
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
    link: Optional[str] = None,
    clip: Optional[float] = None,
    check: bool = True,
    **options: Any,
) -> Decomposition:
    """Split a trained network's predictor over the rows of a Spark DataFrame.

    As :func:`pho.decompose`, with every pass over the rows a Spark job. The frame is persisted
    meanwhile: leave out columns that are not needed.

    Parameters
    ----------
    model
        As for :func:`pho.decompose`; one that is called is pickled, and called on the executors, once for each
        row. Predictions are a column of the frame, ``df["p"]``; of classes ``df[["p1", "p2", "p3"]]``.
    formula, inputs, labels, link, clip, check
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
    table = _table.Table(_rows.readable(df), order_by, rows_per_task)
    try:
        program = _shipping.ship(df.sparkSession.sparkContext, ship)
        several = isinstance(model, (list, tuple)) and not _functions.is_array(model)
        models = [_table.model(m, df, table.columns) for m in model] if several else _table.model(model, df, table.columns)
        settings = (link, clip, check)
        route = _route.routed(models, table, _formulas.listed(formula), response, inputs, settings, options, folder, lambda event: None)
        named = None if labels is None else _labels.file(labels, folder)
        arguments = _command.flags({**route.flags, "response": route.response, "labels": named, **options})
        networks = route.flags.get("model", [])
        flags = ["--any-kernel"] if any_kernel else []
        result = Passes(table.shards or table.cut(), folder, networks, program, flags).run(arguments)
        _artifact.note(result, route.place or next(iter(networks), None), route.warnings, route.checked, route.fed)
        return Decomposition(result, route.place, folder, program, route.predictor)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        table.release()


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
