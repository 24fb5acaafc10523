"""What this package adds to a result: how its model was told apart from its file."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Mapping, Optional, Sequence

from . import _command


def note(result: str, network: Optional[str], warnings: Sequence[str], checked: Mapping[str, Any], fed: Sequence[str]) -> None:
    """Put warnings first in a result's artifact; to its `model`, how that was compared and the columns that it is
    called on.
    """
    if not warnings and not checked:
        return
    path = os.path.join(result, "decomposition.json")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    said = json.dumps(list(warnings), ensure_ascii=False)[1:-1]
    if said and json.loads(text).get("warnings"):
        text = re.sub(r'^  "warnings": \[', lambda m: m.group() + said + ",", text, count=1, flags=re.MULTILINE)
    elif said:
        text = re.sub(r'^  "warnings": (?:null|\[\])', lambda m: f'  "warnings": [{said}]', text, count=1, flags=re.MULTILINE)
    told = {**({"checked": dict(checked)} if checked else {}), **({"columns": list(fed)} if fed else {})}
    if told:
        text = text.replace('"model": {', f'"model": {{{json.dumps(told, ensure_ascii=False)[1:-1]}, ', 1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    where = _command.flags({"model": network})
    _command.run(["verify", result, "--sign", *where])
    if warnings:
        _command.run(["report", result, *where])
