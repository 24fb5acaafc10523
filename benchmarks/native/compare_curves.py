"""Training loss by epoch of adapters/native and PyTorch: same rows, same
distribution of the start, same settings, five seeds each.

    python3 benchmarks/native/compare_curves.py

Run from the root of the module; needs torch, numpy and Go. Prints the mean over
seeds, the standard deviation over PyTorch's seeds, and their difference in units of
its standard error.
"""
import json
import os
import subprocess
import tempfile

import numpy as np
import torch
from torch import nn

EPOCHS, ROWS, SEEDS = 15, 4000, 5
torch.set_num_threads(1)
with tempfile.TemporaryDirectory() as d:
    path = os.path.join(d, "rows.csv")
    out = subprocess.run([os.environ.get("GO", "go"), "run", "./benchmarks/native", "-rows", str(ROWS), "-epochs", str(EPOCHS), "-curves", path],
                         check=True, capture_output=True, text=True).stdout
    rows = np.loadtxt(path, delimiter=",")
ours = np.array(json.loads(out))
rows = (rows - rows.mean(0)) / rows.std(0)
x, y = torch.tensor(rows[:, :10], dtype=torch.float32), torch.tensor(rows[:, 10:], dtype=torch.float32)


def curve(seed):
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))
    for i in (0, 2):
        limit = (6 / net[i].in_features) ** 0.5
        nn.init.uniform_(net[i].weight, -limit, limit)
        nn.init.uniform_(net[i].bias, -0.2, 0.2)
    limit = (0.3 / 32) ** 0.5
    nn.init.uniform_(net[4].weight, -limit, limit)
    nn.init.zeros_(net[4].bias)
    opt = torch.optim.Adam(net.parameters(), lr=0.001)
    losses = []
    for _ in range(EPOCHS):
        order, total = torch.randperm(ROWS), 0.0
        for i in range(0, ROWS, 128):
            b = order[i:i + 128]
            loss = 0.5 * ((net(x[b]) - y[b]) ** 2).mean()
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            total += loss.item() * len(b) / ROWS
        losses.append(total)
    return losses


peer = np.array([curve(s) for s in range(SEEDS)])
spread = peer.std(0, ddof=1)
z = (ours.mean(0) - peer.mean(0)) / np.sqrt((ours.var(0, ddof=1) + peer.var(0, ddof=1)) / SEEDS)
print("epoch  torch   pho     sd over seeds  difference / standard error")
for e in range(EPOCHS):
    print(f"{e + 1:5}  {peer[:, e].mean():.4f}  {ours[:, e].mean():.4f}  {spread[e]:.4f}         {z[e]:+.1f}")
