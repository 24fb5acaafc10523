#!/usr/bin/python3
"""Writes testdata/golden/torch/: small networks exported by PyTorch, one per
operator or architecture and opset, with float32 inputs and outputs.

Run from anywhere with Debian's python3-torch and python3-onnx:
    /usr/bin/python3 testdata/golden/torch_ops.py
"""
import io
import json
import math
import os
import sys
import warnings

import onnx
import torch
from torch import nn
import torch.nn.functional as F

warnings.filterwarnings("ignore")
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch")
ROWS = 5


class Fn(nn.Module):
    """A function as a module."""

    def __init__(self, f, **params):
        super().__init__()
        self.f = f
        for k, v in params.items():
            setattr(self, k, nn.Parameter(v) if v.is_floating_point() else v)

    def forward(self, *x):
        return self.f(self, *x)


def mlp(act, sizes=(4, 6, 5, 2)):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), act()]
    return nn.Sequential(*layers[:-1])


class SliceNAM(nn.Module):
    def __init__(self, d, pick):
        super().__init__()
        self.subs = nn.ModuleList(mlp(nn.ReLU, (1, 5, 3, 1)) for _ in range(d))
        self.bias = nn.Parameter(torch.randn(1))
        self.pick = pick

    def forward(self, x):
        parts = [s(p) for s, p in zip(self.subs, self.pick(x, len(self.subs)))]
        return torch.cat(parts, 1).sum(1, keepdim=True) + self.bias


class ConvNAM(nn.Module):
    """One group per feature: [N,F] -> [N,F,1] -> grouped convolutions."""

    def __init__(self, d, h):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(d, d * h, 1, groups=d), nn.ReLU(),
            nn.Conv1d(d * h, d * h, 1, groups=d), nn.Tanh(),
            nn.Conv1d(d * h, d, 1, groups=d))

    def forward(self, x):
        return self.net(x.unsqueeze(-1)).squeeze(-1).sum(1, keepdim=True)


