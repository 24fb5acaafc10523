"""Trains the networks of docs/pictures.md: a table with pictures or, with --tokens, with short texts beside it.

    python examples/pictures/train.py OUT              scan.onnx, patients.csv, scan.npy
    python examples/pictures/train.py --tokens OUT     note.onnx, patients.csv, ids.npy, mask.npy

Days in hospital of simulated patients depend on their table by TRUTH, and on their state, which the network is not told
(column hidden): the disc on the scan is bright, or the words of the note are good. Scan and note also tell the age: the
disc is larger, and words are used at some age. The patients are the same in both cases. The network is an additive part
of the table plus a deep part of the scan or the note, trained together, so nothing keeps the deep part from taking some
of age's effect. Needs torch 2.9 or later, onnx, onnxscript and numpy; half a minute of one core.
"""

import argparse
import json
import pathlib
import platform

import numpy as np
import onnx
import torch
from torch import nn

REGIONS = ["east", "north", "south"]
TRUTH = {"age": 0.10, "weight": -0.05, "east": -1.5, "north": 0.0, "south": 1.5}  # days per year, per kg, by region
HIDDEN = 1.5  # days per unit of the state, which scan or note alone tell
SIDE, WORDS, LONGEST = 12, 60, 40  # pixels; ids but 0, which fills short notes up
TRAINED, WRITTEN = 4000, 500  # rows; those written are new to the network


def patients(rng, n):
    """Columns of the table, the hidden state, and the days."""
    table = {"age": rng.uniform(20, 80, n).round(), "weight": rng.normal(75, 12, n).round(1), "region": rng.integers(0, 3, n)}
    hidden = rng.uniform(-1.7, 1.7, n)
    effects = TRUTH["age"] * table["age"] + TRUTH["weight"] * table["weight"] + np.array([TRUTH[r] for r in REGIONS])[table["region"]]
    return table, hidden, 10 + effects + HIDDEN * hidden + rng.normal(0, 0.5, n)


def scans(rng, age, hidden):
    """A disc on each picture, its radius from the age and its brightness from the state, and noise: N x 1 x 12 x 12 bytes."""
    n = len(age)
    radius = 1.5 + (age - 20) / 60 * 3.5 + rng.normal(0, 0.15, n)
    centre = rng.uniform(SIDE / 2 - 1, SIDE / 2, (2, n, 1, 1))
    y, x = np.mgrid[:SIDE, :SIDE]
    distance = np.hypot(y - centre[0], x - centre[1])
    edge = np.clip(radius[:, None, None] - distance + 0.5, 0, 1)
    grey = 30 + edge * (120 + 45 * hidden)[:, None, None] + rng.normal(0, 6, (n, SIDE, SIDE))
    return {"scan": grey.clip(0, 255).round().astype(np.uint8)[:, None]}


def notes(rng, age, hidden):
    """Notes of 15 to 40 words, of which the even ids are of an age and the odd ones good or bad, and their mask."""
    n = len(age)
    half = WORDS // 2
    word = rng.integers(0, 2, (n, LONGEST))
    aged = np.clip((age[:, None] - 20) / 60 * (half - 1) + rng.normal(0, 4, word.shape), 0, half - 1).round()
    good = np.clip((hidden[:, None] + 1.7) / 3.4 * (half - 1) + rng.normal(0, 4, word.shape), 0, half - 1).round()
    ids = np.where(word == 0, 2 + 2 * aged, 1 + 2 * good).astype(np.uint8)
    mask = (np.arange(LONGEST) < rng.integers(15, LONGEST + 1, n)[:, None]).astype(np.uint8)
    return {"ids": ids * mask, "mask": mask}


class Scan(nn.Module):
    """A convolutional network of grey pictures, 0 to 255."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(16 * 9, 16), nn.ReLU(), nn.Linear(16, 1),
        )  # fmt: skip

    def forward(self, scan):
        return self.layers(scan / 255)


class Note(nn.Module):
    """The mean of the words' vectors, without those that fill up, and a layer of it."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS + 1, 8, padding_idx=0)
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, ids, mask):
        weight = mask.unsqueeze(2).float()
        return self.layers((self.words(ids) * weight).sum(dim=1) / weight.sum(dim=1))


