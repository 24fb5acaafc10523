"""Trains the networks of networks/, from seeds: `python train.py torch` and `python train.py trees`.

Their files are committed: another processor rounds otherwise, and trains another network. The first needs torch
(they were made by 2.15.0), the second xgboost (3.2.0) and onnxmltools (1.16.0); both what networks.py imports.
"""

from __future__ import annotations

import sys

import numpy as np

import networks as judge

ROWS = 4000
NOISE = 0.3


def response(name: str, rows: judge.Rows, rng: np.random.Generator) -> np.ndarray:
    """Draw what a model is trained on: the function of the network of that name, and noise."""
    like = next(n for n in judge.networks() if n.name == name)
    value = sum(f(rows[c]) for c, f in like.main.items()) + sum(i.function(*(rows[c] for c in i.columns)) for i in like.interactions)
    return value + NOISE * rng.normal(size=len(value))


# name of the file: whose rows, whose function, kind
PLANS = {
    "mlp_smooth_0": ("MLP smooth 0", "smooth 0", "MLP"),
    "mlp_smooth_0.9": ("MLP smooth 0.9", "smooth 0", "MLP"),
    "mlp_pairs_0": ("MLP pairs 0", "pairs 0", "MLP"),
    "mlp_pairs_0.9": ("MLP pairs 0.9", "pairs 0", "MLP"),
    "mlp_skewed_0.5": ("MLP skewed 0.5", "skewed 0", "MLP"),
    "nam_mlp_0": ("NAM and MLP 0", "smooth and remainder 0", "NAM and MLP"),
    "nam_mlp_0.9": ("NAM and MLP 0.9", "smooth and remainder 0", "NAM and MLP"),
    "lines_mlp_0.5": ("lines and MLP 0.5", "smooth and remainder 0", "lines and MLP"),
    "nam_0": ("NAM 0", "smooth 0", "NAM"),
    "nam_0.9": ("NAM 0.9", "smooth 0", "NAM"),
}
TREES = {
    "trees_pairs_0": ("boosted trees, pairs 0", "pairs 0", dict(max_depth=3, eta=0.1, num_boost_round=120)),
    "trees_pairs_0.9": ("boosted trees, pairs 0.9", "pairs 0", dict(max_depth=3, eta=0.1, num_boost_round=120)),
    "stumps_0.5": ("boosted stumps 0.5", "smooth 0", dict(max_depth=1, eta=0.2, num_boost_round=200)),
}


def drawn(world: str, like: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on, and their response."""
    rng = np.random.default_rng(seed)
    network = next(n for n in judge.networks() if n.name == world)
    rows = network.sample(rng, ROWS)
    return np.column_stack([rows[c] for c in network.columns]), response(like, rows, rng)


def with_torch() -> None:
    """MLPs of 32 and 32 units, NAMs of 16 and 16 for each column, and semi-structured networks: NAM or lines, and MLP."""
    import torch
    from torch import nn

    def tower(inputs: int, width: int) -> nn.Sequential:
        return nn.Sequential(nn.Linear(inputs, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))

    class Net(nn.Module):
        def __init__(self, kind: str, x: torch.Tensor, y: torch.Tensor):
            super().__init__()
            p = x.shape[1]
            self.kind = kind
            self.register_buffer("mean", x.mean(0))
            self.register_buffer("sd", x.std(0))
            self.bias = nn.Parameter(y.mean().reshape(1, 1).clone())
            if "NAM" in kind:
                self.towers = nn.ModuleList(tower(1, 16) for _ in range(p))
            if "MLP" in kind:
                self.deep = tower(p, 32)
            if "lines" in kind:
                self.lines = nn.Linear(p, 1, bias=False)

        def forward(self, *columns: torch.Tensor) -> torch.Tensor:
            scaled = [(c - self.mean[j]) / self.sd[j] for j, c in enumerate(columns)]
            eta = self.bias
            if "NAM" in self.kind:
                for net, c in zip(self.towers, scaled):
                    eta = eta + net(c)
            if "MLP" in self.kind:
                eta = eta + self.deep(torch.cat(scaled, 1))
            return eta + self.lines(torch.cat(columns, 1)) if "lines" in self.kind else eta

    torch.set_num_threads(1)
    for seed, (file, (world, like, kind)) in enumerate(PLANS.items()):
        values, eta = drawn(world, like, seed)
        x, y = torch.tensor(values, dtype=torch.float32), torch.tensor(eta, dtype=torch.float32)[:, None]
        torch.manual_seed(seed)
        net = Net(kind, x, y)
        optimiser = torch.optim.Adam(net.parameters(), 0.005)
        for _ in range(60):
            for batch in torch.randperm(ROWS).split(128):
                optimiser.zero_grad()
                loss = ((net(*x[batch].split(1, 1)) - y[batch]) ** 2).mean()
                loss.backward()
                optimiser.step()
        columns = tuple(x[:7].split(1, 1))
        given = [f"x{j + 1}" for j in range(len(columns))]
        path = str(judge.HERE / "networks" / f"{file}.onnx")
        axes = {c: {0: "N"} for c in [*given, "eta"]}
        torch.onnx.export(net.eval(), columns, path, input_names=given, output_names=["eta"], dynamic_axes=axes, opset_version=17, dynamo=False)
        print(f"{file}: residual sd {float(((net(*x.split(1, 1)) - y) ** 2).mean().sqrt()):.3f}, noise {NOISE}")


def with_xgboost() -> None:
    """Boosted trees of three splits, and of one."""
    import onnx
    import xgboost
    from onnxmltools.convert import convert_xgboost
    from onnxmltools.convert.common.data_types import FloatTensorType

    for seed, (file, (world, like, settings)) in enumerate(TREES.items()):
        x, y = drawn(world, like, 100 + seed)
        settings = dict(settings)
        rounds = settings.pop("num_boost_round")
        data = xgboost.DMatrix(x, y)
        booster = xgboost.train({**settings, "seed": seed, "nthread": 1}, data, rounds)
        onnx.save(convert_xgboost(booster, initial_types=[("x", FloatTensorType([None, x.shape[1]]))]), judge.HERE / "networks" / f"{file}.onnx")
        print(f"{file}: residual sd {np.std(booster.predict(data) - y):.3f}, noise {NOISE}")


if __name__ == "__main__":
    (judge.HERE / "networks").mkdir(exist_ok=True)
    {"torch": with_torch, "trees": with_xgboost}[sys.argv[1]]()
