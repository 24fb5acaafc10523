"""What drawings, and the ways to other packages, need of a decomposition."""

from __future__ import annotations

from typing import Any, Optional, Protocol

from . import _rows, _tables


class Result(Protocol):
    """See Decomposition, which is one."""

    @property
    def artifact(self) -> dict[str, Any]: ...

    @property
    def result(self) -> str: ...

    @property
    def predictors(self) -> list[str]: ...

    @property
    def contributions(self) -> _tables.Table: ...

    def file(self, name: str) -> str: ...

    def predictor(self, name: Optional[str] = None) -> dict[str, Any]: ...

    def prefix(self, predictor: dict[str, Any]) -> str: ...

    def apply(self, rows: _rows.Rows) -> Any: ...
