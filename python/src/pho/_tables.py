"""Tables that the program wrote, as DataFrames where there is a library for them."""

from __future__ import annotations

import csv
import functools
import importlib.util
from typing import Any, Iterable, Union

Table = Any  # pandas.DataFrame, polars.DataFrame, or a dict of columns


def parquet() -> bool:
    """Whether Parquet files can be read."""
    return (_has("polars") and not _has("pandas")) or (_has("pandas") and _has("pyarrow"))


def read(path: str) -> Table:
    """The table in a CSV or Parquet file: a pandas DataFrame, without pandas one of polars,
    without both a dict of lists.
    """
    binary = path.endswith(".parquet")
    if _has("pandas"):
        import pandas

        return pandas.read_parquet(path) if binary else _read_pandas(path)
    if _has("polars"):
        import polars

        return polars.read_parquet(path) if binary else polars.read_csv(path, infer_schema_length=None)
    return _read_csv(path)


def _read_pandas(path: str) -> Table:
    """Every digit counts: the default of older versions rounds."""
    import pandas

    exact = {} if int(pandas.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
    return pandas.read_csv(path, **exact)


def sums(table: Table, prefix: str, groups: Iterable[Iterable[str]]) -> Any:
    """A matrix of the sums of groups of a table's columns, whose names begin with the prefix."""
    import numpy

    return numpy.column_stack([sum(numpy.asarray(column(table, prefix + n), dtype=float) for n in names) for names in groups])


def of(records: Iterable[dict[str, Any]], columns: list[str]) -> Table:
    """A table of records, with these columns."""
    listed = list(records)
    data = {c: [r.get(c) for r in listed] for c in columns}
    if _has("pandas"):
        import pandas

        return pandas.DataFrame(data, columns=columns)
    if _has("polars"):
        import polars

        return polars.DataFrame(data)
    return data


def of_columns(values: memoryview, names: list[str], rows: int, index: Any = None) -> Table:
    """A table of columns of float64, one after the other in memory."""
    if _has("pandas"):
        import numpy
        import pandas

        matrix = numpy.frombuffer(values, dtype="<f8").reshape(len(names), rows)
        return pandas.DataFrame(matrix.T, columns=names, index=index, copy=False)
    numbers = values.cast("d").tolist()
    data = {name: numbers[j * rows : (j + 1) * rows] for j, name in enumerate(names)}
    if _has("polars"):
        import polars

        return polars.DataFrame(data)
    return data


def indexed(table: Table, index: Any) -> Table:
    """The table with the index of the rows that it is of, if it is a DataFrame of pandas."""
    return table if index is None or not hasattr(table, "set_axis") else table.set_axis(index)


def column(table: Table, name: str) -> list[Any]:
    """A column's values."""
    return list(table[name])


def _read_csv(path: str) -> dict[str, list[Union[float, str, None]]]:
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        names = next(rows)
        columns: list[list[Any]] = [[] for _ in names]
        for row in rows:
            for values, cell in zip(columns, row):
                values.append(cell)
    return {n: [_number(v) for v in values] for n, values in zip(names, columns)}


def _number(cell: str) -> Union[float, str, None]:
    if cell == "":
        return None
    try:
        return float(cell)
    except ValueError:
        return cell


@functools.cache
def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
