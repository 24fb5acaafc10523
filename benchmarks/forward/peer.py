"""OpenVINO's side of benchmarks/forward.sh: answers lines of stdin as
benchmarks/forward/ort does.

All in float32. Requests are bound once to their rows; a pass starts all of them and
waits for each, so that Python costs microseconds of it."""

import sys
import time

import numpy as np
import openvino as ov

core = ov.Core()


def values(rows, inputs):
    i, j = np.meshgrid(np.arange(rows), np.arange(inputs), indexing="ij")
    return np.sin(i * i * 0.37 + (i + 1) * j * 1.3).astype(np.float32)


def compiled(path, rows, inputs, hint, threads, streams):
    model = core.read_model(path)
    model.reshape([rows, inputs])  # known shapes are faster
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
    return out


def settings(path, inputs, rows, threads):
    x, y = values(rows, inputs), np.zeros((rows, 1), np.float32)
    out = [("latency hint, 1 stream, all rows a call", requests(compiled(path, rows, inputs, "LATENCY", threads, 1), x, y, rows))]
    for size in (256, 512, 1024, 2048, 4096):
        name = f"throughput hint, {threads} streams, {size} rows a call"
        out.append((name, requests(compiled(path, size, inputs, "THROUGHPUT", threads, threads), x, y, size)))
    return out, x, y  # tensors that share memory do not keep it


def run(all_requests, rows, seconds):
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for r in all_requests:
            r.start_async()
        for r in all_requests:
            r.wait()
        done += rows
    return done / (time.perf_counter() - start)


def latency(path, inputs, calls):
    x, y = values(1, inputs), np.zeros((1, 1), np.float32)
    [r] = requests(compiled(path, 1, inputs, "LATENCY", 1, 1), x, y, 1)
    took = []
    for _ in range(calls):
        start = time.perf_counter_ns()
        r.infer()
        took.append(time.perf_counter_ns() - start)
    return np.median(took) / 1e3, y


print("OpenVINO", ov.__version__.split("-")[0], flush=True)
ways, x, y, rows = [], None, None, 0
for line in sys.stdin:
    word, *rest = line.split()
    if word == "settings":
        rows = int(rest[2])
        ways, x, y = settings(rest[0], int(rest[1]), rows, int(rest[3]))
        print("\t".join(name for name, _ in ways), flush=True)
    elif word == "run":
        print(run(ways[int(rest[0])][1], rows, float(rest[1])), flush=True)
    elif word == "answer":
        y.astype("<f4").tofile(rest[0])
        print("ok", flush=True)
    elif word == "latency":
        took, y = latency(rest[0], int(rest[1]), int(rest[2]))
        print(took, flush=True)
