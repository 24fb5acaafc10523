"""PyTorch's exporter of today: torch.onnx.export(dynamo=True)."""
import logging
import os
import warnings

import numpy as np
import torch
from torch import nn

import torch_list
import torch_networks as t
from zoo import ROWS, Zoo, rows

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
zoo = Zoo("torch_dynamo", "torch", "onnxscript", "onnx-ir")


def export(name, make, feeds, why, opset=None, dynamic=True, tolerance=None, external=False):
    m = torch_list.prepare(make)
    args = tuple(torch.from_numpy(v) for v in feeds.values())
    batch = torch.export.Dim("N", min=2, max=4096) if dynamic else None
    shapes = tuple({0: batch} for _ in args) if dynamic else None
    torch.onnx.export(m, args, zoo.path(name), input_names=list(feeds), opset_version=opset, dynamo=True,
                      dynamic_shapes=shapes, external_data=external, verbose=False)
    zoo.add(name, None, feeds, why, tolerance, seed=7)


for name, why, make, inputs in torch_list.networks():
    zoo.attempt(name, lambda: export(name, make, inputs(np.random.default_rng(11)), why, tolerance=torch_list.TOLERANCE.get(name)))

x = {"x": rows(np.random.default_rng(11), t.P)}
for opset in (18, 20, 21, 22, 23, 24):
    zoo.attempt(f"opset_{opset}", lambda: export(f"opset_{opset}", lambda: t.mlp(nn.GELU, lambda: nn.LayerNorm(t.H)), x, f"opset {opset}", opset))
zoo.attempt("external", lambda: export("external", lambda: nn.Sequential(nn.Linear(t.P, 64), nn.ReLU(), nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 1)), x,
            "the exporter's default: weights in a file beside the network", external=True))
zoo.attempt("external_nam", lambda: export("external_nam", lambda: t.NAM(width=24), x, "the same of an additive network", external=True))
zoo.attempt("external_empty", lambda: export("external_empty", t.SSN, x, "weights so small that the exporter keeps them, next to an empty file", external=True))
zoo.attempt("float64", lambda: export("float64", lambda: t.SSN().double(), {"x": x["x"].astype(np.float64)}, "weights and input of double"))
zoo.attempt("float16", lambda: export("float16", lambda: t.mlp(nn.ReLU).half(), {"x": rows(np.random.default_rng(11), t.P).astype(np.float16)},
            "weights and input of float16", tolerance=5e-3))


class BFloat(nn.Module):
    """Input and output of float, weights of bfloat16."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(t.P, t.H).bfloat16(), nn.Linear(t.H, 1).bfloat16()

    def forward(self, x):
        h = torch.relu(x @ self.a.weight.float().T + self.a.bias.float())
        return h @ self.b.weight.float().T + self.b.bias.float()


zoo.attempt("bfloat16", lambda: export("bfloat16", BFloat, x, "weights of bfloat16, computed as float"))
zoo.attempt("batch_one", lambda: export("batch_one", lambda: t.mlp(nn.ReLU), {"x": x["x"][:1]}, "exported without dynamic shapes: the batch is 1", dynamic=False))


class IfAny(nn.Module):
    """torch.cond on a constant of the network: both branches are in the graph."""

    def __init__(self):
        super().__init__()
        self.a, self.b = t.mlp(nn.ReLU), t.mlp(nn.Tanh)
        self.register_buffer("flag", torch.tensor(True))

    def forward(self, x):
        return torch.cond(self.flag, lambda v: self.a(v), lambda v: self.b(v), (x,))


zoo.attempt("cond", lambda: export("cond", IfAny, x, "torch.cond on a flag that is a weight"))
zoo.close()
