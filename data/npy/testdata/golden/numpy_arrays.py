"""Arrays as .npy and .npz files, written by NumPy (made with 1.24.2, Debian).

Run from the root of the module:

    /usr/bin/python3 data/npy/testdata/golden/numpy_arrays.py

matrix_TYPE.npy holds 7 x 3 numbers of a type; matrix_TYPE.txt are they as float64.
"""

import os

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(7)


def at(name):
    return os.path.join(here, name)


base = rng.normal(size=(7, 3)) * 50
for name in ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "|i1", "|u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4", "<i8", ">i8",
             "<u8", ">u8", "|b1"]:
    dtype = np.dtype(name)
    values = np.abs(base) if dtype.kind == "u" else base > 0 if dtype.kind == "b" else base
    a = values.astype(dtype)
    label = name.replace("<", "le_").replace(">", "be_").replace("|", "")
    np.save(at(f"matrix_{label}.npy"), a)
    with open(at(f"matrix_{label}.txt"), "w") as out:
        for row in a.astype(np.float64):
            out.write(" ".join(repr(float(v)) for v in row) + "\n")

np.save(at("fortran.npy"), np.asfortranarray(base))
np.save(at("cube.npy"), np.arange(7 * 2 * 3, dtype=np.float32).reshape(7, 2, 3))
np.save(at("cube_fortran.npy"), np.asfortranarray(np.arange(7 * 2 * 3.0).reshape(7, 2, 3)))
np.save(at("line.npy"), np.arange(7.0))
np.save(at("scalar.npy"), np.float64(3))
np.save(at("complex.npy"), np.arange(7) * 1j)
np.save(at("text.npy"), np.array(["a", "bc"]))
np.save(at("record.npy"), np.zeros(2, dtype=[("a", "<f8"), ("b", "<i4")]))
np.save(at("big.npy"), np.array([1, 2**53, 2**53 + 1]))
np.save(at("nan.npy"), np.array([[1.0, 2], [np.nan, 3], [4, 5]]))
np.save(at("inf.npy"), np.array([[1.0, 2], [3, np.inf], [4, 5]]))
np.save(at("empty.npy"), np.zeros((0, 3)))
for version in [(2, 0), (3, 0)]:
    with open(at(f"version{version[0]}.npy"), "wb") as out:
        np.lib.format.write_array(out, base, version=version)
parts = {"x": base, "y": np.arange(7.0), "image": np.arange(7 * 4, dtype=np.uint8).reshape(7, 2, 2)}
np.savez(at("parts.npz"), **parts)
np.savez_compressed(at("parts_deflated.npz"), **parts)
np.savez(at("parts_fortran.npz"), x=np.asfortranarray(base))
np.savez_compressed(at("parts_fortran_deflated.npz"), x=np.asfortranarray(base))
np.savez(at("unequal.npz"), a=np.zeros(3), b=np.zeros(4))
