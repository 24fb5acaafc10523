"""onnxruntime_peer.py NETWORK INPUT OUTPUT ROWS PASSES: CPU seconds of ONNX Runtime's best pass, one thread."""

import resource
import sys

import numpy as np
import onnxruntime

network, rows, out, block, passes = *sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5])
onnxruntime.set_default_logger_severity(3)
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
(x,) = session.get_inputs()
data = np.fromfile(rows, "<f4").reshape(-1, *x.shape[1:])


def cpu():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


best = float("inf")
for _ in range(passes):
    start = cpu()
    y = [session.run(None, {x.name: data[i : i + block]})[0] for i in range(0, len(data), block)]
    best = min(best, cpu() - start)
np.concatenate(y).astype("<f4").tofile(out)
print(f"{best:.4f}")
