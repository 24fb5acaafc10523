"""Decompositions whose rows are in Spark."""

from __future__ import annotations

import os
from typing import Any, Iterator, Optional, Sequence

from .. import _decomposition, _session
from .._predictor import Predictor
from ..errors import UsageError
from . import _shipping, _task


class Decomposition(_decomposition.Decomposition):
    """A network split over the rows of a Spark DataFrame; made by :func:`pho.spark.decompose`.

    All that :class:`pho.Decomposition` has, but for contributions: those are columns that ``apply``
    adds to a frame.
    """

    def __init__(self, result: str, model: Optional[str], folder: str, program: Optional[str], predictor: Optional[Predictor]) -> None:
        super().__init__(result, model, folder, predictor=predictor)
        self._program = program

    def apply(self, rows: Any, *, se: bool = False, prefix: str = "pho_", **options: Any) -> Any:
        """The parts of rows: of a Spark DataFrame as further columns, computed when Spark needs them.

        Parameters
        ----------
        rows : DataFrame
            A frame of Spark; others as :meth:`pho.Decomposition.apply` takes them.
        se : bool
            A column ``TERM.se`` after each term; a name with a dot is quoted by backticks in Spark.
        prefix : str
            What the names of the new columns begin with, as a term may be called as its column is.
        **options
            ``na="drop"`` or ``"keep"``: as :meth:`pho.Decomposition.apply`.
        """
        if not type(rows).__module__.startswith("pyspark.sql"):
            return super().apply(rows, se=se, **options)
        if not set(options) <= {"na"}:
            raise UsageError(f"{', '.join(sorted(set(options) - {'na'}))}: of frames of Spark, na= and se= can be given")
        from pyspark.sql import types

        hello = self._resident()._hello
        names = [prefix + p for p in hello["parts_se" if se else "parts"]]
        taken = sorted(set(names) & set(rows.columns))
        if taken:
            raise UsageError(f"the frame has a column {taken[0]!r} already: give another prefix=")
        needed = [c["name"] for c in hello["columns"]]
        if self._predictor is not None:
            needed = self._predictor.reads(needed, rows.columns)
        missing = sorted(set(needed) - set(rows.columns))
        if missing:
            raise UsageError(f"the frame lacks the columns {', '.join(missing)}")
        context = rows.sparkSession.sparkContext
        schema = types.StructType([*rows.schema.fields, *(types.StructField(n, types.DoubleType()) for n in names)])
        model = self.network
        archive = context.broadcast(_shipping.pack(self.result, *([] if model is None else [model])))
        base = None if model is None else os.path.basename(model.rstrip("/"))
        predictor = None if self._predictor is None else context.broadcast(_shipping.pickled(self._predictor, self._predictor.what))
        task = Parts(self._program, archive, os.path.basename(self.result), base, predictor, needed, names, se, options.get("na", "error"))
        return rows.mapInArrow(task, schema)


class Parts:
    """Adds the parts of rows to their batches, on an executor."""

    def __init__(
        self,
        program: Optional[str],
        archive: Any,
        result: str,
        model: Optional[str],
        predictor: Any,
        needed: Sequence[str],
        names: Sequence[str],
        se: bool,
        na: str,
    ) -> None:
        self._program = program
        self._archive = archive
        self._result = result
        self._model = model
        self._predictor = predictor  # broadcast, if the model is called
        self._needed = list(needed)
        self._names = list(names)
        self._se = se
        self._na = na

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        _shipping.installed(self._program)
        folder = _shipping.unpack(self._archive.value)
        model = None if self._model is None else os.path.join(folder, self._model)
        prepare = None if self._predictor is None else _shipping.unpickled(self._predictor.value).joined
        with _session.Session(_session.arguments(os.path.join(folder, self._result), model), prepare=prepare) as session:
            for batch in _task.short(batches):
                needed = pyarrow.table([_task.number(batch.column(c)) for c in self._needed], names=self._needed)
                parts = session.apply(needed, se=self._se, na=self._na)
                columns = [pyarrow.array(parts[p], "float64") for p in list(parts)]
                yield pyarrow.RecordBatch.from_arrays([*batch.columns, *columns], names=[*batch.schema.names, *self._names])
