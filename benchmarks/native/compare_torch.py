"""Seconds per epoch of adapters/native relative to PyTorch on the CPU, same tasks.

    python3 benchmarks/native/compare_torch.py [--epochs 12] [--only TASK]

Run from the root of the module; needs torch (PyPI) and Go. PyTorch is given its best
setting: 1 and 2 threads; Adam as it comes, with foreach and fused; torch.compile of the
loss where that works, then in its modes max-autotune and reduce-overhead, and of the
optimiser's step too; the columns in a tensor each or all in one. Each choice is tried
with the best of those before it. Data are in memory, shuffled once an epoch and cut into
batches (no DataLoader), gradients set to None, and feature networks batched products.
Both sides: float32 (no lower precision in products), Adam, n = 10,000, median over
epochs; ours with the better setting of 1 and 2 workers. The two best settings of the
trials and ours then take turns; ours, a process each, of a second or more, since the first
quarter of one is up to a tenth slower. Ratio in the rows: peer's seconds over ours; behind our
time stands the least that our workers could take: see limit.go.
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


class Run:
    """Training with one setting, an epoch at a time."""

    def __init__(self, model, batch, threads=1, adam="", mode=None, step=False, one=False):
        said = [f"{threads} thread{'s' if threads > 1 else ''}", f"Adam {adam or 'default'}"]
        if mode is not None:
            said.append("compiled" + (f" {mode}" if mode != "default" else "") + (" with the step" if step else ""))
        if one:
            said.append("one tensor")
        self.name = ", ".join(said)
        self.batch, self.threads, self.one, self.times = batch, threads, one, []
        torch.set_num_threads(threads)
        torch.manual_seed(1)
        n = args.rows
        x = torch.rand(n, 10) * 4 - 2
        y = torch.cos(2 * x[:, 0]) + torch.tanh(3 * x[:, 1]) - x[:, 2] ** 2 / 2 + x[:, 3] * x[:, 4] + 0.5 * torch.randn(n)
        self.data = x, torch.randn(n, 60), ((y - y.mean()) / y.std()).unsqueeze(1)
        if one:
            self.data = (torch.cat(self.data, 1),)
        m = model()
        self.loss = torch.compile(m.loss, dynamic=False, mode=mode) if mode is not None else m.loss
        self.opt = torch.optim.Adam(m.parameters(), lr=0.001, **({adam: True} if adam else {}))
        self.step = torch.compile(self.opt.step) if step else self.opt.step

    def batches(self):
        order = torch.randperm(args.rows)
        parts = [torch.split(v[order], self.batch) for v in self.data]
        if not self.one:
            return zip(*parts)
        return ((v[:, :10], v[:, 10:70], v[:, 70:]) for v in parts[0])

    def epoch(self):
        torch.set_num_threads(self.threads)
        start = time.perf_counter()
        for x, s, y in self.batches():
            self.opt.zero_grad(set_to_none=True)
            self.loss(x, s, y).backward()
            self.step()
        self.times.append(time.perf_counter() - start)


def trial(run, epochs=5):
    """The fastest of some epochs; the first ones compile."""
    for _ in range(epochs):
        run.epoch()
    best, run.times = min(run.times[2:]), []
    print(f"  torch {run.name}: {best:.4f} s", flush=True)
    return best


def candidates(model, batch):
    """The best two settings."""
    tried = []

    def attempt(**setting):
        if any(setting == t[2] for t in tried):
            return
        try:
            torch._dynamo.reset()
            run = Run(model, batch, **setting)
            tried.append((trial(run), run, setting))
        except Exception as e:  # no C++ compiler, or what it does not know
            print(f"  torch {setting} does not work here: {type(e).__name__}: {str(e).splitlines()[0][:100]}", flush=True)

    def best():
        return dict(min(tried, key=lambda t: t[0])[2])

    for threads in (1, 2):
        for adam in ("", "foreach", "fused"):
            attempt(threads=threads, adam=adam)
    for adam in sorted({best()["adam"], "fused"}):
        for threads in (1, 2):
            attempt(threads=threads, adam=adam, mode="default")
    for mode in ("max-autotune", "reduce-overhead"):
        attempt(**{**best(), "mode": mode})
    for adam in ("", "foreach"):
        attempt(**{**best(), "mode": best().get("mode", "default"), "adam": adam, "step": True})
    attempt(**{**best(), "one": True})
    return [run for _, run, _ in sorted(tried, key=lambda t: t[0])[:2]]


tasks = {"ssn batch 1024": (SSN, 1024), "ssn batch 32": (SSN, 32), "nam batch 1024": (NAM, 1024), "small batch 32": (Small, 32)}
titles = {"ssn": "SSN 200/200 with 60 spline columns", "nam": "NAM 10 x (1-64-64-32-1)", "small": "MLP 10-16-8-1"}
program = os.environ.get("PHO_NATIVE", "")
command = [program] if program else [os.environ.get("GO", "go"), "run", "-C", "benchmarks", "./native"]
TURNS = 3
TURN = 1.5  # seconds of ours, about


def ours(name, workers, epochs):
    out = subprocess.run(command + ["-only", name, "-workers", str(workers), "-epochs", str(epochs), "-rows", str(args.rows)],
                         check=True, capture_output=True, text=True).stdout
    result = json.loads(out)[name]
    limits.append(result["limit"])
    return result["seconds"]


print(f"version\ttorch {torch.__version__}")
for name, (model, batch) in tasks.items():
    if args.only not in ("", name):
        continue
    print(name)
    peers = candidates(model, batch)
    mine, limits = {1: [], 2: []}, []
    epochs = {workers: max(args.epochs, round(TURN / ours(name, workers, args.epochs))) for workers in mine}
    for _ in range(TURNS):
        for workers in mine:
            mine[workers].append(ours(name, workers, epochs[workers]))
        for run in peers:
            for _ in range(args.epochs):
                run.epoch()
    workers, own = min(((w, statistics.median(t)) for w, t in mine.items()), key=lambda t: t[1])
    run = min(peers, key=lambda r: statistics.median(r.times))
    best = statistics.median(run.times)
    kind, size = name.split(" batch ")
    print(f"row\t{titles[kind]}, batch {size}, seconds per epoch\t{own:.4f} s ({workers} worker{'s' if workers > 1 else ''}; least {min(limits) / workers:.4f} s)\t{best:.4f} s ({run.name})\t{best / own:.2f}\t-", flush=True)
