"""What quantisers and converters make of networks: ONNX Runtime's static (QDQ and
operator form) and dynamic quantisation, and onnxconverter-common's float16."""
import logging
import os
import tempfile
import warnings

import numpy as np
import onnx
import onnxruntime
import torch
from onnxconverter_common import float16
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from torch import nn

import torch_list
import torch_networks as t
from zoo import Zoo, rows

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
zoo = Zoo("quantised", "onnxruntime", "onnxconverter-common", "torch")
X = rows(np.random.default_rng(11), t.P, (0, 1, -1, 2, -2))
LIST = {name: (make, inputs) for name, _, make, inputs in torch_list.networks()}


class Reader(CalibrationDataReader):
    def __init__(self, feeds):
        self.rows = iter([feeds])

    def get_next(self):
        return next(self.rows, None)


def source(folder, make, feeds, opset=17):
    path = os.path.join(folder, "float.onnx")
    torch.onnx.export(torch_list.prepare(make), tuple(torch.from_numpy(v) for v in feeds.values()), path, input_names=list(feeds), opset_version=opset,
                      dynamo=False, dynamic_axes={n: {0: "N"} for n in feeds})
    return path


def network(name, why, make, convert, feeds=None, tolerance=None, opset=17, alone=False):
    def run():
        given = feeds or {"x": X}
        with tempfile.TemporaryDirectory() as folder:
            path, out = source(folder, make, given, opset), os.path.join(folder, "out.onnx")
            convert(path, out, given)
            proto = onnx.load(out)
        fed = {i.name: given[i.name].astype(np.float16) if i.type.tensor_type.elem_type == onnx.TensorProto.FLOAT16 else given[i.name] for i in proto.graph.input}
        zoo.add(name, proto, fed, why, tolerance, seed=7, alone=alone)
    zoo.attempt(name, run)


def static(form=QuantFormat.QDQ, **options):
    def convert(path, out, feeds):
        quantize_static(path, out, Reader(feeds), quant_format=form, **options)
    return convert


def dynamic(**options):
    return lambda path, out, feeds: quantize_dynamic(path, out, **options)


def optimised(convert):
    """What ONNX Runtime saves when it has joined nodes for running."""
    def run(path, out, feeds):
        plain = out + ".plain"
        convert(path, plain, feeds)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = out
        onnxruntime.InferenceSession(plain, options, providers=["CPUExecutionProvider"])
    return run


def half(**options):
    return lambda path, out, feeds: onnx.save(float16.convert_float_to_float16(onnx.load(path), **options), out)


# A number that falls on the other side of a quantisation step would move the result by a
# step. None does: quantised networks have no tolerance of their own. Dynamic quantisation
# takes its scale from all that it is given, so rows are run alone.
relu, heads = (lambda: t.mlp(nn.ReLU)), t.SSNHeads
network("qdq", "static, QuantizeLinear and DequantizeLinear around each operator", relu, static())
network("qdq_uint8", "activations of uint8, weights of int8", relu, static(activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8))
network("qdq_channel", "a scale for each unit", relu, static(per_channel=True))
network("qdq_int16", "activations of int16", relu, static(activation_type=QuantType.QInt16, weight_type=QuantType.QInt8), opset=21)
network("qdq_int4", "weights of int4", relu, static(weight_type=QuantType.QInt4), opset=21)
network("qdq_nam", "static, an additive network", t.NAM, static())
network("qdq_ssn", "static, structured and deep", heads, static())
network("qdq_conv", "static, convolutions", LIST["conv1d_causal"][0], static(), LIST["conv1d_causal"][1](np.random.default_rng(11)))
network("operators", "static, operators of integers (QLinearMatMul, QGemm)", relu, static(QuantFormat.QOperator))
network("operators_nam", "the same, an additive network (QLinearConcat, QLinearAdd)", t.NAM, static(QuantFormat.QOperator))
network("operators_ssn", "the same, structured and deep (QLinearMatMul)", heads, static(QuantFormat.QOperator))
network("operators_conv", "the same, convolutions (QLinearConv)", LIST["conv1d_causal"][0], static(QuantFormat.QOperator), LIST["conv1d_causal"][1](np.random.default_rng(11)))
network("operators_sigmoid", "the same, sigmoids (QLinearSigmoid)", lambda: t.mlp(nn.Sigmoid), static(QuantFormat.QOperator))
network("operators_leaky", "the same, leaky ones (QLinearLeakyRelu)", lambda: t.mlp(nn.LeakyReLU), static(QuantFormat.QOperator))
network("operators_residual", "the same, layer norm and gelu (QLinearMul)", t.Residual, static(QuantFormat.QOperator))
network("dynamic", "dynamic, MatMulInteger", relu, dynamic(), alone=True)
network("dynamic_int8", "dynamic, weights of int8", t.SSN, dynamic(weight_type=QuantType.QInt8), alone=True)
network("dynamic_nam", "dynamic, an additive network", t.NAM, dynamic(), alone=True)
network("dynamic_lstm", "dynamic, an LSTM", LIST["lstm"][0], dynamic(), LIST["lstm"][1](np.random.default_rng(11)), alone=True)
network("dynamic_optimised", "dynamic, as ONNX Runtime optimises it (DynamicQuantizeMatMul)", t.SSN, optimised(dynamic()), alone=True)
network("half_all", "float16 throughout, inputs and outputs too", relu, half(), tolerance=5e-3)
network("half_keep", "float16 inside, float at the ends", heads, half(keep_io_types=True), tolerance=5e-3)
network("half_nam", "float16 inside an additive network", t.NAM, half(keep_io_types=True), tolerance=5e-3)
network("half_norm", "float16 with layer norm and gelu", t.Residual, half(keep_io_types=True), tolerance=1e-2)
network("half_blocked", "some operators stay float", relu, half(keep_io_types=True, op_block_list=["Relu"]), tolerance=5e-3)
network("half_embedding", "float16 with embeddings", LIST["embeddings"][0], half(keep_io_types=True), LIST["embeddings"][1](np.random.default_rng(11)), tolerance=5e-3)
network("preprocessed", "ONNX Runtime's shape inference and optimisation before quantising", relu, lambda path, out, feeds: quant_pre_process(path, out, skip_symbolic_shape=True), opset=17)
zoo.close()
