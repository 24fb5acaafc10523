"""Small networks exported by PyTorch, with what pho must find in them.

Run with Debian's python3 (python3-torch 1.13, python3-onnx 1.12, numpy):

    /usr/bin/python3 testdata/golden/torch_models.py

writes testdata/golden/models/NAME.onnx and NAME.json. The JSON holds float32
inputs, eta, the learned bases and U that PyTorch computes (in float64, from the
float32 weights), the structure that was built, and numpy's float64 projection:
alpha = X^+ zeta, eta_unstr = zeta - X alpha, X = [1, bases].
"""

import io
import json
import os
import sys
import warnings

import numpy as np
import onnx
import torch
from torch import nn

warnings.filterwarnings("ignore")
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")
ROWS = 40


def mlp(*widths, act=nn.ReLU):
    layers = []
    for a, b in zip(widths[:-1], widths[1:]):
        layers += [nn.Linear(a, b), act()]
    return nn.Sequential(*layers)


class SSN(nn.Module):
    """eta = x[linear] beta + head(net(x[deep]))."""

    def __init__(self, linear, deep, hidden=8):
        super().__init__()
        self.linear, self.deep = linear, deep
        self.lin = nn.Linear(len(linear), 1)
        self.net = mlp(len(deep), hidden, hidden)
        self.head = nn.Linear(hidden, 1)

    def parts(self, x):
        u = self.net(x[:, self.deep])
        lin = {f"x{j}": (x[:, j : j + 1], self.lin.weight[:, i : i + 1].T) for i, j in enumerate(self.linear)}
        return [dict(terms=lin, intercept=self.lin.bias + self.head.bias, u=u, gamma=self.head.weight.T)]

    def forward(self, x):
        xl = x if self.linear == list(range(x.shape[1])) else x[:, self.linear[0] : self.linear[-1] + 1]
        xd = x if self.deep == list(range(x.shape[1])) else x[:, self.deep[0] : self.deep[-1] + 1]
        return self.lin(xl) + self.head(self.net(xd))


class NAM(nn.Module):
    """One subnetwork a column, optionally a pair (row-wise tensor product) and a deep net."""

    def __init__(self, p, deep=True, pair=None, width=5):
        super().__init__()
        self.p, self.pair = p, pair
        self.subs = nn.ModuleList([mlp(1, width, width, act=nn.Tanh) for _ in range(p)])
        self.outs = nn.ModuleList([nn.Linear(width, 1, bias=False) for _ in range(p)])
        self.bias = nn.Parameter(torch.randn(1))
        self.net = mlp(p, 8, 6) if deep else None
        self.head = nn.Linear(6, 1) if deep else None
        self.pairs = nn.ModuleList([mlp(1, 3), mlp(1, 3)]) if pair else None
        self.pairout = nn.Linear(9, 1, bias=False) if pair else None

    def bases(self, x):
        b = [(f"f(x{j})", self.subs[j](x[:, j : j + 1]), self.outs[j].weight.T) for j in range(self.p)]
        if self.pair:
            i, j = self.pair
            b.append((f"f(x{i},x{j})", self.product(x), self.pairout.weight.T))
        return b

    def product(self, x):
        i, j = self.pair
        a, b = self.pairs[0](x[:, i : i + 1]), self.pairs[1](x[:, j : j + 1])
        return (a.unsqueeze(2) * b.unsqueeze(1)).reshape(-1, 9)

    def parts(self, x):
        d = dict(terms={n: (v, w) for n, v, w in self.bases(x)}, intercept=self.bias, u=None, gamma=None)
        if self.net is not None:
            d.update(intercept=self.bias + self.head.bias, u=self.net(x), gamma=self.head.weight.T)
        return [d]

    def forward(self, x):
        eta = self.bias
        for j in range(self.p):
            eta = eta + self.outs[j](self.subs[j](x[:, j : j + 1]))
        if self.pair:
            eta = eta + self.pairout(self.product(x))
        if self.net is not None:
            eta = eta + self.head(self.net(x))
        return eta


