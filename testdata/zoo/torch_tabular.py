"""Networks for tables: embeddings, attentive masks, factorisation, experts, numbers as
features; see torch_networks.py."""
import math

import torch
import torch.nn.functional as F
from torch import nn

from torch_networks import H, P, mlp


class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.city, self.kind, self.body = nn.Embedding(7, 3), nn.Embedding(4, 2), mlp(nn.ReLU, inputs=P + 5)

    def forward(self, x, city, kind):
        return self.body(torch.cat([x, self.city(city), self.kind(kind)], dim=1))


class EmbeddingList(nn.Module):
    """One table for all columns of codes, with offsets."""

    def __init__(self):
        super().__init__()
        self.table, self.linear = nn.Embedding(12, 3), nn.Embedding(12, 1)
        self.register_buffer("offset", torch.tensor([0, 5, 9]))
        self.out = nn.Linear(9, 1)

    def forward(self, codes):
        c = codes + self.offset
        return self.out(F.relu(self.table(c).flatten(1))) + self.linear(c).sum(1)


class OneHotLinear(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(7 + P, 1)

    def forward(self, x, city):
        return self.out(torch.cat([F.one_hot(city, 7).to(x.dtype), x], dim=1))


class EmbeddingBag(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag, self.out = nn.EmbeddingBag(12, 3, mode="mean"), nn.Linear(3, 1)

    def forward(self, codes):
        return self.out(self.bag(codes))


def sparsemax(z):
    s, _ = torch.sort(z, dim=-1, descending=True)
    k = torch.arange(1, z.shape[-1] + 1, dtype=z.dtype)
    c = s.cumsum(-1)
    support = (1 + k * s > c).to(z.dtype)
    n = support.sum(-1, keepdim=True)
    tau = ((s * support).sum(-1, keepdim=True) - 1) / n
    return torch.clamp(z - tau, min=0)


class TabNet(nn.Module):
    """Two decision steps: attentive sparsemax masks, ghost batch norm, GLU blocks."""

    def __init__(self, mask=sparsemax):
        super().__init__()
        self.norm, self.mask = nn.BatchNorm1d(P), mask
        self.split, self.split_norm = nn.Linear(P, 8, bias=False), nn.BatchNorm1d(8)
        self.attention = nn.ModuleList([nn.Linear(2, P) for _ in range(2)])
        self.step = nn.ModuleList([nn.Linear(P, 8, bias=False) for _ in range(2)])
        self.out = nn.Linear(2, 1)

    def forward(self, x):
        x = self.norm(x)
        prior, total = torch.ones_like(x), 0
        a = F.glu(self.split_norm(self.split(x)))[:, 2:]
        for attention, step in zip(self.attention, self.step):
            m = self.mask(attention(a) * prior)
            prior = prior * (1.3 - m)
            d, a = F.glu(step(m * x)).split(2, dim=1)
            total = total + F.relu(d)
        return self.out(total)


class DeepFM(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.table = nn.Embedding(12, 1), nn.Embedding(12, 3)
        self.deep = mlp(nn.ReLU, inputs=9)
        self.register_buffer("offset", torch.tensor([0, 5, 9]))

    def forward(self, codes):
        c = codes + self.offset
        e = self.table(c)
        fm = 0.5 * (e.sum(1).pow(2) - e.pow(2).sum(1)).sum(1, keepdim=True)
        return torch.sigmoid(self.linear(c).sum(1) + fm + self.deep(e.view(-1, 9)))


class Cross(nn.Module):
    """Deep and cross network."""

    def __init__(self):
        super().__init__()
        self.cross, self.deep, self.out = nn.ModuleList([nn.Linear(P, P) for _ in range(2)]), mlp(nn.ReLU, outputs=3), nn.Linear(P + 3, 1)

    def forward(self, x0):
        x = x0
        for c in self.cross:
            x = x0 * c(x) + x
        return self.out(torch.cat([x, self.deep(x0)], dim=1))


class WideDeep(nn.Module):
    """Named columns, one input each."""

    def __init__(self):
        super().__init__()
        self.wide, self.deep = nn.Linear(3, 1), mlp(nn.ReLU, inputs=3)

    def forward(self, age, income, hours):
        x = torch.stack([age, income, hours], dim=1)
        return self.wide(x) + self.deep(x)


class Experts(nn.Module):
    """Mixture of experts; top: only the k best of each row count."""

    def __init__(self, top=0):
        super().__init__()
        self.gate, self.experts, self.top = nn.Linear(P, 3), nn.ModuleList([mlp(nn.ReLU) for _ in range(3)]), top

    def forward(self, x):
        score = self.gate(x)
        if self.top:
            best, at = torch.topk(score, self.top, dim=-1)
            gate = torch.zeros_like(score).scatter(-1, at, torch.softmax(best, dim=-1))
        else:
            gate = torch.softmax(score, dim=-1)
        return (torch.cat([e(x) for e in self.experts], dim=1) * gate).sum(dim=1)


class ExpertsGather(nn.Module):
    """The chosen experts' outputs are gathered."""

    def __init__(self):
        super().__init__()
        self.gate, self.w = nn.Linear(P, 3), nn.Parameter(torch.randn(3, P))

    def forward(self, x):
        best, at = torch.topk(torch.softmax(self.gate(x), -1), 2)
        return (best * torch.gather(x @ self.w.t(), 1, at)).sum(-1)


class Periodic(nn.Module):
    """Numerical embeddings of sines and cosines (PLR)."""

    def __init__(self):
        super().__init__()
        self.c, self.weight, self.out = nn.Parameter(torch.randn(P, 3)), nn.Parameter(torch.randn(P, 6, 4)), nn.Linear(P * 4, 1)

    def forward(self, x):
        v = 2 * math.pi * self.c * x.unsqueeze(-1) * 0.1
        h = torch.cat([torch.cos(v), torch.sin(v)], dim=-1)
        return self.out(F.relu((h.unsqueeze(2) @ self.weight).squeeze(2)).flatten(1))


class PiecewiseLinear(nn.Module):
    """Numerical embeddings by bins (PLE)."""

    def __init__(self):
        super().__init__()
        self.register_buffer("left", torch.tensor([-2.0, -1, 0, 1]))
        self.out = nn.Linear(P * 4, 1)

    def forward(self, x):
        return self.out(((x.unsqueeze(-1) - self.left) / 1.0).clamp(0, 1).flatten(-2))


class Bins(nn.Module):
    """bucketize and an embedding: a step function of each column."""

    def __init__(self):
        super().__init__()
        self.register_buffer("edges", torch.tensor([-1.0, -0.3, 0.4, 1.2]))
        self.table = nn.Embedding(5, 1)

    def forward(self, x):
        return self.table(torch.bucketize(x, self.edges)).sum(dim=1)


class TabM(nn.Module):
    """Batch ensemble: rank-one scalings of one weight, the mean of the members."""

    def __init__(self):
        super().__init__()
        self.r, self.s = nn.Parameter(torch.randn(3, P)), nn.Parameter(torch.randn(3, H))
        self.shared, self.head = nn.Linear(P, H), nn.Parameter(torch.randn(3, H, 1))

    def forward(self, x):
        h = F.relu(self.shared(x[:, None] * self.r) * self.s)
        return torch.einsum("nkh,kho->nko", h, self.head).mean(1)


class KAN(nn.Module):
    """B-splines by the recursion of de Boor and Cox, and SiLU."""

    def __init__(self):
        super().__init__()
        self.register_buffer("grid", torch.linspace(-3, 3, 10).expand(P, -1).contiguous())
        self.base, self.spline = nn.Parameter(torch.randn(1, P)), nn.Parameter(torch.randn(1, P * 6))

    def forward(self, x):
        z = x.unsqueeze(-1)
        b = ((z >= self.grid[:, :-1]) & (z < self.grid[:, 1:])).to(x.dtype)
        for k in range(1, 4):
            b = ((z - self.grid[:, :-(k + 1)]) / (self.grid[:, k:-1] - self.grid[:, :-(k + 1)]) * b[:, :, :-1]
                 + (self.grid[:, k + 1:] - z) / (self.grid[:, k + 1:] - self.grid[:, 1:-k]) * b[:, :, 1:])
        return F.linear(F.silu(x), self.base) + F.linear(b.reshape(x.size(0), -1), self.spline)


class RBF(nn.Module):
    def __init__(self):
        super().__init__()
        self.centres, self.out = nn.Parameter(torch.randn(5, P)), nn.Linear(5, 1)

    def forward(self, x):
        return self.out(torch.exp(-(x[:, None] - self.centres).pow(2).sum(-1) * 0.3))


class NODE(nn.Module):
    """Neural oblivious decision trees: soft splits, leaves by outer products."""

    def __init__(self):
        super().__init__()
        self.choice, self.threshold, self.leaf = nn.Parameter(torch.randn(P, 2, 3)), nn.Parameter(torch.randn(2, 3)), nn.Parameter(torch.randn(2, 8))

    def forward(self, x):
        z = torch.sigmoid(torch.einsum("np,ptd->ntd", x, torch.softmax(self.choice, 0)) - self.threshold)
        w = torch.stack([z, 1 - z], -1)
        leaves = torch.einsum("nta,ntb,ntc->ntabc", w[:, :, 0], w[:, :, 1], w[:, :, 2]).flatten(2)
        return (leaves * self.leaf).sum(dim=(1, 2))


class Missing(nn.Module):
    """Values that are missing get a learned one, and an indicator."""

    def __init__(self):
        super().__init__()
        self.fill, self.body = nn.Parameter(torch.randn(P)), mlp(nn.ReLU, inputs=2 * P)

    def forward(self, x):
        gone = torch.isnan(x)
        return self.body(torch.cat([torch.where(gone, self.fill, x), gone.to(x.dtype)], dim=1))


class Bilinear(nn.Module):
    def __init__(self):
        super().__init__()
        self.two, self.out = nn.Bilinear(2, 2, 3), nn.Linear(3, 1)

    def forward(self, x):
        return self.out(torch.relu(self.two(x[:, :2].contiguous(), x[:, 2:].contiguous())))


class Factorization(nn.Module):
    """Pairs of columns by outer products and an upper triangle."""

    def __init__(self):
        super().__init__()
        self.v, self.out = nn.Parameter(torch.randn(P, 3)), nn.Linear(6, 1)

    def forward(self, x):
        e = x.unsqueeze(-1) * self.v
        g = e @ e.transpose(1, 2)
        i, j = torch.triu_indices(P, P, 1)
        return self.out(g[:, i, j])


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Sequential(nn.Linear(P, 2), nn.Tanh()), nn.Linear(2, P)

    def forward(self, x):
        return torch.norm(x - self.decode(self.encode(x)), dim=1), F.cosine_similarity(x, self.decode(self.encode(x)))


class Lattice(nn.Module):
    """Monotone in the first column: positive weights, min of max."""

    def __init__(self):
        super().__init__()
        self.w, self.b = nn.Parameter(torch.randn(P, 6)), nn.Parameter(torch.randn(6))

    def forward(self, x):
        w = torch.cat([self.w[:1].exp(), self.w[1:]])
        return (x @ w + self.b).view(-1, 2, 3).amax(dim=2).amin(dim=1)


class Fourier(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("w", torch.randn(P, 3))
        self.out = nn.Linear(6, 1)

    def forward(self, x):
        z = x @ self.w
        return self.out(torch.cat([z.sin(), z.cos()], -1))
