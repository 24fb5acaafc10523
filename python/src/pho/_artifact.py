"""What this package adds to a result: how its model was told apart from its file."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Mapping, Sequence

from . import _command


def note(result: str, network: str, warnings: Sequence[str], checked: Mapping[str, Any]) -> None:
    """Put warnings first in a result's artifact, and how the model was compared to its `model`."""
    if not warnings and not checked:
        return
    path = os.path.join(result, "decomposition.json")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    told = json.dumps(list(warnings), ensure_ascii=False)[1:-1]
    if told and json.loads(text).get("warnings"):
        text = re.sub(r'^  "warnings": \[', lambda m: m.group() + told + ",", text, count=1, flags=re.MULTILINE)
    elif told:
        text = re.sub(r'^  "warnings": (?:null|\[\])', lambda m: f'  "warnings": [{told}]', text, count=1, flags=re.MULTILINE)
    if checked:
        text = text.replace('"model": {', f'"model": {{"checked": {json.dumps(dict(checked))}, ', 1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    _command.run(["verify", result, "--sign", f"--model={network}"])
    if warnings:
        _command.run(["report", result, f"--model={network}"])
