"""Networks of ordered classes as people write them in PyTorch, and what ONNX Runtime and
PyTorch say of them: see README.md. Needs torch, onnx and onnxruntime."""
import base64
import json
import os
import tempfile
import warnings

import numpy as np
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
from torch import nn

warnings.filterwarnings("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))


class Net(nn.Module):
    """A predictor, and how the classes hang on it."""

    def __init__(self, cuts, bias=True):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1, bias=bias))
        self.cuts = nn.Parameter(torch.tensor(cuts))


class Link(Net):
    """spacecutter's logistic cumulative link: probabilities of classes."""

    def forward(self, x):
        s = torch.sigmoid(self.cuts - self.body(x))
        return torch.cat((s[:, [0]], s[:, 1:] - s[:, :-1], 1 - s[:, [-1]]), dim=1)


class Link64(Link):
    """the same in double"""


class Above(Net):
    """The same from P(class > k)."""

    def forward(self, x):
        s = F.pad(F.pad(torch.sigmoid(self.body(x) - self.cuts), (1, 0), value=1.0), (0, 1))
        return s[:, :-1] - s[:, 1:]


class Coral(Net):
    """CORAL's layer: one weight vector and falling biases, P(class > k)."""

    def forward(self, x):
        return torch.sigmoid(self.body(x) + self.cuts)


class CoralLogits(Net):
    """CORAL with its logits as an output, as coral-pytorch returns them."""

    def forward(self, x):
        logits = self.body(x) + self.cuts
        return torch.sigmoid(logits), logits


class Below(Net):
    """P(class <= k) with the predictor added: a larger one means a lower class."""

    def forward(self, x):
        return torch.sigmoid(self.body(x).expand(-1, 3) + self.cuts)


class AboveCuts(Net):
    """P(class > k) less the predictor: a larger one means a lower class."""

    def forward(self, x):
        return torch.sigmoid(self.cuts - self.body(x))


class Steps(Net):
    """Cut points that a positive step keeps in order."""

    def forward(self, x):
        c = torch.cat([self.cuts[:1], self.cuts[:1] + torch.cumsum(F.softplus(self.cuts[1:]), 0)])
        return torch.sigmoid(c - self.body(x))


class Scaled(Net):
    """Cut points and predictor over a scale."""

    def forward(self, x):
        return torch.sigmoid((self.cuts - self.body(x)) / 0.7)


class Corn(nn.Module):
    """CORN: weights of their own, so that it is several predictors."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3))

    def forward(self, x):
        return torch.sigmoid(self.body(x))


# name, network, and whether its columns are of classes, of P(class > k) or of P(class <= k)
CASES = [
    ("link", lambda: Link([-1.0, 0.1, 1.3]), "classes"),
    ("link64", lambda: Link64([-1.0, 0.1, 1.3]).double(), "classes"),
    ("above", lambda: Above([-1.0, 0.1, 1.3]), "classes"),
    ("coral", lambda: Coral([1.2, 0.3, -0.4, -1.0], bias=False), "above"),
    ("coral_logits", lambda: CoralLogits([1.2, 0.3, -0.4, -1.0], bias=False), "above"),
    ("below", lambda: Below([-1.0, 0.0, 2.0]), "below"),
    ("above_cuts", lambda: AboveCuts([2.0, 0.5, -1.0]), "above"),
    ("steps", lambda: Steps([-0.8, 0.3, 0.1]), "below"),
    ("scaled", lambda: Scaled([-1.0, 0.25, 1.5]), "below"),
    ("corn", Corn, ""),
    ("unordered", lambda: Coral([0.5, -1.0, 2.0]), ""),
]


def exported(module, x, dynamo, path):
    if dynamo:
        torch.onnx.export(module, (x,), path, dynamo=True, input_names=["x"], dynamic_shapes=({0: torch.export.Dim("n")},),
                          external_data=False, verbose=False)
    else:
        torch.onnx.export(module, (x,), path, dynamo=False, input_names=["x"], dynamic_axes={"x": {0: "n"}}, opset_version=17)
    m = onnx.load(path)
    del m.metadata_props[:], m.graph.value_info[:], m.graph.metadata_props[:]
    for n in m.graph.node:
        n.ClearField("doc_string")
        del n.metadata_props[:]
    for v in list(m.graph.input) + list(m.graph.output):
        del v.metadata_props[:]
    return m.SerializeToString()


def classes(columns, kind):
    """Probabilities of classes from an output's columns, in double."""
    p = columns.astype(float)
    if kind == "classes":
        return p
    below = 1 - p if kind == "above" else p
    ends = np.hstack([np.zeros((len(p), 1)), below, np.ones((len(p), 1))])
    return np.diff(ends, axis=1)


rng = np.random.default_rng(14)
rows = np.round(rng.standard_normal((40, 3)), 3)
out = {"versions": {"torch": torch.__version__, "onnxruntime": onnxruntime.__version__}, "x": rows.tolist(), "cases": []}
for name, make, kind in CASES:
    for dynamo in (True, False):
        torch.manual_seed(5)
        module = make().eval()
        for p in module.parameters():
            if p.dim() == 2:
                p.data *= 2
        dtype = next(module.parameters()).dtype
        with tempfile.TemporaryDirectory() as d:
            model = exported(module, torch.tensor(rows[:5], dtype=dtype), dynamo, os.path.join(d, "net.onnx"))
        session = onnxruntime.InferenceSession(model)
        first = session.run(None, {"x": rows.astype(np.float64 if dtype == torch.float64 else np.float32)})[0]
        case = {"name": name + (" dynamo" if dynamo else " traced"), "model": base64.b64encode(model).decode()}
        if kind:
            p = classes(first, kind)
            u = np.random.default_rng(3).random(len(p))
            y = (u[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
            share = np.bincount(y, minlength=p.shape[1]) / len(y)
            module = module.double()
            with torch.no_grad():
                eta = module.body(torch.tensor(rows)).numpy()[:, 0]
            case |= {"y": y.tolist(), "eta": eta.tolist(), "classes": p.tolist(), "loglik": float(np.log(p[np.arange(len(y)), y]).sum()),
                     "null": float(np.log(share[y]).sum())}
        out["cases"].append(case)
with open(os.path.join(HERE, "ordinal.json"), "w") as f:
    json.dump(out, f, separators=(",", ":"))
    f.write("\n")
