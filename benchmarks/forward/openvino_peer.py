"""OpenVINO's side of benchmarks/forward.sh: answers lines of stdin as
benchmarks/forward/ort does.

Requests are bound once to their rows; a pass starts all of them and waits for each, or
runs the one that there is. Of one row a call of Python is a large part of the time."""

import sys

import numpy as np
import openvino as ov
from serve import serve

core = ov.Core()


def compiled(path, rows, columns, kind, hint, threads, streams):
    model = core.read_model(path)
    model.reshape([rows, columns])  # known shapes are faster
    return core.compile_model(model, "CPU", {
        "PERFORMANCE_HINT": hint, "INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY",
        "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": streams,
    })


def requests(model, x, y, size):
    out = []
    for i in range(0, len(x), size):
        r = model.create_infer_request()
        r.set_input_tensor(ov.Tensor(x[i:i + size], shared_memory=True))
        r.set_output_tensor(ov.Tensor(y[i:i + size], shared_memory=True))
        out.append(r)

    def one():
        out[0].infer()

    def all_of_them():
        for r in out:
            r.start_async()
        for r in out:
            r.wait()

    return one if len(out) == 1 else all_of_them


def settings(path, x, y, threads, kind):
    rows, columns = x.shape
    out = {"latency hint, 1 stream, all rows a call": requests(compiled(path, rows, columns, kind, "LATENCY", threads, 1), x, y, rows)}
    if rows <= 32:
        out["latency hint, 1 thread"] = requests(compiled(path, rows, columns, kind, "LATENCY", 1, 1), x, y, rows)
    else:
        for size in (256, 512, 1024, 2048, 4096):
            if size <= rows:
                name = f"throughput hint, {threads} streams, {size} rows a call"
                out[name] = requests(compiled(path, size, columns, kind, "THROUGHPUT", threads, threads), x, y, size)
    return out


serve("OpenVINO " + ov.__version__.split("-")[0], settings)
