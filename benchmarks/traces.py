"""CPU profiles of benchmarks/profile, as stacks and as flame graphs.

    python benchmarks/traces.py bin/profile cpu.prof out.svg "title"

A frame is as wide as its share of the processors' time; those below 0.7 % are left out. Frames lie on what calls them, goroutines
beside each other.
"""

from __future__ import annotations

import html
import subprocess
import sys
from pathlib import Path

WIDTH, HEIGHT, LEAST = 1000, 15, 0.007


def stacks(profile: Path, cpu: Path) -> list[tuple[float, list[str]]]:
    """Seconds and functions, the innermost first, of each stack of a profile."""
    out = subprocess.run(["go", "tool", "pprof", "-traces", str(profile), str(cpu)], check=True, capture_output=True, text=True)
    found = []
    for trace in out.stdout.split("-----------+")[1:]:
        lines = [line for line in trace.splitlines()[1:] if line.strip()]
        if lines:
            time, *first = lines[0].split(None, 1)
            unit = {"us": 1e-6, "ms": 1e-3}.get(time[-2:], 60.0 if time.endswith("mins") else 1.0)
            found.append((float(time.rstrip("minus")) * unit, [f.strip() for f in first] + [line.strip() for line in lines[1:]]))
    return found


def short(function: str) -> str:
    """moments.(*Chunk).flush of github.com/pho-go/pho/decompose/internal/moments.(*Chunk).flush."""
    return function.replace(" (inline)", "").replace(" (partial-inline)", "").split("[")[0].rsplit("/", 1)[-1]


def flame(found: list[tuple[float, list[str]]], title: str) -> str:
    total = sum(seconds for seconds, _ in found)
    boxes: list[tuple[int, float, float, str]] = []

    def draw(group: list[tuple[float, list[str]]], x: float, level: int) -> None:
        callees: dict[str, list[tuple[float, list[str]]]] = {}
        for seconds, stack in group:
            if len(stack) > level:
                callees.setdefault(stack[level], []).append((seconds, stack))
        for name, own in sorted(callees.items()):
            width = sum(seconds for seconds, _ in own) / total
            if width >= LEAST:
                boxes.append((level, x, width, name))
                draw(own, x, level + 1)
            x += width

    plain = ("runtime.", "main.", "cobra.", "sync.", "command.Run", "command.run", "command.newDecompose", "command.(*decomposeFlags)")
    outer_first = [(s, [n for n in map(short, reversed(stack)) if not n.startswith(plain) or n.startswith("runtime.gcBg")] or ["runtime"]) for s, stack in found]
    draw(outer_first, 0, 0)
    depth = 1 + max(level for level, *_ in boxes)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT * (depth + 2)}" font-family="sans-serif" font-size="10">',
           f'<text x="3" y="11">{html.escape(title)}: {total:.1f} s of processors</text>']
    for level, x, width, name in boxes:
        left, wide, top = x * WIDTH, width * WIDTH, HEIGHT * (depth - level)
        hue = 20 + sum(map(ord, name.split(".")[0])) * 37 % 200
        text = html.escape(name[: int(wide / 5.5)]) if wide > 30 else ""
        out.append(f'<g><title>{html.escape(name)} {width:.1%}</title><rect x="{left:.1f}" y="{top}" width="{max(wide - 0.5, 0.5):.1f}" '
                   f'height="{HEIGHT - 1}" fill="hsl({hue},60%,75%)"/><text x="{left + 2:.1f}" y="{top + 11}">{text}</text></g>')
    return "\n".join([*out, "</svg>\n"])


if __name__ == "__main__":
    profile, cpu, svg, title = sys.argv[1:]
    Path(svg).write_text(flame(stacks(Path(profile), Path(cpu)), title))
