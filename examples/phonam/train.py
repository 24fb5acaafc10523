"""Trains the neural additive model with a deep part that README.md analyses.

    /usr/bin/python3 examples/phonam/train.py covid_us_county.csv.gz nam.onnx

One small network each for day, temperature, humidity and log population, the
row-wise tensor product of a network of longitude and one of latitude (5 x 5 = 25
learned basis functions), and a deep network of all six, as in the PHO paper's
application; trained without any identifiability constraint. The response is the
log of confirmed cases per 1,000 people. Columns are standardised in the graph, so
that it takes them as they are in the file.
"""

import gzip
import sys

import numpy as np
import torch
from torch import nn

COLUMNS = ["day", "temp_clim_c", "rh_clim_pct", "log_population", "longitude", "latitude"]
RESPONSE = "log_prevalence_total"


def mlp(*widths, activation=nn.ReLU):
    layers = []
    for a, b in zip(widths[:-1], widths[1:]):
        layers += [nn.Linear(a, b), activation()]
    return nn.Sequential(*layers)


class NAM(nn.Module):
    def __init__(self, mean, sd):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("sd", sd)
        self.features = nn.ModuleList(mlp(1, 32, 16) for _ in range(4))
        self.outs = nn.ModuleList(nn.Linear(16, 1, bias=False) for _ in range(4))
        self.margins = nn.ModuleList(nn.Sequential(mlp(1, 32, 16), nn.Linear(16, 5)) for _ in range(2))
        self.space = nn.Linear(25, 1, bias=False)
        self.deep = nn.Sequential(
            nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Dropout(0.2), nn.Linear(20, 1)
        )

    def forward(self, x):
        x = (x - self.mean) / self.sd
        eta = self.deep(x)
        for j in range(4):
            eta = eta + self.outs[j](self.features[j](x[:, j : j + 1]))
        a, b = self.margins[0](x[:, 4:5]), self.margins[1](x[:, 5:6])
        return eta + self.space((a.unsqueeze(2) * b.unsqueeze(1)).reshape(-1, 25))


def main(data, out):
    with gzip.open(data, "rt") as f:
        header = f.readline().strip().split(",")
        table = np.loadtxt(f, delimiter=",")
    x = torch.tensor(table[:, [header.index(c) for c in COLUMNS]], dtype=torch.float32)
    y = torch.tensor(table[:, [header.index(RESPONSE)]], dtype=torch.float32)
    torch.manual_seed(2023)
    torch.set_num_threads(1)
    net = NAM(x.mean(0), x.std(0))
    with torch.no_grad():
        net.deep[-1].bias.copy_(y.mean())
    epochs = 15
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    for _ in range(epochs):
        net.train()
        for rows in torch.randperm(len(x)).split(1024):
            opt.zero_grad()
            ((net(x[rows]) - y[rows]) ** 2).mean().backward()
            opt.step()
        schedule.step()
    net.eval()
    with torch.no_grad():
        print("share of variance explained:", float(1 - ((net(x) - y) ** 2).mean() / y.var()))
    torch.onnx.export(
        net, x[:1], out, opset_version=13,
        input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "N"}, "y": {0: "N"}},
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
