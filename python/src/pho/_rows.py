"""Rows of any kind as data files that the program reads."""

from __future__ import annotations

import csv
import os
from typing import Any, Optional, Sequence, Union

from .errors import UsageError

Rows = Any  # a path, several, a DataFrame, an Arrow table, or a dict of columns


def files(rows: Rows, folder: str, name: str = "rows") -> list[str]:
    """The paths of files that hold the rows; tables in memory are written to `folder`.

    A path, or a list of paths, is taken as it is. Tables go through Arrow where pyarrow
    or polars is there, else through CSV. An index of a DataFrame is not a column.
    """
    if isinstance(rows, (str, os.PathLike)):
        return [os.fspath(rows)]
    if isinstance(rows, (list, tuple)) and rows and all(isinstance(r, (str, os.PathLike)) for r in rows):
        return [os.fspath(r) for r in rows]
    return [_written(rows, os.path.join(folder, name))]


def columns(rows: Rows) -> Optional[list[str]]:
    """The names of a table's columns; None of files."""
    if isinstance(rows, dict):
        return [str(c) for c in rows]
    names = getattr(rows, "column_names", None)
    if names is None:
        names = getattr(rows, "columns", None)
    return None if names is None else [str(c) for c in names]


def _written(rows: Rows, path: str) -> str:
    module = type(rows).__module__.split(".")[0]
    if module == "polars":
        frame = rows.collect() if hasattr(rows, "collect") else rows
        frame.write_ipc(path + ".arrow", compat_level=_oldest())
        return path + ".arrow"
    if module == "pandas" or module == "pyarrow" or isinstance(rows, dict) or hasattr(rows, "__arrow_c_stream__"):
        table = _arrow(rows, module)
        if table is not None:
            _write_arrow(table, path + ".arrow")
            return path + ".arrow"
        return _write_csv(rows, path + ".csv")
    raise UsageError(
        f"rows are a {type(rows).__module__}.{type(rows).__qualname__}: give a path, a DataFrame, "
        "an Arrow table, or a dict of columns"
    )


def _oldest() -> Any:
    import polars

    return polars.CompatLevel.oldest()


def _arrow(rows: Rows, module: str) -> Any:
    """An Arrow table of the rows; None without pyarrow."""
    try:
        import pyarrow
    except ImportError:
        return None
    if module == "pandas":
        frame = rows.rename(columns=str) if any(not isinstance(c, str) for c in rows.columns) else rows
        table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    elif isinstance(rows, dict):
        table = pyarrow.table({str(name): values for name, values in rows.items()})
    else:
        table = pyarrow.table(rows)
    return table.replace_schema_metadata(None)


def _write_arrow(table: Any, path: str) -> None:
    import pyarrow

    with pyarrow.OSFile(path, "wb") as file, pyarrow.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def _write_csv(rows: Rows, path: str) -> str:
    if not isinstance(rows, dict):
        rows.to_csv(path, index=False)
        return path
    names = [str(n) for n in rows]
    values: Sequence[Sequence[Any]] = [list(v) for v in rows.values()]
    if len({len(v) for v in values}) > 1:
        raise UsageError("the columns have different lengths: " + ", ".join(f"{n} {len(v)}" for n, v in zip(names, values)))
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([_cell(v) for v in row] for row in zip(*values))
    return path


def _cell(value: Any) -> Union[str, Any]:
    return repr(float(value)) if isinstance(value, float) else value
