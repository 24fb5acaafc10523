"""JAX, Flax and Equinox through jax2onnx."""
import logging
import os
import warnings

os.environ["JAX_PLATFORMS"] = "cpu"
warnings.simplefilter("ignore")
logging.disable(logging.ERROR)

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax2onnx import to_onnx

from zoo import ROWS, Zoo, rows

zoo = Zoo("jax", "jax", "flax", "equinox", "jax2onnx")
P = 4


def normal(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


A, B, C = normal(1, P, 5), normal(2, 5), normal(3, 5, 1)
X = rows(np.random.default_rng(4), P)


def network(name, why, f, feeds=None, opset=23, tolerance=None, double=False):
    def make():
        data = feeds or {"x": X}
        shapes = [jax.ShapeDtypeStruct(("B", *v.shape[1:]), v.dtype) if v.dtype != np.float32 else ("B", *v.shape[1:]) for v in data.values()]
        proto = to_onnx(f, shapes, model_name=name, opset=opset, input_names=list(data), enable_double_precision=double)
        zoo.add(name, proto, data, why, tolerance, seed=4)
    zoo.attempt(name, make)


def mlp(act):
    return lambda x: act(x @ A + B) @ C


for act in (jax.nn.relu, jax.nn.gelu, jax.nn.silu, jax.nn.softplus, jax.nn.elu, jnp.tanh, jax.nn.sigmoid, jax.nn.leaky_relu, jax.nn.mish):
    network(f"mlp_{act.__name__}", f"a hidden layer, {act.__name__}", mlp(act))
network("glu", "gated linear units", lambda x: jax.nn.glu(x @ normal(5, P, 6)) @ normal(6, 3, 1))
network("softmax", "a softmax head", lambda x: jax.nn.softmax(jax.nn.relu(x @ A) @ normal(7, 5, 3)))
network("log_softmax", "its logarithm", lambda x: jax.nn.log_softmax(jax.nn.relu(x @ A) @ normal(7, 5, 3)))
network("rate", "exp of a bounded predictor", lambda x: jnp.exp(jnp.clip(x @ A @ C, -5, 5)))
network("logaddexp", "softplus by logaddexp", lambda x: jnp.logaddexp(jax.nn.relu(x @ A + B) @ C, 0.0))
network("where", "softplus by where", lambda x: (lambda e: jnp.where(e > 20, e, jnp.log1p(jnp.exp(jnp.minimum(e, 20)))))(jax.nn.relu(x @ A + B) @ C))
network("nam", "shape functions by einsum", lambda x: jnp.einsum("nph,ph->n", jax.nn.relu(jnp.einsum("np,ph->nph", x, normal(8, P, 3)) + normal(9, P, 3)), normal(10, P, 3)))
network("nam_vmap", "shape functions by vmap over columns", lambda x: jax.vmap(lambda z, a, b: jax.nn.relu(z[:, None] * a) @ b, in_axes=(1, 0, 0))(x, normal(8, P, 3), normal(9, P, 3)).sum(0))
network("ssn", "structured and deep, two outputs", lambda x: (x[:, :2] @ normal(11, 2, 1) + jax.nn.relu(x @ A) @ C, jax.nn.softplus(x[:, 2:] @ normal(12, 2, 1))))
network("layer_norm", "layer norm written out", lambda x: (lambda h: (h - h.mean(-1, keepdims=True)) / jnp.sqrt(h.var(-1, keepdims=True) + 1e-5))(x @ A + B) @ C)
network("rbf", "radial basis functions", lambda x: jnp.exp(-0.2 * ((x[:, None] - normal(13, 3, P)) ** 2).sum(-1)) @ normal(14, 3, 1))
network("attention", "attention over columns", lambda x: (lambda h: jax.nn.softmax(jnp.einsum("nic,njc->nij", h, h)) @ h)(x[..., None] * normal(15, P, 2)).mean((1, 2)))
network("dot_product_attention", "jax.nn.dot_product_attention", lambda x: (lambda h: jax.nn.dot_product_attention(h, h, h))((x[..., None] * normal(15, P, 2))[:, :, None, :]).mean((1, 2, 3)))
network("one_hot", "one-hot codes", lambda c: jax.nn.one_hot(c, 4) @ normal(16, 4, 1), {"c": (np.arange(ROWS) % 4).astype(np.int32)})
network("table", "a table of codes", lambda c, x: jnp.take(normal(17, 4, 2), c, axis=0) @ normal(18, 2, 1) + x @ A @ C, {"c": (np.arange(ROWS) % 4).astype(np.int32), "x": X})
network("scan", "lax.scan over a series", lambda x: jax.lax.scan(lambda h, z: (jnp.tanh(z @ normal(19, 3, 4) + h @ normal(20, 4, 4)),) * 2, jnp.zeros((x.shape[0], 4)), jnp.swapaxes(x, 0, 1))[0] @ normal(21, 4, 1),
        {"x": np.round(np.random.default_rng(4).standard_normal((ROWS, 5, 3)), 3).astype(np.float32)})
network("fori", "lax.fori_loop of three steps", lambda x: jax.lax.fori_loop(0, 3, lambda i, h: h + 0.1 * jnp.tanh(h @ normal(22, P, P)), x).sum(1))
network("cumsum", "ordered quantiles", lambda x: jnp.cumsum(jax.nn.softplus(x @ A), axis=1))
network("sort", "the sorted columns", lambda x: jnp.sort(x, axis=1) @ normal(23, P, 1))
network("switch", "one of two functions", lambda x: jnp.where(x[:, 0] > 0.5, x[:, 1] * 2, x[:, 2] ** 2))
network("double", "in double", lambda x: jnp.tanh(x @ A.astype(jnp.float64)) @ C.astype(jnp.float64), {"x": X.astype(np.float64)}, double=True)
for opset in (21, 22):
    network(f"opset_{opset}", f"opset {opset}", mlp(jax.nn.gelu), opset=opset)


class Body(nnx.Module):
    """Flax: layers, batch norm, layer norm, dropout, a residual."""

    def __init__(self, rngs):
        self.a, self.b, self.c = nnx.Linear(P, 5, rngs=rngs), nnx.Linear(5, 5, rngs=rngs), nnx.Linear(5, 1, rngs=rngs)
        self.batch, self.layer = nnx.BatchNorm(5, use_running_average=True, rngs=rngs), nnx.LayerNorm(5, rngs=rngs)

    def __call__(self, x):
        h = nnx.relu(self.batch(self.a(x)))
        return self.c(h + nnx.gelu(self.b(self.layer(h))))


class Attention(nnx.Module):
    def __init__(self, rngs):
        self.mha = nnx.MultiHeadAttention(2, 4, 4, decode=False, rngs=rngs)
        self.embed, self.out = nnx.Linear(1, 4, rngs=rngs), nnx.Linear(4, 1, rngs=rngs)

    def __call__(self, x):
        return self.out(self.mha(self.embed(x[..., None])).mean(1))


class Codes(nnx.Module):
    def __init__(self, rngs):
        self.embed, self.out = nnx.Embed(5, 3, rngs=rngs), nnx.Linear(3, 1, rngs=rngs)

    def __call__(self, c):
        return self.out(nnx.relu(self.embed(c)))


network("flax", "flax: norms and a residual", Body(nnx.Rngs(0)))
network("flax_rms", "flax: RMS norm", lambda x, m=nnx.RMSNorm(P, rngs=nnx.Rngs(0)): m(x).sum(1))
network("flax_attention", "flax: attention over columns", Attention(nnx.Rngs(0)))
network("flax_embed", "flax: embeddings", Codes(nnx.Rngs(0)), {"c": (np.arange(ROWS) % 5).astype(np.int32)})
network("equinox", "equinox: an MLP for each row by vmap", jax.vmap(eqx.nn.MLP(P, 1, 5, 2, key=jax.random.PRNGKey(0))))
network("equinox_norm", "equinox: layer norm", jax.vmap(lambda x, n=eqx.nn.LayerNorm(P), l=eqx.nn.Linear(P, 1, key=jax.random.PRNGKey(1)): l(jax.nn.relu(n(x)))))
zoo.close()
