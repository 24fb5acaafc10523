"""A resident process of the program, and the frames that it speaks (docs/serve.md)."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
from typing import Any, Sequence

from . import _command
from .errors import Error, UsageError

PROTOCOL = 1
_LENGTHS = struct.Struct("<II")
_AT_ONCE = 1 << 16

Header = dict[str, Any]


class Process:
    """One process, asked one thing at a time. It belongs to the process that started it."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.pid = os.getpid()
        self._said = tempfile.TemporaryFile()  # a pipe that nobody reads could fill
        # In a group of its own: Ctrl-C is for this process, which ends or keeps the other.
        own: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            own = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        self._process = subprocess.Popen(
            [_command.binary(), "serve", *arguments, "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            bufsize=0,
            env=_command.environment(),
            **own,
        )
        try:
            self.hello, _ = self._read()
        except BaseException:
            self.kill()
            raise
        if self.hello.get("protocol") != PROTOCOL:
            self.kill()
            raise Error(
                f"the program speaks version {self.hello.get('protocol')} of the protocol, this package version {PROTOCOL}: "
                "they are of different releases; PHO_BINARY or PATH may name another one"
            )

    def ask(self, header: Header, payload: Sequence[bytes]) -> tuple[Header, memoryview]:
        """Send a request and return its answer. After any exception but those of the answer
        the process is of no more use: kill it.
        """
        text = json.dumps(header, separators=(",", ":")).encode()
        self._write(b"".join([_LENGTHS.pack(len(text), sum(map(len, payload))), text, *payload]))
        return self._read()

    def _write(self, frame: bytes) -> None:
        assert self._process.stdin is not None
        rest = memoryview(frame)
        try:
            while rest:
                rest = rest[self._process.stdin.write(rest) or 0 :]
        except OSError:
            raise self._ended() from None

    def _read(self) -> tuple[Header, memoryview]:
        assert self._process.stdout is not None
        fd = self._process.stdout.fileno()
        got = bytearray()
        need = _LENGTHS.size
        header = payload = 0
        while len(got) < need:
            part = os.read(fd, max(_AT_ONCE, min(need - len(got), 1 << 20)))
            if not part:
                raise self._ended()
            got += part
            if need == _LENGTHS.size and len(got) >= need:
                header, payload = _LENGTHS.unpack_from(got)
                need += header + payload
        text = got[_LENGTHS.size : _LENGTHS.size + header]
        return json.loads(text), memoryview(got)[_LENGTHS.size + header :]

    def _ended(self) -> BaseException:
        """The exception for a process that has ended by itself."""
        try:
            status = self._process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
            status = 1
        self._said.seek(0)
        return _command.error(status, self._said.read().decode("utf-8", "replace"))

    def close(self) -> None:
        """Let the process end; at once, if it does not."""
        self._shut()
        if self.pid != os.getpid():
            return
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the process now."""
        self._shut()
        if self.pid == os.getpid():
            self._process.kill()
            self._process.wait()

    def _shut(self) -> None:
        """Close this side's ends of the pipes, which in a forked process are copies."""
        for pipe in (self._process.stdin, self._process.stdout, self._said):
            if pipe is not None:
                pipe.close()
        if self.pid != os.getpid():
            self._process.returncode = 0  # somebody else's to wait for


def refusal(answer: Header) -> Error:
    """The exception for an answer that is an error."""
    words = _command.words(answer["error"])
    return UsageError(words) if answer.get("usage") else Error(words)
