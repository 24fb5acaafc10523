"""hub.py DIRECTORY [NAME...]: networks of torchvision and transformers with random weights, beside a table of ten columns.

Writes NAME-torchscript.onnx (opset 17) and NAME-dynamo.onnx (opset 18, the least that exporter has): eta is a linear
function of the columns and what the network makes of a picture, or of token ids and their mask. Needs torch,
torchvision, transformers and onnxscript.
"""

import sys

import torch
from torch import nn


def picture(name):
    import torchvision.models as models

    return lambda: (getattr(models, name)(weights=None, num_classes=1), (torch.randn(2, 3, 224, 224),), ["img"])


class Pooled(nn.Module):
    def __init__(self, encoder, width):
        super().__init__()
        self.encoder, self.out = encoder, nn.Linear(width, 1)

    def forward(self, ids, mask):
        return self.out(self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0])


def text(width, layers):
    def make():
        from transformers import BertConfig, BertModel

        config = BertConfig(hidden_size=width, num_hidden_layers=layers, num_attention_heads=width // 64, intermediate_size=4 * width)
        config._attn_implementation = "eager"
        ids = torch.randint(0, config.vocab_size, (2, 128))
        return Pooled(BertModel(config, add_pooling_layer=False), width), (ids, torch.ones_like(ids)), ["ids", "mask"]

    return make


class Beside(nn.Module):
    def __init__(self, deep):
        super().__init__()
        self.deep, self.table = deep, nn.Linear(10, 1)

    def forward(self, x, *inputs):
        return self.table(x) + self.deep(*inputs)


NETWORKS = {name: picture(name) for name in ("resnet18", "resnet50", "mobilenet_v2", "efficientnet_b0", "vit_b_16")}
NETWORKS |= {"bert_small": text(256, 4), "bert_base": text(768, 12)}


def main(directory, names):
    torch.manual_seed(1)
    for name in names or NETWORKS:
        deep, inputs, called = NETWORKS[name]()
        net, inputs, called = Beside(deep).eval(), (torch.randn(2, 10), *inputs), ["x", *called]
        to = {"input_names": called, "output_names": ["eta"]}
        axes = {k: {0: "n"} for k in [*called, "eta"]}
        torch.onnx.export(net, inputs, f"{directory}/{name}-torchscript.onnx", dynamo=False, opset_version=17, dynamic_axes=axes, **to)
        rows = torch.export.Dim("n")
        shapes = {"x": {0: rows}, "inputs": tuple({0: rows} for _ in inputs[1:])}
        torch.onnx.export(net, inputs, f"{directory}/{name}-dynamo.onnx", dynamo=True, opset_version=18, external_data=False, dynamic_shapes=shapes, **to)


main(sys.argv[1], sys.argv[2:])
