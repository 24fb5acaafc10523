"""Errors: the command's own words."""

from __future__ import annotations

__all__ = ["Error", "UsageError"]


class Error(Exception):
    """The work failed; the message says what, where, why and what to do."""


class UsageError(Error, ValueError):
    """The call is wrong, whatever the files hold."""
