"""What a network holds, before it is decomposed."""

from __future__ import annotations

import json
import tempfile
from typing import Any

from . import _command, _models

__all__ = ["Inspection", "inspect"]


def inspect(model: _models.Model, **options: Any) -> "Inspection":
    """Say what a network holds, as :func:`decompose` will see it: inputs, predictors, terms and why.

    Parameters
    ----------
    model : path, bytes, onnx.ModelProto, torch.nn.Module or estimator
    **options
        The flags of ``pho inspect`` with underscores.

    Returns
    -------
    Inspection
    """
    with tempfile.TemporaryDirectory(prefix="pho-") as folder:
        path = _models.network(model, None, folder).path
        arguments, files = ["inspect", path, *_command.flags(options)], {path: "the model"}
        return Inspection(json.loads(_command.run([*arguments, "--json"], files=files)), _command.run(arguments, files=files))


class Inspection:
    """What :func:`inspect` found; shown as text."""

    def __init__(self, document: dict[str, Any], text: str) -> None:
        self._document, self._text = document, text

    @property
    def document(self) -> dict[str, Any]:
        """What ``pho inspect --json`` prints."""
        return self._document

    def __repr__(self) -> str:
        return self._text.rstrip("\n")
