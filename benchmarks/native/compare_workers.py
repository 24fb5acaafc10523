"""What a second worker gives adapters/native: seconds per epoch with one and with two.

    python3 benchmarks/native/compare_workers.py [--epochs 12] [--turns 5]

Run from the root of the module; needs Go alone. One worker and two take turns, float32,
n = 10,000; medians over epochs, then over turns. Prints a row each:

    row<TAB>case<TAB>two workers<TAB>one worker<TAB>ratio<TAB>answer difference

Ratio: seconds of one worker over those of two. Cases that begin with "second worker" have
a target; those with "two workers" are smaller, down to a batch that one worker takes alone
whatever it is told. Behind one worker's time stands the least that it could take: see
limit.go. The difference is that of the losses after the last epoch: 0, for no result
depends on the workers.
"""
import argparse
import json
import os
import statistics
import subprocess

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=12)
parser.add_argument("--turns", type=int, default=5)
args = parser.parse_args()
program = os.environ.get("PHO_NATIVE", "")
command = [program] if program else [os.environ.get("GO", "go"), "run", "-C", "benchmarks", "./native"]

cases = [("two workers", f"SSN 200/200 with 60 spline columns, batch {b}", f"ssn batch {b}") for b in (1024, 256)]
cases += [("two workers", f"NAM 10 x (1-64-64-32-1), batch {b}", f"nam batch {b}") for b in (1024, 256)]
cases += [("two workers", f"MLP 10-64-32-1, batch {b}", f"mlp 64 batch {b}") for b in (1024, 256)]
cases += [("second worker", f"MLP 10-{u}-{u}-1, batch {b}", f"mlp {u} batch {b}") for u in (256, 512, 1024) for b in (256, 1024)]
for kind, title, name in cases:
    seconds = {1: [], 2: []}
    loss, limit = {}, []
    for _ in range(args.turns):
        for workers, times in seconds.items():
            out = subprocess.run(command + ["-only", name, "-workers", str(workers), "-epochs", str(args.epochs)],
                                 check=True, capture_output=True, text=True).stdout
            result = json.loads(out)[name]
            times.append(result["seconds"])
            limit.append(result["limit"])
            loss[workers] = result["mse"]
    one, two = statistics.median(seconds[1]), statistics.median(seconds[2])
    print(f"row\t{kind}, {title}, seconds per epoch\t{two:.4f} s\t{one:.4f} s (least {min(limit):.4f} s)\t{one / two:.2f}\t{abs(loss[1] - loss[2]):.1e}", flush=True)
