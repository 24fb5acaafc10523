"""networks.py DIRECTORY [NAME...]: networks of pictures and sequences with random weights, and rows.

Writes NAME-torchscript.onnx and NAME-dynamo.onnx by PyTorch's two exporters, and NAME.f32, the rows.
"""

import sys

import torch
from torch import nn


def conv(i, o, k=3, stride=1, groups=1, act=nn.ReLU):
    return nn.Sequential(nn.Conv2d(i, o, k, stride, k // 2, groups=groups, bias=False), nn.BatchNorm2d(o), act())


class Residual(nn.Module):
    def __init__(self, body, shortcut, act):
        super().__init__()
        self.body, self.shortcut, self.act = body, shortcut, act

    def forward(self, x):
        return self.act(self.body(x) + self.shortcut(x))


def head(width):
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 1))


def resnet(stem, widths, blocks):
    """He et al. 2016: ResNet-18 with four widths and two blocks of each."""
    layers, i = [stem], widths[0]
    for o in widths:
        for _ in range(blocks):
            s = 1 if i == o else 2
            skip = nn.Identity() if i == o else conv(i, o, 1, s, act=nn.Identity)
            layers.append(Residual(nn.Sequential(conv(i, o, stride=s), conv(o, o, act=nn.Identity)), skip, nn.ReLU()))
            i = o
    return nn.Sequential(*layers, head(i))


def mobilenet():
    """MobileNetV2 (Sandler et al. 2018)."""
    layers, i = [conv(3, 32, stride=2, act=nn.ReLU6)], 32
    for t, o, n, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for k in range(n):
            s, h = stride if k == 0 else 1, i * t
            body = nn.Sequential(conv(i, h, 1, act=nn.ReLU6), conv(h, h, 3, s, h, nn.ReLU6), conv(h, o, 1, act=nn.Identity))
            layers.append(Residual(body, nn.Identity(), nn.Identity()) if i == o and s == 1 else body)
            i = o
    return nn.Sequential(*layers, conv(i, 1280, 1, act=nn.ReLU6), head(1280))


def cnn():
    return nn.Sequential(conv(3, 16), nn.MaxPool2d(2), conv(16, 32), nn.MaxPool2d(2), conv(32, 64), head(64))


def sequence():
    return nn.Sequential(
        nn.Conv1d(4, 32, 7, padding=3), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(32, 64, 5, 2, 2), nn.ReLU(),
        nn.Conv1d(64, 64, 3, padding=2, dilation=2), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, 1))


class Transformer(nn.Module):
    def __init__(self, inputs=16, tokens=64, width=128, heads=4, layers=4):
        super().__init__()
        self.enter, self.place = nn.Linear(inputs, width), nn.Parameter(0.02 * torch.randn(tokens, width))
        layer = [nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu", batch_first=True) for _ in range(layers)]
        self.layers, self.out = nn.Sequential(*layer), nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.layers(self.enter(x) + self.place).mean(1))


class Patches(nn.Module):
    """A small vision transformer (Dosovitskiy et al. 2021)."""

    def __init__(self):
        super().__init__()
        self.cut, self.rest = nn.Conv2d(3, 192, 16, 16), Transformer(192, 196, 192, 3, 6)

    def forward(self, x):
        return self.rest(self.cut(x).flatten(2).transpose(1, 2))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(8, 64, 2, batch_first=True), nn.Linear(64, 1)

    def forward(self, x):
        return self.out(self.lstm(x)[0][:, -1])


NETWORKS = {  # made by, shape of a row, rows
    "cnn": (cnn, (3, 224, 224), 16),
    "resnet32": (lambda: resnet(conv(3, 16), [16, 32, 64], 1), (3, 32, 32), 512),
    "resnet18": (lambda: resnet(nn.Sequential(conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)), [64, 128, 256, 512], 2), (3, 224, 224), 8),
    "mobilenet": (mobilenet, (3, 224, 224), 16),
    "sequence": (sequence, (4, 256), 1024),
    "transformer": (Transformer, (64, 16), 256),
    "vit": (Patches, (3, 224, 224), 8),
    "lstm": (Recurrent, (50, 8), 1024),
}


def main(directory, names):
    torch.manual_seed(1)
    for name in names or NETWORKS:
        make, shape, rows = NETWORKS[name]
        net, x = make().eval(), torch.randn(rows, *shape)
        for m in net.modules():
            if isinstance(m, nn.BatchNorm2d):
                m.running_mean.normal_(0, 0.1)
                m.running_var.uniform_(0.5, 1.5)
        x.numpy().tofile(f"{directory}/{name}.f32")
        axes = {"input_names": ["x"], "output_names": ["y"]}
        torch.onnx.export(net, (x[:2],), f"{directory}/{name}-torchscript.onnx", dynamo=False, dynamic_axes={"x": {0: "n"}, "y": {0: "n"}}, **axes)
        rows = ({0: torch.export.Dim("n")},)
        torch.onnx.export(net, (x[:2],), f"{directory}/{name}-dynamo.onnx", dynamo=True, external_data=False, dynamic_shapes=rows, **axes)


main(sys.argv[1], sys.argv[2:])
