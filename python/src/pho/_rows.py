"""Rows of any kind as data files that the program reads."""

from __future__ import annotations

import csv
import os
from typing import Any, Optional, Sequence, Union

from .errors import Error, UsageError

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


def is_files(rows: Rows) -> bool:
    """Whether rows are the path of a file, or a list of them."""
    return isinstance(rows, (str, os.PathLike, list, tuple))


def columns(rows: Rows) -> Optional[list[str]]:
    """The names of a table's columns; None of files."""
    if isinstance(rows, dict):
        return [str(c) for c in rows]
    if _is_matrix(rows):
        return [f"x{j}" for j in range(rows.shape[1])]
    if _module(rows) == "polars" and hasattr(rows, "collect_schema"):
        return list(rows.collect_schema().names())
    names = getattr(rows, "column_names", None)
    if names is None:
        names = getattr(rows, "columns", None)
    return None if names is None else [str(c) for c in names]


def readable(rows: Rows) -> Rows:
    """A table whose columns can be had by name: lazy ones are computed, a matrix has columns
    x0, x1, ..., and columns that numbers or others name are named by their text.
    """
    if _is_matrix(rows):
        return {f"x{j}": rows[:, j] for j in range(rows.shape[1])}
    module = _module(rows)
    if module == "polars":
        return rows.collect() if hasattr(rows, "collect") else rows
    if module == "pandas":
        return _distinct(rows.rename(columns=str) if any(not isinstance(c, str) for c in rows.columns) else rows)
    if module == "duckdb":
        return _query(rows)
    if hasattr(rows, "read_all"):  # a stream of batches
        return rows.read_all()
    if isinstance(rows, dict):
        return {str(name): values for name, values in rows.items()}
    if module != "pyarrow" and hasattr(rows, "__arrow_c_stream__"):
        return _pyarrow("to read such rows").table(rows)
    return rows


def _distinct(frame: Any) -> Any:
    """A DataFrame whose names differ: a doubled one is a column of lists, which nothing reads as numbers."""
    doubled = frame.columns[frame.columns.duplicated()].unique()
    if not len(doubled):
        return frame
    lists = {name: list(map(list, zip(*(frame[name].iloc[:, j] for j in range(frame[name].shape[1]))))) for name in doubled}
    return frame.loc[:, ~frame.columns.duplicated(keep=False)].assign(**lists)


def column(rows: Rows, name: str) -> Any:
    """A column of what readable returned."""
    return rows[name]


def selected(rows: Rows, names: list[str]) -> Rows:
    """Columns of what readable returned."""
    if isinstance(rows, dict):
        return {n: rows[n] for n in names}
    return rows[names] if _module(rows) == "pandas" else rows.select(names)


def joined(rows: Rows, name: str, values: Any) -> Rows:
    """What readable returned, with one more column, or another one of that name."""
    module = _module(rows)
    if len(values) != rows_in(rows):
        raise UsageError(f"{name} has {len(values)} values, the rows are {rows_in(rows)}")
    if module == "pandas":
        return rows.assign(**{name: getattr(values, "to_numpy", lambda: values)()})
    if isinstance(rows, dict):
        return {**rows, name: values}
    if module == "polars":
        import polars

        return rows.with_columns(polars.Series(name, values))
    values = _pyarrow("to join columns").array(values)
    at = rows.schema.get_field_index(name)
    return rows.append_column(name, values) if at < 0 else rows.set_column(at, name, values)


def rows_in(rows: Rows) -> int:
    """The number of rows of what readable returned."""
    if isinstance(rows, dict):
        return max((len(v) for v in rows.values()), default=0)
    return len(rows)


def cells(rows: Rows, name: str) -> list[Any]:
    """A column's values as Python's own."""
    values = column(rows, name)
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def index(rows: Rows) -> Any:
    """The index of a DataFrame, if it says more than the numbers of rows; else None."""
    if _module(rows) != "pandas" or not hasattr(rows, "index"):
        return None
    own = rows.index
    plain = type(own).__name__ == "RangeIndex" and own.start == 0 and own.step == 1 and own.name is None
    return None if plain else own


