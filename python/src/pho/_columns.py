"""Columns of any kind as numbers, or as codes of texts."""

from __future__ import annotations

import itertools
import math
import sys
from array import array
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, Optional, Sequence

from .errors import Error

_EXACT = 2**53


@dataclass
class Column:
    """Values as the program takes them: little-endian bytes, and the levels of texts.

    Attributes
    ----------
    values : bytes
        float64, NaN where missing; of texts int32 codes, -1 where missing.
    levels : list of str, optional
        Of texts, by code; None: the column holds numbers.
    """

    values: bytes
    levels: Optional[list[str]] = None


def is_text(column: Any) -> bool:
    """Whether a column of a table holds text."""
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if kind.startswith("categor"):
        categories: Any = getattr(getattr(column, "dtype", None), "categories", None)
        return getattr(categories, "dtype", None) is None or categories.dtype.kind not in "biuf"
    if kind in ("", "object"):
        return isinstance(next((v for v in column if not _missing(v)), None), str)
    return kind.startswith(("str", "large_str", "utf8", "dictionary", "enum", "<u"))


def is_category(column: Any) -> bool:
    """Whether a column of a table holds text, or pandas' categories."""
    return is_text(column) or hasattr(getattr(column, "dtype", None), "categories")


def encode(name: str, column: Any, text: bool = False) -> Column:
    """The column's values for the program; of text, if nothing else tells what they are.

    Raises
    ------
    Error
        For dates and other things that are neither numbers nor text.
    """
    if is_text(column) or (text and _empty(column)):
        return _texts(name, column)
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return _plain(name, list(column))
    values = _numpy(name, column)
    if values.ndim > 1:
        raise _unfit(name, "list", column[0])
    kind = values.dtype.kind
    if kind == "O":
        return _plain(name, values.tolist())
    if kind not in "biuf":
        raise _unfit(name, values.dtype, values[0] if len(values) else None)
    if kind in "iu" and len(values) and (values.max() > _EXACT or values.min() < -_EXACT):
        raise _inexact(name)
    return Column(numpy.ascontiguousarray(values, dtype="<f8").tobytes())


def arrays(name: str, column: Any, shape: Sequence[int]) -> Column:
    """The values of a column whose cells are arrays, lists of lists or the like of that shape, or flat: row after row."""
    out = bytearray()
    cells = next((getattr(column, method)() for method in ("to_pylist", "to_list") if hasattr(column, method)), column)
    for i, cell in enumerate(cells):
        if hasattr(cell, "__array__"):
            import numpy

            has, values = numpy.shape(cell), numpy.asarray(cell, dtype="<f8").tobytes()
        else:
            values = _plain(name, list(_leaves(cell))).values
            has = (len(values) // 8,)
        if has not in (tuple(shape), (math.prod(shape),)):
            raise Error(f"column {name!r}, row {i}: the array has the shape {has}, the network takes {tuple(shape)}")
        out += values
    return Column(bytes(out))


def _leaves(value: Any) -> Iterator[Any]:
    """The numbers of nested lists, in order."""
    if is_scalar(value):
        yield value
        return
    for v in value:
        yield from _leaves(v)


def _numpy(name: str, column: Any) -> Any:
    """An array of the column, missing values NaN where it can hold them."""
    import numpy

    dtype: Any = getattr(column, "dtype", None)
    if hasattr(dtype, "na_value") and not isinstance(dtype, numpy.dtype):  # pandas' own types
        if hasattr(dtype, "categories"):
            return numpy.asarray(column)
        if getattr(dtype, "kind", "O") in "biuf":
            if dtype.kind in "iu" and len(column) and (column.abs() > _EXACT).any():
                raise _inexact(name)
            return column.to_numpy("float64", na_value=numpy.nan)
        return numpy.asarray(column, dtype=object)
    if hasattr(column, "to_numpy"):
        return numpy.asarray(column.to_numpy())
    return numpy.asarray(column)


def _plain(name: str, values: Sequence[Any]) -> Column:
    out = array("d", (_number(name, v) for v in values))
    if sys.byteorder == "big":
        out.byteswap()
    return Column(out.tobytes())


def _number(name: str, value: Any) -> float:
    if _missing(value):
        return float("nan")
    if isinstance(value, str):
        raise Error(f"column {name!r} holds {value!r} among numbers: make it a column of text, or of numbers")
    if isinstance(value, int) and abs(value) > _EXACT:
        raise _inexact(name)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise _unfit(name, type(value).__name__, value) from None


def _texts(name: str, column: Any) -> Column:
    if hasattr(column, "cat") and hasattr(column.cat, "codes"):  # pandas
        levels = [str(v) for v in column.cat.categories]
        codes: Iterable[int] = column.cat.codes
    else:
        place: dict[str, int] = {}
        codes = [_code(name, v, place) for v in (column.to_pylist() if hasattr(column, "to_pylist") else column)]
        levels = list(place)
    out = array("i", codes)
    if sys.byteorder == "big":
        out.byteswap()
    return Column(out.tobytes(), levels)


def _code(name: str, value: Any, place: dict[str, int]) -> int:
    if _missing(value):
        return -1
    if not isinstance(value, str):
        raise Error(f"column {name!r} holds {value!r} among texts: make it a column of text, or of numbers")
    return place.setdefault(value, len(place))


def _empty(column: Any) -> bool:
    """Whether a column has no value; only of types that could hold text."""
    kind = str(getattr(column, "dtype", getattr(column, "type", "object"))).lower()
    return kind in ("object", "null") and all(_missing(v) for v in column)


def _missing(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType" or value != value


def _unfit(name: str, kind: Any, example: Any) -> Error:
    what = "dates" if "date" in str(kind).lower() or "time" in str(kind).lower() else f"values of type {kind}"
    return Error(
        f"column {name!r} holds {what}, such as {example!r}: neither numbers nor text; "
        "store what the model was trained on, as numbers (hours since some day, say) or as text"
    )


def _inexact(name: str) -> Error:
    return Error(f"column {name!r} holds whole numbers beyond 2^53, which would be rounded; store it as text if it is a name, else as float")


def is_scalar(value: Any) -> bool:
    """Whether a value is a cell and not a column."""
    return isinstance(value, (str, bytes)) or not hasattr(value, "__len__") or getattr(value, "shape", None) == ()


def is_arrays(column: Any) -> bool:
    """Whether the cells of a column are arrays, or lists."""
    return any(not is_scalar(cell) for cell in itertools.islice(column, 1))
