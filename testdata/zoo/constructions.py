"""Ways to gather, scatter, mask, sort and cumulate, by both exporters of PyTorch: masks over rows,
mixtures of experts, counts of codes. Each is judged by ONNX Runtime: rows alone and turned round
give what they give together, or the network mixes rows. Some mix rows on purpose.

constructions.py [DIR]: all of them in DIR (PHO_ZOO=DIR go test ./adapters/onnx -run TestZoo judges them);
without DIR those of `kept` in networks/."""
import contextlib
import io
import logging
import sys
import warnings

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import zoo as shared
from zoo import ROWS, Zoo, rows

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
everything = len(sys.argv) > 1
if everything:
    shared.HERE = sys.argv[1]
rng = np.random.default_rng(49)
X = rows(rng, 4, (0, 1, -1, 3, -3))
CODES = rng.integers(0, 4, (ROWS, 5))
PLACE = rng.integers(0, 4, ROWS)
PADDED = np.where(np.arange(5)[None] < rng.integers(1, 6, ROWS)[:, None], CODES, -1)
FEEDS = {"x": X, "codes": CODES, "place": PLACE, "padded": PADDED}
torch.manual_seed(49)
constructions = {}
kept = {"mask_assign", "mask_fill", "mask_elements", "mask_column", "mask_add", "mask_codes", "mask_head", "mask_nested", "experts", "experts_top2", "experts_nonzero", "experts_hugging",
        "mask_rows", "mask_count", "mask_mean", "mask_first", "mask_cumulated", "mask_scatter", "hot_put", "hot_flat", "index_add_own"}


def construction(why, *inputs, parts=()):
    def keep(f):
        constructions[f.__name__] = (why, inputs or ("x",), f, parts)
        return f
    return keep


class Network(nn.Module):
    def __init__(self, f, parts):
        super().__init__()
        self.f, self.parts = f, nn.ModuleList(parts)

    def forward(self, *a):
        return self.f(*self.parts, *a)


class Two(Network):
    def forward(self, a, b):
        return self.f(*self.parts, a, b)


class One(Network):
    def forward(self, a):
        return self.f(*self.parts, a)


# masks over rows


@construction("y[m] = sin(x)[m]")
def mask_assign(x):
    y, m = x.clone(), x[:, 0] > 0
    y[m] = torch.sin(x)[m]
    return y


@construction("y[m] = exp(x[m]) on zeros")
def mask_fill(x):
    y, m = torch.zeros_like(x), x[:, 0] > 0
    y[m] = torch.exp(x[m])
    return y


@construction("y[x > 0] = sin(x[x > 0]), number by number")
def mask_elements(x):
    y = x.clone()
    y[x > 0] = torch.sin(x[x > 0])
    return y


@construction("y[m, 1] = x[m, 2] ** 2")
def mask_column(x):
    y, m = x.clone(), x[:, 0] > 0
    y[m, 1] = x[m, 2] ** 2
    return y


@construction("y[m] += x[m] * 2")
def mask_add(x):
    y, m = torch.sin(x), x[:, 0] > 0
    y[m] += x[m] * 2
    return y


@construction("embeddings of the codes that are there, at their mean", "padded", parts=(nn.Embedding(4, 3),))
def mask_codes(e, k):
    m = k >= 0
    h = torch.zeros(k.shape[0], k.shape[1], 3)
    h[m] = e(k[m])
    return h.sum(1) / m.sum(1, keepdim=True)


@construction("a network for rows that a mask chooses, another for the rest", parts=(nn.Linear(4, 1), nn.Linear(4, 1)))
def mask_head(a, b, x):
    m = x[:, 1] > 0.2
    y = torch.zeros(x.shape[0], 1)
    y[m] = torch.tanh(a(x[m]))
    y[~m] = torch.sigmoid(b(x[~m]))
    return y


def moe():
    return (nn.Linear(4, 3), nn.Linear(4, 2), nn.Linear(4, 2), nn.Linear(4, 2))


@construction("experts, one for each row", parts=moe())
def experts(g, a, b, c, x):
    k = g(x).argmax(1)
    y = torch.zeros(x.shape[0], 2)
    for i, e in enumerate((a, b, c)):
        m = k == i
        y[m] = e(x[m])
    return y


@construction("the two best experts of each row, weighted, by index_add", parts=moe())
def experts_top2(g, a, b, c, x):
    w, k = g(x).softmax(1).topk(2, dim=1)
    y = torch.zeros(x.shape[0], 2)
    for i, e in enumerate((a, b, c)):
        r, at = torch.where(k == i)
        y.index_add_(0, r, e(x[r]) * w[r, at, None])
    return y


