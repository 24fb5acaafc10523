"""The passes of a plan as Spark's jobs."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Optional, Sequence

from .. import _command
from ..errors import Error, UsageError
from . import _shipping, _task
from ._rows import Shards

# Parts that one task, or the driver, adds up.
_FAN_IN = 32

# The flag that takes a pass's total into the plan.
_RECORD = {"scan": "--scan", "fit": "--statistics", "explain": "--explain", "pairs": "--pairs"}


class Passes:
    """A plan's passes over shards, up to its result.

    Attributes
    ----------
    folder : str
        Of the driver, for what is made.
    """

    def __init__(self, shards: Shards, folder: str, models: Sequence[str], program: Optional[str], flags: Sequence[str]) -> None:
        self._shards = shards
        self._folder = folder
        self._models = list(models)
        self._program = program
        self._flags = list(flags)
        self._plan = os.path.join(folder, "plan")
        self._result = os.path.join(folder, "result")
        self._context = shards.frame.sparkSession.sparkContext

    def run(self, arguments: Sequence[str]) -> str:
        """Plan with these arguments, make all passes, and return the result's directory."""
        columns = os.path.join(self._folder, "columns.arrow")
        self._write_columns(columns)
        counts = self._shards.counts
        listed = [",".join(map(str, counts[i : i + 1000])) for i in range(0, len(counts), 1000)]
        _command.run(
            ["plan", *arguments, f"--data={columns}", f"--out={self._plan}", *(f"--counts={c}" for c in listed)], files={columns: "the rows"}
        )
        while True:
            stage = json.loads(_command.run(["plan", f"--plan={self._plan}", "--json"]))["next"]
            if stage is None:
                return self._result
            self._record(stage["pass"], self._total(stage["pass"]))

    def _write_columns(self, path: str) -> None:
        """The frame's columns as a file without rows."""
        import pyarrow

        table = self._shards.frame.limit(0).toArrow()
        with pyarrow.OSFile(path, "wb") as file, pyarrow.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)

    def _record(self, name: str, total: str) -> None:
        if name == "scan":
            _command.run(["plan", f"--plan={self._plan}", f"--scan={total}"])
        else:
            _command.run(["solve", f"--plan={self._plan}", f"{_RECORD[name]}={total}", f"--out={self._result}", *self._flags])

    def _total(self, name: str) -> str:
        """The total of one pass over all shards."""
        archive = self._context.broadcast(_shipping.pack(self._plan, *self._models))
        try:
            task = _task.Pass(self._program, archive, self._shards.counts, name, [os.path.basename(m) for m in self._models], self._flags)
            rows = self._collected(self._shards.frame.mapInArrow(task, _task.PARTS))
        finally:
            archive.unpersist()
        paths = _task.files(rows, self._folder) + self._empty(name)
        out = os.path.join(self._folder, f"total-{name}.pho")
        _task.merge(paths, out, self._folder)
        for path in paths:
            os.remove(path)
        return out

    def _collected(self, parts: Any) -> list[Any]:
        """The parts of all shards; of very many, added up by tasks before, as a tree."""
        from pyspark.sql import functions

        left, width = len(self._shards.counts), 1
        merged = _task.merging(self._program)
        while left > _FAN_IN:
            width *= _FAN_IN
            left = -(-left // _FAN_IN)
            parts = parts.groupBy((functions.col("shard") / width).cast("int").alias("group")).applyInArrow(merged, _task.PARTS)
        try:
            return [(r.shard, r.piece, r.bytes) for r in parts.collect()]
        except Exception as fault:
            raise said(fault) from fault

    def _empty(self, name: str) -> list[str]:
        """The parts of shards without rows, which the driver makes."""
        schema = self._shards.frame.limit(0).toArrow().schema
        paths = []
        for shard, rows in enumerate(self._shards.counts):
            if rows == 0:
                paths.append(os.path.join(self._folder, f"part-{shard}.pho"))
                _task.feed(_task.accumulate(self._plan, name, shard, paths[-1], self._models, self._flags), iter(()), schema)
        return paths


# What a task's exception looks like in that of the driver.
_OURS = re.compile(r"pho\.errors\.(Usage)?Error: (.*?)(?:\n\s*\n|\n SQLSTATE|\n\tat |\Z)", re.DOTALL)


def said(fault: BaseException) -> BaseException:
    """The program's own words in what Spark raises for a failed task; else the exception itself."""
    found = _OURS.search(str(fault))
    if found is None:
        return fault
    return (UsageError if found[1] else Error)(found[2].strip())
