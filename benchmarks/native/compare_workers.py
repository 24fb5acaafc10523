"""What a second worker gives adapters/native: seconds per epoch with one and with two.

    python3 benchmarks/native/compare_workers.py [--epochs 12] [--turns 5]

Run from the root of the module; needs Go alone. One worker and two take turns, float32,
n = 10,000; medians over epochs, then over turns. Prints a row each:

    row<TAB>case<TAB>two workers<TAB>one worker<TAB>ratio<TAB>answer difference

Ratio: seconds of one worker over those of two. The difference is that of the losses after
the last epoch: 0, for no result depends on the workers.
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

for units in (256, 512):
    for batch in (256, 1024):
        name = f"mlp {units} batch {batch}"
        seconds = {1: [], 2: []}
        loss = {}
        for _ in range(args.turns):
            for workers, times in seconds.items():
                out = subprocess.run(command + ["-only", name, "-workers", str(workers), "-epochs", str(args.epochs)],
                                     check=True, capture_output=True, text=True).stdout
                result = json.loads(out)[name]
                times.append(result["seconds"])
                loss[workers] = result["mse"]
        one, two = statistics.median(seconds[1]), statistics.median(seconds[2])
        print(f"row\tsecond worker, MLP 10-{units}-{units}-1, batch {batch}, seconds per epoch\t{two:.4f} s\t{one:.4f} s\t{one / two:.2f}\t{abs(loss[1] - loss[2]):.1e}", flush=True)