@construction("experts by nonzero()", parts=moe())
def experts_nonzero(g, a, b, c, x):
    k = g(x).argmax(1)
    y = torch.zeros(x.shape[0], 2)
    for i, e in enumerate((a, b, c)):
        r = (k == i).nonzero().squeeze(1)
        y[r] = e(x[r])
    return y


@construction("experts as in transformers: masks [experts, choices, rows]", parts=moe())
def experts_hugging(g, a, b, c, x):
    w, k = g(x).softmax(1).topk(2, dim=1)
    masks = F.one_hot(k, 3).permute(2, 1, 0)
    y = torch.zeros(x.shape[0], 2)
    for i, e in enumerate((a, b, c)):
        at, r = torch.where(masks[i] > 0)
        y.index_add_(0, r, e(x[r]) * w[r, at, None])
    return y


@construction("masks of masks", parts=(nn.Linear(4, 4),))
def mask_nested(a, x):
    y, m = x.clone(), x[:, 0] > 0
    h = a(x[m])
    h = torch.where(h > 0, h, torch.exp(h) - 1)
    y[m] = h
    y[x[:, 1] > 0] = 0
    return y


@construction("mixes: the chosen rows are the output")
def mask_rows(x):
    return x[x[:, 0] > 0]


@construction("mixes: divided by how many are chosen")
def mask_count(x):
    m = x[:, 0] > 0
    y = x.clone()
    y[m] = x[m] / m.sum()
    return y


@construction("mixes: less the mean of the chosen rows")
def mask_mean(x):
    m = x[:, 0] > 0
    return x - x[m].mean(0)


@construction("mixes: the first chosen row")
def mask_first(x):
    return x + x[x[:, 0] > -9][0]


@construction("mixes: cumulated along the chosen rows")
def mask_cumulated(x):
    y, m = x.clone(), x[:, 0] > 0
    y[m] = x[m].cumsum(0)
    return y


@construction("mixes: masked_scatter takes the first numbers of another tensor")
def mask_scatter(x):
    return x.masked_scatter(x > 0, torch.sin(x))


@construction("masked_fill and masked softmax", "x", "padded")
def mask_softmax(x, k):
    return torch.softmax(x.masked_fill(k[:, :4] < 0, -1e9), 1)


# counts of codes


@construction("multi-hot by index_put of ones", "codes")
def hot_put(k):
    y = torch.zeros(k.shape[0], 4)
    i = torch.arange(k.shape[0])[:, None].expand(-1, 5)
    return y.index_put((i, k), torch.ones(k.shape), accumulate=True)


@construction("multi-hot by scatter_add at flat places", "codes")
def hot_flat(k):
    n = k.shape[0]
    at = (torch.arange(n)[:, None] * 4 + k).reshape(-1)
    return torch.zeros(n * 4).scatter_add(0, at, torch.ones(n * 5)).reshape(n, 4)


@construction("multi-hot by bincount", "codes")
def hot_bincount(k):
    n = k.shape[0]
    at = (torch.arange(n)[:, None] * 4 + k).reshape(-1)
    return torch.bincount(at, minlength=n * 4).reshape(n, 4).float()


@construction("multi-hot by scatter_add along the row", "codes")
def hot_add(k):
    return torch.zeros(k.shape[0], 4).scatter_add(1, k, torch.ones(k.shape))


@construction("multi-hot by one_hot, summed", "codes")
def hot_one(k):
    return F.one_hot(k, 4).sum(1).float()


@construction("multi-hot by scatter of a number", "codes")
def hot_scatter(k):
    return torch.zeros(k.shape[0], 4).scatter(1, k, 1.0)


@construction("multi-hot by comparison", "codes")
def hot_equal(k):
    return (k[:, :, None] == torch.arange(4)).any(1).float()


@construction("index_add along the rows, at their own numbers")
def index_add_own(x):
    return torch.zeros_like(x).index_add(0, torch.arange(x.shape[0]), torch.sin(x))


# gather


@construction("torch.gather along the row", "x", "codes")
def gather_row(x, k):
    return torch.gather(x, 1, k)


@construction("gathered in the order of an argsort")
def gather_sorted(x):
    return torch.sin(x).gather(1, x.argsort(1))


@construction("rows of a table, its rows chosen by a code and a column", "place", parts=(nn.Embedding(4, 6),))
def gather_table(e, k):
    return e.weight[k, torch.arange(6)[:1]][:, None] + e(k)


@construction("index_select along the columns")
def gather_columns(x):
    return x.index_select(1, torch.tensor([3, 0, 0]))


@construction("mixes: the row before")
def gather_before(x):
    return x[(torch.arange(x.shape[0]) - 1).clamp(min=0)]


@construction("mixes: rolled along the rows")
def gather_rolled(x):
    return x + x.roll(1, 0)


@construction("mixes: flipped along the rows")
def gather_flipped(x):
    return x - x.flip(0)


