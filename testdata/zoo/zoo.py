"""What the scripts of this directory share: a network is written, ONNX Runtime is asked
what it computes on a few rows, and both are listed in the exporter's manifest."""
import importlib.metadata
import json
import os

import numpy as np
import onnx
import onnxruntime

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = 24
TYPES = {"tensor(float16)": "float16", "tensor(bfloat16)": "bfloat16", "tensor(float)": "float", "tensor(double)": "double",
         "tensor(int64)": "int64", "tensor(int32)": "int32", "tensor(int8)": "int8", "tensor(uint8)": "uint8",
         "tensor(bool)": "bool", "tensor(string)": "string"}


def rows(rng, width, edges=(0, 1, -1, 5, -5, 25, -25)):
    """ROWS x width standard normal numbers of float32; the last rows hold one edge each."""
    x = np.round(rng.standard_normal((ROWS, width)), 3)
    for i, e in enumerate(edges):
        x[ROWS - len(edges) + i] = e
    return x.astype(np.float32)


def numbers(a):
    """A flat list that reads back as a's values; floats in their shortest digits."""
    a = np.asarray(a)
    if a.dtype.kind in "OUS":
        return [str(v) for v in a.ravel()]
    if a.dtype.kind in "iub":
        return [int(v) for v in a.ravel()]
    if a.dtype not in (np.float32, np.float64):
        a = a.astype(np.float32)
    out = []
    for v in a.ravel():
        if np.isnan(v):
            out.append("NaN")
        elif np.isinf(v):
            out.append("Inf" if v > 0 else "-Inf")
        else:
            out.append(Digits(v))
    return out


class Digits(float):
    """A float that is written in the shortest digits of its own precision."""

    def __new__(cls, v):
        d = super().__new__(cls, v)
        d.text = np.format_float_positional(v, trim="-") if v == 0 or 1e-4 <= abs(v) < 1e16 else np.format_float_scientific(v, trim="-")
        return d

    def __repr__(self):
        return self.text


def dump(value, f):
    """JSON in which Digits keep their text."""
    def walk(v):
        if isinstance(v, Digits):
            return v.text
        if isinstance(v, list):
            return "[" + ",".join(walk(x) for x in v) + "]"
        if isinstance(v, dict):
            return "{" + ",".join(json.dumps(k) + ":" + walk(x) for k, x in v.items()) + "}"
        return json.dumps(v)
    f.write(walk(value) + "\n")


