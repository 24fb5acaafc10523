"""ONNX Runtime's side of benchmarks/forward.sh: reads lines on stdin.

"MODEL INPUTS ROWS SECONDS THREADS" is answered with rows/s and the sum of the
outputs, "latency MODEL INPUTS CALLS" with the median microseconds of a call with
one row, one thread, input and output bound once, and the output."""

import sys
import time

import numpy as np
import onnxruntime as ort

sessions = {}


def session(model, threads):
    if (model, threads) not in sessions:
        o = ort.SessionOptions()
        o.intra_op_num_threads = threads
        sessions[model, threads] = ort.InferenceSession(model, o, providers=["CPUExecutionProvider"])
    return sessions[model, threads]


def values(rows, inputs):
    i, j = np.meshgrid(np.arange(rows), np.arange(inputs), indexing="ij")
    return np.sin(i * 0.37 + j * 1.3).astype(np.float32)


def latency(model, inputs, calls):
    s, y = session(model, 1), np.zeros((1, 1), np.float32)
    bound = s.io_binding()
    bound.bind_ortvalue_input("x", ort.OrtValue.ortvalue_from_numpy(values(1, inputs)))
    out = ort.OrtValue.ortvalue_from_numpy(y)
    bound.bind_ortvalue_output("y", out)
    took = []
    for _ in range(calls):
        start = time.perf_counter_ns()
        s.run_with_iobinding(bound)
        took.append(time.perf_counter_ns() - start)
    return np.median(took) / 1e3, float(out.numpy()[0, 0])


print(ort.__version__, flush=True)
for line in sys.stdin:
    words = line.split()
    if words[0] == "latency":
        print(*latency(words[1], int(words[2]), int(words[3])), flush=True)
        continue
    model, inputs, rows, seconds, threads = words[0], int(words[1]), int(words[2]), float(words[3]), int(words[4])
    run, x = session(model, threads).run, values(rows, inputs)
    y = run(None, {"x": x})[0]
    n, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        run(None, {"x": x})
        n += rows
    print(n / (time.perf_counter() - start), float(y.sum(dtype=np.float64)), flush=True)
