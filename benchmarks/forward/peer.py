"""ONNX Runtime's side of benchmarks/forward.sh: reads "MODEL INPUTS ROWS SECONDS THREADS"
lines on stdin, answers each with rows/s and the sum of the outputs."""

import sys
import time

import numpy as np
import onnxruntime as ort

sessions = {}
print(ort.__version__, flush=True)
for line in sys.stdin:
    model, inputs, rows, seconds, threads = line.split()
    inputs, rows, seconds, threads = int(inputs), int(rows), float(seconds), int(threads)
    key = (model, threads)
    if key not in sessions:
        o = ort.SessionOptions()
        o.intra_op_num_threads = threads
        sessions[key] = ort.InferenceSession(model, o, providers=["CPUExecutionProvider"])
    run = sessions[key].run
    i, j = np.meshgrid(np.arange(rows), np.arange(inputs), indexing="ij")
    x = np.sin(i * 0.37 + j * 1.3).astype(np.float32)
    y = run(None, {"x": x})[0]
    n, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        run(None, {"x": x})
        n += rows
    print(n / (time.perf_counter() - start), float(y.sum(dtype=np.float64)), flush=True)
