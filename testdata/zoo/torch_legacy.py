"""PyTorch's exporter by tracing and scripting: torch.onnx.export(dynamo=False)."""
import logging
import warnings

import numpy as np
import torch
from torch import nn

import torch_list
import torch_networks as t
import torch_sequences as q
from zoo import Zoo, rows

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
zoo = Zoo("torch_legacy", "torch")

# Networks that tracing spells otherwise than torch_dynamo, and the opset of each.
CHOSEN = {
    "mlp_relu": 9, "mlp_gelu": 17, "mlp_silu": 13, "mlp_mish": 18, "act_hard": 14, "act_soft": 17, "norm_batch": 11, "norm_layer": 13, 
    "residual": 17, "head_softplus_where": 17, "head_softplus_beta": 17, "head_softmax": 12, "ssn": 11, "ssn_heads": 17,
    "nam": 13, "nam_pairs": 17, "nam_grouped": 17, "nam_einsum": 17, "embeddings": 13, "embedding_list": 17, "one_hot": 17, "wide_deep": 15,
    "lstm": 17, "lstm_deep": 14, "lstm_hidden": 17, "gru": 17, "rnn": 13, "conv1d": 17, "image": 11, "mha": 17, "mha_mask": 14, "sdpa": 17, "attention_hand": 13,
    "attention_bmm": 17, "encoder": 17, "ft_transformer": 17, "tab_transformer": 16, "tabnet": 17, "deepfm": 17, "experts_topk": 17, "experts_gather": 13,
    "piecewise_linear": 17, "bins": 17, "kan": 17, "rbf": 17, "factorization": 17, "quantiles": 17, "missing": 17,
}


def export(name, module, feeds, why, opset, dynamic=True, tolerance=None, **options):
    args = tuple(torch.from_numpy(v) for v in feeds.values())
    axes = {n: {0: "N"} for n in feeds} if dynamic else None
    torch.onnx.export(module, args, zoo.path(name), input_names=list(feeds), opset_version=opset, dynamo=False,
                      dynamic_axes=axes, **options)
    zoo.add(name, None, feeds, why, tolerance, seed=7)


for name, why, make, inputs in torch_list.networks():
    if name in CHOSEN:
        zoo.attempt(name, lambda: export(name, torch_list.prepare(make), inputs(np.random.default_rng(11)), why, CHOSEN[name], tolerance=torch_list.TOLERANCE.get(name)))


class Loop(nn.Module):
    """A loop whose length is a number of the network."""

    def __init__(self, steps: int):
        super().__init__()
        self.a, self.steps = nn.Linear(t.P, t.P), steps

    def forward(self, x):
        for _ in range(self.steps):
            x = x + 0.1 * torch.tanh(self.a(x))
        return x.sum(dim=1)


class Branch(nn.Module):
    """A branch on an option of the network."""

    def __init__(self, wide: bool):
        super().__init__()
        self.a, self.b, self.wide = nn.Linear(t.P, 1), nn.Linear(2, 1), wide

    def forward(self, x):
        if self.wide:
            return self.a(x)
        return self.b(x[:, :2])


class Recurrence(nn.Module):
    """A recurrence written as a loop over the series."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.out = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        h = torch.zeros(x.size(0), 4)
        for i in range(x.size(1)):
            h = torch.tanh(self.a(x[:, i]) + self.b(h))
        return self.out(h)


class Depth(nn.Module):
    """A loop over steps that each row may leave: all rows run all steps."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(t.P, t.P)

    def forward(self, x):
        i = 0
        while i < 3:
            x = torch.where(x.sum(1, keepdim=True) > 0, torch.relu(self.a(x)), x)
            i += 1
        return x.sum(dim=1)


x = {"x": rows(np.random.default_rng(11), t.P)}
for name, why, make, feeds in (
        ("script_loop", "torch.jit.script: a loop of known length", lambda: Loop(3), x),
        ("script_branch", "torch.jit.script: If on an option", lambda: Branch(True), x),
        ("script_recurrence", "torch.jit.script: Loop over the series", Recurrence, {"x": q.seq(np.random.default_rng(11), 5, 3)}),
        ("script_while", "torch.jit.script: while", Depth, x)):
    zoo.attempt(name, lambda: export(name, torch.jit.script(torch_list.prepare(make)), feeds, why, 17))
for opset in (9, 10, 11, 12, 14, 15, 16, 18, 19, 20):
    name = f"opset_{opset}"
    zoo.attempt(name, lambda: export(name, torch_list.prepare(lambda: t.mlp(nn.ELU, lambda: nn.BatchNorm1d(t.H))), x, f"opset {opset}", opset))
zoo.attempt("float64", lambda: export("float64", torch_list.prepare(t.NAM).double(), {"x": x["x"].astype(np.float64)}, "weights and input of double", 17))
zoo.attempt("batch_one", lambda: export("batch_one", torch_list.prepare(t.SSN), {"x": x["x"][:1]}, "exported without dynamic axes: the batch is 1", 17, dynamic=False))
zoo.attempt("keep_initializers", lambda: export("keep_initializers", torch_list.prepare(t.SSN), x, "weights are listed as inputs too", 9, keep_initializers_as_inputs=True, do_constant_folding=False))
zoo.close()
