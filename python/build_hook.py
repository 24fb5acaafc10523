"""Puts the program into a wheel.

From the repository or a source distribution it is compiled with Go, for this machine. Wheels
for others get a program that is there: $PHO_WHEEL_BINARY, for the platform $PHO_WHEEL_TAG, and
beside it $PHO_WHEEL_HELPER, which loads ONNX Runtime and needs the system's C library.
PHO_WHEEL_BINARY=none makes a wheel of Python alone, which finds `pho` on PATH.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProgramHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the program as a script, so that it starts without Python."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        binary, tag = os.environ.get("PHO_WHEEL_BINARY"), os.environ.get("PHO_WHEEL_TAG")
        if binary == "none":
            return
        if not binary:
            binary, tag = self._compiled(), _platform()
        if not tag:
            raise SystemExit("PHO_WHEEL_BINARY is set, PHO_WHEEL_TAG is not: name the platform of the program")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"
        helper = os.environ.get("PHO_WHEEL_HELPER")
        build_data["shared_scripts"] = {path: os.path.basename(path) for path in (binary, helper) if path}

    def _compiled(self) -> str:
        """The program, compiled here."""
        source = _source(pathlib.Path(self.root))
        go = os.environ.get("GO") or shutil.which("go")
        if go is None:
            raise SystemExit(
                "pho-go: there is no wheel of pho for this machine in what pip was given, so its program is to be compiled,\n"
                f"which needs Go {_go_version(source)} or later (https://go.dev/dl) and, for its modules, the network or a module proxy.\n"
                "Install Go, or a wheel; or, where the program is installed otherwise, set PHO_WHEEL_BINARY=none."
            )
        folder = tempfile.mkdtemp(prefix="pho-go-")
        self._folder = folder
        program = os.path.join(folder, "pho.exe" if sys.platform == "win32" else "pho")
        settings = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}
        command = [go, "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/pho"]
        if subprocess.run(command, cwd=source, env=settings, stdin=subprocess.DEVNULL).returncode != 0:
            raise SystemExit(f"pho-go: {' '.join(command)} failed in {source}; what Go said stands above")
        return program

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_folder"):
            shutil.rmtree(self._folder, ignore_errors=True)


def _source(root: pathlib.Path) -> pathlib.Path:
    """The Go module: `go` in a source distribution, the parent in the repository."""
    for folder in (root / "go", root.parent):
        if (folder / "go.mod").exists() and (folder / "cmd" / "pho").exists():
            return folder
    raise SystemExit(f"pho-go: {root} has no Go sources to compile: take the whole repository, a source distribution or a wheel")


def _go_version(source: pathlib.Path) -> str:
    found = re.search(r"^go (\d+\.\d+)", (source / "go.mod").read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1) if found else "1.26"


def _platform() -> str:
    """The tag of this machine that pip takes first."""
    from packaging.tags import platform_tags

    return next(iter(platform_tags()))
