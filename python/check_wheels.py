"""Checks the wheels in a folder: names, tags, contents, the program's format, size."""

from __future__ import annotations

import pathlib
import sys
import zipfile

LARGEST = 12 << 20

FORMATS = {  # what a program for the platform begins with, and its processor (offset, bytes)
    "manylinux_2_17_x86_64": (b"\x7fELF", 18, b"\x3e\x00"),
    "manylinux_2_17_aarch64": (b"\x7fELF", 18, b"\xb7\x00"),
    "macosx_12_0_x86_64": (b"\xcf\xfa\xed\xfe", 4, b"\x07\x00\x00\x01"),
    "macosx_12_0_arm64": (b"\xcf\xfa\xed\xfe", 4, b"\x0c\x00\x00\x01"),
    "win_amd64": (b"MZ", None, b"\x64\x86"),
    "win_arm64": (b"MZ", None, b"\x64\xaa"),
}


def faults(wheel: pathlib.Path) -> list[str]:
    """What is wrong with one wheel."""
    name, version, python, abi, platform = wheel.stem.split("-")
    tag = platform.split(".")[0]
    if (name, python, abi) != ("pho_go", "py3", "none") or tag not in FORMATS:
        return [f"unexpected name {wheel.name}"]
    found = []
    if wheel.stat().st_size > LARGEST:
        found.append(f"{wheel.stat().st_size / 2**20:.1f} MB")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        scripts = [n for n in names if n.startswith(f"pho_go-{version}.data/scripts/")]
        if len(scripts) != 1:
            return [*found, f"programs: {scripts}"]
        program = archive.read(scripts[0])
        magic, at, processor = FORMATS[tag]
        at = int.from_bytes(program[60:64], "little") + 4 if at is None else at
        if not program.startswith(magic) or program[at : at + len(processor)] != processor:
            found.append("the program is for another platform")
        for needed in ("pho/__init__.py", "pho/py.typed", f"pho_go-{version}.dist-info/METADATA", f"pho_go-{version}.dist-info/RECORD"):
            if needed not in names:
                found.append(f"{needed} is missing")
        tags = archive.read(f"pho_go-{version}.dist-info/WHEEL").decode()
        if f"Tag: py3-none-{tag}" not in tags or "Root-Is-Purelib: false" not in tags:
            found.append("the WHEEL file has other tags")
    return found


def main(folder: str) -> int:
    wheels = sorted(pathlib.Path(folder).glob("pho_go-*.whl"))
    bad = 0
    for wheel in wheels:
        found = faults(wheel)
        bad += bool(found)
        print(f"{wheel.name}: {wheel.stat().st_size / 2**20:.1f} MB" + "".join(f"; {f}" for f in found))
    if len(wheels) != len(FORMATS):
        print(f"{len(wheels)} wheels, not {len(FORMATS)}")
        bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