class GroupedNAM(nn.Module):
    """All subnetworks at once: grouped Conv1d, einsum, or batched matmul."""

    def __init__(self, p, kind, width=4):
        super().__init__()
        self.p, self.kind, self.width = p, kind, width
        self.w1 = nn.Parameter(torch.randn(p, 1, width))
        self.b1 = nn.Parameter(torch.randn(p, width))
        self.w2 = nn.Parameter(torch.randn(p, width, width) / 2)
        self.out = nn.Linear(p * width, 1)
        if kind == "conv":
            self.c1 = nn.Conv1d(p, p * width, 1, groups=p)
            self.c2 = nn.Conv1d(p * width, p * width, 1, groups=p)
        self.net, self.head = mlp(p, 7), nn.Linear(7, 1)

    def hidden(self, x):  # n x p*width, grouped by column
        if self.kind == "conv":
            return torch.relu(self.c2(torch.relu(self.c1(x.unsqueeze(2))))).squeeze(2)
        if self.kind == "einsum":
            h = torch.relu(torch.einsum("npi,pio->npo", x.unsqueeze(2), self.w1) + self.b1)
            return torch.relu(torch.einsum("npi,pio->npo", h, self.w2)).reshape(-1, self.p * self.width)
        h = x.t().unsqueeze(2)  # p x n x 1
        h = torch.relu(torch.matmul(h, self.w1) + self.b1.unsqueeze(1))
        h = torch.relu(torch.matmul(h, self.w2))
        return h.permute(1, 0, 2).reshape(-1, self.p * self.width)

    def parts(self, x):
        h, w = self.hidden(x), self.out.weight.T
        k = self.width
        terms = {f"f(x{j})": (h[:, j * k : (j + 1) * k], w[j * k : (j + 1) * k]) for j in range(self.p)}
        return [dict(terms=terms, intercept=self.out.bias + self.head.bias, u=self.net(x), gamma=self.head.weight.T)]

    def forward(self, x):
        return self.out(self.hidden(x)) + self.head(self.net(x))


class BlackBox(nn.Module):
    def __init__(self, p, k=1, head=None, scale=None):
        super().__init__()
        self.net, self.out, self.head, self.scale = mlp(p, 9, 6), nn.Linear(6, k), head, scale

    def parts(self, x):
        u, s = self.net(x), 1.0 if self.scale is None else self.scale[1]
        c = 0.0 if self.scale is None else self.scale[0]
        return [dict(terms={}, intercept=c + s * self.out.bias[k], u=u, gamma=s * self.out.weight[k : k + 1].T) for k in range(self.out.out_features)]

    def forward(self, x):
        y = self.out(self.net(x))
        if self.scale is not None:
            y = self.scale[0] + self.scale[1] * y
        return y if self.head is None else self.head(y)


class TwoHeads(nn.Module):
    """mu: linear + trunk; sigma = softplus(s): x1 + the same trunk; plus shared f(x0)."""

    def __init__(self, p, joined):
        super().__init__()
        self.joined = joined
        self.trunk = mlp(p, 8, 6)
        self.sub = mlp(1, 4, act=nn.Tanh)
        self.mu, self.s = nn.Linear(6, 1), nn.Linear(6, 1)
        self.submu, self.subs = nn.Linear(4, 1, bias=False), nn.Linear(4, 1, bias=False)
        self.linmu, self.lins = nn.Linear(p, 1, bias=False), nn.Linear(1, 1, bias=False)

    def parts(self, x):
        u, f = self.trunk(x), self.sub(x[:, :1])
        mu = {f"x{j}": (x[:, j : j + 1], self.linmu.weight[:, j : j + 1].T) for j in range(x.shape[1])}
        mu["f(x0)"] = (f, self.submu.weight.T)
        s = {"x1": (x[:, 1:2], self.lins.weight.T), "f(x0)": (f, self.subs.weight.T)}
        return [
            dict(terms=mu, intercept=self.mu.bias, u=u, gamma=self.mu.weight.T),
            dict(terms=s, intercept=self.s.bias, u=u, gamma=self.s.weight.T),
        ]

    def forward(self, x):
        u, f = self.trunk(x), self.sub(x[:, :1])
        mu = self.mu(u) + self.submu(f) + self.linmu(x)
        s = nn.functional.softplus(self.s(u) + self.subs(f) + self.lins(x[:, 1:2]))
        return torch.cat([mu, s], dim=1) if self.joined else (mu, s)


