"""Keras through tf2onnx: Model.export(format="onnx"), and tf2onnx on a function."""
import logging
import os
import warnings

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0", CUDA_VISIBLE_DEVICES="")
warnings.simplefilter("ignore")
logging.disable(logging.ERROR)

import keras
import numpy as np
import onnx
import tensorflow as tf
import tf2onnx
from keras import layers as L

from zoo import ROWS, Zoo, rows

zoo = Zoo("keras", "keras", "tensorflow-cpu", "tf2onnx")
P = 4


def codes(rng, n):
    return np.concatenate([np.arange(n), rng.integers(0, n, ROWS - n)]).reshape(-1, 1)


def seq(rng, steps, width):
    x = np.round(rng.standard_normal((ROWS, steps, width)), 3).astype(np.float32)
    x[-2], x[-1] = 0, 10
    return x


def network(name, why, build, feeds=None, opset=None, tolerance=None):
    """build returns the model; its inputs take the feeds in order."""
    def make():
        keras.utils.set_random_seed(3)
        keras.backend.clear_session()
        model = build()
        data = feeds or [rows(np.random.default_rng(4), P)]
        rng = np.random.default_rng(8)
        for layer in model.layers:
            if isinstance(layer, L.BatchNormalization):
                layer.moving_mean.assign(rng.normal(size=layer.moving_mean.shape))
                layer.moving_variance.assign(rng.uniform(0.5, 2, layer.moving_variance.shape))
        signature = [tf.TensorSpec((None, *v.shape[1:]), v.dtype, name=i.name) for v, i in zip(data, model.inputs)]

        @tf.function(input_signature=signature)
        def call(*args):
            return model(list(args) if len(args) > 1 else args[0], training=False)
        proto, _ = tf2onnx.convert.from_function(call, input_signature=signature, opset=opset)
        zoo.add(name, proto, dict(zip((i.name for i in proto.graph.input), data)), why, tolerance, seed=3)
    zoo.attempt(name, make)


def through(*steps, shape=(P,)):
    return lambda: keras.Sequential([keras.Input(shape, name="x"), *[s() for s in steps]])


def dense(n, act=None):
    return lambda: L.Dense(n, activation=act)


def functional(f, *inputs):
    """A functional model: f of its inputs."""
    def build():
        ins = [keras.Input(s, dtype=t, name=n) for n, s, t in inputs]
        return keras.Model(ins, f(*ins))
    return build


for act in ("relu", "silu", "selu", "elu", "softplus", "tanh", "leaky_relu", "mish", "hard_silu"):
    network(f"mlp_{act}", f"two hidden layers, {act}", through(dense(5, act), dense(5, act), dense(1)))
network("mlp_gelu", "two hidden layers, gelu by tanh (tf2onnx cannot write the other)", through(dense(5, (gelu := lambda v: keras.activations.gelu(v, approximate=True))), dense(5, gelu), dense(1)))
network("batch_norm", "batch norm and dropout", through(dense(5), L.BatchNormalization, L.ReLU, lambda: L.Dropout(0.2), dense(1)))
network("layer_norm", "layer norm", through(dense(5, "relu"), L.LayerNormalization, dense(1)))
network("rms_norm", "RMS norm", through(dense(5, "relu"), L.RMSNormalization, dense(1)))
network("unit_norm", "units of length one", through(dense(5, "relu"), L.UnitNormalization, dense(1)))
network("prelu", "prelu and a gaussian noise layer", through(dense(5), L.PReLU, lambda: L.GaussianNoise(0.1), dense(1)))


