"""How far the work is, on a terminal or in a notebook."""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Callable, Iterator, Optional

from ._command import Event


@contextlib.contextmanager
def shown(wanted: Optional[bool]) -> Iterator[Callable[[Event], None]]:
    """A function that shows the program's events, and takes its line away at the end."""
    bar = _Bar() if wanted or (wanted is None and _watched()) else None
    try:
        yield bar.event if bar is not None else _nothing
    finally:
        if bar is not None:
            bar.close()


def _nothing(event: Event) -> None:
    pass


def _watched() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


class _Bar:
    """A progress bar of tqdm if that is installed, else a line."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._bar: Any = None
        else:
            self._bar = tqdm(unit=" rows", leave=False)
        self._pass = ""
        self._total: Optional[int] = None

    def event(self, event: Event) -> None:
        if event.get("event") != "progress":
            return
        if event["pass"] != self._pass:
            self._pass = event["pass"]
            if self._bar is not None:
                self._bar.reset(total=self._total)
                self._bar.set_description(self._pass)
        if self._pass == "moments":
            self._total = event["rows"]
        if self._bar is not None:
            self._bar.n = event["rows"]
            self._bar.refresh()
        else:
            sys.stderr.write(f"\r\x1b[K{self._pass}: {event['rows']} rows")
            sys.stderr.flush()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._pass:
            sys.stderr.write("\r\x1b[K")
