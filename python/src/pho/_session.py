"""A decomposition kept open for rows that come one by one."""

from __future__ import annotations

import os
import threading
import warnings
import weakref
from typing import Any, Callable, Optional, Sequence

from . import _columns, _process, _rows, _tables
from .errors import UsageError

__all__ = ["Session"]


class Session:
    """A process of the program that keeps a decomposition and its network open.

    Made by :meth:`Decomposition.session`; also a context manager, which closes it. It may be
    used by several threads: they wait for each other. After a fork the child's copy starts a
    process of its own, and so does a session whose process was interrupted, at its next use.

    Examples
    --------
    >>> with d.session() as s:  # doctest: +SKIP
    ...     s.apply({"age": 41, "region": "north"})["s(age)"]
    """

    def __init__(self, arguments: Sequence[str], keep: Any = None, prepare: Optional[Callable[[Any], Any]] = None) -> None:
        self._arguments = list(arguments)
        self._keep = keep  # the files live as long as this
        self._prepare = prepare  # puts predictions to rows
        self._lock = threading.Lock()
        self._open: list[_process.Process] = []  # one, or none
        self._closed = False
        self._pid = os.getpid()
        self._finalizer = weakref.finalize(self, _close, self._open)
        self._hello = self._process().hello
        for said in self._hello.get("warnings", []):
            warnings.warn(said, stacklevel=3)

    @property
    def columns(self) -> list[str]:
        """The columns that rows need."""
        return [c["name"] for c in self._hello["columns"]]

    @property
    def parts(self) -> list[str]:
        """The parts of a row, in order: intercept, terms, unstructured, eta."""
        return list(self._hello["parts"])

    def apply(self, rows: Any, *, se: bool = False, na: str = "error", unseen: str = "error") -> Any:
        """The parts of rows, with the coefficients and the centring of the decomposition.

        Parameters
        ----------
        rows : dict of cells, pandas.Series, or a table
            One row, as a dict or a Series by column, or several, as a DataFrame, an Arrow
            table or a dict of columns. Where the network takes arrays, pictures say, cells of that column
            are arrays or nested lists; in a dict of columns the column may be one array, rows first.
        se : bool
            The standard error of each term as well, as ``TERM.se``.
        na : {"error", "drop", "keep"}
            What to do about missing values: drop gives the row missing parts, keep lets the
            network fill them in.
        unseen : {"error", "drop", "zero"}
            What to do about levels that training did not have: drop gives the row missing parts,
            zero lets terms of the column add nothing. A warning names them.

        Returns
        -------
        dict, pandas.Series or table
            A dict of a dict of cells, a Series of a Series, else a table with the same index.
        """
        if self._prepare is not None:
            rows = self._prepare(rows)
        n, columns = _taken(rows, self._hello["columns"])
        header: dict[str, Any] = {"op": "apply", "rows": n, "se": se, "na": na, "unseen": unseen}
        texts = {name: c.levels for name, c in columns.items() if c.levels is not None}
        if texts:
            header["texts"] = texts
        if len(columns) != len(self._hello["columns"]):
            header.update(rows=0, columns=_rows.columns(rows) or list(rows.keys()), texts={})
            columns = {}  # the program says which is missing
        answer, payload = self._ask(header, [c.values for c in columns.values()])
        if "error" in answer:
            raise _process.refusal(answer)
        if answer.get("unseen"):
            named = ", ".join(f"{u['level']!r} of {u['column']!r} ({u['rows']} rows)" for u in answer["unseen"][:5])
            more = f" and {len(answer['unseen']) - 5} more" if len(answer["unseen"]) > 5 else ""
            warnings.warn(f"levels that the decomposition does not know, by unseen={unseen!r}: {named}{more}", stacklevel=2)
        return _given(rows, self._hello["parts_se" if se else "parts"], payload, n)

    def close(self) -> None:
        """End the process. The session cannot be used any more."""
        with self._own_lock():
            self._closed = True
            _close(self._open)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a session is a process and cannot be pickled: pickle the decomposition")

    def _own_lock(self) -> threading.Lock:
        """The lock; in a forked process a new one, and no process."""
        if self._pid != os.getpid():
            self._pid, self._lock = os.getpid(), threading.Lock()
            _close(self._open)
        return self._lock

    def _process(self) -> _process.Process:
        if self._closed:
            raise UsageError("the session is closed")
        if not self._open:
            self._open.append(_process.Process(self._arguments))
        return self._open[0]

    def _ask(self, header: dict[str, Any], payload: Sequence[bytes]) -> tuple[dict[str, Any], memoryview]:
        with self._own_lock():
            process = self._process()
            try:
                return process.ask(header, payload)
            except BaseException:  # an interrupt leaves half a conversation
                self._open.clear()
                process.kill()
                raise


def _close(processes: list[_process.Process]) -> None:
    while processes:
        processes.pop().close()


def _taken(rows: Any, needed: Sequence[dict[str, Any]]) -> tuple[int, dict[str, _columns.Column]]:
    """How many rows there are, and those of the columns that are there."""
    if is_row(rows):
        return 1, {c["name"]: _encoded(c, [rows[c["name"]]]) for c in needed if c["name"] in rows}
    known = _rows.columns(rows)
    if known is None:
        raise UsageError(
            f"rows are a {type(rows).__module__}.{type(rows).__qualname__}: give a dict or a Series for one row, "
            "a DataFrame, an Arrow table or a dict of columns for several"
        )
    rows, there = _rows.readable(rows), set(known)
    return _rows.rows_in(rows), {c["name"]: _encoded(c, _rows.column(rows, c["name"])) for c in needed if c["name"] in there}


def _encoded(needed: dict[str, Any], cells: Any) -> _columns.Column:
    """The cells of a column that the program needs; of arrays it tells the shape."""
    if needed.get("shape"):
        return _columns.arrays(needed["name"], cells, needed["shape"])
    return _columns.encode(needed["name"], cells, needed["text"])


def is_row(rows: Any) -> bool:
    """Whether rows are one: a dict of cells, of which some may be arrays, or a Series."""
    if isinstance(rows, dict):
        return not rows or any(_columns.is_scalar(v) for v in rows.values())
    return _is_series(rows)


def one(row: Any) -> dict[str, list[Any]]:
    """A table of one row."""
    return {str(name): [value] for name, value in row.items()}


def count(rows: Any) -> int:
    """How many rows there are in a row, or in what _rows.readable returned."""
    return 1 if is_row(rows) or _rows.columns(rows) is None else _rows.rows_in(rows)


def _is_series(rows: Any) -> bool:
    return type(rows).__name__ == "Series" and type(rows).__module__.startswith("pandas")


def _given(rows: Any, names: Sequence[str], payload: memoryview, n: int) -> Any:
    """The parts as what the rows are."""
    if is_row(rows):
        return like(rows, dict(zip(names, payload.cast("d"))))
    return _tables.of_columns(payload, list(names), n, _rows.index(rows))


def like(row: Any, parts: dict[str, float]) -> Any:
    """The parts of one row as what that is."""
    return parts if isinstance(row, dict) else type(row)(parts, name=row.name)


def arguments(result: str, model: Optional[str]) -> list[str]:
    """Those of the program for a result and its network."""
    return [result] + ([f"--model={model}"] if model is not None else [])
