"""The rows of a frame, cut into shards that stay as they are."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Optional, Sequence, Union

from ..errors import Error, UsageError

Frame = Any  # pyspark.sql.DataFrame
Order = Union[str, Any, Sequence[Any], None]  # names, or columns, of pyspark

_NUMBER = "_pho_row"  # the column with the numbers of rows, while they are sorted

# Types of numbers that the program reads, by the names of Spark; text besides.
NUMBERS = ("byte", "short", "integer", "long", "float", "double", "boolean")

UNORDERED = (
    "the rows of this frame were shuffled, and Spark does not say in which order they come: another run, or a task that is "
    "tried again, may differ in the last digits. Give order_by= a column that numbers the rows"
)


@dataclass
class Shards:
    """Rows by partition: shard i is partition i.

    Attributes
    ----------
    frame : DataFrame
        The rows, persisted.
    counts : list of int
        The rows of each partition.
    """

    frame: Frame
    counts: list[int]
    _kept: list[Frame] = field(default_factory=list)

    def release(self) -> None:
        """Let Spark forget the rows."""
        for frame in self._kept:
            frame.unpersist()


def readable(frame: Frame) -> Frame:
    """The columns that the program can read; exact decimals become floating-point numbers."""
    from pyspark.sql import functions

    kept = []
    for entry in frame.schema.fields:
        name, kind = quoted(entry.name), entry.dataType.typeName()
        if kind == "decimal":
            kept.append(functions.col(name).cast("double").alias(entry.name))
        elif kind in NUMBERS or kind.startswith(("string", "varchar", "char")):
            kept.append(functions.col(name))
    if not kept:
        raise UsageError("the frame has no columns of numbers or text")
    return frame.select(kept)


def quoted(name: str) -> str:
    """A column's name as an expression."""
    return "`" + name.replace("`", "``") + "`"


def cut(frame: Frame, order_by: Order, rows_per_task: int, adding: Callable[[Frame], Frame] = lambda frame: frame) -> Shards:
    """The rows in shards: of `rows_per_task` each in the given order, or the frame's own partitions.

    `adding` puts further columns to rows that are where they stay.
    """
    if order_by is None:
        if shuffled(frame):
            warnings.warn(UNORDERED, UserWarning, stacklevel=4)
        return _counted([adding(frame).persist()])
    return _sorted(frame, order_by, rows_per_task, adding)


def shuffled(frame: Frame) -> bool:
    """Whether rows come through a shuffle that leaves their order open."""
    frame = getattr(frame, "_jdf", None)
    return frame is not None and "Exchange" in str(frame.queryExecution().executedPlan().toString())


def _sorted(frame: Frame, order_by: Order, rows_per_task: int, adding: Callable[[Frame], Frame]) -> Shards:
    """Rows sorted, numbered, and cut by their numbers.

    Spark's own cuts of sorted rows come from a sample; these depend on the rows alone.
    """
    from pyspark.sql import functions

    if _NUMBER in frame.columns:
        raise UsageError(f"a column is called {_NUMBER!r}, which is needed here: rename it")
    first = list(order_by) if isinstance(order_by, (list, tuple)) else [order_by]
    # All other columns decide between rows that are equal in those: what is left are equal rows.
    in_order = frame.orderBy(*first, *[functions.col(quoted(c)) for c in frame.columns]).persist()
    try:
        counts = count(in_order)
        rows = sum(counts)
        shards = max(1, -(-rows // rows_per_task))
        numbered = in_order.mapInArrow(_Numbering(counts), _with_number(in_order))
        number = functions.col(_NUMBER)
        by_number = numbered.repartitionById(shards, (number / rows_per_task).cast("int")).sortWithinPartitions(_NUMBER)
        out = _counted([adding(by_number.drop(_NUMBER)).persist(), in_order])
    except BaseException:
        in_order.unpersist()
        raise
    wanted = [min(rows_per_task, rows - i * rows_per_task) for i in range(shards)]
    if rows and out.counts != wanted:
        out.release()
        raise Error(f"the shards hold {out.counts[:5]}... rows, not {wanted[:5]}...: this version of Spark cuts them in another way")
    return out


def _counted(kept: list[Frame]) -> Shards:
    shards = Shards(kept[0], [], kept)
    try:
        shards.counts = count(kept[0])
    except BaseException:
        shards.release()
        raise
    return shards


def count(frame: Frame) -> list[int]:
    """The rows of each partition, empty ones included."""
    found = {r.shard: r.rows for r in frame.mapInArrow(_counting, "shard int, rows long").collect()}
    return [found.get(i, 0) for i in range(partitions(frame))]


def partitions(frame: Frame) -> int:
    """How many partitions there are."""
    return int(frame.rdd.getNumPartitions())


def _with_number(frame: Frame) -> Any:
    from pyspark.sql import types

    return types.StructType([*frame.schema.fields, types.StructField(_NUMBER, types.LongType(), False)])


def _counting(batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow
    from pyspark import TaskContext

    rows = sum(b.num_rows for b in batches)
    yield pyarrow.RecordBatch.from_pydict(
        {"shard": pyarrow.array([_partition(TaskContext)], "int32"), "rows": pyarrow.array([rows], "int64")}
    )


class _Numbering:
    """Adds the number of each row among all."""

    def __init__(self, counts: Sequence[int]) -> None:
        self._first = [sum(counts[:i]) for i in range(len(counts))]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        from pyspark import TaskContext

        at: Optional[int] = None
        for b in batches:
            if at is None:
                at = self._first[_partition(TaskContext)]
            numbers = pyarrow.array(range(at, at + b.num_rows), "int64")
            at += b.num_rows
            yield pyarrow.RecordBatch.from_arrays([*b.columns, numbers], names=[*b.schema.names, _NUMBER])


def _partition(context: Any) -> int:
    task = context.get()
    assert task is not None
    return int(task.partitionId())