@construction("unfold: windows of a row")
def gather_windows(x):
    return x.unfold(1, 2, 1).mean(2)


@construction("diagonal of an outer product")
def gather_diagonal(x):
    return (x[:, :, None] * torch.sin(x)[:, None]).diagonal(dim1=1, dim2=2)


# scatter


@construction("scatter at the place of the row", "x", "place")
def scatter_place(x, k):
    return x.scatter(1, k[:, None], 0.5)


@construction("y[arange(N), k] = 0", "x", "place")
def scatter_own(x, k):
    y = x.clone()
    y[torch.arange(x.shape[0]), k] = 0
    return y


@construction("scatter_reduce, the largest of each code", "x", "codes")
def scatter_max(x, k):
    return torch.full((x.shape[0], 4), -10.0).scatter_reduce(1, k[:, :4], x, "amax")


@construction("put columns in another order")
def scatter_columns(x):
    y = torch.empty_like(x)
    y[:, [2, 0, 3, 1]] = torch.sin(x)
    return y


@construction("slices written in place")
def scatter_slices(x):
    y = x.clone()
    y[:, 1] = torch.sin(x[:, 1])
    y[:, 2:4] = x[:, :2] * 2
    return y


# sort


@construction("sorted rows")
def sort_row(x):
    return x.sort(1).values


@construction("ranks of the row")
def sort_ranks(x):
    return x.argsort(1).argsort(1).float() + x


@construction("the second largest, and where it stands")
def sort_second(x):
    v, k = x.topk(2, dim=1)
    return v[:, 1:] + k[:, 1:].float()


@construction("the median of the row")
def sort_median(x):
    return x.topk(2, dim=1, largest=False).values[:, 1:]


@construction("mixes: sorted along the rows")
def sort_rows(x):
    return x.sort(0).values


@construction("mixes: rows in the order of a column")
def sort_order(x):
    return x[x[:, 0].argsort()]


@construction("sparsemax: sorted, cumulated, compared")
def sort_sparsemax(x):
    z = x.sort(1, descending=True).values
    c = z.cumsum(1)
    r = torch.arange(1, 5)
    k = (1 + r * z > c).sum(1, keepdim=True)
    tau = (c.gather(1, k - 1) - 1) / k
    return torch.relu(x - tau)


# cumulate


@construction("cumulated along the row")
def sum_row(x):
    return x.cumsum(1)


@construction("cumulated from behind")
def sum_back(x):
    return x.flip(1).cumsum(1).flip(1)


@construction("logarithms of sums so far")
def sum_exp(x):
    return x.exp().cumsum(1).log()


@construction("products along the row")
def product_row(x):
    return x.abs().add(1).log().cumsum(1).exp()


@construction("mixes: cumulated along the rows")
def sum_rows(x):
    return x.cumsum(0)


@construction("differences along the row")
def difference_row(x):
    return x[:, 1:] - x[:, :-1]


@construction("bins of a column, looked up", parts=(nn.Embedding(4, 2),))
def bins(e, x):
    return e(torch.bucketize(x[:, 0].contiguous(), torch.tensor([-1.0, 0.0, 1.0])))


@construction("triangles: attention that looks back")
def look_back(x):
    s = x[:, :, None] * x[:, None]
    s = s.masked_fill(torch.triu(torch.ones(4, 4), 1) > 0, float("-inf"))
    return (s.softmax(2) @ x[:, :, None])[:, :, 0]


zoo = Zoo("constructions", "torch", "onnxscript")
for name, (why, inputs, f, parts) in constructions.items():
    if not everything and name not in kept:
        continue
    for how in ("legacy", "dynamo"):
        def make():
            module = (One, Two)[len(inputs) - 1](f, parts).eval()
            names = ["a", "b"][:len(inputs)]
            feeds = dict(zip(names, (FEEDS[i] for i in inputs)))
            args = tuple(torch.tensor(x[:5]) for x in feeds.values())
            path = zoo.path(f"{name}_{how}")
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                if how == "legacy":
                    torch.onnx.export(module, args, path, dynamo=False, opset_version=17, input_names=names, output_names=["y"], dynamic_axes={n: {0: "N"} for n in [*names, "y"]})
                else:
                    torch.onnx.export(module, args, path, dynamo=True, external_data=False, input_names=names, output_names=["y"], dynamic_shapes=tuple({0: torch.export.Dim("N", min=1, max=4096)} for _ in names))
            zoo.add(f"{name}_{how}", None, feeds, why, seed=49, judge=True)
        zoo.attempt(f"{name}_{how}", make)
mixing = [n["name"] for n in zoo.networks if n.get("mixes")]
print(len(mixing), "mix rows:", *mixing)
zoo.close(failures=True)