class Duplicated(SSN):
    """Column x1 enters the linear part twice."""

    def __init__(self):
        super().__init__([0, 1, 2], [0, 1, 2, 3])
        self.again = nn.Linear(1, 1, bias=False)

    def parts(self, x):
        d = super().parts(x)[0]
        v, w = d["terms"]["x1"]
        d["terms"]["x1"] = (v, w + self.again.weight.T)
        return [d]

    def forward(self, x):
        return self.lin(x[:, :3]) + self.again(x[:, 1:2]) + self.head(self.net(x))


class Standardised(SSN):
    """(x - mean)/sd in front of everything."""

    def __init__(self, p):
        super().__init__(list(range(p)), list(range(p)))
        self.register_buffer("mean", torch.linspace(-1, 2, p))
        self.register_buffer("sd", torch.linspace(0.5, 3, p))

    def parts(self, x):
        d = super().parts((x - self.mean) / self.sd)[0]
        terms = {}
        for j, (n, (_, w)) in enumerate(d["terms"].items()):
            terms[n] = (x[:, j : j + 1], w / self.sd[j])
        d["intercept"] = d["intercept"] - (self.lin.weight[0] * self.mean / self.sd).sum()
        return [dict(d, terms=terms)]

    def forward(self, x):
        return super().forward((x - self.mean) / self.sd)


def cases():
    for opset in (11, 13, 15, 17):
        yield f"ssn_op{opset}", lambda: SSN([0, 1, 2], [0, 1, 2, 3, 4]), 5, opset, "eta", ""
        yield f"nam_deep_op{opset}", lambda: NAM(4), 4, opset, "eta", ""
    yield "ssn_apart", lambda: SSN([0, 1], [2, 3, 4, 5]), 6, 13, "eta", ""
    yield "nam_only", lambda: NAM(4, deep=False), 4, 13, "eta", ""
    yield "nam_pair", lambda: NAM(4, pair=(1, 3)), 4, 13, "eta", ""
    yield "nam_conv", lambda: GroupedNAM(4, "conv"), 4, 13, "eta", ""
    yield "nam_einsum", lambda: GroupedNAM(4, "einsum"), 4, 13, "eta", ""
    yield "nam_bmm", lambda: GroupedNAM(4, "bmm"), 4, 13, "eta", ""
    yield "blackbox", lambda: BlackBox(4), 4, 13, "eta", ""
    yield "residual", lambda: BlackBox(4, scale=(3.0, 2.0)), 4, 13, "eta", ""
    yield "sigmoid", lambda: BlackBox(4, head=nn.Sigmoid()), 4, 13, "eta", "sigmoid"
    yield "softmax", lambda: BlackBox(4, k=3, head=nn.Softmax(dim=1)), 4, 13, "y1 y2 y3", "softmax softmax softmax"
    yield "two_heads", lambda: TwoHeads(4, False), 4, 13, "mu sigma", " softplus"
    yield "two_heads_joined", lambda: TwoHeads(4, True), 4, 13, "y1 y2", " softplus"
    yield "duplicated", Duplicated, 4, 13, "eta", ""
    yield "standardised", lambda: Standardised(4), 4, 13, "eta", ""


TOL = 1e-4


def project(x, part):
    """Columns centred and scaled to sd 1, the intercept apart, singular values
    above TOL times the largest: the rule for bases learned in float32. alpha is
    the minimum norm solution in those coordinates, taken back to raw columns
    (the intercept first)."""
    zeta = np.zeros((len(x), 1)) if part["u"] is None else part["u"] @ part["gamma"]
    if not part["terms"]:
        return zeta, np.array([[zeta.mean()]]), zeta - zeta.mean(), 1
    design = np.hstack([v for v, _ in part["terms"].values()])
    mean, sd = design.mean(0), design.std(0)
    sd = np.where(sd > 1e-12, sd, np.inf)
    z = (design - mean) / sd
    alpha = np.linalg.pinv(z, rcond=TOL) @ (zeta - zeta.mean())
    rank = np.linalg.matrix_rank(z, tol=TOL * np.linalg.norm(z, 2)) + 1
    unstr = zeta - zeta.mean() - z @ alpha
    raw = alpha / sd[:, None]
    return zeta, np.vstack([[zeta.mean() - mean @ raw], raw]), unstr, int(rank)


