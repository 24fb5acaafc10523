"""Networks of packages, and ways in which networks pick their own row, by both exporters of PyTorch."""
import contextlib
import io
import logging
import types
import warnings

import numpy as np
import torch
import torch.nn as nn
from crisp_nam.models.crisp_nam_model import CrispNamModel
from nam.models.nam import NAM
from transformers import BertConfig, BertForSequenceClassification

from zoo import ROWS, Zoo, rows

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
zoo = Zoo("packages", "torch", "onnxscript", "crisp-nam", "nam", "transformers")
rng = np.random.default_rng(21)
X = rows(rng, 4, (0, 1, -1, 3, -3))
GONE = X.copy()
GONE[::3, 1] = np.nan
PLACE = rng.integers(0, 4, ROWS)
CODES = rng.integers(0, 9, (ROWS, 5))
WORDS = rng.integers(0, 20, (ROWS, 6))
MASK = (np.arange(6)[None] < rng.integers(1, 7, ROWS)[:, None]).astype(np.int64)


class One(nn.Module):
    def __init__(self, f, *parts):
        super().__init__()
        self.f, self.parts = f, nn.ModuleList(parts)

    def forward(self, a):
        return self.f(*self.parts, a)


class Two(One):
    def forward(self, a, b):
        return self.f(*self.parts, a, b)


def network(name, why, f, feeds, *parts, tolerance=None):
    for how in ("legacy", "dynamo"):
        def make():
            module = (One, Two)[len(feeds) - 1](f, *parts).eval()
            names = ["a", "b"][:len(feeds)]
            args = tuple(torch.tensor(x[:5]) for x in feeds)
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                if how == "legacy":
                    torch.onnx.export(module, args, zoo.path(f"{name}_{how}"), dynamo=False, opset_version=17, input_names=names, output_names=["y"], dynamic_axes={n: {0: "N"} for n in [*names, "y"]})
                else:
                    torch.onnx.export(module, args, zoo.path(f"{name}_{how}"), dynamo=True, external_data=False, input_names=names, output_names=["y"], dynamic_shapes=tuple({0: torch.export.Dim("N", min=1, max=4096)} for _ in names))
            zoo.add(f"{name}_{how}", None, dict(zip(names, feeds)), why, seed=21, tolerance=tolerance)
        zoo.attempt(f"{name}_{how}", make)


def written(x):
    y = x.clone()
    y[:, 0] = torch.sin(x[:, 0])
    y[:, 2:] = torch.exp(x[:, 2:])
    return y.sum(1, keepdim=True)


def joined(x):
    y = torch.zeros(x.shape[0], 2)
    y[:, 0] = x[:, 0] * 2
    y[:, 1] = torch.sin(x[:, 1])
    return y


torch.manual_seed(3)
network("crisp_nam", "risks added up in place, column by column", lambda m, x: torch.cat(m(x)[0], 1), [X], CrispNamModel(num_features=4, num_competing_risks=2, hidden_sizes=[4, 4]))
settings = types.SimpleNamespace(dropout=0.0, hidden_sizes=[4], activation="exu", feature_dropout=0.0)
network("nam", "exp units", lambda m, x: m(x)[0], [X], NAM(settings, "nam", num_inputs=4, num_units=5))
bert = BertConfig(vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, max_position_embeddings=8)
network("bert", "attention masks picked at the row's number", lambda m, a, b: m(input_ids=a, attention_mask=b).logits, [WORDS, MASK], BertForSequenceClassification(bert))
network("last_step", "x[arange(N), k]", lambda x, k: x[torch.arange(x.shape[0]), k], [X, PLACE])
network("flat_step", "x.flatten()[4 arange(N) + k]", lambda x, k: x.reshape(-1)[torch.arange(x.shape[0]) * 4 + k], [X, PLACE])
network("best_step", "the largest of each row, by its number", lambda x: x[torch.arange(x.shape[0]), x.argmax(1)], [X])
network("columns_written", "columns written in place", written, [X])
network("columns_joined", "columns of zeros written in place", joined, [X])
network("index_copy", "index_copy along the columns", lambda x: x.index_copy(1, torch.tensor([0, 2]), torch.tanh(x[:, :2])), [X])
network("bag_sum", "EmbeddingBag of two axes", lambda m, k: m(k), [CODES], nn.EmbeddingBag(9, 3, mode="sum"))
network("bag_mean", "EmbeddingBag of two axes, their mean", lambda m, k: m(k), [CODES], nn.EmbeddingBag(9, 3, mode="mean"))
network("bag_max", "EmbeddingBag of two axes, their largest", lambda m, k: m(k), [CODES], nn.EmbeddingBag(9, 3, mode="max"))
network("nan_to_num", "missing numbers replaced", lambda m, x: m(torch.nan_to_num(x, 0.5)), [GONE], nn.Linear(4, 1))
network("nan_equal", "where(x == x, sin(x), 0)", lambda x: torch.where(x == x, torch.sin(x), torch.zeros_like(x)), [GONE])
network("nan_finite", "where(isfinite(x), 2 x, 0)", lambda x: torch.where(torch.isfinite(x), 2 * x, torch.zeros_like(x)), [GONE])
network("half", "rounded to float16, then floor", lambda x: torch.floor((x * 1000).half().float()), [X])
zoo.close()
