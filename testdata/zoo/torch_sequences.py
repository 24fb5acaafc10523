"""Networks with an axis besides rows and columns: series, images, tokens, sets; see
torch_networks.py."""
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from torch_networks import H, P, mlp


class Recurrent(nn.Module):
    """A few time steps a row, the last state or the mean of all."""

    def __init__(self, cell, last=True, **options):
        super().__init__()
        self.cell, self.last = cell(3, 4, batch_first=True, **options), last
        self.out = nn.Linear(4 * (2 if options.get("bidirectional") else 1), 1)

    def forward(self, x):
        h, _ = self.cell(x)
        return self.out(h[:, -1] if self.last else h.mean(dim=1))


class Hidden(nn.Module):
    """The final hidden state of an LSTM, next to static columns."""

    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.LSTM(3, 4, batch_first=True), nn.Linear(4 + P, 1)

    def forward(self, series, x):
        _, (h, _) = self.cell(series)
        return self.out(torch.cat([h[-1], x], dim=1))


class Cells(nn.Module):
    """An LSTMCell in a Python loop."""

    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(3, 4), nn.Linear(4, 1)

    def forward(self, x):
        h, c = x.new_zeros(x.shape[0], 4), x.new_zeros(x.shape[0], 4)
        for t in range(5):
            h, c = self.cell(x[:, t], (h, c))
        return self.out(h)


class Conv1d(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Conv1d(3, 4, 3, padding=1), nn.Conv1d(4, 4, 3, padding=2, dilation=2)
        self.norm, self.out = nn.BatchNorm1d(4), nn.Linear(4, 1)

    def forward(self, x):
        h = F.max_pool1d(F.relu(self.norm(self.one(x.transpose(1, 2)))), 2)
        return self.out(F.adaptive_avg_pool1d(F.relu(self.two(h)), 1).flatten(1))


class Causal(nn.Module):
    """Temporal convolution: padded on the left alone."""

    def __init__(self):
        super().__init__()
        self.one, self.two, self.out = nn.Conv1d(3, 4, 2), nn.Conv1d(4, 4, 2, dilation=2), nn.Linear(4, 1)

    def forward(self, x):
        h = F.relu(self.one(F.pad(x.transpose(1, 2), (1, 0))))
        return self.out(F.relu(self.two(F.pad(h, (2, 0))))[:, :, -1])


class Image(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.up, self.out = nn.Conv2d(1, 3, 3, padding=1), nn.ConvTranspose2d(3, 2, 2, stride=2), nn.Linear(2 + P, 1)

    def forward(self, image, x):
        h = F.avg_pool2d(F.relu(self.conv(image)), 2)
        return self.out(torch.cat([self.up(h).mean(dim=(2, 3)), x], dim=1))


class MHA(nn.Module):
    def __init__(self, mask=False):
        super().__init__()
        self.mha, self.out, self.mask = nn.MultiheadAttention(4, 2, batch_first=True), nn.Linear(4, 1), mask

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1]) if self.mask else None
        h, _ = self.mha(x, x, x, need_weights=False, attn_mask=mask)
        return self.out(h.mean(dim=1))


class SDPA(nn.Module):
    def __init__(self, heads=2, causal=False):
        super().__init__()
        self.qkv, self.out, self.heads, self.causal = nn.Linear(4, 12), nn.Linear(4, 1), heads, causal

    def forward(self, x):
        n, t, d = x.shape
        q, k, v = (z.reshape(n, t, self.heads, d // self.heads).transpose(1, 2) for z in self.qkv(x).chunk(3, dim=-1))
        h = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(h.transpose(1, 2).reshape(n, t, d)[:, -1])


class HandAttention(nn.Module):
    """Attention written out, with a view over heads."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(4, 4) for _ in range(4))

    def forward(self, x):
        b, t, c = x.size()
        q, k, v = (f(x).view(b, t, 2, 2).transpose(1, 2) for f in (self.q, self.k, self.v))
        a = F.softmax((q @ k.transpose(-2, -1)) / math.sqrt(2), dim=-1)
        return self.out((a @ v).transpose(1, 2).contiguous().view(b, t, c)).mean(dim=(1, 2))


class Merged(nn.Module):
    """Attention with batch and heads in one axis, as bmm wants them."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(4, 12), nn.Linear(4, 1)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (z.reshape(b, t, 2, 2).transpose(1, 2).reshape(b * 2, t, 2) for z in self.qkv(x).chunk(3, dim=-1))
        h = torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)) / math.sqrt(2), -1), v)
        return self.out(h.reshape(b, 2, t, 2).transpose(1, 2).reshape(b, t, c).mean(1))


class Pooling(nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.out = nn.Linear(3, 1), nn.Linear(3, 1)

    def forward(self, x):
        return self.out((torch.softmax(self.score(x), dim=1) * x).sum(dim=1))


class Encoder(nn.Module):
    def __init__(self, layers=1, first=False, act="relu"):
        super().__init__()
        self.position = nn.Parameter(torch.randn(1, 5, 4) * 0.1)
        layer = nn.TransformerEncoderLayer(4, 2, 6, batch_first=True, norm_first=first, activation=act)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.enter, self.out = nn.Linear(3, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.out(self.encoder(self.enter(x) + self.position)[:, 0])


class Tokens(nn.Module):
    """FT-Transformer's tokenizer: a token a column, and one for the class."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(P, 4)), nn.Parameter(torch.randn(P, 4))
        self.cls = nn.Parameter(torch.randn(1, 1, 4))

    def forward(self, x):
        h = x.unsqueeze(-1) * self.weight + self.bias
        return torch.cat([self.cls.expand(x.shape[0], -1, -1), h], dim=1)


class FTTransformer(nn.Module):
    def __init__(self, sdpa=True):
        super().__init__()
        self.tokens, self.norm1, self.norm2 = Tokens(), nn.LayerNorm(4), nn.LayerNorm(4)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.ffn1, self.ffn2, self.out = nn.Linear(4, 12), nn.Linear(6, 4), nn.Linear(4, 1)

    def forward(self, x):
        h = self.tokens(x)
        z = self.norm1(h)
        h = h + self.attention(z, z, z, need_weights=False)[0]
        a, g = self.ffn1(self.norm2(h)).chunk(2, dim=-1)
        h = h + self.ffn2(a * F.relu(g))
        return self.out(F.relu(h[:, 0]))


class TabTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.ModuleList([nn.Embedding(n, 4) for n in (7, 4, 3)])
        self.layer = nn.TransformerEncoderLayer(4, 2, 6, batch_first=True, dropout=0)
        self.norm, self.body = nn.LayerNorm(P), mlp(nn.SELU, inputs=12 + P)

    def forward(self, x, codes):
        h = torch.stack([t(codes[:, j]) for j, t in enumerate(self.table)], dim=1)
        return self.body(torch.cat([self.layer(h).flatten(1), self.norm(x)], dim=1))


class DeepSet(nn.Module):
    """Elements of a row's set; missing ones are masked by NaN."""

    def __init__(self):
        super().__init__()
        self.phi, self.rho = mlp(nn.ReLU, inputs=3, outputs=H), mlp(nn.ReLU, inputs=H)

    def forward(self, x):
        mask = (~torch.isnan(x).any(-1, keepdim=True)).to(x.dtype)
        return self.rho((self.phi(torch.nan_to_num(x)) * mask).sum(1) / mask.sum(1).clamp(min=1))


def seq(rng, *shape):
    """24 sequences; the last but one is zero, the last one large."""
    x = np.round(rng.standard_normal((24, *shape)), 3).astype(np.float32)
    x[-2], x[-1] = 0, 10
    return x
