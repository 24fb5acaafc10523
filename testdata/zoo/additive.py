"""Additive networks of packages, trained for a moment, by both exporters of PyTorch, judged by what the
packages themselves predict (pip install --no-deps igann nodegam gpnam), and masks of transformers."""
import contextlib
import io
import logging
import os
import warnings

os.environ["KERAS_BACKEND"] = "torch"

import numpy as np
import pandas as pd
import torch
import torch.nn as nn

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
with contextlib.redirect_stdout(io.StringIO()):
    from gpnam.model import GPNAMClass, GPNAMReg
    from igann import IGANN
    from nodegam.arch import GAMAttBlock, GAMBlock
from transformers import BertConfig, BertForTokenClassification, BertModel, DistilBertConfig, DistilBertForSequenceClassification

from zoo import ROWS, Zoo, rows

zoo = Zoo("additive", "torch", "onnxscript", "igann", "nodegam", "gpnam", "transformers")
rng = np.random.default_rng(31)
X = rows(rng, 4, (0, 1, -1, 3, -3))
TRAIN = rng.standard_normal((300, 4)).astype(np.float32)
Y = (np.sin(TRAIN[:, 0]) + TRAIN[:, 1] ** 2 / 2 + 0.1 * rng.standard_normal(300)).astype(np.float32)
WORDS = rng.integers(0, 20, (ROWS, 6))
MASK = (np.arange(6)[None] < rng.integers(1, 7, ROWS)[:, None]).astype(np.int64)


class Calls(nn.Module):
    def __init__(self, f, *parts):
        super().__init__()
        self.f, self.parts = f, nn.ModuleList(parts)


class One(Calls):
    def forward(self, a):
        return self.f(*self.parts, a)


class Two(Calls):
    def forward(self, a, b):
        return self.f(*self.parts, a, b)


def network(name, why, f, feeds, *parts, own=None):
    """own: what the package predicts; None: the module."""
    module = (One, Two)[len(feeds) - 1](f, *parts).eval()
    if own is None:
        with torch.no_grad():
            own = module(*map(torch.tensor, feeds)).numpy()
    for how in ("legacy", "dynamo"):
        def make():
            names = ["a", "b"][:len(feeds)]
            args = tuple(torch.tensor(x[:5]) for x in feeds)
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                if how == "legacy":
                    torch.onnx.export(module, args, zoo.path(f"{name}_{how}"), dynamo=False, opset_version=17, input_names=names, output_names=["y"], dynamic_axes={n: {0: "N"} for n in [*names, "y"]})
                else:
                    torch.onnx.export(module, args, zoo.path(f"{name}_{how}"), dynamo=True, external_data=False, input_names=names, output_names=["y"], dynamic_shapes=tuple({0: torch.export.Dim("N", min=1, max=4096)} for _ in names))
            zoo.add(f"{name}_{how}", None, dict(zip(names, feeds)), why, seed=31, own=own)
        zoo.attempt(f"{name}_{how}", make)


def fitted(model, predict, steps=60):
    torch.manual_seed(5)
    x, y = torch.tensor(TRAIN), torch.tensor(Y)
    step = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], 0.02)
    for _ in range(steps):
        step.zero_grad()
        ((predict(model(x)) - y) ** 2).mean().backward()
        step.step()
    return model.eval()


def igann():
    m = IGANN(task="regression", n_estimators=6, n_hid=3)
    m.fit(pd.DataFrame(TRAIN, columns=list("abcd")), Y)
    order = torch.tensor(["abcd".index(c) for c in m.feature_names])  # that of a Python set
    coef = torch.tensor(np.ravel(m.linear_model.coef_), dtype=torch.float32)
    level = torch.tensor(np.ravel(m.linear_model.intercept_), dtype=torch.float32)

    def f(x):
        x = x[:, order]
        y = x @ coef + level
        for rate, r in zip(m.boosting_rates, m.regressors):
            y = y + rate * r.predict(x).squeeze()
        return y[:, None]
    own = m.predict_raw(pd.DataFrame(X, columns=list("abcd")))
    return f, np.reshape(own, (-1, 1)).astype(np.float32)


# As a classifier this version of igann does not fit with this one of numpy.
f, own = igann()
network("igann", "boosted hidden layers of random weights, one feature each", f, [X], own=own)
torch.manual_seed(31)
settings = dict(in_features=4, num_trees=6, num_layers=1, num_classes=1, depth=2)
for name, block, more in (("nodegam", GAMBlock, {}), ("nodegam_deep", GAMBlock, {"num_layers": 2, "addi_tree_dim": 1}), ("nodegam_pairs", GAMBlock, {"ga2m": 1}), ("nodegam_attention", GAMAttBlock, {"num_layers": 2, "dim_att": 2})):
    model = block(**{**settings, **more})
    with torch.no_grad():
        model(torch.tensor(TRAIN))  # thresholds are set by the first rows
    network(name, "oblivious trees that choose a feature, " + name, lambda m, x: m(x).reshape(-1, 1), [X], fitted(model, lambda y: y.reshape(-1)))
for name, model, of in (("gpnam", GPNAMReg(4, 0.5, 6), lambda m, x: m(x)[0][:, None]), ("gpnam_class", GPNAMClass(4, 0.5, 6), lambda m, x: m(x)[:, None])):
    network(name, "random Fourier features, one input each", of, [X], fitted(model, lambda y: y[0] if isinstance(y, tuple) else y))
bert = BertConfig(vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, max_position_embeddings=8)
network("bert_mean", "words averaged by their mask", lambda m, a, b: (m(input_ids=a, attention_mask=b).last_hidden_state * b[:, :, None]).sum(1) / b.sum(1, keepdim=True), [WORDS, MASK], BertModel(bert))
network("bert_last", "the last word that the mask has", lambda m, a, b: m(input_ids=a, attention_mask=b).logits[torch.arange(a.shape[0]), b.sum(1) - 1], [WORDS, MASK], BertForTokenClassification(bert))
distil = DistilBertConfig(vocab_size=20, dim=8, n_layers=1, n_heads=2, hidden_dim=8, max_position_embeddings=8)
network("distilbert", "a mask of padding", lambda m, a, b: m(input_ids=a, attention_mask=b).logits, [WORDS, MASK], DistilBertForSequenceClassification(distil))


def keras_normalization():
    import keras
    keras.utils.set_random_seed(3)
    n = keras.layers.Normalization()
    n.adapt(TRAIN)
    x = keras.Input((4,), name="x")
    model = keras.Model(x, keras.layers.Dense(1)(keras.layers.Dense(5, activation="relu")(n(x))))
    model(X[:1])
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        model.export(zoo.path("keras_normalization"), format="onnx", verbose=False)
    zoo.add("keras_normalization", None, {"x": X}, 'Normalization, by Model.export(format="onnx") on the backend torch', seed=3, own=model(X).detach().numpy())


zoo.attempt("keras_normalization", keras_normalization)
# The older exporter knows neither column_stack (gpnam) nor what nodegam's trees are made of.
zoo.close(failures=True)