def _module(rows: Rows) -> str:
    return type(rows).__module__.split(".")[0].lstrip("_")


def _is_matrix(rows: Rows) -> bool:
    return type(rows).__module__ == "numpy" and getattr(rows, "ndim", 0) == 2


def _query(rows: Rows) -> Any:
    """An Arrow table of a relation of DuckDB."""
    _pyarrow("to read a relation of DuckDB")
    for method in ("to_arrow_table", "fetch_arrow_table", "arrow"):
        if hasattr(rows, method):
            table = getattr(rows, method)()
            return table.read_all() if hasattr(table, "read_all") else table
    raise UsageError("this version of DuckDB gives no Arrow tables: call .df() on the relation")


def _pyarrow(why: str) -> Any:
    try:
        import pyarrow
    except ImportError as fault:
        raise Error(f"pyarrow is needed {why}: pip install pyarrow") from fault
    return pyarrow


def _written(rows: Rows, path: str) -> str:
    if columns(rows) is None and not hasattr(rows, "__arrow_c_stream__"):
        raise unfit(rows)
    rows = readable(rows)
    module = _module(rows)
    if module == "polars":
        rows.write_ipc(path + ".arrow", compat_level=_oldest())
        return path + ".arrow"
    table = _arrow(rows, module)
    if table is None:
        return _write_csv(rows, path + ".csv")
    _write_arrow(table, path + ".arrow")
    return path + ".arrow"


def unfit(rows: Rows) -> UsageError:
    """The exception for what are no rows."""
    kind = f"{type(rows).__module__}.{type(rows).__qualname__}"
    return UsageError(f"rows are a {kind}: give a path, a DataFrame, an Arrow table, or a dict of columns")


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
        rows = _decoded(rows)
        table = pyarrow.table({n: _array(pyarrow, rows[n]) for n in rows.columns})
    elif isinstance(rows, dict):
        lengths = {n: len(v) for n, v in rows.items()}
        if len(set(lengths.values())) > 1:
            raise _uneven(lengths)
        table = pyarrow.table({n: _array(pyarrow, v) for n, v in rows.items()})
    elif isinstance(rows, pyarrow.RecordBatch):
        table = pyarrow.Table.from_batches([rows])
    else:
        table = rows
    return table.replace_schema_metadata(None)


def _array(pyarrow: Any, column: Any) -> Any:
    """A column for Arrow. What is neither of numbers nor of text becomes records, which the program
    refuses if it is to read them.
    """
    if hasattr(getattr(column, "dtype", None), "fill_value"):  # sparse
        column = column.sparse.to_dense()
    unfit = (ValueError, TypeError, NotImplementedError, pyarrow.ArrowException)
    try:
        return pyarrow.array(column, from_pandas=True)
    except unfit:
        pass
    try:  # arrays of several axes are nested lists
        return pyarrow.array([v.tolist() if getattr(v, "ndim", 0) else v for v in column], from_pandas=True)
    except unfit:
        kinds = sorted({type(v).__name__ for v in column})
        return pyarrow.nulls(len(column), pyarrow.struct([(" and ".join(kinds[:3]), pyarrow.int8())]))


def numbered(rows: Rows) -> list[str]:
    """The columns of a DataFrame that are categories, each of a number."""
    if _module(rows) != "pandas":
        return []
    return [str(c) for c, dtype in zip(rows.columns, rows.dtypes) if hasattr(dtype, "categories") and dtype.categories.dtype.kind in "biuf"]


def _decoded(frame: Any) -> Any:
    """The DataFrame with such columns as numbers: Arrow would make texts of them."""
    names = numbered(frame)
    return frame.astype({n: frame[n].cat.categories.dtype if frame[n].notna().all() else "float64" for n in names}) if names else frame


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
        raise _uneven({n: len(v) for n, v in zip(names, values)})
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([_cell(v) for v in row] for row in zip(*values))
    return path


def _uneven(lengths: dict[str, int]) -> UsageError:
    return UsageError("the columns have different lengths: " + ", ".join(f"{n} {length}" for n, length in lengths.items()))


def _cell(value: Any) -> Union[str, Any]:
    return repr(float(value)) if isinstance(value, float) else value
