"""Validation loss by epoch of adapters/native and PyTorch, for the SSN and the NAM of
compare_torch.py: same rows, same distribution of the start, same optimiser, six seeds
each.

    python3 benchmarks/native/compare_curves.py

Run from the root of the module; needs torch, numpy and Go. Prints, by epoch, the means
over seeds, their standard deviations and the difference in units of its standard error;
then a row each:

    row<TAB>case<TAB>ours<TAB>peer<TAB>ratio<TAB>answer difference

where ours and peer are the means at the last epoch, the ratio is peer over ours and the
difference is the largest over the epochs of |difference of the means| / standard
deviation over seeds.
"""
import json
import os
import subprocess
import tempfile

import numpy as np
import torch
from torch import nn

EPOCHS, ROWS, BATCH, RATE = 12, 4000, 128, 0.001
torch.set_num_threads(1)
with tempfile.TemporaryDirectory() as d:
    path = os.path.join(d, "rows.json")
    program = os.environ.get("PHO_NATIVE", "")
    command = [program] if program else [os.environ.get("GO", "go"), "run", "-C", "benchmarks", "./native"]
    out = subprocess.run(command + ["-rows", str(ROWS), "-epochs", str(EPOCHS), "-curves", path], check=True, capture_output=True, text=True).stdout
    with open(path) as f:
        doc = json.load(f)
ours = {k: np.array(v) for k, v in json.loads(out).items()}
seeds = len(ours["ssn"])

# As adapters/native: columns standardised, splines in coordinates in which the Hessian
# of the penalised loss is the identity.
x, y, l = (np.array(doc["train"][k]) for k in ("x", "y", "columns"))
xv, yv, lv = (np.array(doc["valid"][k]) for k in ("x", "y", "columns"))
xv, x = (xv - x.mean(0)) / x.std(0), (x - x.mean(0)) / x.std(0)
yv, y = (yv - y.mean()) / y.std(), (y - y.mean()) / y.std()
sd = l.std(0)
lv, l = (lv - l.mean(0)) / sd, (l - l.mean(0)) / sd
s = np.array(doc["penalty"]) / np.outer(sd, sd)
inverse = np.linalg.inv(np.linalg.cholesky((l.T @ l + s) / len(y)).T)
l, lv, s = l @ inverse, lv @ inverse, inverse.T @ s @ inverse
x, y, l, xv, yv, lv, s = (torch.tensor(a, dtype=torch.float32) for a in (x, y[:, None], l, xv, yv[:, None], lv, s))


def uniform(shape, fan_in):
    limit = fan_in**-0.5
    return nn.Parameter(torch.empty(shape).uniform_(-limit, limit))


class SSN(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = [10, 200, 200]
        self.w = nn.ParameterList([uniform((a, b), a) for a, b in zip(sizes, sizes[1:])])
        self.b = nn.ParameterList([uniform(b, a) for a, b in zip(sizes, sizes[1:])])
        self.head = uniform((200, 1), 200)
        self.beta, self.intercept = nn.Parameter(torch.zeros(60, 1)), nn.Parameter(torch.zeros(1))

    def forward(self, x, l):
        for w, b in zip(self.w, self.b):
            x = torch.relu(x @ w + b)
        return self.intercept + l @ self.beta + x @ self.head

    def penalty(self):
        return 0.5 * (self.beta.T @ s @ self.beta).sum() / len(y)


class NAM(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = [1, 64, 64, 32]
        self.w = nn.ParameterList([uniform((10, a, b), a) for a, b in zip(sizes, sizes[1:])])
        self.b = nn.ParameterList([uniform((10, 1, b), a) for a, b in zip(sizes, sizes[1:])])
        self.head, self.intercept = uniform((10, 32, 1), 32), nn.Parameter(torch.zeros(1))

    def forward(self, x, l):
        h = x.T.unsqueeze(2)
        for w, b in zip(self.w, self.b):
            h = torch.relu(torch.baddbmm(b, h, w))
        return self.intercept + torch.bmm(h, self.head).sum(0)

    def penalty(self):
        return 0


def curve(model, seed):
    torch.manual_seed(seed)
    net, losses = model(), []
    opt = torch.optim.Adam(net.parameters(), lr=RATE)
    for _ in range(EPOCHS):
        order = torch.randperm(len(y))
        for i in range(0, len(y), BATCH):
            b = order[i:i + BATCH]
            opt.zero_grad(set_to_none=True)
            (0.5 * ((net(x[b], l[b]) - y[b]) ** 2).mean() + net.penalty()).backward()
            opt.step()
        with torch.no_grad():
            losses.append(0.5 * ((net(xv, lv) - yv) ** 2).mean().item())
    return losses


titles = {"ssn": "SSN 200/200 with 60 spline columns", "nam": "NAM 10 x (1-64-64-32-1)"}
for name, model in (("ssn", SSN), ("nam", NAM)):
    mine, peer = ours[name], np.array([curve(model, seed) for seed in range(seeds)])
    spread, own = peer.std(0, ddof=1), mine.std(0, ddof=1)
    gap = mine.mean(0) - peer.mean(0)
    error = np.sqrt((spread**2 + own**2) / seeds)
    print(f"{name}: validation loss, {seeds} seeds\nepoch  torch   (sd)      pho     (sd)      difference / standard error")
    for e in range(EPOCHS):
        print(f"{e + 1:5}  {peer[:, e].mean():.4f}  ({spread[e]:.4f})  {mine[:, e].mean():.4f}  ({own[e]:.4f})  {gap[e] / error[e]:+.1f}")
    worst = np.max(np.abs(gap) / np.sqrt((spread**2 + own**2) / 2))
    print(f"row\t{titles[name]}, validation loss curve\t{mine[:, -1].mean():.4f}\t{peer[:, -1].mean():.4f}\t{peer[:, -1].mean() / mine[:, -1].mean():.3f}\t{worst:.2f} sd", flush=True)
