"""The program `pho` and how it is run."""

from __future__ import annotations

import functools
import glob
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import warnings
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence

from . import _words
from .errors import Error, UsageError

_USAGE, _INTERRUPTED = 2, 130

Event = dict[str, Any]


def binary() -> str:
    """The program's path: $PHO_BINARY, else the one installed with this package, else PATH's."""
    named = os.environ.get("PHO_BINARY")
    if named:
        return named
    name = "pho.exe" if sys.platform == "win32" else "pho"
    for folder in _script_folders():
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("pho")
    if found is None:
        raise Error(
            "the program 'pho' is not installed with this package and not on PATH: "
            "install a wheel for this platform, or set PHO_BINARY to the program's path"
        )
    return found


@functools.lru_cache(maxsize=1)
def _onnx_runtime() -> Optional[str]:
    """The library in this Python's package onnxruntime; None: there is none."""
    package = importlib.util.find_spec("onnxruntime")
    if package is None or package.origin is None:
        return None
    pattern = {"win32": "onnxruntime.dll", "darwin": "libonnxruntime.*dylib"}.get(sys.platform, "libonnxruntime.so.*")
    found = glob.glob(os.path.join(glob.escape(os.path.dirname(package.origin)), "capi", pattern))
    return max(found, default=None)


def environment() -> dict[str, str]:
    """The program's environment: with ``engine="onnxruntime"`` it takes the ONNX Runtime of this Python."""
    library = _onnx_runtime()
    return {**({} if library is None else {"ORT_DYLIB_PATH": library}), **os.environ}


def _script_folders() -> Iterable[str]:
    yield sysconfig.get_path("scripts")
    if "nt_user" in sysconfig.get_scheme_names() or "posix_user" in sysconfig.get_scheme_names():
        yield sysconfig.get_path("scripts", "nt_user" if os.name == "nt" else "posix_user")


def run(
    arguments: Sequence[str],
    on_event: Optional[Callable[[Event], None]] = None,
    files: Optional[Mapping[str, str]] = None,
    warn: bool = False,
) -> str:
    """Run the program and return its standard output.

    Parameters
    ----------
    arguments : sequence of str
        The command line, without the program's name.
    on_event : callable, optional
        Receives each line of JSON that the program writes about its work, for commands
        called with ``--log json``.
    files : dict, optional
        What messages call files that the caller has never heard of, by path.
    warn : bool
        What it warns of is a warning here.

    Raises
    ------
    UsageError, Error
        With the program's message.
    KeyboardInterrupt
        After the program has ended cleanly.
    """
    with subprocess.Popen(
        [binary(), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if on_event is None else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        env=environment(),
    ) as process:
        try:
            if on_event is None:
                out, said = process.communicate()
            else:
                out, said = "", _follow(process, on_event)
        except KeyboardInterrupt:
            _interrupt(process)
            raise
    if process.returncode == 0:
        for line in words(said, files).splitlines() if warn else []:
            if line.startswith("warning: "):
                warnings.warn(line[len("warning: ") :], stacklevel=3)
        return out
    raise error(process.returncode, said, files)


def _follow(process: "subprocess.Popen[str]", on_event: Callable[[Event], None]) -> str:
    """Hand over events until the program ends; what is no event, or is an error, is returned."""
    said: list[str] = []
    assert process.stderr is not None
    for line in process.stderr:
        try:
            event = json.loads(line)
        except ValueError:
            said.append(line)
            continue
        if event.get("event") == "error":
            said.append(event["message"])
        else:
            on_event(event)
    process.wait()
    return "".join(said)


def _interrupt(process: "subprocess.Popen[str]") -> None:
    """End the program, which removes what it had begun to write."""
    if process.poll() is not None:
        return
    if sys.platform == "win32":
        process.terminate()
    else:
        process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()


def error(status: int, said: str, files: Optional[Mapping[str, str]] = None) -> BaseException:
    """The exception for a program that ended with this status and these words."""
    text = words(said, files)
    if status == _INTERRUPTED:
        return KeyboardInterrupt()
    if status == _USAGE:
        return UsageError(text)
    return Error(text or f"the program ended with status {status}")


def words(said: str, files: Optional[Mapping[str, str]] = None) -> str:
    """A message without the program's name, its flags called as options are here."""
    text = said.strip()
    if text.startswith("pho: "):
        text = text[len("pho: ") :]
    return _words.said(text.split("\nRun 'pho --help'")[0], files or {})


def flags(options: dict[str, Any]) -> list[str]:
    """Keyword options as flags: underscores become dashes, lists repeat, True stands alone.

    A dict is ``NAME=value`` for each entry, a list among its values joined by commas.
    None and False leave a flag out.
    """
    out: list[str] = []
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        for text in _values(value):
            out.append(flag if text is None else f"{flag}={text}")
    return out


def _values(value: Any) -> Iterable[Optional[str]]:
    if value is None or value is False:
        return
    if value is True:
        yield None
    elif isinstance(value, dict):
        for key, item in value.items():
            listed = item if isinstance(item, (list, tuple)) else [item]
            yield f"{key}=" + ",".join(_text(v) for v in listed)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield _text(item)
    else:
        yield _text(value)


def _text(value: Any) -> str:
    return repr(float(value)) if isinstance(value, float) else os.fspath(value) if isinstance(value, os.PathLike) else str(value)
