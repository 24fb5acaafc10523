"""What runs on executors: the program, fed with a partition's rows."""

from __future__ import annotations

import os
import pickle
import subprocess
import tempfile
from typing import Any, Callable, Iterator, Optional, Sequence

from .. import _command, _functions, _links
from ..errors import Error
from . import _shipping
from ._rows import _partition

# Bytes of a row of what tasks return: a part may be larger than Arrow or Spark lets one value be.
_PIECE = 16 << 20

PARTS = "shard int, piece int, bytes binary"


class Pass:
    """One pass over a shard's rows: its part, in pieces."""

    def __init__(self, program: Optional[str], archive: Any, counts: Sequence[int], name: str, models: Sequence[str], flags: Sequence[str]) -> None:
        self._program = program
        self._archive = archive  # broadcast: the plan's folder and the networks
        self._counts = list(counts)
        self._name = name
        self._models = list(models)
        self._flags = list(flags)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        shard = _partition(TaskContext)
        if self._counts[shard] == 0:
            return
        _shipping.installed(self._program)
        folder = _shipping.unpack(self._archive.value)
        models = [os.path.join(folder, m) for m in self._models]
        with tempfile.TemporaryDirectory(prefix="pho-") as own:
            out = os.path.join(own, "part.pho")
            feed(accumulate(os.path.join(folder, "plan"), self._name, shard, out, models, self._flags), batches)
            yield from pieces(shard, out)


class Predicting:
    """Puts predictions behind a partition's rows."""

    def __init__(self, adding: Any) -> None:
        self._adding = adding  # broadcast

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        adding = _shipping.unpickled(self._adding.value)
        try:
            yield from adding(short(batches))
        except Error as fault:
            raise type(fault)(f"{fault} (partition {_partition(TaskContext)})") from fault.__cause__


class Looking:
    """What the predictions of a partition's rows hold.

    Parameters
    ----------
    names : list of list of str
        The columns of each model's.
    """

    def __init__(self, names: Sequence[Sequence[str]]) -> None:
        self._names = [list(own) for own in names]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        seen = _links.Seen()
        for batch in batches:
            frame = batch.to_pandas()
            seen.missing(frame)
            for own in self._names:
                seen.add(frame[own].to_numpy(float))
        yield pyarrow.RecordBatch.from_pydict({"seen": pyarrow.array([pickle.dumps(seen)], "binary")})


def short(batches: Iterator[Any]) -> Iterator[Any]:
    """The batches, none with more rows than a model is called on."""
    for batch in batches:
        for at in range(0, batch.num_rows, _functions.BATCH):
            yield batch.slice(at, _functions.BATCH)


def number(column: Any) -> Any:
    """A column of Arrow, exact decimals as floating-point numbers."""
    import pyarrow

    return column.cast("float64") if pyarrow.types.is_decimal(column.type) else column


def accumulate(plan: str, name: str, shard: int, out: str, models: Sequence[str], flags: Sequence[str]) -> list[str]:
    """The arguments of a pass over a shard whose rows come by standard input."""
    arguments = ["accumulate", f"--plan={plan}", f"--pass={name}", f"--shard={shard}", "--data=-", f"--out={out}", "--workers=1"]
    return arguments + [f"--model={m}" for m in models] + list(flags)


def merging(program: Optional[str]) -> Callable[[Any], Any]:
    """A function that adds up the parts of several shards, in pieces again."""

    def merged(table: Any) -> Any:
        import pyarrow

        _shipping.installed(program)
        with tempfile.TemporaryDirectory(prefix="pho-") as own:
            out = os.path.join(own, "total.pho")
            shards, numbers, contents = (table.column(c).to_pylist() for c in ("shard", "piece", "bytes"))
            merge(files(zip(shards, numbers, contents), own), out, own)
            return pyarrow.Table.from_batches(list(pieces(min(shards), out)))

    return merged


def merge(paths: Sequence[str], out: str, folder: str) -> None:
    """Add up the parts in files; their names go by a file, as there may be thousands."""
    listed = os.path.join(folder, "parts.txt")
    with open(listed, "w", encoding="utf-8") as file:
        file.writelines(path + "\n" for path in paths)
    _command.run(["merge", "@" + listed, f"--out={out}"])


def files(rows: Any, folder: str) -> list[str]:
    """Parts put together from their pieces, each in a file, in the order of shards."""
    paths: list[str] = []
    for shard, piece, content in sorted(rows, key=lambda r: (r[0], r[1])):
        path = os.path.join(folder, f"part-{shard}.pho")
        if piece == 0:
            paths.append(path)
        with open(path, "ab" if piece else "wb") as file:
            file.write(content)
    return paths


def pieces(shard: int, path: str) -> Iterator[Any]:
    """A part's file as rows of pieces."""
    import pyarrow

    with open(path, "rb") as file:
        piece = 0
        while content := file.read(_PIECE):
            yield pyarrow.RecordBatch.from_pydict(
                {"shard": pyarrow.array([shard], "int32"), "piece": pyarrow.array([piece], "int32"), "bytes": pyarrow.array([content], "binary")}
            )
            piece += 1


def feed(arguments: Sequence[str], batches: Iterator[Any], schema: Any = None) -> None:
    """Run the program with record batches as its standard input."""
    import pyarrow

    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen([_command.binary(), *arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said)
        assert process.stdin is not None
        writer = None
        try:
            if schema is not None:
                writer = pyarrow.ipc.new_stream(process.stdin, schema)
            for batch in batches:
                if writer is None:
                    writer = pyarrow.ipc.new_stream(process.stdin, batch.schema)
                writer.write_batch(batch)
            if writer is not None:
                writer.close()
            process.stdin.close()
        except OSError:  # it ended before it had read all: it says why
            pass
        except BaseException:  # half of the rows are no rows
            process.kill()
            process.wait()
            raise
        status = process.wait()
        if status != 0:
            said.seek(0)
            raise _failure(status, said.read().decode("utf-8", "replace"))


def _failure(status: int, said: str) -> BaseException:
    fault = _command.error(status, said)
    return Error("the program was interrupted") if isinstance(fault, KeyboardInterrupt) else fault