class Network(nn.Module):
    """Effects of the table's columns, in their own units, plus the deep part."""

    def __init__(self, deep, mean, sd):
        super().__init__()
        self.deep, self.mean, self.sd = deep, mean, sd
        self.age, self.weight = nn.Linear(1, 1), nn.Linear(1, 1, bias=False)
        self.region = nn.Embedding(len(REGIONS), 1)

    def forward(self, age, weight, region, *deep):
        table = self.age((age - self.mean[0]) / self.sd[0]) + self.weight((weight - self.mean[1]) / self.sd[1])
        return table + self.region(region[:, 0]) + self.deep(*deep)


def tensors(table, deep):
    """The network's inputs in order. Ids and masks are integers, as tokenizers make them, everything else is float32."""
    columns = [torch.tensor(table["age"][:, None], dtype=torch.float32), torch.tensor(table["weight"][:, None], dtype=torch.float32)]
    columns.append(torch.tensor(table["region"][:, None], dtype=torch.int64))
    return columns + [torch.tensor(a, dtype=torch.float32 if name == "scan" else torch.int64) for name, a in deep.items()]


def train(network, inputs, days):
    optimizer = torch.optim.Adam(network.parameters(), lr=0.003)
    for _ in range(25):
        for rows in torch.randperm(len(days)).split(100):
            loss = torch.mean((network(*(x[rows] for x in inputs)) - days[rows]) ** 2)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def main(out, tokens):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    rng = np.random.default_rng(1)
    table, hidden, days = patients(rng, TRAINED + WRITTEN)
    deep = (notes if tokens else scans)(rng, table["age"], hidden)
    inputs = tensors(table, deep)
    mean, sd = (float(days[:TRAINED].mean()), float(days[:TRAINED].std()))
    columns = np.stack([table["age"], table["weight"]])[:, :TRAINED]
    network = Network(Note() if tokens else Scan(), columns.mean(axis=1).tolist(), columns.std(axis=1).tolist())
    y = torch.tensor(days[:TRAINED, None], dtype=torch.float32)
    with torch.no_grad():
        network.age.bias.fill_(mean)  # else most of training is spent on the intercept
    train(network, [x[:TRAINED] for x in inputs], y)

    network.eval()
    with torch.no_grad():
        error = days[TRAINED:] - network(*(x[TRAINED:] for x in inputs))[:, 0].numpy()
    print(f"R2 on new rows: {1 - error.var() / days[TRAINED:].var():.3f}")
    for j, name in enumerate(("age", "weight")):
        own = getattr(network, name).weight.item() / network.sd[j]
        print(f"{name}: truth {TRUTH[name]:+.3f}, the network's own coefficient {own:+.3f}, so the deep part took {TRUTH[name] - own:+.3f}")

    out.mkdir(parents=True, exist_ok=True)
    write_network(network, out / ("note.onnx" if tokens else "scan.onnx"), [x[:2].clone() for x in inputs], [*table, *deep])
    shown = zip(table["age"], table["weight"], np.array(REGIONS)[table["region"]], hidden, days)
    with open(out / "patients.csv", "w") as f:
        f.write("age,weight,region,hidden,days\n")
        f.writelines("%g,%g,%s,%.3f,%.2f\n" % row for row in list(shown)[TRAINED:])
    for name, a in deep.items():
        np.save(out / f"{name}.npy", a[TRAINED:])
    versions = f"Python {platform.python_version()}, torch {torch.__version__}, onnx {onnx.__version__}, numpy {np.__version__}"
    (out / "made.txt").write_text(f"Made by examples/pictures/train.py, without and with --tokens; {versions}.\n")


def write_network(network, file, example, names):
    """The ONNX file, its number of rows open, with the regions' names in it."""
    rows = {0: "N"}
    torch.onnx.export(network, tuple(example), file, input_names=names, output_names=["days"], external_data=False,
                      dynamic_shapes=(rows, rows, rows, (rows,) * (len(names) - 3)), verbose=False)  # fmt: skip
    model = onnx.load(file)
    for node in model.graph.node:
        del node.metadata_props[:]  # stack traces with paths of this machine
    labels = {"format": "pho.labels/1", "columns": {"region": REGIONS}}
    onnx.helper.set_model_props(model, {"pho.labels": json.dumps(labels)})
    onnx.save(model, file)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("--tokens", action="store_true", help="texts in place of pictures")
    a = arguments.parse_args()
    main(a.out, a.tokens)
