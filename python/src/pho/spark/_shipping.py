"""How the program, this package and files get to the executors."""

from __future__ import annotations

import hashlib
import io
import os
import pathlib
import pickle
import shutil
import sys
import tarfile
import tempfile
import zipfile
from typing import Any, Optional

from .. import _command
from ..errors import Error, UsageError


def ship(context: Any, wanted: Optional[bool]) -> Optional[str]:
    """Send the program and this package to the executors; the program's name there.

    None: they are to have the package installed, and the program with it.
    """
    if wanted is None:
        wanted = sys.platform == "linux"  # elsewhere the driver's program is of another platform than a cluster's
    if not wanted:
        return None
    folder = context._temp_dir  # Spark wants a file at the same place each time, and deletes this folder itself
    context.addPyFile(_package(folder))
    program = _command.binary()
    name = "pho-" + _digest(pathlib.Path(program).read_bytes())
    copy = os.path.join(folder, name)
    if not os.path.exists(copy):
        shutil.copy2(program, copy)
    context.addFile(copy)
    return name


def _package(folder: str) -> str:
    """A zip file of this package, of the same bytes for the same sources."""
    root = pathlib.Path(__file__).resolve().parents[1]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for source in sorted(root.rglob("*.py")):
            entry = zipfile.ZipInfo("pho/" + source.relative_to(root).as_posix())
            archive.writestr(entry, source.read_bytes())
    path = os.path.join(folder, f"pho-{_digest(buffer.getvalue())}.zip")
    if not os.path.exists(path):
        pathlib.Path(path).write_bytes(buffer.getvalue())
    return path


def pack(*paths: str) -> bytes:
    """Files and folders as an archive, each by its last name."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in paths:
            archive.add(path, arcname=os.path.basename(path.rstrip("/")))
    return buffer.getvalue()


def unpack(archive: bytes) -> str:
    """The folder with what was packed, on an executor: made once for all of its tasks."""
    from pyspark import SparkFiles

    target = os.path.join(SparkFiles.getRootDirectory(), "pho-" + _digest(archive))
    if os.path.isdir(target):
        return target
    fresh = tempfile.mkdtemp(prefix="pho-", dir=os.path.dirname(target))
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)  # older ones have none
        tar.extractall(fresh)
    try:
        os.rename(fresh, target)
    except OSError:  # another task was faster
        shutil.rmtree(fresh, ignore_errors=True)
        if not os.path.isdir(target):
            raise
    return target


def pickled(value: Any, what: str) -> bytes:
    """A value with models, for the executors.

    Raises
    ------
    UsageError
        It cannot be pickled.
    """
    from pyspark import cloudpickle

    dumps: Any = cloudpickle.dumps
    try:
        return bytes(dumps(value))
    except Exception as fault:
        raise UsageError(f"{what} cannot be pickled, and so not be sent to executors: {type(fault).__name__}: {fault}") from fault


def unpickled(content: bytes) -> Any:
    """On an executor: what was pickled."""
    try:
        return pickle.loads(content)
    except Exception as fault:
        told = f"the model cannot be read on an executor: {type(fault).__name__}: {fault}"
        raise Error(f"{told}. It needs the same packages there as here; SparkContext.addPyFile sends modules of your own") from fault


def installed(program: Optional[str]) -> None:
    """On an executor: let the program that was sent be the one that runs."""
    if program is None:
        return
    from pyspark import SparkFiles

    path = SparkFiles.get(program)
    if not os.path.exists(path):
        raise Error(f"Spark did not bring the program to this executor: {path!r} is missing; install pho-go there and give ship=False")
    if not os.access(path, os.X_OK):
        os.chmod(path, 0o755)
    os.environ["PHO_BINARY"] = path


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
