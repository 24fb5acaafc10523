"""The command's words, its flags called by the options that set them here."""

from __future__ import annotations

import re
from typing import Mapping

_NAMES = {"data": "rows", "input": "inputs", "formula": "formula"}
_CHOICES = "drop|keep|error|auto|none|cv|robust|rows|projection|hierarchical|fitted|total|gram|qr|csv|parquet"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
# A quoted value, a known choice, what a colon follows, a binding, a column to be a factor, a
# placeholder, a number.
_VALUE = rf"{_QUOTED}|(?:{_CHOICES})\b|[a-z][a-z0-9-]*(?=:)|\w+=\S+|(?<=--factor )\S+$|[A-Z][A-Z=.]*\b|[0-9][0-9.a-zA-Z]*"
_FLAG = re.compile(rf"(?<![\w-])--([a-z][a-z0-9-]*)(?: ({_VALUE})|=(\S+))?")
_COMMAND = re.compile(r"'?\bpho (?:apply|compare|decompose|demo|inspect|report|serve|summary|train|verify|explain) [^;:]*--[^;:]*")


def said(text: str, files: Mapping[str, str]) -> str:
    """A message of the program for a caller in Python.

    Parameters
    ----------
    text : str
        The message, with flags such as ``--na drop``, which becomes ``na='drop'``. Whole
        command lines stay as they are.
    files : dict
        What to call files that the caller has never heard of, by path.
    """
    for path, name in sorted(files.items(), key=lambda item: -len(item[0])):
        text = text.replace(f'"{path}"', name).replace(path, name)
    text = text.replace("unknown flag ", "unknown option ").replace("pho decompose has", "decompose has").replace("pho apply has", "apply has")
    text = text.replace("pho train has", "training has")
    out, at = [], 0
    for command in _COMMAND.finditer(text):
        out += [_options(text[at : command.start()]), command.group()]
        at = command.end()
    return "".join([*out, _options(text[at:])])


def _options(text: str) -> str:
    return _FLAG.sub(_option, text)


def _option(flag: "re.Match[str]") -> str:
    name = _NAMES.get(flag[1], flag[1].replace("-", "_"))
    value = flag[2] or flag[3]
    if not value:
        return name + "="
    if value[0] == '"' or (value[0].isdigit() and value.replace(".", "").isdigit()) or value.isupper():
        return f"{name}={value}"
    return f"{name}={value!r}"