def write(name, build, p, opset, names, heads):
    torch.manual_seed(sum(map(ord, name.split("_op")[0])))
    model = build().eval()
    x = torch.randn(ROWS, p)
    outs = ["mu", "sigma"] if name == "two_heads" else ["y"]
    buf = io.BytesIO()
    dynamic = {n: {0: "batch"} for n in ["x"] + outs}
    torch.onnx.export(model, x, buf, opset_version=opset, input_names=["x"], output_names=outs, dynamic_axes=dynamic)
    proto = onnx.load_from_string(buf.getvalue())
    onnx.checker.check_model(proto)
    with open(os.path.join(OUT, name + ".onnx"), "wb") as f:
        f.write(buf.getvalue())

    model, x = model.double(), x.double()
    with torch.no_grad():
        parts = model.parts(x)
    array = lambda v: None if v is None else v.detach().numpy().astype(np.float64)
    predictors = []
    for part, pname, head in zip(parts, names.split(), heads.split(" ") if heads else [""] * len(parts)):
        part = dict(
            terms={n: (array(v), array(w)) for n, (v, w) in part["terms"].items()},
            intercept=float(part["intercept"]), u=array(part["u"]), gamma=array(part["gamma"]),
        )
        zeta, alpha, unstr, rank = project(x.numpy(), part)
        eta = part["intercept"] + zeta + sum(v @ w for v, w in part["terms"].values())
        check = np.asarray(eta)
        predictors.append(dict(
            name=pname, head=head, intercept=part["intercept"], eta=check[:, 0].tolist(),
            terms=[dict(name=n, values=v.tolist(), beta=w[:, 0].tolist()) for n, (v, w) in part["terms"].items()],
            u=None if part["u"] is None else part["u"].tolist(),
            gamma=None if part["gamma"] is None else part["gamma"][:, 0].tolist(),
            zeta=zeta[:, 0].tolist(), rank=rank, alpha=alpha[:, 0].tolist(), eta_unstr=unstr[:, 0].tolist(),
        ))
    with torch.no_grad():
        outputs = model(x)
    verify(predictors, outputs if isinstance(outputs, tuple) else [outputs[:, k : k + 1] for k in range(outputs.shape[1])])
    with open(os.path.join(OUT, name + ".json"), "w") as f:
        json.dump(rounded(dict(
            torch=torch.__version__, numpy=np.__version__, opset=opset, columns=[f"x{j}" for j in range(p)],
            x=x.tolist(), predictors=predictors,
        )), f)


def verify(predictors, outputs):
    """The parts, put together by hand, are what the module computes."""
    eta = np.array([p["eta"] for p in predictors])
    for k, p in enumerate(predictors):
        got = outputs[k].numpy()[:, 0]
        want = {"": eta[k], "sigmoid": 1 / (1 + np.exp(-eta[k])), "softplus": np.log1p(np.exp(eta[k])),
                "softmax": np.exp(eta[k]) / np.exp(eta).sum(0)}[p["head"]]
        assert np.abs(got - want).max() < 1e-9, (k, np.abs(got - want).max())


def rounded(v):
    if isinstance(v, dict):
        return {k: rounded(x) for k, x in v.items()}
    if isinstance(v, list):
        return [rounded(x) for x in v]
    return float(f"{v:.13g}") if isinstance(v, float) else v


if __name__ == "__main__":
    os.makedirs(OUT, exist_ok=True)
    for case in cases():
        if len(sys.argv) < 2 or case[0] in sys.argv[1:]:
            write(*case)
            print(case[0])
