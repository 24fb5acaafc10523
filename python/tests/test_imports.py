"""The modules of the package import each other in no circle, for types neither."""

import ast
import graphlib
import pathlib

import pho

ROOT = pathlib.Path(pho.__file__).parent


def imported(path: pathlib.Path) -> set[str]:
    """The modules of the package that a file imports anywhere, in functions and for types too."""
    out = set()
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            at = (*package[: len(package) - node.level + 1], *(node.module or "").split("."))
            at = tuple(part for part in at if part)
            out |= {".".join(at)} if node.module else {".".join((*at, name.name)) for name in node.names}
    return out


def test_no_circle() -> None:
    graph = {}
    for path in ROOT.rglob("*.py"):
        name = path.relative_to(ROOT).with_suffix("")
        graph[".".join(p for p in name.parts if p != "__init__")] = imported(path)
    assert len(graph) > 20
    tuple(graphlib.TopologicalSorter(graph).static_order())  # CycleError names the circle
