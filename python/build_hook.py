"""Puts the program into a wheel: $PHO_WHEEL_BINARY, for the platform $PHO_WHEEL_TAG."""

from __future__ import annotations

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProgramHook(BuildHookInterface):
    """Without these variables the wheel holds Python alone, and finds `pho` on PATH."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        binary, tag = os.environ.get("PHO_WHEEL_BINARY"), os.environ.get("PHO_WHEEL_TAG")
        if not binary or not tag:
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"
        build_data["shared_scripts"] = {binary: os.path.basename(binary)}
