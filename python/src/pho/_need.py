"""Packages that are used when they are installed."""

from __future__ import annotations

import importlib
from typing import Any

from .errors import Error


def need(module: str, why: str, package: str = "") -> Any:
    """The module, or an error that says why it is needed."""
    try:
        return importlib.import_module(module)
    except ImportError as fault:
        raise Error(f"{module} is needed {why}: pip install {package or module}") from fault
