"""A decomposition's model that is called: its predictions as columns of rows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence

from . import _frames, _functions, _links, _rows
from ._need import need
from .errors import UsageError

Progress = Callable[[dict[str, Any]], None]


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

    def joined(self, rows: Any, predictions: Any = None) -> Any:
        """Rows in memory, or a single one, with their predictions."""
        single = isinstance(rows, dict) and not any(hasattr(v, "__len__") and not isinstance(v, (str, bytes)) for v in rows.values())
        single = single or type(rows).__name__ == "Series"
        if predictions is None and set(self.columns) <= set(rows.keys() if single else _rows.columns(rows) or []):
            return rows
        frame = _frames.row(rows) if single else _frames.frame(rows)
        if predictions is not None:
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
        return [written(files, self.functions, lambda i, k: self.names[i], self.clip and (self.link, self.clip), None, folder, None)]


def written(
    files: _frames.Files,
    functions: Sequence[_functions.Function],
    names: Callable[[int, int], list[str]],
    clip: Any,
    na: Optional[str],
    folder: str,
    seen: Optional[_links.Seen],
    codes: Optional[tuple[str, Callable[[Any], Any]]] = None,
    progress: Optional[Progress] = None,
) -> str:
    """Write the rows of files with predictions behind, batch by batch, as an Arrow file in `folder`.

    Parameters
    ----------
    names : callable
        The columns of model i, which has k predictions a row.
    clip : (str, float), optional
        Link and clip, if predictions are kept from its edge.
    seen : Seen, optional
        Learns what the predictions hold.
    codes : (str, callable), optional
        A column, and what makes numbers of it.
    """
    pyarrow = need("pyarrow", "to call a model on the rows of files")
    if not functions:
        raise UsageError("the decomposition is of predictions that were given: read the rows, and give theirs as predictions=")
    path, writer, schema, rows = os.path.join(folder, "rows.arrow"), None, None, 0
    sink = pyarrow.OSFile(path, "wb")
    try:
        for batch in files.batches(_functions.BATCH):
            frame = batch.to_pandas()
            frame.index = range(rows, rows + len(frame))
            arrays, fields = list(batch.columns), list(batch.schema)
            if seen is not None:
                seen.holes |= {str(c) for c in frame.columns[frame.isna().any()]}
            if codes is not None:
                at = batch.schema.get_field_index(codes[0])
                arrays[at], fields[at] = pyarrow.array(codes[1](frame[codes[0]]), from_pandas=True), pyarrow.field(codes[0], pyarrow.float64())
            for i, f in enumerate(functions):
                values = asked(f, frame, na, rows == 0)
                if seen is not None:
                    seen.add(values)
                values = values if not clip else _links.clipped(values, *clip)
                for j, name in enumerate(names(i, values.shape[1])):
                    arrays.append(pyarrow.array(values[:, j]))
                    fields.append(pyarrow.field(name, pyarrow.float64()))
            whole = pyarrow.RecordBatch.from_arrays(arrays, schema=pyarrow.schema(fields))
            if writer is None:
                schema = whole.schema
                writer = pyarrow.ipc.new_file(sink, schema)
            writer.write_batch(whole.cast(schema))
            rows += len(frame)
            if progress is not None:
                progress({"event": "progress", "pass": "predictions", "rows": rows})
    finally:
        if writer is not None:
            writer.close()
        sink.close()
    return path


def asked(function: _functions.Function, frame: Any, na: Optional[str], first: bool) -> Any:
    """Predictions of a DataFrame's rows; of rows with missing cells, which na="drop" leaves out, NaN."""
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
