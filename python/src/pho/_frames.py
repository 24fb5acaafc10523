"""Rows of any kind as DataFrames, for models that are called; files in batches."""

from __future__ import annotations

import contextlib
import glob
import os
from typing import Any, Generator, Iterator, Optional, Sequence

from . import _functions, _rows
from ._need import need
from .errors import Error, UsageError

_MISSING = ["", "NA", "NaN", "nan", "NAN"]  # as the program has them


def frame(rows: _rows.Rows) -> Any:
    """A DataFrame of a table in memory."""
    pandas = need("pandas", "to call a model on rows")
    rows = _rows.readable(rows)
    if type(rows).__module__.startswith("pandas"):
        return rows
    return rows.to_pandas() if hasattr(rows, "to_pandas") else pandas.DataFrame(rows)


def row(cells: Any) -> Any:
    """A DataFrame of one row: a dict of cells, or a Series."""
    pandas = need("pandas", "to call a model on rows")
    return pandas.DataFrame({str(name): [value] for name, value in cells.items()})


class Files:
    """Data files as batches of Arrow, read anew each time.

    Parameters
    ----------
    paths : list of str
        Files, or patterns of them, as the program takes them.
    delimiter : str, optional
        Of CSV files.
    """

    def __init__(self, paths: Sequence[str], delimiter: Optional[str] = None) -> None:
        self.paths = [p for path in paths for p in _matching(os.fspath(path))]
        self._delimiter = delimiter or ","
        need("pyarrow", "to call a model on the rows of files")

    @property
    def columns(self) -> list[str]:
        """Their names."""
        return [str(n) for n in next(iter(self.batches(1))).schema.names]

    def batches(self, size: int) -> Iterator[Any]:
        """Record batches of at most so many rows."""
        import pyarrow

        for path in self.paths:
            try:
                with contextlib.closing(self._read(path)) as read:
                    for batch in read:
                        for at in range(0, max(batch.num_rows, 1), size):
                            yield batch.slice(at, size)
            except (OSError, pyarrow.ArrowException) as fault:
                raise Error(f"the rows of {path!r} cannot be read for the model: {fault}") from fault

    def added(self, adding: Any, folder: str, progress: Any = None) -> Any:
        """The rows with predictions behind, batch by batch: an Arrow file in `folder`.

        Parameters
        ----------
        adding : Adding
            Puts them there.
        """
        import pyarrow

        path, writer, schema, rows = os.path.join(folder, "rows.arrow"), None, None, 0
        with pyarrow.OSFile(path, "wb") as sink:
            try:
                for batch in adding(self.batches(_functions.BATCH)):
                    if writer is None:
                        schema = batch.schema
                        writer = pyarrow.ipc.new_file(sink, schema)
                    writer.write_batch(batch.cast(schema))
                    rows += batch.num_rows
                    if progress is not None:
                        progress({"event": "progress", "pass": "predictions", "rows": rows})
            finally:
                if writer is not None:
                    writer.close()
        return path

    def _read(self, path: str) -> Generator[Any, None, None]:
        import pyarrow
        from pyarrow import csv, ipc, parquet

        with open(path, "rb") as file:
            start = file.read(6)
        if start[:4] == b"PAR1":
            yield from parquet.ParquetFile(path).iter_batches()
        elif start == b"ARROW1":
            with pyarrow.memory_map(path) as source, ipc.open_file(source) as reader:
                yield from (reader.get_batch(i) for i in range(reader.num_record_batches))
        elif start[:4] == b"\xff\xff\xff\xff":
            with pyarrow.memory_map(path) as source, ipc.open_stream(source) as reader:
                yield from reader
        elif start == b"\x93NUMPY":
            yield pyarrow.RecordBatch.from_pydict(_rows.readable(need("numpy", "to read .npy").load(path)))
        else:
            parse = csv.ParseOptions(delimiter="\t" if self._delimiter == "tab" else self._delimiter, newlines_in_values=True)
            options = self._options(column_types=self._types(path, parse))
            with csv.open_csv(path, parse_options=parse, convert_options=options) as reader:
                yield from reader

    @staticmethod
    def _options(**types: Any) -> Any:
        from pyarrow import csv

        return csv.ConvertOptions(null_values=_MISSING, strings_can_be_null=True, timestamp_parsers=["-"], **types)

    @staticmethod
    def _types(path: str, parse: Any) -> dict[str, Any]:
        """Numbers of a CSV file as float64, whatever the first rows hold; empty columns too."""
        import pyarrow
        from pyarrow import csv, types

        with csv.open_csv(path, parse_options=parse, convert_options=Files._options()) as reader:
            fields = list(reader.schema)
        return {f.name: pyarrow.float64() if types.is_integer(f.type) or types.is_null(f.type) else f.type for f in fields}


def _matching(path: str) -> list[str]:
    if os.path.exists(path):
        return [path]
    found = sorted(glob.glob(path))
    if found:
        return found
    if "://" in path:
        raise UsageError(f"{path!r}: a model in memory is called on files of this machine; fetch it, or give the model as an ONNX file")
    raise Error(f"no file {path!r}")
