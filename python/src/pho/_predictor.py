"""A decomposition's model that is called: its predictions as columns of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Optional, Sequence

from . import _frames, _functions, _links, _rows
from ._need import need
from .errors import Error, UsageError


@dataclass
class Predictor:
    """Models, and the columns that their predictions become.

    Attributes
    ----------
    functions : list of Function
        Empty: predictions were given, and have to be of other rows, too.
    names : list of list of str
        The columns of each.
    link : str
        Of the predictions.
    clip : float, optional
        How far from the edge of the link they are kept.
    """

    functions: list[_functions.Function]
    names: list[list[str]]
    link: str
    clip: Optional[float] = None

    @property
    def columns(self) -> list[str]:
        """All columns of predictions."""
        return [n for names in self.names for n in names]

    @property
    def what(self) -> str:
        """What is called, for messages."""
        return ", ".join(f.what for f in self.functions)

    def reads(self, columns: Sequence[str], there: Sequence[str]) -> list[str]:
        """These columns that rows need; in place of predictions that are not there, those that the models are given."""
        if not self.functions or set(self.columns) <= set(there):
            return list(columns)
        given = [c for f in self.functions for c in f.columns or ()]
        return list(dict.fromkeys([*(c for c in columns if c not in self.columns), *given]))

    def joined(self, rows: Any, predictions: Any = None) -> Any:
        """Rows in memory, or a single one, with their predictions."""
        single = isinstance(rows, dict) and not any(hasattr(v, "__len__") and not isinstance(v, (str, bytes)) for v in rows.values())
        single = single or type(rows).__name__ == "Series"
        there = predictions is None and set(self.columns) <= set(rows.keys() if single else _rows.columns(rows) or [])
        if there and self.clip is None:
            return rows
        frame = _frames.row(rows) if single else _frames.frame(rows)
        if there:
            values = [frame[names].to_numpy(float) for names in self.names]
        elif predictions is not None:
            values = [_functions.array(predictions, len(frame))]
        elif not self.functions:
            told = "the decomposition is of predictions that were given"
            raise UsageError(f"{told}: give those of these rows as predictions=, or load it with its model=")
        else:
            values = [f(frame) for f in self.functions]
        if [v.shape[1] for v in values] != [len(n) for n in self.names]:
            raise UsageError(f"there are {values[0].shape[1]} predictions a row, and were {len(self.names[0])} when the model was decomposed")
        for of, names in zip(values, self.names):
            of = _accepted(of, self.link, self.clip)
            for j, name in enumerate(names):
                if not single:
                    rows = _rows.joined(_rows.readable(rows), name, of[:, j])
                elif isinstance(rows, dict):
                    rows = {**rows, name: float(of[0, j])}
                else:
                    rows = type(rows)({**rows.to_dict(), name: float(of[0, j])}, name=rows.name)
        return rows

    def file(self, paths: Sequence[str], folder: str) -> list[str]:
        """Files of the rows of files with their predictions: one in `folder`, unless they have them already."""
        files = _frames.Files(paths)
        if not self.functions and set(self.columns) <= set(files.columns):
            return list(paths)
        if not self.functions:
            raise UsageError("the decomposition is of predictions that were given: read the rows, and give theirs as predictions=")
        return [files.added(self._adding(), folder)]

    def _adding(self) -> "Adding":
        return Adding(self.functions, dict(enumerate(self.names)), clip=None if self.clip is None else (self.link, self.clip))


@dataclass
class Adding:
    """Puts predictions behind the rows of record batches.

    Attributes
    ----------
    functions : list of Function
        The models.
    names : dict of list of str
        The columns of each model's predictions, by its place; those of the others come in with the first batch.
    name : callable, optional
        Says what they are called: of model i, which has k predictions a row.
    clip : (str, float), optional
        Link and clip, if predictions are kept from its edge.
    na : str, optional
        What is done about missing cells.
    seen : Seen, optional
        Learns what the predictions hold.
    codes : (str, callable), optional
        A column, and what makes numbers of it.
    twice : bool
        The models are asked twice about the first rows.
    """

    functions: Sequence[_functions.Function]
    names: dict[int, list[str]]
    name: Optional[Callable[[int, int], list[str]]] = None
    clip: Optional[tuple[str, float]] = None
    na: Optional[str] = None
    seen: Optional[_links.Seen] = None
    codes: Optional[tuple[str, Callable[[Any], Any]]] = None
    twice: bool = True

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches with a column for each prediction; rows are counted over all of them."""
        pyarrow = need("pyarrow", "to call a model on the rows of files")
        rows = 0
        for batch in batches:
            frame = batch.to_pandas()
            frame.index = range(rows, rows + len(frame))
            arrays, fields = list(batch.columns), list(batch.schema)
            if self.seen is not None:
                self.seen.missing(frame)
            if self.codes is not None:
                name, numbers = self.codes
                at = batch.schema.get_field_index(name)
                arrays[at], fields[at] = pyarrow.array(numbers(frame[name]), from_pandas=True), pyarrow.field(name, pyarrow.float64())
            for i, f in enumerate(self.functions):
                values = asked(f, frame, self.na, self.twice and rows == 0, len(self.names.get(i, ())))
                if self.seen is not None:
                    self.seen.add(values)
                values = values if self.clip is None else _links.clipped(values, *self.clip)
                for j, name in enumerate(self._named(i, values.shape[1])):
                    arrays.append(pyarrow.array(values[:, j]))
                    fields.append(pyarrow.field(name, pyarrow.float64()))
            yield pyarrow.RecordBatch.from_arrays(arrays, schema=pyarrow.schema(fields))
            rows += len(frame)

    def _named(self, i: int, k: int) -> list[str]:
        if i not in self.names:
            assert self.name is not None
            self.names[i] = self.name(i, k)
        if len(self.names[i]) != k:
            raise Error(f"{self.functions[i].what} returns {k} predictions a row, and {len(self.names[i])} before")
        return self.names[i]


def asked(function: _functions.Function, frame: Any, na: Optional[str], first: bool, width: int = 0) -> Any:
    """Predictions of a DataFrame's rows; of rows with missing cells, which na="drop" leaves out, NaN: `width` of
    each, if there is no other row.
    """
    numpy = need("numpy", "to call a model")
    if na != "drop":
        out = function(frame)
        if first:
            function.same(frame, out)
        return out
    given = frame if function.columns is None else frame[[c for c in function.columns if c in frame]]
    complete = given.notna().all(axis=1).to_numpy()
    whole = frame[complete]
    if not len(whole):
        if width:
            return numpy.full((len(frame), width), numpy.nan)
        raise UsageError("no row is complete: every one has a missing cell in a column of the model")
    answers = function(whole)
    if first:
        function.same(whole, answers)
    out = numpy.full((len(frame), answers.shape[1]), numpy.nan)
    out[complete] = answers
    return out


def _accepted(values: Any, link: str, clip: Optional[float]) -> Any:
    """Predictions of new rows, which the link has to take."""
    seen = _links.Seen()
    seen.add(values)
    seen.link(link, True, clip)
    return _links.clipped(values, link, clip)
