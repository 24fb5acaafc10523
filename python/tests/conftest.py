"""The program that the tests run, and small data and networks."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def program():
    """$PHO_BINARY, else the tree's own build."""
    if "PHO_BINARY" not in os.environ and (ROOT / "bin" / "pho").exists():
        os.environ["PHO_BINARY"] = str(ROOT / "bin" / "pho")


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """What `pho demo` leaves: networks, data and results."""
    import pho._command

    folder = tmp_path_factory.mktemp("demo") / "demo"
    subprocess.run([pho._command.binary(), "demo", "--out", str(folder)], check=True, capture_output=True)
    return folder
