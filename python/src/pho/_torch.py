"""Torch modules as ONNX files."""

from __future__ import annotations

import contextlib
import inspect
import io
import logging
import warnings
from typing import Any, Iterator, Sequence, Union

from ._need import need
from .errors import Error, UsageError


def export(module: Any, columns: Union[list[str], dict[str, list[str]], None]) -> tuple[bytes, dict[str, Sequence[str]]]:
    """The bytes of a module's ONNX file, and the columns of its inputs.

    Every input is a matrix, rows x columns. Several are given as a dict, by the names of the
    parameters of ``forward``, or in their order. Inputs are of the type of the weights, or whole
    numbers where the module takes nothing else (embeddings).
    """
    torch = need("torch", "to export a torch module")
    need("onnxscript", "to export a torch module")
    if not columns:
        raise UsageError("a torch module does not name its columns: give them, in order, as inputs=[...]")
    by_input = columns if isinstance(columns, dict) else {"x": columns}
    first = next(module.parameters(), None)
    kind = torch.float32 if first is None else first.dtype
    device = None if first is None else first.device

    def examples(kinds: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(torch.zeros((2, len(c)), dtype=k, device=device) for c, k in zip(by_input.values(), kinds))

    order = _order(module, list(by_input))
    by_input = {name: by_input[name] for name in order}
    training = module.training
    module.eval()
    try:
        kinds = _kinds(torch, module, examples, len(by_input), kind)
        with _quiet():
            rows = torch.export.Dim("rows")
            program = torch.onnx.export(
                module,
                examples(kinds),
                dynamo=True,
                dynamic_shapes=[{0: rows} for _ in by_input],
                input_names=list(by_input),
                verbose=False,
            )
        buffer = io.BytesIO()
        program.save(buffer)
    except Error:
        raise
    except Exception as fault:
        raise Error(f"torch could not export the module to ONNX: {fault}") from fault
    finally:
        module.train(training)
    return buffer.getvalue(), dict(by_input)


def _order(module: Any, names: list[str]) -> list[str]:
    """The inputs in the order of forward's parameters, if they are named like these."""
    parameters = [p for p in inspect.signature(module.forward).parameters if p in names]
    return parameters if len(parameters) == len(names) else names


def _kinds(torch: Any, module: Any, examples: Any, inputs: int, kind: Any) -> list[Any]:
    """The types of the inputs: the first that the module takes, of the weights' and whole numbers."""
    fault: Exception = Error("no input")
    for choice in range(2**inputs):
        kinds = [torch.int64 if choice >> i & 1 else kind for i in range(inputs)]
        try:
            with torch.no_grad():
                module(*examples(kinds))
            return kinds
        except Exception as refused:
            if choice == 0:
                fault = refused
    raise UsageError(f"the module does not take {inputs} matrices of {kind}, rows x columns: {fault}") from fault


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without what the exporter tells of itself."""
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)
