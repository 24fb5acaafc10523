"""The list of networks for torch_dynamo.py and torch_legacy.py: name, why it is here,
what makes the module, what makes its inputs from a generator."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import torch_networks as t
import torch_sequences as q
import torch_tabular as tab
from zoo import rows

P = t.P

# Where float32 itself is further from the network's value than TestZoo allows: sparsemax
# takes differences of cumulative sums, and on rows far out ONNX Runtime is 1.02e-5 off
# the same network with all weights as double.
TOLERANCE = {"tabnet": 2e-5}


def x(rng):
    return {"x": rows(rng, P)}


def series(width):
    return lambda rng: {"x": q.seq(rng, 5, width)}


def with_codes(rng):
    c = t.codes(rng, 7, 4)
    return {**x(rng), "city": c[:, 0], "kind": c[:, 1]}


def missing(*shape):
    def make(rng):
        v = q.seq(rng, *shape)
        v[np.random.default_rng(3).random(v.shape) < 0.2] = np.nan
        return {"x": v}
    return make


def heads():
    """The response functions in the spellings that people use."""
    yield "softplus", "softplus as one operator", F.softplus
    yield "softplus_beta", "torch's softplus with a beta of its own", lambda e: F.softplus(e, beta=2)
    yield "softplus_where", "softplus as Where(x > 20, x, log1p(exp x))", lambda e: torch.where(e > 20, e, torch.log1p(torch.exp(e)))
    yield "softplus_stable", "softplus as max(x,0) + log1p(exp(-|x|))", lambda e: torch.clamp(e, min=0) + torch.log1p(torch.exp(-torch.abs(e)))
    yield "softplus_logaddexp", "softplus as logaddexp(x, 0)", lambda e: torch.logaddexp(e, torch.zeros_like(e))
    yield "softplus_floor", "c + softplus", lambda e: 1e-3 + F.softplus(e)
    yield "sigmoid_hand", "sigmoid as 1 / (1 + exp(-x))", lambda e: 1 / (1 + torch.exp(-e))
    yield "sigmoid_tanh", "sigmoid as (tanh(x/2) + 1) / 2", lambda e: 0.5 * (torch.tanh(0.5 * e) + 1)
    yield "exp_clamped", "exp of a bounded predictor", lambda e: torch.exp(torch.clamp(e, -20, 20))
    yield "softmax_hand", "softmax by exponentials and their sum", lambda e: torch.exp(e - e.max(1, keepdim=True).values) / torch.exp(e - e.max(1, keepdim=True).values).sum(1, keepdim=True)
    yield "softmax_logsumexp", "log softmax by logsumexp", lambda e: e - torch.logsumexp(e, dim=1, keepdim=True)
    yield "softmax", "softmax as one operator", lambda e: torch.softmax(e, dim=-1)
    yield "log_softmax", "log softmax as one operator", lambda e: F.log_softmax(e, dim=1)
    yield "probit", "a normal distribution's function of the predictor", lambda e: 0.5 * (1 + torch.erf(e / 2**0.5))
    yield "cloglog", "complementary log-log", lambda e: 1 - torch.exp(-torch.exp(torch.clamp(e, max=10)))
    yield "elu_plus_one", "elu + 1 as a positive scale", lambda e: F.elu(e) + 1
    yield "squareplus", "(x + sqrt(x^2 + 4)) / 2 as a positive scale", lambda e: (e + torch.sqrt(e * e + 4)) / 2


def activations():
    yield "relu", "the usual network", nn.ReLU
    yield "gelu", "gelu by erf", nn.GELU
    yield "gelu_tanh", "gelu by tanh", lambda: nn.GELU(approximate="tanh")
    yield "silu", "silu, also called swish", nn.SiLU
    yield "mish", "mish", nn.Mish
    yield "prelu", "prelu", nn.PReLU
    yield "tanh", "tanh", nn.Tanh
    yield "elu", "elu", nn.ELU


def networks():
    for name, why, act in activations():
        yield f"mlp_{name}", f"two hidden layers: {why}", lambda a=act: t.mlp(a), x
    yield "act_hard", "hardswish, hardsigmoid, hardtanh, relu6", lambda: t.Chain(F.hardswish, F.hardsigmoid, F.hardtanh, F.relu6), x
    yield "act_lu", "celu, selu, leaky_relu", lambda: t.Chain(F.celu, F.selu, F.leaky_relu), x
    yield "act_shrink", "softshrink, hardshrink, tanhshrink, threshold", lambda: t.Chain(F.softshrink, F.hardshrink, F.tanhshrink, lambda v: F.threshold(v, 0.1, -1.0)), x
    yield "act_soft", "softsign, logsigmoid, softmin, softplus", lambda: t.Chain(F.softsign, F.logsigmoid, lambda v: F.softmin(v, 1), F.softplus), x
    yield "act_functions", "sin, atan, erf, sqrt, abs, pow, exp", lambda: t.Chain(torch.sin, torch.atan, torch.erf, lambda v: torch.sqrt(torch.abs(v)), lambda v: v.pow(2).clamp(max=100), lambda v: torch.exp(-torch.abs(v))), x
    yield "act_glu", "gated linear units", lambda: nn.Sequential(nn.Linear(P, 8), nn.GLU(), nn.Linear(4, 1)), x
    yield "norm_batch", "batch norm behind each layer", lambda: t.mlp(nn.ReLU, lambda: nn.BatchNorm1d(t.H)), x
    yield "norm_layer", "layer norm behind each layer", lambda: t.mlp(nn.ReLU, lambda: nn.LayerNorm(t.H)), x
    yield "norm_rms", "RMS norm behind each layer", lambda: t.mlp(nn.SiLU, lambda: nn.RMSNorm(t.H)), x
    yield "norm_group", "group norm of hidden units", lambda: nn.Sequential(nn.Linear(P, 6), nn.GroupNorm(2, 6), nn.ReLU(), nn.Linear(6, 1)), x
    yield "norm_l2", "hidden units of length one", lambda: t.Fn(lambda h: F.normalize(h, dim=1), t.mlp(nn.ReLU, outputs=3)), x
    yield "norm_weight", "weight norm and spectral norm", t.WeightNorm, x
    yield "residual", "residual blocks with dropout and layer norm", t.Residual, x
    yield "standardised", "scaling of the columns inside the network", t.Standardised, x
    for name, why, f in heads():
        body = (lambda: t.mlp(nn.ReLU, outputs=3)) if "softmax" in name else (lambda: t.mlp(nn.ReLU))
        yield f"head_{name}", why, lambda f=f, b=body: t.Fn(f, b()), x
    yield "ssn", "structured plus deep", t.SSN, x
    yield "ssn_heads", "location and scale, structured and deep", t.SSNHeads, x
    yield "ssn_exp", "location and scale, exp", lambda: t.SSNHeads(torch.exp), lambda rng: {"x": rows(rng, P, (0, 1, -1, 5))}
    yield "ssn_splines", "truncated powers of a column and a deep part", t.Splines, lambda rng: {"x": rows(rng, P, (0, 1, -1, 5, -5))}
    yield "nam", "a network a column", t.NAM, x
    yield "nam_pairs", "columns, a pair, and the rest deep", t.NAMPairs, x
    yield "nam_grouped", "all shape functions in one grouped convolution", t.NAMGrouped, x
    yield "nam_einsum", "all shape functions by einsum", t.NAMEinsum, x
    yield "nam_exu", "exp-centred hidden units", t.ExU, x
    yield "nbm", "shared bases for all columns", t.NBM, x
    yield "embeddings", "embeddings of two columns of codes", tab.Embeddings, with_codes
    yield "embedding_list", "one table for three columns of codes", tab.EmbeddingList, lambda rng: {"codes": t.codes(rng, 5, 4, 3)}
    yield "embedding_bag", "the mean of embeddings", tab.EmbeddingBag, lambda rng: {"codes": t.codes(rng, 12, 12, 12)}
    yield "one_hot", "one-hot codes and a linear layer", tab.OneHotLinear, lambda rng: {**x(rng), "city": t.codes(rng, 7)[:, 0]}
    yield "wide_deep", "an input for each column, of shape [N]", tab.WideDeep, lambda rng: dict(zip(("age", "income", "hours"), np.ascontiguousarray(rows(rng, 3).T)))
    yield "mixture", "mixture density network", t.Mixture, x
    yield "counts", "zero-inflated counts with an exposure, three outputs", t.Counts, lambda rng: {"x": rows(rng, P, (0, 1, -1, 5)), "exposure": np.abs(rows(rng, 1, (0, 1, 2, 5)))}
    yield "quantiles", "quantiles that do not cross", t.Quantiles, x
    yield "ordinal", "cumulative logits", t.Ordinal, x
    yield "hazards", "discrete hazards and survival by sums of logarithms", t.Cox, x
    yield "lstm", "the last state of an LSTM", lambda: q.Recurrent(nn.LSTM), series(3)
    yield "lstm_deep", "two layers, both directions", lambda: q.Recurrent(nn.LSTM, num_layers=2, bidirectional=True), series(3)
    yield "lstm_hidden", "a series and static columns", q.Hidden, lambda rng: {"series": q.seq(rng, 5, 3), **x(rng)}
    yield "lstm_cells", "LSTM cells in a loop", q.Cells, series(3)
    yield "gru", "the mean of a GRU's states", lambda: q.Recurrent(nn.GRU, last=False), series(3)
    yield "rnn", "a plain recurrent network", lambda: q.Recurrent(nn.RNN), series(3)
    yield "conv1d", "convolutions along the series", q.Conv1d, lambda rng: {"x": q.seq(rng, 6, 3)}
    yield "conv1d_causal", "temporal convolutions", q.Causal, series(3)
    yield "image", "a small image and columns", q.Image, lambda rng: {"image": q.seq(rng, 1, 4, 4), **x(rng)}
    yield "mha", "MultiheadAttention", q.MHA, series(4)
    yield "mha_mask", "MultiheadAttention with a causal mask", lambda: q.MHA(True), series(4)
    yield "sdpa", "scaled_dot_product_attention", q.SDPA, series(4)
    yield "sdpa_causal", "the same, causal", lambda: q.SDPA(causal=True), series(4)
    yield "attention_hand", "attention written out, heads by view", q.HandAttention, series(4)
    yield "attention_bmm", "attention with batch and heads merged", q.Merged, series(4)
    yield "attention_pooling", "a softmax over the series", q.Pooling, series(3)
    yield "encoder", "a transformer's encoder layer", q.Encoder, series(3)
    yield "encoder_gelu", "two layers, norm first, gelu", lambda: q.Encoder(2, True, "gelu"), series(3)
    yield "ft_transformer", "feature tokens, attention, ReGLU", q.FTTransformer, x
    yield "tab_transformer", "attention over embeddings of codes", q.TabTransformer, lambda rng: {**x(rng), "codes": t.codes(rng, 7, 4, 3)}
    yield "tabnet", "sparsemax masks and GLU blocks", tab.TabNet, x
    yield "tabnet_softmax", "the same with softmax masks", lambda: tab.TabNet(lambda z: torch.softmax(z, -1)), x
    yield "deepfm", "factorisation machine and a deep part", tab.DeepFM, lambda rng: {"codes": t.codes(rng, 5, 4, 3)}
    yield "dcn", "deep and cross network", tab.Cross, x
    yield "experts", "mixture of experts, softmax gate", tab.Experts, x
    yield "experts_topk", "the two best experts of each row: TopK, scatter", lambda: tab.Experts(2), x
    yield "experts_gather", "the two best, gathered", tab.ExpertsGather, x
    yield "periodic", "periodic embeddings of numbers", tab.Periodic, x
    yield "piecewise_linear", "piecewise linear embeddings of numbers", tab.PiecewiseLinear, x
    yield "bins", "bucketize and an embedding", tab.Bins, x
    yield "tabm", "batch ensemble", tab.TabM, x
    yield "kan", "B-splines by their recursion", tab.KAN, x
    yield "rbf", "radial basis functions", tab.RBF, x
    yield "node", "neural oblivious trees", tab.NODE, x
    yield "deep_set", "the elements of a set, missing ones as NaN", q.DeepSet, missing(4, 3)
    yield "missing", "NaN replaced by a learned value", tab.Missing, missing(P)
    yield "where_rows", "one of two networks for each row", t.Cond, x
    yield "bilinear", "bilinear form of two groups of columns", tab.Bilinear, x
    yield "factorization", "products of pairs by an upper triangle", tab.Factorization, x
    yield "autoencoder", "reconstruction error and cosine", tab.Autoencoder, x
    yield "lattice", "monotone: min of max of positive weights", tab.Lattice, x
    yield "fourier", "random Fourier features", tab.Fourier, x


def prepare(make, seed=7):
    """The module with seeded weights, in evaluation; batch norms have seen data."""
    torch.manual_seed(seed)
    m = make()
    for b in m.modules():
        if isinstance(b, nn.BatchNorm1d):
            b.running_mean.normal_()
            b.running_var.uniform_(0.5, 2)
    return m.eval()
