"""LightGBM's own predictor as a peer of benchmarks/forward.sh: answers lines of stdin as
benchmarks/forward/ort does. Its one call from Python, on rows of float32 side by side."""

import ctypes

import lightgbm
import numpy as np
from lightgbm.basic import _LIB
from serve import serve


def settings(path, x, y, threads, kind):
    model = lightgbm.Booster(model_file=path.removesuffix(".onnx") + ".txt")
    out = {}
    for n in sorted({1, threads}):
        out[f"{n} threads, all rows a call"] = predictor(model, x, y, n)
    return out


def predictor(model, x, y, threads):
    """The C API's prediction for a matrix; of one row the one that is prepared for it."""
    answer, length, rows, columns = np.zeros(len(x)), ctypes.c_int64(), *x.shape
    parameters = f"num_threads={threads}".encode()
    kinds = (ctypes.c_int(0), ctypes.c_int(0), ctypes.c_int(-1))  # the response, all trees
    handle = model._handle
    if rows == 1:
        fast = ctypes.c_void_p()
        _LIB.LGBM_BoosterPredictForMatSingleRowFastInit(handle, *kinds, ctypes.c_int(0), ctypes.c_int32(columns), ctypes.c_char_p(parameters), ctypes.byref(fast))
        arguments = (fast, x.ctypes.data_as(ctypes.c_void_p), ctypes.byref(length), answer.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
        call = _LIB.LGBM_BoosterPredictForMatSingleRowFast
    else:
        arguments = (handle, x.ctypes.data_as(ctypes.c_void_p), ctypes.c_int(0), ctypes.c_int32(rows), ctypes.c_int32(columns), ctypes.c_int(1), *kinds,
                     ctypes.c_char_p(parameters), ctypes.byref(length), answer.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
        call = _LIB.LGBM_BoosterPredictForMat

    def run(kept=model):
        if call(*arguments) != 0:
            raise RuntimeError("LightGBM does not predict")
        y[:, 0] = answer

    return run


serve("LightGBM " + lightgbm.__version__, settings)
