"""PyTorch on the splits of benchmarks/initial, with its own default initialisation.

    python3 benchmarks/initial/peer.py DIR [--first 11] [--last 20] [--kinds mlp,ssn,nam]

Everything else is as in adapters/native: Adam with torch's (and its) defaults, the rows
of an epoch in random order, the last batch as small as it is, half the mean squared
error, after each epoch the validation loss, the parameters of the best epoch kept, and
the end when it has not been beaten for as many epochs as the patience. Runs are appended
to DIR/torch.jsonl; those that are there are not repeated.
"""
import argparse
import glob
import json
import os
import re

import torch
from torch import nn

torch.set_num_threads(1)


class MLP(nn.Module):
    def __init__(self, x, widths):
        super().__init__()
        layers, before = [], x.shape[1]
        for width in widths:
            layers += [nn.Linear(before, width), nn.ReLU()]
            before = width
        self.net = nn.Sequential(*layers, nn.Linear(before, 1))

    def forward(self, x):
        return self.net(x)[:, 0]


class SSN(MLP):
    """A linear term for each column, from 0, in coordinates in which the columns are
    orthonormal, as adapters/native trains them."""

    def __init__(self, x, widths):
        super().__init__(x, widths)
        l = x.double()
        self.mean, l = l.mean(0), l - l.mean(0)
        r = torch.linalg.cholesky(l.T @ l / len(l)).T
        self.map = torch.linalg.inv(r).float()
        self.mean = self.mean.float()
        self.beta = nn.Parameter(torch.zeros(x.shape[1]))

    def forward(self, x):
        return super().forward(x) + (x - self.mean) @ self.map @ self.beta


class NAM(nn.Module):
    """A network for each column, side by side: each as nn.Linear would draw it."""

    def __init__(self, x, widths):
        super().__init__()
        p = x.shape[1]
        sizes = [1, *widths]
        draw = lambda shape, fan_in: nn.Parameter(torch.empty(shape).uniform_(-fan_in**-0.5, fan_in**-0.5))
        self.w = nn.ParameterList([draw((p, a, b), a) for a, b in zip(sizes, sizes[1:])])
        self.b = nn.ParameterList([draw((p, 1, b), a) for a, b in zip(sizes, sizes[1:])])
        self.head = draw((p, sizes[-1], 1), sizes[-1])
        self.intercept = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        h = x.T.unsqueeze(2)
        for w, b in zip(self.w, self.b):
            h = torch.relu(torch.baddbmm(b, h, w))
        return torch.bmm(h, self.head).sum(0)[:, 0] + self.intercept


def train(kind, rows, s, seed):
    torch.manual_seed(seed)
    x, y, xv, yv, xt, yt = (torch.tensor(rows[p][k]) for p in ("train", "valid", "test") for k in ("x", "y"))
    net = {"mlp": MLP, "ssn": SSN, "nam": NAM}[kind](x, s["feature" if kind == "nam" else "deep"])
    params = list(net.parameters())
    opt = torch.optim.Adam(params, lr=s["rate"])
    best, at, kept = float("inf"), 0, None
    for epoch in range(1, s["epochs"] + 1):
        order = torch.randperm(len(y))
        for i in range(0, len(y), s["batch"]):
            b = order[i:i + s["batch"]]
            opt.zero_grad(set_to_none=True)
            (0.5 * ((net(x[b]) - y[b]) ** 2).mean()).backward()
            opt.step()
        with torch.no_grad():
            loss = ((net(xv) - yv).double() ** 2).mean().item()
        if loss < best:
            best, at, kept = loss, epoch, [p.detach().clone() for p in params]
        if epoch - at >= s["patience"]:
            break
    with torch.no_grad():
        for p, v in zip(params, kept):
            p.copy_(v)
        rmse = ((net(xt) - yt).double() ** 2).mean().sqrt().item()
    return {"rmse": rows["scale"] * rmse, "epochs": epoch, "best": at}


parser = argparse.ArgumentParser()
parser.add_argument("dir")
parser.add_argument("--first", type=int, default=11)
parser.add_argument("--last", type=int, default=20)
parser.add_argument("--kinds", default="mlp,ssn,nam")
args = parser.parse_args()
with open(os.path.join(args.dir, "settings.json")) as f:
    s = json.load(f)
path = os.path.join(args.dir, "torch.jsonl")
key = lambda r: (r["set"], r["split"], r["kind"], r["seed"])
done = set()
if os.path.exists(path):
    with open(path) as f:
        done = {key(json.loads(line)) for line in f}
print(f"version\ttorch {torch.__version__}")
files = []
for name in sorted(glob.glob(os.path.join(args.dir, "*.json"))):
    m = re.fullmatch(r"(.+)\.(\d+)\.json", os.path.basename(name))
    if m and args.first <= int(m[2]) <= args.last:
        files.append((int(m[2]), m[1], name))
with open(path, "a", buffering=1) as out:
    for number, name, file in sorted(files):
        with open(file) as f:
            rows = json.load(f)
        for kind in args.kinds.split(","):
            for seed in range(s["seeds"]):
                r = {"set": name, "split": number, "kind": kind, "seed": seed, "arm": "torch"}
                if key(r) not in done:
                    out.write(json.dumps(r | train(kind, rows, s, 1000 * number + seed)) + "\n")
