"""Seconds per epoch of adapters/native relative to PyTorch on the CPU, same tasks.

    python3 benchmarks/native/compare_torch.py [--epochs 12] [--only TASK]

Run from the root of the module; needs Debian's python3-torch and Go. PyTorch is
given its better setting of 1 and 2 threads, data already in memory, batches by an
index of a random permutation (no DataLoader), and feature networks as batched
products. Both sides: float32, Adam, n = 10,000, median over epochs; ours with the
better setting of 1 and 2 workers. Ratio in the rows: peer's seconds over ours.
"""
import argparse
import json
import os
import statistics
import subprocess
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=12)
parser.add_argument("--rows", type=int, default=10000)
parser.add_argument("--only", default="")
args = parser.parse_args()


class SSN(nn.Module):
    def __init__(self):
        super().__init__()
        self.deep = nn.Sequential(nn.Linear(10, 200), nn.ReLU(), nn.Linear(200, 200), nn.ReLU(), nn.Linear(200, 1, bias=False))
        self.beta = nn.Linear(60, 1)
        self.register_buffer("S", torch.eye(60))

    def loss(self, x, s, y):
        eta = self.beta(s) + self.deep(x)
        b = self.beta.weight
        return 0.5 * ((y - eta) ** 2).mean() + 0.5e-4 * (b @ self.S @ b.T).sum()


class NAM(nn.Module):
    """Ten networks 1-64-64-32-1 as batched products."""

    def __init__(self):
        super().__init__()
        sizes = [1, 64, 64, 32, 1]
        self.w = nn.ParameterList([nn.Parameter(torch.randn(10, a, b) * (2 / a) ** 0.5) for a, b in zip(sizes, sizes[1:])])
        self.b = nn.ParameterList([nn.Parameter(torch.zeros(10, 1, b)) for b in sizes[1:]])

    def loss(self, x, s, y):
        h = x.T.unsqueeze(2)
        for i, (w, b) in enumerate(zip(self.w, self.b)):
            h = torch.baddbmm(b, h, w)
            if i < 3:
                h = torch.relu(h)
        return 0.5 * ((y - h.sum(0)) ** 2).mean()


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1))

    def loss(self, x, s, y):
        return 0.5 * ((y - self.net(x)) ** 2).mean()


def seconds(model, batch, threads):
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    n = args.rows
    x = torch.rand(n, 10) * 4 - 2
    y = torch.cos(2 * x[:, 0]) + torch.tanh(3 * x[:, 1]) - x[:, 2] ** 2 / 2 + x[:, 3] * x[:, 4] + 0.5 * torch.randn(n)
    y = ((y - y.mean()) / y.std()).unsqueeze(1)
    s = torch.randn(n, 60)
    m = model()
    opt = torch.optim.Adam(m.parameters(), lr=0.001)
    times = []
    for _ in range(args.epochs):
        t = time.perf_counter()
        order = torch.randperm(n)
        for i in range(0, n, batch):
            rows = order[i:i + batch]
            opt.zero_grad(set_to_none=True)
            m.loss(x[rows], s[rows], y[rows]).backward()
            opt.step()
        times.append(time.perf_counter() - t)
    return statistics.median(times[2:]), min(times[2:])


tasks = {"ssn batch 1024": (SSN, 1024), "ssn batch 32": (SSN, 32), "nam batch 1024": (NAM, 1024), "small batch 32": (Small, 32)}
titles = {"ssn": "SSN 200/200 with 60 spline columns", "nam": "NAM 10 x (1-64-64-32-1)", "small": "MLP 10-16-8-1"}
program = os.environ.get("PHO_NATIVE", "")
command = [program] if program else [os.environ.get("GO", "go"), "run", "./benchmarks/native"]
print(f"version\ttorch {torch.__version__}")
print("seconds per epoch, median (fastest)")
for name, (model, batch) in tasks.items():
    if args.only not in ("", name):
        continue
    peer = {t: seconds(model, batch, t) for t in (1, 2)}
    ours = {}
    for workers in (1, 2):
        out = subprocess.run(command + ["-only", name, "-workers", str(workers), "-epochs", str(args.epochs), "-rows", str(args.rows)],
                             check=True, capture_output=True, text=True).stdout
        ours[workers] = json.loads(out)[name]
    best, mine = min(p[0] for p in peer.values()), min(o["seconds"] for o in ours.values())
    print(f"{name:15} torch " + "  ".join(f"{t} thr {p[0]:.4f} ({p[1]:.4f})" for t, p in peer.items())
          + "  pho " + "  ".join(f"{w} wrk {o['seconds']:.4f} ({o['fastest']:.4f})" for w, o in ours.items()) + f"  ours/torch {mine / best:.2f}")
    kind, size = name.split(" batch ")
    print(f"row\t{titles[kind]}, batch {size}, seconds per epoch\t{mine:.4f} s\t{best:.4f} s\t{best / mine:.2f}\t-", flush=True)