class Zoo:
    """One exporter's networks: directory testdata/zoo/networks/<exporter>."""

    def __init__(self, exporter, *packages):
        self.exporter = exporter
        self.dir = os.path.join(HERE, "networks", exporter)
        self.versions = {p: importlib.metadata.version(p) for p in sorted({*packages, "onnx", "onnxruntime", "numpy"})}
        self.networks = []
        self.failed = []
        os.makedirs(self.dir, exist_ok=True)
        for f in os.listdir(self.dir):
            os.remove(os.path.join(self.dir, f))

    def path(self, name):
        return os.path.join(self.dir, name + ".onnx")

    def attempt(self, name, make):
        """Calls make(); an exporter that fails is reported and leaves nothing behind."""
        try:
            make()
        except Exception as e:  # whatever an exporter raises
            self.failed.append(name)
            print(f"{self.exporter}: {name} FAILED: {type(e).__name__}: {str(e).strip()[:600]}", flush=True)
            for f in os.listdir(self.dir):
                if f.startswith(name + "."):
                    os.remove(os.path.join(self.dir, f))

    def add(self, name, model, feeds, why, tolerance=None, seed=0, axis=0, alone=False, judge=False, own=None, constants=None):
        """model: a ModelProto, or None if the exporter has written self.path(name).
        feeds: arrays by input. axis: the batch axis of inputs and outputs. alone: each
        row is run by itself, where in a batch its result would hang on the others. judge:
        the manifest says that the network mixes rows where rows alone, or turned round,
        give something else than together, or nothing. own: what the model itself gives; where ONNX
        Runtime gives something else, that is printed, and the manifest says "runtime": "differs"
        and has the model's numbers. constants: values of inputs that the exporter has left
        without them."""
        constants = {k: np.asarray(v, np.float32) for k, v in (constants or {}).items()}
        if model is not None:
            with open(self.path(name), "wb") as f:
                f.write(model.SerializeToString(deterministic=True))
        self.clean(name)
        proto = onnx.load(self.path(name), load_external_data=False)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(self.path(name), options, providers=["CPUExecutionProvider"])
        results = session.run(None, feeds | constants)
        if alone:
            parts = [session.run(None, {k: v[i:i + 1] for k, v in feeds.items()}) for i in range(ROWS)]
            results = [np.concatenate(r) for r in zip(*parts)]
        differs = own is not None and not np.allclose(results[0], own, 1e-4, 1e-5)
        if differs:
            print(f"{name}: ONNX Runtime is {np.abs(results[0] - own).max():.3g} off the model")
            results = [own, *results[1:]]
        mixes = judge and not self.rowwise(session, feeds, results)
        inputs = [{"name": i.name, "type": TYPES[i.type], "shape": list(np.shape(feeds[i.name]))} for i in session.get_inputs() if i.name in feeds]
        outputs, want = [], []
        for o, r in zip(session.get_outputs(), results):
            told, values = self.output(proto, o, r)
            outputs.append(told)
            want.append(numbers(values))
        entry = {"name": name, "why": why, "seed": seed,
                 "opset": {s.domain or "ai.onnx": s.version for s in proto.opset_import},
                 "inputs": inputs, "outputs": outputs}
        if axis:
            entry["axis"] = axis
        if constants:
            entry["constants"] = {k: [float(x) for x in v.ravel()] for k, v in constants.items()}
        if differs:
            entry["runtime"] = "differs"
        if mixes:
            entry["mixes"] = True
        if tolerance:
            entry["tolerance"] = tolerance
        with open(os.path.join(self.dir, name + ".io.json"), "w") as f:
            dump({"inputs": [numbers(feeds[i["name"]]) for i in inputs], "outputs": want}, f)
        self.networks.append(entry)

    @staticmethod
    def rowwise(session, feeds, results):
        """Whether rows alone, and in the opposite order, give what they give together."""
        try:
            turned = [r[::-1] for r in session.run(None, {k: v[::-1] for k, v in feeds.items()})]
            parts = [session.run(None, {k: v[i:i + 1] for k, v in feeds.items()}) for i in range(ROWS)]
            alone = [np.concatenate(r) for r in zip(*parts)]
        except Exception:  # whatever the runtime raises for other numbers of rows
            return False
        return all(np.shape(a) == np.shape(b) and np.allclose(a, b, 1e-4, 1e-5, equal_nan=True) for other in (turned, alone) for a, b in zip(results, other))

    def clean(self, name):
        """Leaves out what names a machine or a line of a script: stack traces that
        torch keeps as metadata and documentation. Nothing that a runtime reads."""
        proto = onnx.load(self.path(name), load_external_data=False)
        before = proto.SerializeToString(deterministic=True)
        strip(proto.graph)
        for f in proto.functions:
            for n in f.node:
                del n.metadata_props[:]
                n.doc_string = ""
        if proto.SerializeToString(deterministic=True) != before:
            with open(self.path(name), "wb") as f:
                f.write(proto.SerializeToString(deterministic=True))

    @staticmethod
    def output(proto, o, r):
        """What is told of an output, and its values. A sequence of maps, as ZipMap
        writes it, is the matrix that ZipMap reads; "tensor" names that."""
        if isinstance(r, list) and r and isinstance(r[0], dict):
            tensor = next(n.input[0] for n in proto.graph.node if n.op_type == "ZipMap" and n.output[0] == o.name)
            values = np.array([[m[k] for k in m] for m in r], np.float32)
            return {"name": o.name, "type": "maps", "tensor": tensor, "shape": list(values.shape)}, values
        r = np.asarray(r)
        return {"name": o.name, "type": TYPES[o.type], "shape": list(r.shape)}, r

    def close(self, failures=False):
        """failures: of exporters are part of what is found."""
        with open(os.path.join(self.dir, "manifest.json"), "w") as f:
            json.dump({"exporter": self.exporter, "versions": self.versions, "networks": self.networks}, f, indent=1)
            f.write("\n")
        print(f"{self.exporter}: {len(self.networks)} networks, {len(self.failed)} failed {self.failed}")
        if self.failed and not failures:
            raise SystemExit(1)


def strip(graph):
    graph.doc_string = ""
    del graph.metadata_props[:]
    for v in [*graph.value_info, *graph.input, *graph.output, *graph.initializer]:
        v.doc_string = ""
        del v.metadata_props[:]
    for n in graph.node:
        n.doc_string = ""
        del n.metadata_props[:]
        for a in n.attribute:
            a.doc_string = ""
            if a.HasField("g"):
                strip(a.g)
