"""The rows of a frame, as models in memory see them."""

from __future__ import annotations

import dataclasses
import functools
import pickle
from typing import Any, Iterator, Optional

from .. import _frames, _functions, _links, _sample
from .._predictor import Adding
from ..errors import UsageError
from . import _passes, _rows, _shipping, _task


class Table(_frames.Files):
    """A frame's rows in place of files: the first of them here, all where they are.

    Attributes
    ----------
    shards : Shards, optional
        The rows, once they are cut.
    """

    def __init__(self, frame: _rows.Frame, order_by: _rows.Order, rows_per_task: int) -> None:
        self._frame = frame
        self._order_by = order_by
        self._rows_per_task = rows_per_task
        self.shards: Optional[_rows.Shards] = None

    @property
    def columns(self) -> list[str]:
        """Their names."""
        return list(self._frame.columns)

    def batches(self, size: int) -> Iterator[Any]:
        """Record batches of the first rows."""
        import pyarrow

        none = [pyarrow.RecordBatch.from_pylist([], schema=self._first.schema)]
        yield from self._first.to_batches(max_chunksize=size) or none

    @functools.cached_property
    def _first(self) -> Any:
        import pyarrow

        # Through limit(...).toArrow() rows of any partition come first, and others each time.
        rows = [r.asDict() for r in self._frame.take(_sample.ROWS)]
        return pyarrow.Table.from_pylist(rows, schema=self._frame.limit(0).toArrow().schema)

    def cut(self, adding: Any = lambda frame: frame) -> _rows.Shards:
        """The rows in shards, with what `adding` puts to them."""
        self.shards = _rows.cut(self._frame, self._order_by, self._rows_per_task, adding)
        return self.shards

    def release(self) -> None:
        """Let Spark forget the rows."""
        if self.shards is not None:
            self.shards.release()

    def added(self, adding: Adding, folder: str, progress: Any = None) -> _rows.Shards:
        """The rows in shards with predictions behind, which are made on the executors and kept there."""
        if not self._first.num_rows:
            raise UsageError("there are no rows")
        for _ in dataclasses.replace(adding, seen=None)(self.batches(_sample.ROWS)):
            pass  # the first rows: models are asked twice, and columns get their names
        names = [adding.names[i] for i in sorted(adding.names)]
        try:
            shards = self.cut(self._predicting(adding, names)) if adding.functions else self.cut()
            looked = shards.frame if adding.na == "keep" else shards.frame.select([_rows.quoted(n) for own in names for n in own])
            found = [pickle.loads(r.seen) for r in looked.mapInArrow(_task.Looking(names), "seen binary").collect()]
        except Exception as fault:
            raise _passes.said(fault) from fault
        for seen in found:
            (adding.seen or _links.Seen()).join(seen)
        if adding.clip is not None:
            link, eps = adding.clip
            clipped = {n: _clipped(n, eps, None if link == "log" else 1 - eps) for own in names for n in own}
            self.shards = dataclasses.replace(shards, frame=shards.frame.withColumns(clipped))
        return self.shards or shards

    def _predicting(self, adding: Adding, names: list[list[str]]) -> Any:
        """What puts the predictions to a frame."""
        from pyspark.sql import types

        sent = dataclasses.replace(adding, name=None, clip=None, seen=None, twice=False)
        content = _shipping.pickled(sent, ", ".join(f.what for f in adding.functions))
        task = _task.Predicting(self._frame.sparkSession.sparkContext.broadcast(content))
        coded = () if adding.codes is None else adding.codes[:1]
        own = [types.StructField(f.name, types.DoubleType()) if f.name in coded else f for f in self._frame.schema.fields]
        schema = types.StructType([*own, *(types.StructField(n, types.DoubleType()) for listed in names for n in listed)])
        return lambda frame: frame.mapInArrow(task, schema)


def model(given: Any, df: _rows.Frame, columns: list[str]) -> Any:
    """A model as pho.decompose takes it; of columns of the frame, those that can be read, their names."""
    from pyspark.sql import Column, DataFrame

    if isinstance(given, (Column, DataFrame)):
        names = _names(given, df)
        if names is None or not set(names) <= set(columns):
            told = "the model is no column of numbers that the frame has"
            raise UsageError(f"{told}: put it there by withColumn, and give df['NAME'], or of classes df[['A', 'B', 'C']]")
        return _functions.Named(names)
    if type(given).__module__.startswith("pyspark.ml"):
        raise UsageError("the model is one of Spark ML: let its transform put predictions to the frame, and give their column")
    if _functions.is_array(given):
        raise UsageError("the model is an array of predictions, and the rows are in Spark: put them to the frame, and give their column")
    return given


def _names(given: Any, df: _rows.Frame) -> Optional[list[str]]:
    """The names of columns of the frame; None of what is none."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import Column

    try:
        own = df.select(given) if isinstance(given, Column) else given
        return list(own.columns) if own.sameSemantics(df.select([_rows.quoted(c) for c in own.columns])) else None
    except AnalysisException:
        return None


def _clipped(name: str, low: float, high: Optional[float]) -> Any:
    """A column of predictions as _links.clipped has it."""
    from pyspark.sql import functions

    column = functions.col(_rows.quoted(name)).cast("double")
    out = functions.when(functions.isnan(column), column).when(column < low, functions.lit(low))
    return (out if high is None else out.when(column > high, functions.lit(high))).otherwise(column)
