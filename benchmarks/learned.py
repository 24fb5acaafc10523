"""Whole decompositions of networks with learned bases, next to ONNX Runtime, which reads the same Parquet and predicts.

    python benchmarks/learned.py --pho bin/pho [--base OTHER/pho] [--rows 1000000] [--rounds 5] [--profile bin/profile]

Networks are trained by `pho train` on 20,000 rows: neural additive models of 12 and 20 features, a network 1-64-64-32-1 each
beside a deep part of all columns, with Relu and with GELU, and a multilayer perceptron, of which `~ .` is decomposed. Programs
take turns; a line is a case with medians of CPU seconds (user and system) and of peak memory, and their ratio to ONNX Runtime's.
With --base the same is done by another program, and results are compared. --profile (`go build -C benchmarks -o ../bin/profile
./profile`) tells by stage where the time goes instead. Needs numpy, pyarrow and onnxruntime.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from traces import flame, stacks

PEER = """
import sys
import numpy as np, onnxruntime, pyarrow.parquet as pq
rows, session = pq.read_table(sys.argv[2]), onnxruntime.InferenceSession(sys.argv[1])
x = {i.name: rows[i.name].to_numpy().reshape(-1, 1) for i in session.get_inputs()}
np.concatenate([session.run(None, {k: v[i:i + 8192] for k, v in x.items()})[0] for i in range(0, rows.num_rows, 8192)])
"""

CASES = [  # name, columns, flags of training
    ("NAM of 12, Relu", 12, ["--kind", "ssn", "--epochs", "5"]),
    ("NAM of 20, Relu", 20, ["--kind", "ssn", "--epochs", "5"]),
    ("NAM of 12, GELU", 12, ["--kind", "ssn", "--activation", "gelu", "--epochs", "5"]),
    ("MLP 12-200-200-1, ~ .", 12, ["--kind", "mlp", "--hidden", "200,200", "--epochs", "2"]),
]

STAGES = [  # what is told apart in a profile: a name and the functions that it is
    ("network", ["decompose.(*forward).run"]),
    ("columns of terms", ["decompose.(*evaluator).eval"]),
    ("moments", ["moments.(*Chunk).Add"]),
    ("leverages", ["decompose.(*weighing).leverages"]),
    ("sandwich", ["moments.(*ScatterChunk).products"]),
    ("solution", ["decompose.(*plan).solve"]),
    ("pairs of columns", ["interaction.(*Ranking)"]),
    ("contributions written", ["report.(*Contributions)", "resultdir.DigestContributions"]),
    ("checks, importance", ["diagnostics.(*", "importance.(*"]),
    ("terms chosen", ["propose.(*"]),
    ("files read", ["data/parquet.(*"]),
    ("garbage, allocation", ["runtime.mallocgc", "runtime.gcBgMarkWorker"]),
]


def rows_of(n: int, p: int, to: Path) -> Path:
    """n rows of p standard normal columns and a response that bends in each, with one product."""
    random = np.random.default_rng(1)
    x = random.standard_normal((n, p))
    y = sum(np.sin((1 + j % 4) * x[:, j] * 0.7) + 0.3 * x[:, j] * (j % 3) for j in range(p))
    y += 0.5 * x[:, 0] * x[:, 1] + random.standard_normal(n)
    path = to / f"rows{n}-{p}.parquet"
    pq.write_table(pa.table({**{f"x{j}": x[:, j].astype(np.float32) for j in range(p)}, "y": y.astype(np.float32)}), path)
    return path


def timed(command: list[str | Path]) -> tuple[float, float]:
    """CPU seconds and peak memory in MB of a command that must succeed."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen([str(c) for c in command], stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        if status:
            said.seek(0)
            sys.exit(f"{command}: {said.read().decode()}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def difference(a: Path, b: Path) -> float:
    """The largest difference of contributions, relative to the largest of their column."""
    worst = 0.0
    with open(a / "contributions.csv") as one, open(b / "contributions.csv") as other:
        names = next(csv.reader(one))
        next(other)
        x, y = np.loadtxt(one, delimiter=","), np.loadtxt(other, delimiter=",")
    for j, name in enumerate(names):
        if name != "row":
            worst = max(worst, float(np.abs(x[:, j] - y[:, j]).max() / max(np.abs(x[:, j]).max(), 1e-300)))
    return worst


def profiled(command: list[str | Path], profile: Path, to: Path, name: str, flames: Path | None) -> list[tuple[str, float]]:
    """Shares of CPU time by stage; what several stages call counts for the first of them. A flame graph is drawn into a folder."""
    subprocess.run([str(c) for c in [profile, to, *command[1:]]], check=True, capture_output=True)
    shares = dict.fromkeys([s for s, _ in STAGES] + ["all else"], 0.0)
    found = stacks(profile, to)
    if flames:
        (flames / f"{''.join(c for c in name if c.isalnum())}.svg").write_text(flame(found, name))
    for seconds, functions in found:
        shares[next((s for s, names in STAGES if any(n in f for f in functions for n in names)), "all else")] += seconds
    total = sum(shares.values())
    return [(s, v / total) for s, v in shares.items()]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pho", required=True)
    parser.add_argument("--base")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--case", default="", help="only cases whose names hold this")
    parser.add_argument("--profile")
    parser.add_argument("--flames", type=Path, help="with --profile: folder of flame graphs")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        for name, p, flags in CASES:
            if a.case not in name:
                continue
            columns = ",".join(f"x{j}" for j in range(p))
            flags = [*flags, "--deep", columns] + (["--features", columns] if "NAM" in name else [])
            net = here / "net"
            timed([a.base or a.pho, "train", "--data", rows_of(20_000, p, here), "--response", "y", "--out", net, *flags])
            rows = rows_of(a.rows, p, here)
            ours = ["decompose", "--model", net / "model.onnx", "--data", rows, "--response", "y", "--out"]
            if a.profile:
                shares = profiled([a.pho, *ours, here / "pho"], Path(a.profile), here / "cpu", f"{name}, {a.rows} rows", a.flames)
                print(f"| {name} | " + ", ".join(f"{s} {v:.0%}" for s, v in sorted(shares, key=lambda t: -t[1]) if v >= 0.02) + " |", flush=True)
                continue
            commands = {"pho": [a.pho, *ours, here / "pho"], "ONNX Runtime": [sys.executable, "-c", PEER, net / "model.onnx", rows]}
            if a.base:
                commands["base"] = [a.base, *ours, here / "base"]
            runs = {who: [] for who in commands}
            for _ in range(a.rounds):
                for who, command in commands.items():
                    runs[who].append(timed(command))
            cpu = {who: statistics.median(r[0] for r in own) for who, own in runs.items()}
            memory = {who: statistics.median(r[1] for r in own) for who, own in runs.items()}
            said = [name, str(a.rows)] + [f"{who} {cpu[who]:.2f} s {memory[who]:.0f} MB" for who in commands]
            said += [f"{who} over ONNX Runtime {cpu[who] / cpu['ONNX Runtime']:.2f}" for who in commands if who != "ONNX Runtime"]
            if a.base:
                said.append(f"contributions differ by {difference(here / 'base', here / 'pho'):.1e}")
            print("\t".join(said), flush=True)


if __name__ == "__main__":
    main()
