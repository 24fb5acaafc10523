"""Networks as people write them in PyTorch, with tiny widths. torch_dynamo.py and
torch_legacy.py export them; weights come from the seed alone."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

P = 4  # columns of x
H = 5  # hidden units


def mlp(act, *norm, inputs=P, outputs=1, width=H):
    """Two hidden layers; act and norm are called once a layer."""
    return nn.Sequential(nn.Linear(inputs, width), *[n() for n in norm], act(), nn.Linear(width, width), *[n() for n in norm], act(), nn.Linear(width, outputs))


class Fn(nn.Module):
    """A body and then a function of its output."""

    def __init__(self, f, body=None):
        super().__init__()
        self.body, self.f = body or mlp(nn.ReLU), f

    def forward(self, x):
        return self.f(self.body(x))


class Chain(nn.Module):
    """Activations one after the other."""

    def __init__(self, *fs):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(P, P) for _ in fs])
        self.fs, self.last = fs, nn.Linear(P, 1)

    def forward(self, x):
        for layer, f in zip(self.layers, self.fs):
            x = f(layer(x))
        return self.last(x)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.a, self.b, self.last = nn.Linear(P, H), nn.Linear(H, H), nn.Linear(H, H), nn.Linear(H, 1)
        self.norm, self.drop = nn.LayerNorm(H), nn.Dropout(0.3)

    def forward(self, x):
        h = self.enter(x)
        h = h + self.drop(F.relu(self.a(self.norm(h))))
        h = h + self.drop(F.gelu(self.b(h)))
        return self.last(h)


class WeightNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.utils.parametrizations.weight_norm(nn.Linear(P, H))
        self.b = nn.utils.parametrizations.spectral_norm(nn.Linear(H, 1))

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


class SSN(nn.Module):
    """Semi-structured: a linear part, and a deep one of all columns."""

    def __init__(self):
        super().__init__()
        self.linear, self.deep = nn.Linear(2, 1), mlp(nn.ReLU)

    def forward(self, x):
        return self.linear(x[:, :2]) + self.deep(x)


class SSNHeads(nn.Module):
    """Location and scale, each structured and deep."""

    def __init__(self, head=lambda e: F.softplus(e) + 1e-3):
        super().__init__()
        self.mu, self.sigma = nn.Linear(P, 1), nn.Linear(2, 1)
        self.trunk = nn.Sequential(nn.Linear(P, H), nn.ReLU())
        self.gamma = nn.Linear(H, 2, bias=False)
        self.head = head

    def forward(self, x):
        u = self.gamma(self.trunk(x))
        return self.mu(x) + u[:, :1], self.head(self.sigma(x[:, 2:]) + u[:, 1:])


class NAM(nn.Module):
    def __init__(self, width=H):
        super().__init__()
        self.nets = nn.ModuleList([mlp(nn.ReLU, inputs=1, width=width) for _ in range(P)])
        self.bias = nn.Parameter(torch.zeros(1) + 0.3)

    def forward(self, x):
        parts = torch.cat([net(x[:, j:j + 1]) for j, net in enumerate(self.nets)], dim=-1)
        return parts.sum(dim=-1, keepdim=True) + self.bias


class NAMPairs(nn.Module):
    """Two shape functions, one pair, and the rest deep."""

    def __init__(self):
        super().__init__()
        self.a, self.b = mlp(nn.ReLU, inputs=1), mlp(nn.ReLU, inputs=1)
        self.ab, self.deep = mlp(nn.SiLU, inputs=2), mlp(nn.ReLU)

    def forward(self, x):
        a, b, *_ = x.chunk(P, dim=1)
        return self.a(a) + self.b(b) + self.ab(torch.stack([a, b], 1).squeeze(-1)) + self.deep(x)


class NAMGrouped(nn.Module):
    """All shape functions in one grouped convolution."""

    def __init__(self):
        super().__init__()
        self.one = nn.Conv1d(P, P * H, 1, groups=P)
        self.two = nn.Conv1d(P * H, P, 1, groups=P)

    def forward(self, x):
        return self.two(F.relu(self.one(x.unsqueeze(-1)))).squeeze(-1).sum(1)


class NAMEinsum(nn.Module):
    """All shape functions by einsum over stacked weights."""

    def __init__(self):
        super().__init__()
        self.w1, self.b1 = nn.Parameter(torch.randn(P, H)), nn.Parameter(torch.randn(P, H))
        self.w2 = nn.Parameter(torch.randn(P, H))

    def forward(self, x):
        h = F.relu(torch.einsum("np,ph->nph", x, self.w1) + self.b1)
        return torch.einsum("nph,ph->n", h, self.w2)


class ExU(nn.Module):
    """NAM's exp-centred hidden units."""

    def __init__(self):
        super().__init__()
        self.w, self.c = nn.Parameter(torch.randn(1, H) * 0.3), nn.Parameter(torch.randn(1))
        self.out = nn.Linear(H, 1)

    def forward(self, x):
        return sum(self.out(torch.clamp((x[:, j:j + 1] - self.c) @ torch.exp(self.w), 0, 1)) for j in range(P))


