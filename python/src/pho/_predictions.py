"""Predictions as the model: columns of the data.

The only place that knows how the program is told of them. As long as it takes no columns in place
of a network it is given one that returns them.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

from ._need import need

_OWN = "prediction "  # what the names of inputs begin with that are predictions


@dataclass
class Columns:
    """Models that are columns of the data.

    Attributes
    ----------
    names : list of list of str
        The columns of each model, one for each of its predictors.
    link : str
        Of the predictions.
    classes : list of str
        What predictors are called; empty: by number.
    read : dict
        The columns that the models read, which terms are chosen of: True of text.
    """

    names: list[list[str]]
    link: str
    classes: list[str]
    read: Mapping[str, bool]


def flags(columns: Columns, folder: str, formula: Optional[Sequence[str]]) -> dict[str, Any]:
    """The program's options for such models."""
    listed = [name for names in columns.names for name in names]
    paths = []
    for i, names in enumerate(columns.names):
        path = os.path.join(folder, "model.onnx")
        if len(columns.names) > 1:
            path = os.path.join(folder, "networks", str(i + 1), "model.onnx")
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(_network(columns, names, listed))
        paths.append(path)
    bound = [f"{_OWN}{i}={name}" for i, name in enumerate(listed)]
    return {"model": paths, "input": bound, "no_structure": True, "formula": _undotted(formula, listed)}


def place(columns: Columns, folder: str) -> str:
    """Where what flags wrote is: a file, or the folder of several."""
    return os.path.join(folder, "model.onnx" if len(columns.names) == 1 else "networks")


def recorded(artifact: Mapping[str, Any]) -> list[str]:
    """The columns of predictions that an artifact names; none of a network."""
    inputs = artifact["model"].get("inputs") or {}
    own = sorted((n for n in inputs if n.startswith(_OWN)), key=lambda n: int(n[len(_OWN) :]))
    return [str(c) for n in own for c in inputs[n]]


def _undotted(formula: Optional[Sequence[str]], names: Sequence[str]) -> list[str]:
    """Formulas whose dot does not stand for predictions."""
    without = "".join(f" - `{n}`" for n in names)
    return [f + without if re.search(r"(?<![\w.`])\.(?![\w.`])", f) else f for f in formula or ["~ ."]]


def _network(columns: Columns, own: Sequence[str], every: Sequence[str]) -> bytes:
    """A network that returns its own of the columns, by the inverse of the link of their link."""
    onnx = need("onnx", "to hand predictions over")
    helper, double = onnx.helper, onnx.TensorProto.DOUBLE
    nodes: list[Any] = []
    constants = {"one": onnx.numpy_helper.from_array(need("numpy", "").ones((1, 1)), "one")}

    def node(kind: str, inputs: Sequence[str], **attributes: Any) -> str:
        out = f"t{len(nodes)}"
        nodes.append(helper.make_node(kind, list(inputs), [out], **attributes))
        return out

    def linked(p: str) -> str:
        if columns.link == "identity":
            return node("Identity", [p])
        eta = node("Log", [p])
        if columns.link == "log":
            return node("Exp", [eta])
        if columns.link == "softmax":
            return node("Softmax", [eta], axis=1)
        return node("Sigmoid", [node("Sub", [eta, node("Log", [node("Sub", ["one", p])])])])

    inputs = [f"{_OWN}{every.index(name)}" for name in own]
    if columns.link == "softmax":
        outputs = {linked(node("Concat", inputs, axis=1)): len(own)}
    else:
        outputs = {linked(i): 1 for i in inputs}
    names = ["eta"] if len(outputs) == 1 else [f"eta{i}" for i in range(len(outputs))]
    if len(columns.classes) == len(outputs) > 1:
        names = columns.classes
    for made, name in zip(list(outputs), names):
        nodes.append(helper.make_node("Identity", [made], [name]))
    results = [helper.make_tensor_value_info(n, double, [None, k]) for n, k in zip(names, outputs.values())]
    if columns.link == "softmax" and columns.classes:
        numpy = need("numpy", "")
        constants["classes"] = onnx.numpy_helper.from_array(numpy.array(columns.classes, dtype=object), "classes")
        label = node("ArrayFeatureExtractor", ["classes", node("ArgMax", [names[0]], axis=1, keepdims=0)])
        nodes[-1].domain = "ai.onnx.ml"
        results.append(helper.make_tensor_value_info(label, onnx.TensorProto.STRING, None))
    taken = [helper.make_tensor_value_info(f"{_OWN}{i}", double, [None, 1]) for i in range(len(every))]
    taken += [helper.make_tensor_value_info(n, onnx.TensorProto.STRING if text else double, [None, 1]) for n, text in columns.read.items()]
    graph = helper.make_graph(nodes, "predictions", taken, results, list(constants.values()))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8)
    return bytes(model.SerializeToString())


def tell(model: Any, response: Optional[str] = None, classes: Sequence[str] = (), levels: Optional[Mapping[str, Sequence[str]]] = None) -> None:
    """Let a network's file say what numbers stand for: classes of the response, levels of columns of text."""
    entry = model.metadata_props.add()
    told: dict[str, Any] = {"format": "pho.labels/1"}
    if levels:
        told["columns"] = {name: list(own) for name, own in levels.items()}
    if response is not None:
        told.update(response=response, classes=list(classes))
    entry.key, entry.value = "pho.labels", json.dumps(told, ensure_ascii=False)