network("rescaling", "the columns' scaling as a layer", through(lambda: L.Rescaling([0.5, 2, 0.1, 1], [0.1, -1, 0, 3]), dense(5, "relu"), dense(1)))
network("binary", "a sigmoid head", through(dense(5, "relu"), dense(1, "sigmoid")))
network("classes", "a softmax head", through(dense(5, "relu"), dense(3, "softmax")))
network("rate", "an exponential head", through(dense(5, "tanh"), dense(1, "exponential")), [rows(np.random.default_rng(4), P, (0, 1, -1, 5))])
network("positive", "a softplus head", through(dense(5, "relu"), dense(1, "softplus")))
x = ("x", (P,), "float32")
network("residual", "residual blocks", functional(lambda x: L.Dense(1)(L.Add()([h := L.Dense(5)(x), L.Dense(5)(L.Dense(5, "relu")(h))])), x))
network("ssn", "a linear layer and a deep part", functional(lambda x: L.Add()([L.Dense(1, use_bias=False)(x[:, :2]), L.Dense(1)(L.Dense(5, "relu")(x))]), x))


def nam(x):
    parts = [L.Dense(1, use_bias=False)(L.Dense(4, "relu")(x[:, j:j + 1])) for j in range(P)]
    return L.Add()(parts)


network("nam", "a network a column", functional(nam, x))
network("nam_inputs", "a network a column, an input each", functional(lambda *xs: L.Add()([L.Dense(1)(L.Dense(4, "relu")(z)) for z in xs]), *[(c, (1,), "float32") for c in ("age", "income", "hours")]),
        list(np.split(rows(np.random.default_rng(4), 3), 3, axis=1)))
network("distribution", "location and scale", functional(lambda x: [L.Dense(1)(h := L.Dense(5, "relu")(x)), L.Dense(1, "softplus")(h)], x))
network("deepregression", "structured location, scale by exp, both with a deep part",
        functional(lambda s, x: L.Concatenate()([L.Add()([L.Dense(1)(s), L.Dense(1)(h := L.Dense(5, "relu")(x))]), L.Activation("exponential")(L.Dense(1)(h))]), ("structured", (2,), "float32"), x),
        [rows(np.random.default_rng(4), 2, (0, 1)), rows(np.random.default_rng(5), P, (0, 1))])
rng = np.random.default_rng(9)
network("embedding", "embeddings of codes", functional(lambda c, x: L.Dense(1)(L.Dense(5, "relu")(L.Concatenate()([L.Flatten()(L.Embedding(6, 3)(c)), x]))), ("city", (1,), "int32"), x),
        [codes(rng, 6).astype(np.int32), rows(rng, P)])
network("one_hot", "CategoryEncoding", functional(lambda c: L.Dense(1)(L.CategoryEncoding(5, "one_hot")(c)), ("city", (1,), "int32")), [codes(rng, 5).astype(np.int32)])
network("wide_deep", "wide and deep", functional(lambda w, x: L.Dense(1)(L.Concatenate()([w, L.Dense(5, "relu")(x)])), ("wide", (2,), "float32"), x), [rows(rng, 2), rows(rng, P)])
s = ("x", (5, 3), "float32")
series = [seq(rng, 5, 3)]
network("lstm", "the last state of an LSTM", functional(lambda x: L.Dense(1)(L.LSTM(4)(x)), s), series)
network("lstm_unrolled", "the same, unrolled", functional(lambda x: L.Dense(1)(L.LSTM(4, unroll=True)(x)), s), series)
network("gru", "all states of a GRU, then the mean", functional(lambda x: L.Dense(1)(L.GlobalAveragePooling1D()(L.GRU(4, return_sequences=True)(x))), s), series)
network("bidirectional", "both directions", functional(lambda x: L.Dense(1)(L.Bidirectional(L.LSTM(3))(x)), s), series)
network("rnn", "SimpleRNN", functional(lambda x: L.Dense(1)(L.SimpleRNN(4)(x)), s), series)
network("conv1d", "convolutions along the series", functional(lambda x: L.Dense(1)(L.GlobalMaxPooling1D()(L.Conv1D(4, 3, activation="relu", padding="same")(L.MaxPooling1D(2)(x)))), s), series)
network("conv1d_causal", "causal, dilated", functional(lambda x: L.Dense(1)(L.Flatten()(L.Conv1D(4, 2, dilation_rate=2, padding="causal", activation="relu")(x))), s), series)
network("time_distributed", "a layer for each step", functional(lambda x: L.Dense(1)(L.Flatten()(L.TimeDistributed(L.Dense(2, "relu"))(x))), s), series)
network("image", "a small image", functional(lambda i: L.Dense(1)(L.Flatten()(L.AveragePooling2D(2)(L.Conv2D(3, 3, activation="relu")(i)))), ("image", (6, 6, 1), "float32")), [seq(rng, 6, 6)[..., None]])
network("attention", "MultiHeadAttention", functional(lambda x: L.Dense(1)(L.GlobalAveragePooling1D()(L.MultiHeadAttention(2, 2)(x, x))), s), series)


