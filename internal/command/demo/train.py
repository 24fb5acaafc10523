"""Trains and exports the two networks that `pho demo` opens.

    /usr/bin/python3 internal/command/demo/train.py internal/command/demo

Both are trained as their authors would, without any identifiability constraint,
on the ten-function simulation of the PHO paper (appendix, simulation details):
x_j standard normal, y = sum_j f_j(x_j) + N(0, 1).

  ssn.onnx  linear effects of all ten features + a multilayer perceptron of all
  nam.onnx  one small network per feature + a multilayer perceptron of all
"""

import sys

import numpy as np
import torch
from torch import nn

FEATURES = 10


def truth(x):
    density = np.exp(-0.5 * x[:, 8] ** 2) / np.sqrt(2 * np.pi)
    f = [
        np.cos(5 * x[:, 0]),
        np.tanh(3 * x[:, 1]),
        -x[:, 2] ** 3,
        -3 * x[:, 3] * np.cos(3 * x[:, 3] - 2),
        np.exp(0.5 * x[:, 4]) - 1,
        x[:, 5] ** 2,
        np.sin(x[:, 6]) * np.cos(x[:, 6]),
        np.sqrt(np.abs(x[:, 7])),
        density - 1 / 8,
        -x[:, 9] * np.tanh(3 * x[:, 9]) * np.sin(4 * x[:, 9]),
    ]
    return np.sum(f, axis=0)


def mlp(*widths, activation=nn.ReLU):
    layers = []
    for a, b in zip(widths[:-2], widths[1:-1]):
        layers += [nn.Linear(a, b), activation(), nn.Dropout(0.01)]
    return nn.Sequential(*layers, nn.Linear(widths[-2], widths[-1]))


class SSN(nn.Module):
    def __init__(self):
        super().__init__()
        self.structured = nn.Linear(FEATURES, 1)
        self.deep = mlp(FEATURES, 128, 64, 1)

    def forward(self, x):
        return self.structured(x) + self.deep(x)


class NAM(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.ModuleList(mlp(1, 32, 16, 1) for _ in range(FEATURES))
        self.deep = mlp(FEATURES, 32, 16, 1)

    def forward(self, x):
        out = self.deep(x)
        for j, net in enumerate(self.features):
            out = out + net(x[:, j : j + 1])
        return out


def train(net, x, y, epochs=200):
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    for epoch in range(epochs):
        net.train()
        for rows in torch.randperm(len(x)).split(256):
            opt.zero_grad()
            loss = ((net(x[rows]) - y[rows]) ** 2).mean()
            loss.backward()
            opt.step()
        schedule.step()
    net.eval()
    return net


def main(out):
    torch.manual_seed(2023)
    torch.set_num_threads(1)
    rng = np.random.default_rng(2023)
    x = rng.standard_normal((40_000, FEATURES))
    y = truth(x) + rng.standard_normal(len(x))
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)[:, None]
    for name, net in (("ssn", SSN()), ("nam", NAM())):
        train(net, x, y)
        with torch.no_grad():
            print(name, "mean squared error", float(((net(x) - y) ** 2).mean()))
        torch.onnx.export(
            net, x[:1], f"{out}/{name}.onnx", opset_version=13,
            input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "N"}, "y": {0: "N"}},
        )


if __name__ == "__main__":
    main(sys.argv[1])
