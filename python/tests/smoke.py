"""The installed package with nothing but Python's standard library; for interpreters that have no
peers: `python smoke.py`. Run by .ci/check-wheels.sh."""

from __future__ import annotations

import csv
import math
import pathlib
import subprocess
import sys
import tempfile

import pho
from pho import _command


def main() -> None:
    said = subprocess.run([_command.binary(), "--version"], check=True, capture_output=True, text=True).stdout
    assert said.split()[1] == pho.__version__, f"the package is {pho.__version__}, its program {said}"
    with tempfile.TemporaryDirectory() as folder:
        demo = pathlib.Path(folder) / "demo"
        subprocess.run([_command.binary(), "demo", "--out", str(demo)], check=True, stdout=subprocess.DEVNULL)
        with open(demo / "data.csv", newline="") as file:
            rows = list(csv.DictReader(file))[:500]
        table = {name: [float(r[name]) for r in rows] for name in rows[0]}
        d = pho.decompose(demo / "ssn.onnx", table, "~ s(x2, k=8) + x1", response="y")
        parts = d.contributions if isinstance(d.contributions, dict) else d.contributions.to_dict("list")
        sums = [math.fsum(parts[c][i] for c in parts if c != "eta") for i in range(500)]
        assert max(abs(a - b) for a, b in zip(sums, parts["eta"])) < 1e-9, "parts do not sum to eta"
        new = d.apply({name: values[:3] for name, values in table.items()})
        assert list(new["eta"]) == list(parts["eta"][:3]), "new rows differ"
        d.save(demo / "saved")
        assert pho.load(demo / "saved").rows == 500 and "s(x2)" in d.summary()
        try:
            pho.decompose(demo / "ssn.onnx", table, "~ s(nope)")
        except pho.Error as fault:
            assert "nope" in str(fault)
        else:
            raise AssertionError("a column that is not there was found")
        print(f"smoke: {sys.version.split()[0]}, {_command.binary()}, eta {parts['eta'][0]!r}: 1 passed, 0 failed")


if __name__ == "__main__":
    main()