def block(x):
    h = L.LayerNormalization()(L.Add()([x, L.MultiHeadAttention(2, 2)(x, x)]))
    h = L.LayerNormalization()(L.Add()([h, L.Dense(3)(L.Dense(6, gelu)(h))]))
    return L.Dense(1)(L.Flatten()(h))


network("transformer", "a transformer block", functional(block, s), series)
network("dot_attention", "L.Attention, by dot products", functional(lambda x: L.Dense(1)(L.Flatten()(L.Attention()([x, x]))), s), series)


def experts(x):
    gate = L.Dense(3, "softmax")(x)
    outs = L.Concatenate()([L.Dense(1)(L.Dense(4, "relu")(x)) for _ in range(3)])
    return L.Dot(axes=1)([gate, outs])


network("experts", "mixture of experts", functional(experts, x))
network("crossed", "products of columns", functional(lambda x: L.Dense(1)(L.Concatenate()([x, L.Multiply()([x, L.Dense(P)(x)])])), x))
network("maxout", "the larger of two layers", functional(lambda x: L.Dense(1)(L.Maximum()([L.Dense(4)(x), L.Dense(4)(x)])), x))
network("repeat", "RepeatVector, Permute, Reshape", functional(lambda x: L.Dense(1)(L.Reshape((12,))(L.Permute((2, 1))(L.RepeatVector(3)(x)))), x))
for opset in (11, 13, 15, 18):
    network(f"opset_{opset}", f"opset {opset}", through(dense(5), L.BatchNormalization, lambda: L.Activation("swish"), dense(2, "softmax")), opset=opset)


def exported(name, why, build):
    """Keras' own way, with its default settings."""
    def make():
        keras.utils.set_random_seed(3)
        model = build()
        feed = rows(np.random.default_rng(4), P)
        model(feed)
        model.export(zoo.path(name), format="onnx", verbose=False)
        zoo.add(name, None, {"x": feed}, why, seed=3)
    zoo.attempt(name, make)


exported("export", 'Model.export(format="onnx")', functional(lambda x: L.Add()([L.Dense(1)(x), L.Dense(1)(L.Dense(5, "relu")(x))]), x))


def normalization():
    """Mean and variance are left as inputs without values: constants of the file, which ONNX Runtime is given."""
    keras.utils.set_random_seed(3)
    layer = L.Normalization()
    layer.adapt(np.random.default_rng(6).normal(2, 3, (50, P)).astype(np.float32))
    model = functional(lambda x: L.Dense(1)(L.Dense(5, "relu")(layer(x))), x)()
    feed = rows(np.random.default_rng(4), P)
    own = np.asarray(model(feed))
    path = zoo.path("normalization")
    model.export(path, format="onnx", verbose=False)
    mean, variance = (i.name for i in onnx.load(path).graph.input[1:])
    zoo.add("normalization", None, {"x": feed}, 'Normalization, by Model.export(format="onnx")', seed=3, own=own,
            constants={mean: np.asarray(layer.mean), variance: np.asarray(layer.variance)})


zoo.attempt("normalization", normalization)
zoo.close()
