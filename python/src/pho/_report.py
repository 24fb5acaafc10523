"""Pages of HTML, shown in notebooks."""

from __future__ import annotations

import os
import shutil
from typing import Any, Union


class Report:
    """A report of one file, without network access."""

    def __init__(self, path: str, keep: Any) -> None:
        self.path = path
        self._keep = keep  # the decomposition's files live as long as this

    def html(self) -> str:
        """The page."""
        with open(self.path, encoding="utf-8") as file:
            return file.read()

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write the page to a file."""
        shutil.copyfile(self.path, path)

    def _repr_html_(self) -> str:
        from html import escape

        style = "width:100%;height:720px;border:1px solid #ccc;box-sizing:border-box"
        return f'<iframe srcdoc="{escape(self.html(), quote=True)}" style="{style}"></iframe>'