class NBM(nn.Module):
    """Shared basis functions, weights for each column."""

    def __init__(self):
        super().__init__()
        self.basis, self.w = mlp(nn.ReLU, inputs=1, outputs=3), nn.Parameter(torch.randn(P, 3))

    def forward(self, x):
        return (self.basis(x.unsqueeze(-1)) * self.w).sum(dim=(1, 2))


class Quantiles(nn.Module):
    """Quantiles that do not cross: a cumulative sum of softplus."""

    def __init__(self):
        super().__init__()
        self.body = mlp(nn.ReLU, outputs=4)

    def forward(self, x):
        z = self.body(x)
        return torch.cumsum(torch.cat([z[:, :1], F.softplus(z[:, 1:])], dim=1), dim=1)


class Mixture(nn.Module):
    """Mixture density: weights, means, scales."""

    def __init__(self):
        super().__init__()
        self.body = mlp(nn.Tanh, outputs=6)

    def forward(self, x):
        w, m, s = torch.split(self.body(x), 2, dim=1)
        return torch.softmax(w, 1), m, torch.exp(torch.clamp(s, -5, 5))


class Counts(nn.Module):
    """Zero-inflated negative binomial."""

    def __init__(self):
        super().__init__()
        self.trunk, self.mean, self.shape, self.zero = nn.Sequential(nn.Linear(P, H), nn.ELU()), nn.Linear(H, 1), nn.Linear(H, 1), nn.Linear(H, 1)

    def forward(self, x, exposure):
        h = self.trunk(x)
        return {"mean": exposure * torch.exp(self.mean(h)), "shape": F.softplus(self.shape(h)), "zero": torch.sigmoid(self.zero(h))}


class Ordinal(nn.Module):
    """Cumulative logits with ordered cut points."""

    def __init__(self):
        super().__init__()
        self.body, self.first, self.steps = mlp(nn.ReLU), nn.Parameter(torch.tensor([-1.0])), nn.Parameter(torch.tensor([0.5, 0.2]))

    def forward(self, x):
        cuts = torch.cat([self.first, self.first + torch.cumsum(F.softplus(self.steps), 0)])
        c = torch.sigmoid(cuts - self.body(x))
        return torch.diff(F.pad(F.pad(c, (1, 0)), (0, 1), value=1.0), dim=1)


class Cox(nn.Module):
    """Discrete-time hazards and their survival function."""

    def __init__(self):
        super().__init__()
        self.body = mlp(nn.ReLU, outputs=4)

    def forward(self, x):
        h = torch.sigmoid(self.body(x))
        return h, torch.exp(torch.cumsum(torch.log1p(-h.clamp(max=0.999)), dim=1))


class Standardised(nn.Module):
    """Scaling in the network, of several units, and back."""

    def __init__(self):
        super().__init__()
        self.register_buffer("m", torch.tensor([0.1, -0.2, 0.3, 5]))
        self.register_buffer("s", torch.tensor([1.0, 2, 0.5, 10]))
        self.body = mlp(nn.ReLU)

    def forward(self, x):
        return self.body((x - self.m) / self.s) * 3.5 + 100


class Cond(nn.Module):
    """A branch that a column's sign takes, written for each row."""

    def __init__(self):
        super().__init__()
        self.a, self.b = mlp(nn.ReLU), mlp(nn.Tanh)

    def forward(self, x):
        return torch.where(x[:, :1] > 0, self.a(x), self.b(x))


class Splines(nn.Module):
    """Truncated powers of a column, next to a deep part."""

    def __init__(self):
        super().__init__()
        self.register_buffer("knots", torch.linspace(-2, 2, 5))
        self.out, self.deep = nn.Linear(8, 1), mlp(nn.ReLU)

    def forward(self, x):
        z = x[:, :1]
        return self.out(torch.cat([z, z**2, z**3, torch.relu(z - self.knots)**3], 1)) * 0.01 + self.deep(x)


def codes(rng, *levels):
    """A column of codes for each number of levels; every level is there."""
    return np.stack([np.concatenate([np.arange(n), rng.integers(0, n, 24 - n)]) for n in levels], axis=1).astype(np.int64)
