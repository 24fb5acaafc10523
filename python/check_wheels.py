"""Checks the wheels and the source distribution in a folder: names, tags, contents, licences,
metadata, the program's format, sizes.

With --some, of those that are there; without, all of them must be.
"""

from __future__ import annotations

import email.parser
import pathlib
import sys
import tarfile
import zipfile

LARGEST = 16 * 10**6

FORMATS = {  # what a program for the platform begins with, and its processor (offset, bytes)
    "manylinux_2_17_x86_64.manylinux2014_x86_64": (b"\x7fELF", 18, b"\x3e\x00"),
    "musllinux_1_1_x86_64": (b"\x7fELF", 18, b"\x3e\x00"),
    "manylinux_2_17_aarch64.manylinux2014_aarch64": (b"\x7fELF", 18, b"\xb7\x00"),
    "musllinux_1_1_aarch64": (b"\x7fELF", 18, b"\xb7\x00"),
    "macosx_12_0_x86_64": (b"\xcf\xfa\xed\xfe", 4, b"\x07\x00\x00\x01"),
    "macosx_12_0_arm64": (b"\xcf\xfa\xed\xfe", 4, b"\x0c\x00\x00\x01"),
    "win_amd64": (b"MZ", None, b"\x64\x86"),
    "win_arm64": (b"MZ", None, b"\x64\xaa"),
}
INTERPRETER = 3  # the type of an ELF segment that names a dynamic loader
EXTRAS = {"tables", "plot", "spark", "sklearn", "lightgbm", "xgboost", "torch", "shap", "interpret"}


def dynamic(program: bytes) -> bool:
    """Whether an ELF program of 64 bits asks for a loader, and so for a C library."""
    at = int.from_bytes(program[32:40], "little")
    size, count = int.from_bytes(program[54:56], "little"), int.from_bytes(program[56:58], "little")
    return any(int.from_bytes(program[at + i * size : at + i * size + 4], "little") == INTERPRETER for i in range(count))


def of_program(program: bytes, platform: str, static: bool) -> list[str]:
    """What is wrong with a program of a platform: pho is static, its helper is not."""
    magic, at, processor = FORMATS[platform]
    place = int.from_bytes(program[60:64], "little") + 4 if at is None else at
    if not program.startswith(magic) or program[place : place + len(processor)] != processor:
        return ["the program is for another platform"]
    return [f"the program is {'not ' * static}static"] if magic == b"\x7fELF" and dynamic(program) == static else []


def of_metadata(text: str, version: str) -> list[str]:
    """What is wrong with METADATA or PKG-INFO."""
    data = email.parser.Parser().parsestr(text)
    found = []
    for field, want in (("Name", "pho-go"), ("Version", version), ("License-Expression", "Apache-2.0"), ("Requires-Python", ">=3.9")):
        if data[field] != want:
            found.append(f"{field}: {data[field]}, not {want}")
    if set(data.get_all("Provides-Extra") or []) != EXTRAS:
        found.append(f"extras {data.get_all('Provides-Extra')}")
    needed = [r for r in data.get_all("Requires-Dist") or [] if "extra ==" not in r]
    if needed:
        found.append(f"requires {needed}")
    return found


def of_wheel(wheel: pathlib.Path) -> list[str]:
    """What is wrong with one wheel."""
    name, version, python, abi, platform = wheel.stem.split("-")
    if (name, python, abi) != ("pho_go", "py3", "none") or platform not in FORMATS:
        return [f"unexpected name {wheel.name}"]
    info = f"pho_go-{version}.dist-info/"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        wanted = ["pho/__init__.py", "pho/py.typed"]
        wanted += [info + n for n in ("METADATA", "RECORD", "WHEEL", "licenses/LICENSE", "licenses/THIRD_PARTY_LICENSES.txt")]
        found = [f"{n} is missing" for n in wanted if n not in names]
        scripts = [n for n in names if n.startswith(f"pho_go-{version}.data/")]
        suffix = ".exe" if platform.startswith("win") else ""
        programs = ["pho"] if platform.startswith("musl") else ["pho", "pho-ort"]  # the helper needs the system's C library
        wanted = [f"pho_go-{version}.data/scripts/{program}{suffix}" for program in programs]
        if sorted(scripts) != sorted(wanted) or found:
            return [*found, f"programs: {scripts}"]
        for script, program in zip(wanted, programs):
            found += of_program(archive.read(script), platform, program == "pho")
            if not archive.getinfo(script).external_attr >> 16 & 0o100:
                found.append(f"{program} is not executable")
        found += of_metadata(archive.read(info + "METADATA").decode(), version)
        head = archive.read(info + "WHEEL").decode()
        if "Root-Is-Purelib: false" not in head or any(f"Tag: py3-none-{t}\n" not in head for t in platform.split(".")):
            found.append("the WHEEL file has other tags")
        if "golang.org" not in archive.read(info + "licenses/THIRD_PARTY_LICENSES.txt").decode():
            found.append("the licences of what is linked are not all there")
        strange = [n for n in names if not n.startswith(("pho/", info, f"pho_go-{version}.data/")) or "test" in n or n.endswith(".pyc")]
        if strange:
            found.append(f"does not belong there: {strange}")
    return found


def of_sources(sdist: pathlib.Path) -> list[str]:
    """What is wrong with the source distribution."""
    base = sdist.name[: -len(".tar.gz")] + "/"
    with tarfile.open(sdist) as archive:
        names = set(archive.getnames())
        wanted = ("PKG-INFO", "LICENSE", "README.md", "pyproject.toml", "build_hook.py", "go/go.mod", "go/go.sum", "go/cmd/pho/main.go")
        found = [f"{n} is missing" for n in wanted if base + n not in names]
        if found:
            return found
        text = archive.extractfile(base + "PKG-INFO")
        assert text is not None
        found += of_metadata(text.read().decode(), base[len("pho_go-") : -1])
    return found + [f"does not belong there: {n}" for n in sorted(names) if n.endswith((".pyc", "_test.go")) or "/testdata/" in n]


def main(arguments: list[str]) -> int:
    folder = pathlib.Path(arguments[-1])
    wheels, sources = sorted(folder.glob("pho_go-*.whl")), sorted(folder.glob("pho_go-*.tar.gz"))
    bad = 0
    for file in [*wheels, *sources]:
        found = of_wheel(file) if file.suffix == ".whl" else of_sources(file)
        if file.stat().st_size > LARGEST:
            found.append("too large")
        bad += bool(found)
        print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB" + "".join(f"; {f}" for f in found))
    missing = set(FORMATS) - {w.stem.split("-")[-1] for w in wheels}
    if len(sources) != 1 or (missing if "--some" not in arguments else not wheels):
        print(f"{len(sources)} source distributions; wheels that are missing: {', '.join(sorted(missing))}")
        bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