class EinsumNAM(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.w1, self.b1 = nn.Parameter(torch.randn(d, 1, h)), nn.Parameter(torch.randn(d, h))
        self.w2 = nn.Parameter(torch.randn(d, h, 1))

    def forward(self, x):
        h = torch.relu(torch.einsum("nfi,fih->nfh", x.unsqueeze(-1), self.w1) + self.b1)
        return torch.einsum("nfh,fho->nfo", h, self.w2).sum(1)


class BatchedNAM(nn.Module):
    """Features stacked in front: [F,N,1] @ [F,1,H]."""

    def __init__(self, d, h):
        super().__init__()
        self.w1, self.b1 = nn.Parameter(torch.randn(d, 1, h)), nn.Parameter(torch.randn(d, 1, h))
        self.w2 = nn.Parameter(torch.randn(d, h, 1))

    def forward(self, x):
        h = torch.tanh(torch.matmul(x.t().unsqueeze(-1), self.w1) + self.b1)
        return torch.matmul(h, self.w2).sum(0)


class Embedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.f = nn.Embedding(4, 3), nn.Linear(5, 2)

    def forward(self, x, k):
        return self.f(torch.cat([x, self.e(k)], 1))


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.mu, self.sigma = mlp(nn.ReLU, (4, 6, 5)), nn.Linear(5, 1), nn.Linear(5, 1)

    def forward(self, x):
        h = torch.relu(self.body(x))
        return self.mu(h), F.softplus(self.sigma(h)) + 1e-3


class Attention(nn.Module):
    """Features attend to each other: products of two computed tensors."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(3, 3) for _ in range(3))

    def forward(self, x):
        h = x.view(x.size(0), 4, 3)
        a = torch.softmax(self.q(h) @ self.k(h).transpose(1, 2) / math.sqrt(3), -1)
        return (a @ self.v(h)).reshape(x.shape[0], -1)


def case(name, module, inputs, opsets=(13,), axis=0):
    return name, module, inputs, opsets, axis


def cases():
    x = lambda *s: torch.randn(*s)
    pos = lambda *s: torch.rand(*s) + 0.3
    every = (9, 11, 13, 15, 17)
    f = lambda name, fn, *inputs, opsets=(13,), **params: case(name, Fn(fn, **params), inputs, opsets)

    for act in (nn.ReLU, nn.LeakyReLU, nn.PReLU, nn.ELU, nn.SELU, nn.CELU, nn.GELU, nn.SiLU, nn.Sigmoid, nn.Tanh, nn.Softplus,
                nn.Softsign, nn.Hardsigmoid, nn.Hardswish, nn.ReLU6, nn.Hardtanh, nn.LogSigmoid, nn.Mish):
        yield case("mlp_" + act.__name__.lower(), mlp(act), [x(ROWS, 4)], every if act in (nn.ReLU, nn.GELU, nn.Hardswish) else (13,))
    yield case("mlp_nobias", nn.Sequential(nn.Linear(4, 6, bias=False), nn.ReLU(), nn.Linear(6, 1, bias=False)), [x(ROWS, 4)], every)
    yield case("mlp_batchnorm", nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 1)), [x(ROWS, 4)], every)
    yield case("mlp_layernorm", nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.ReLU(), nn.Linear(6, 1)), [x(ROWS, 4)], every)
    yield case("mlp_dropout", nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.5), nn.ReLU(), nn.Linear(6, 1)), [x(ROWS, 4)], every)
    yield case("nam_slice", SliceNAM(3, lambda x, d: [x[:, i:i + 1] for i in range(d)]), [x(ROWS, 3)], every)
    yield case("nam_index", SliceNAM(3, lambda x, d: [x[:, i].unsqueeze(1) for i in range(d)]), [x(ROWS, 3)], every)
    yield case("nam_split", SliceNAM(3, lambda x, d: torch.split(x, 1, 1)), [x(ROWS, 3)], every)
    yield case("nam_chunk", SliceNAM(3, lambda x, d: torch.chunk(x, d, -1)), [x(ROWS, 3)])
    yield case("nam_select", SliceNAM(3, lambda x, d: [torch.index_select(x, 1, torch.tensor([i])) for i in range(d)]), [x(ROWS, 3)])
    yield case("nam_conv", ConvNAM(3, 4), [x(ROWS, 3)], every)
    yield case("nam_einsum", EinsumNAM(3, 4), [x(ROWS, 3)], every[2:])
    yield case("nam_batched", BatchedNAM(3, 4), [x(ROWS, 3)], every)
    yield case("embedding", Embedding(), [x(ROWS, 2), torch.randint(0, 4, (ROWS,))], every)
    yield case("two_heads", TwoHeads(), [x(ROWS, 4)], every)
    yield case("attention", Attention(), [x(ROWS, 12)], every)
    yield case("columns_axis1", Fn(lambda m, v: m.w @ v, w=x(2, 4)), [x(4, ROWS)], (13,), 1)

    for name in ("exp", "sin", "cos", "tan", "atan", "floor", "ceil", "round", "sign", "abs", "neg", "erf", "tanh"):
        yield f("op_" + name, lambda m, v, name=name: getattr(torch, name)(v), 2 * x(ROWS, 3))
    for name in ("sqrt", "log", "reciprocal", "rsqrt", "log1p"):
        yield f("op_" + name, lambda m, v, name=name: getattr(torch, name)(v), pos(ROWS, 3))
    yield f("op_asin_acos", lambda m, v: torch.asin(v) + torch.acos(v / 2), torch.rand(ROWS, 3) - 0.5)
    yield f("arith_row", lambda m, v: (v + m.a) * m.b - v / m.c, x(ROWS, 3), a=x(3), b=x(1, 3), c=pos(1))
    yield f("arith_rank", lambda m, v: v.unsqueeze(2) * m.a + m.b, x(ROWS, 3), a=x(3, 4), b=x(4))
    yield f("arith_col", lambda m, v: v * v[:, :1] - v.sum(1, keepdim=True) / (2 + v[:, 1:2] ** 2), x(ROWS, 3))
    yield f("arith_left", lambda m, v: m.a / (v ** 2 + 1) - (m.a - v), x(ROWS, 3), a=x(1, 3))
    yield f("pow", lambda m, v: v ** 2 + v ** 3 + v.abs() ** 1.5 + m.b ** v, x(ROWS, 3), b=pos(3))
    yield f("minmax", lambda m, v: torch.minimum(v, m.a) + torch.maximum(v, m.b), x(ROWS, 3), a=x(3), b=x(3))
    yield f("clamp", lambda m, v: v.clamp(-0.5, 0.7) + v.clamp(min=0) + v.clamp(max=0.1), x(ROWS, 3), opsets=(11, 13))
    yield f("where", lambda m, v: torch.where((v > 0) & ~(v > 1) | (v < -1), v, m.a), x(ROWS, 3), a=x(3))
    yield f("compare", lambda m, v: ((v >= m.a).float() - (v <= 0).float()) * (v != 0).float() + (v == 0).float(), x(ROWS, 3), a=x(3), opsets=(12, 13))
    yield f("masked", lambda m, v: v.masked_fill(v < 0, -7.0), x(ROWS, 3))
    yield f("softmax", lambda m, v: torch.softmax(v, 1) + torch.log_softmax(v, -1), x(ROWS, 3), opsets=(11, 13))
    yield f("softmax3", lambda m, v: torch.softmax(v, 1) * torch.softmax(v, 2), x(ROWS, 3, 4), opsets=(11, 13))
    yield f("reduce", lambda m, v: torch.cat([v.sum(1), v.mean(2), v.amax(1), v.amin(2), v.prod(1)], 1), x(ROWS, 3, 3), opsets=(11, 13))
    yield f("reduce_keep", lambda m, v: v - v.mean((1, 2), keepdim=True) + v.norm(dim=1, keepdim=True) + v.norm(p=1, dim=2, keepdim=True), x(ROWS, 3, 4))
    yield f("logsumexp", lambda m, v: torch.logsumexp(v, 1), x(ROWS, 3))
    yield f("argmax", lambda m, v: v.argmax(1).float() + v.argmin(1, keepdim=True).squeeze(1), x(ROWS, 6))
    yield f("transpose", lambda m, v: v.permute(2, 0, 1).permute(1, 2, 0) @ m.a, x(ROWS, 3, 4), a=x(4, 2))
    yield f("reshape", lambda m, v: v.view(v.size(0), 2, 3).transpose(1, 2).reshape(v.shape[0], -1), x(ROWS, 6), opsets=every)
    yield f("reshape_minus", lambda m, v: v.reshape(-1, 3, 2)[:, 1:, :].flatten(1), x(ROWS, 6), opsets=every)
    yield f("flatten", lambda m, v: torch.flatten(v, 1) @ m.a, x(ROWS, 2, 3), a=x(6, 2))
    yield f("squeeze", lambda m, v: v.unsqueeze(1).unsqueeze(-1).squeeze(1).squeeze(-1), x(ROWS, 3), opsets=(11, 13))
    yield f("expand", lambda m, v: v.unsqueeze(1).expand(-1, 4, -1) * m.a + m.b.expand(v.shape[0], 4, 3), x(ROWS, 3), a=x(4, 3), b=x(1, 1, 3), opsets=every)
    yield f("zeros", lambda m, v: torch.cat([v, torch.zeros(v.shape[0], 2), torch.ones(v.size(0), 1)], 1), x(ROWS, 3), opsets=every)
    yield f("ones_like", lambda m, v: torch.ones_like(v) * 2 + torch.zeros_like(v[:, :1]) + v, x(ROWS, 3))
    yield f("repeat", lambda m, v: v.repeat(1, 3), x(ROWS, 2))
    yield f("stack", lambda m, v: torch.stack([v, v * 2, v + 1], 1).sum(1) + torch.stack([v, -v], -1).amax(-1), x(ROWS, 3))
    yield f("slice_step", lambda m, v: torch.cat([v[:, ::2], v[:, 1:-1], v[:, -2:]], 1), x(ROWS, 6), opsets=every[1:])
    yield f("gather_list", lambda m, v: v[:, [2, 0, 1, 1]], x(ROWS, 4))
    yield f("flip", lambda m, v: torch.flip(v, [1]), x(ROWS, 4))
    yield f("cast", lambda m, v: v.long().float() + v.int() + v.double().float() + (v > 0), 3 * x(ROWS, 3))
    yield f("double", lambda m, v: (v.double() @ m.a).float(), x(ROWS, 3), a=torch.randn(3, 2, dtype=torch.float64))
    yield f("onehot", lambda m, k: F.one_hot(k, 4).float() @ m.a, torch.randint(0, 4, (ROWS,)), a=x(4, 2))
    yield f("index_math", lambda m, k: m.a[(k * 2 + 1) % 5], torch.randint(0, 4, (ROWS,)), a=x(5, 2))
    yield f("arange", lambda m, v: v * torch.arange(3).float() + torch.linspace(0, 1, 3), x(ROWS, 3))
    yield f("matmul_vec", lambda m, v: v @ m.a, x(ROWS, 3), a=x(3))
    yield f("matmul_left", lambda m, v: m.a @ v.unsqueeze(-1), x(ROWS, 3), a=x(2, 3))
    yield f("matmul_stack", lambda m, v: (v.unsqueeze(1).unsqueeze(1) @ m.a).squeeze(2), x(ROWS, 3), a=x(4, 3, 2))
    yield f("bmm", lambda m, v: torch.bmm(v, v.transpose(1, 2)), x(ROWS, 2, 3))
    yield f("linear3", lambda m, v: F.linear(v, m.a, m.b), x(ROWS, 2, 3), a=x(4, 3), b=x(4))
    yield f("addmm", lambda m, v: torch.addmm(m.b, v, m.a, alpha=0.5, beta=2.0), x(ROWS, 3), a=x(3, 2), b=x(2))
    yield f("gemm_dynamic", lambda m, v: torch.addmm(v[:, :2], v, m.a, alpha=2.0, beta=0.5), x(ROWS, 3), a=x(3, 2))
    yield f("einsum_pair", lambda m, v: torch.einsum("nij,nj->ni", v, v[:, 0]), x(ROWS, 3, 3))
    yield f("einsum_sum", lambda m, v: torch.einsum("nij,jk->nk", v, m.a), x(ROWS, 2, 3), a=x(3, 2))
    yield f("bilinear", lambda m, v: ((v @ m.a) * v).sum(-1, keepdim=True), x(ROWS, 3), a=x(3, 3))
    yield case("conv1d", nn.Sequential(nn.Conv1d(2, 3, 3, padding=1, stride=2), nn.ReLU(), nn.Flatten()), [x(ROWS, 2, 6)])
    yield case("conv2d", nn.Sequential(nn.Conv2d(2, 4, (2, 3), groups=2, dilation=(1, 1), padding=(1, 0)), nn.BatchNorm2d(4), nn.Flatten()), [x(ROWS, 2, 4, 4)])
    yield case("instancenorm", nn.InstanceNorm1d(2, affine=True), [x(ROWS, 2, 4)])
    yield case("groupnorm", nn.GroupNorm(2, 4), [x(ROWS, 4, 3)], (13, 17))
    yield case("layernorm2", nn.LayerNorm([2, 3]), [x(ROWS, 2, 3)], (13, 17))
    yield case("batchnorm3", nn.BatchNorm1d(3), [x(ROWS, 3, 2)])
    yield case("glu", nn.GLU(), [x(ROWS, 4)])
    yield f("normalize", lambda m, v: F.normalize(v, dim=1), x(ROWS, 3))
    yield case("fixed_one", mlp(nn.ReLU), [x(1, 4)], (13,), None)


def flat(t):
    t = t.detach()
    if t.is_floating_point():
        return [float("%.9g" % v) for v in t.float().flatten().tolist()]
    return [int(v) for v in t.flatten().tolist()]


def main():
    os.makedirs(OUT, exist_ok=True)
    for old in os.listdir(OUT):
        os.remove(os.path.join(OUT, old))
    torch.manual_seed(20230)
    index, failed = [], []
    for name, module, inputs, opsets, axis in cases():
        module.eval()
        for mod in module.modules():  # running statistics worth having
            if isinstance(mod, (nn.BatchNorm1d, nn.BatchNorm2d)):
                mod.running_mean.normal_()
                mod.running_var.uniform_(0.5, 2)
        with torch.no_grad():
            y = module(*inputs)
        outputs = list(y) if isinstance(y, (tuple, list)) else [y]
        ins = ["x%d" % i for i in range(len(inputs))]
        outs = ["y%d" % i for i in range(len(outputs))]
        for opset in opsets:
            dynamic = {} if axis is None else {n: {axis: "N"} for n in ins + outs}
            buf = io.BytesIO()
            try:
                torch.onnx.export(module, tuple(inputs), buf, opset_version=opset, input_names=ins, output_names=outs,
                                  dynamic_axes=dynamic, do_constant_folding=opset % 2 == 1 and opset != 15)
            except Exception as e:  # noqa: BLE001
                failed.append("%s opset %d: %s" % (name, opset, str(e)[:150]))
                continue
            file = "%s_%d" % (name, opset)
            m = onnx.load_from_string(buf.getvalue())
            for n in m.graph.node:
                n.ClearField("doc_string")
            with open(os.path.join(OUT, file + ".onnx"), "wb") as w:
                w.write(m.SerializeToString())
            index.append({"name": file, "axis": axis or 0,
                          "inputs": [{"shape": list(t.shape), "values": flat(t)} for t in inputs],
                          "outputs": [{"shape": list(t.shape), "values": flat(t)} for t in outputs]})
    with open(os.path.join(OUT, "cases.json"), "w") as w:
        w.write('{"torch": "%s", "onnx": "%s", "seed": 20230, "cases": [\n' % (torch.__version__, onnx.__version__))
        w.write(",\n".join(json.dumps(c) for c in index))
        w.write("\n]}\n")
    print(len(index), "cases")
    if failed:
        sys.exit("\n".join(failed))


main()
