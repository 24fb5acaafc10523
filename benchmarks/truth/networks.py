"""The networks of the judge: their files, the population their rows come from, and their true curves.

A *true curve* of a column is its main effect: the function of that column in the additive function that is nearest
to the network in mean square over the population (Stone 1994). Where every interaction is orthogonal to the functions
of its own columns this is the main effect of the hierarchical functional ANOVA, too (Hooker 2007); so it is for all
networks here, because columns depend on each other in pairs, (x1, x2), (x3, x4), (x5, x6), or the network is additive.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Callable

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from scipy.interpolate import BSpline
from scipy.sparse import csr_matrix, hstack
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

HERE = Path(__file__).parent
POPULATION = 1 << 20  # rows of the least-squares truth, evenly spread
Rows = dict[str, np.ndarray]
Curve = Callable[[np.ndarray], np.ndarray]


@dataclasses.dataclass(frozen=True)
class Interaction:
    """A function of several columns. Its main effects in closed form, or None: found by least squares."""

    columns: tuple[str, ...]
    function: Callable
    main: dict[str, Curve] | None = None


@dataclasses.dataclass(frozen=True)
class Network:
    """A function, the population of its rows, and what is known of it."""

    name: str
    sample: Callable[[np.random.Generator, int], Rows]
    columns: tuple[str, ...]
    main: dict[str, Curve] = dataclasses.field(default_factory=dict)
    interactions: tuple[Interaction, ...] = ()
    file: str = ""  # a trained network, in networks/; its function is what the file computes
    additive: bool = False
    disputed: bool = False  # partial dependence, accumulated effects and main effects are different curves
    bands: bool = False  # among those whose bands and verdicts are judged
    collinear: frozenset[str] = frozenset()  # columns that no sample of this size tells apart

    @property
    def factors(self) -> tuple[str, ...]:
        """Columns of text."""
        return tuple(c for c in self.columns if c.startswith("g"))

    @property
    def pairs(self) -> tuple[tuple[str, ...], ...]:
        """Columns of the interactions of two that were written by hand."""
        return tuple(i.columns for i in self.interactions if len(i.columns) == 2)


# ---- populations


def normal(rng: np.random.Generator, n: int, p: int, rho: float, together: int) -> np.ndarray:
    """Draw n x p standard normal numbers; columns of one group of `together` have the correlation rho."""
    own, common = rng.normal(size=(n, p)), rng.normal(size=(n, -(-p // together)))
    return np.sqrt(1 - rho) * own + np.sqrt(rho) * np.repeat(common, together, axis=1)[:, :p]


def names(p: int) -> tuple[str, ...]:
    """x1 to xp."""
    return tuple(f"x{j + 1}" for j in range(p))


def gaussian(p: int, rho: float, together: int = 2, transform: Curve = lambda z: z) -> Callable:
    """The sampler of p normal columns, transformed."""
    return lambda rng, n: dict(zip(names(p), transform(normal(rng, n, p, rho, together)).T))


def levels(shift: float) -> Callable:
    """Four levels of unequal shares; the mean of x1 moves by `shift` from level to level."""

    def draw(rng: np.random.Generator, n: int) -> Rows:
        g = rng.choice(4, size=n, p=SHARES)
        x = rng.normal(size=(n, 2))
        return {"g": np.array(list("abcd"), dtype=object)[g], "x1": x[:, 0] + shift * (g - 1.5), "x2": x[:, 1]}

    return draw


def copied(rng: np.random.Generator, n: int) -> Rows:
    """Four columns; x2 is x1 but for a thousandth of its standard deviation."""
    rows = dict(zip(names(4), normal(rng, n, 4, 0, 1).T))
    rows["x2"] = rows["x1"] + 1e-3 * rows["x2"]
    return rows


SHARES = (0.4, 0.3, 0.2, 0.1)


# ---- functions of the networks that are written by hand: of numpy's arrays, and of a graph (below)

SMOOTH = (
    lambda x: np.sin(1.5 * x),
    lambda x: 0.5 * x * x,
    lambda x: np.tanh(2 * x),
    lambda x: 0.6 * x,
    lambda x: 1.5 * np.exp(-x * x),
    lambda x: 1.5 * x / (1 + x * x),
)
ROUGH = (
    lambda x: np.sin(6 * x),
    lambda x: 2 * np.exp(-20 * (x - 0.5) * (x - 0.5)),
    lambda x: np.tanh(8 * x),
    lambda x: 0.5 * x,
    lambda x: 0.5 * x * np.sin(4 * x),
    lambda x: np.abs(x),
)
STEPS = (
    lambda x: 1.0 * (x > 0.2),
    lambda x: (x > -0.8) - 0.5 * (x > 0.7),
    lambda x: 1.5 * (x > 1.1),
    lambda x: 0.5 * x,
    lambda x: np.sin(1.5 * x),
    lambda x: 0.7 * (1.0 * (x > -1.2) + (x > -0.4) + (x > 0.4) + (x > 1.2)),
)
SKEWED = (lambda u: np.sin(2 * np.log(u)), lambda u: np.sqrt(u), lambda u: np.log(1 + u), lambda u: 1 / (1 + u))


def of(functions: tuple[Curve, ...], p: int) -> dict[str, Curve]:
    """The first p functions, by column."""
    return dict(zip(names(p), functions))


def product(a: str, b: str, rho: float) -> Interaction:
    """Ab of standard normal columns. E(ab|a) = rho a^2, so its main effects are rho/(1 + rho^2) (x^2 - 1) of each."""

    def main(x: np.ndarray) -> np.ndarray:
        return rho / (1 + rho * rho) * x * x

    return Interaction((a, b), lambda x, z: x * z, {a: main, b: main})


def triple(rho: float) -> Interaction:
    """x1 x2 x3, x3 independent of the first two, whose correlation is rho: E(x1 x2 x3 | x3) = rho x3, the others 0."""
    return Interaction(names(3), lambda x, y, z: x * y * z, {"x3": lambda z: rho * z})


def lookup(g, table: dict[str, float]):
    """The number of each level."""
    return g.lookup(table) if isinstance(g, Node) else np.vectorize(table.__getitem__, otypes=[float])(g)


LEVELS, SLOPES = dict(a=0.0, b=1.0, c=-0.5, d=1.5), dict(a=0.5, b=-0.5, c=1.0, d=0.0)


def by_level(shift: float) -> Interaction:
    """A level's slope times a function of x1. In closed form if g and x1 are independent."""
    mean = float(np.dot(SHARES, list(SLOPES.values())))
    main = None if shift else {"x1": lambda x: mean * np.tanh(x)}  # tanh has mean 0: nothing for g
    return Interaction(("g", "x1"), lambda g, x: lookup(g, SLOPES) * np.tanh(x), main)


def networks() -> list[Network]:
    """All of them, those written by hand first."""
    out = []
    for rho in (0, 0.5, 0.9, 0.95):
        out.append(Network(f"smooth {rho}", gaussian(6, rho, 6), names(6), of(SMOOTH, 6), additive=True))
    for rho in (0, 0.9):
        out.append(Network(f"rough {rho}", gaussian(6, rho, 6), names(6), of(ROUGH, 6), additive=True))
        out.append(Network(f"steps {rho}", gaussian(6, rho, 6), names(6), of(STEPS, 6), additive=True))
        out.append(Network(f"skewed {rho}", gaussian(4, rho, 4, np.exp), names(4), of(SKEWED, 4), additive=True))
    left = Interaction(("x5", "x6"), lambda x, z: 0.5 * x * z, {})  # a remainder: of two independent columns
    for rho in (0, 0.9):
        out.append(Network(f"smooth and remainder {rho}", lambda rng, n, rho=rho: apart(rng, n, rho), names(6), of(SMOOTH, 4), (left,), bands=True))
    out.append(Network("steps and remainder 0", gaussian(6, 0), names(6), of(STEPS, 4), (left,), bands=True))
    out.append(Network("skewed and remainder 0", lambda rng, n: apart(rng, n, 0, np.exp), names(6), of(SKEWED, 4), (left,), bands=True))
    for rho in (0, 0.5, 0.9, 0.95):
        two = (product("x1", "x2", rho), product("x3", "x4", rho))
        out.append(Network(f"pairs {rho}", gaussian(4, rho), names(4), of(SMOOTH, 4), two, disputed=rho > 0, bands=rho < 0.95))
    for rho in (0, 0.5):
        two = (Interaction(("x1", "x2"), lambda x, z: np.tanh(x) * np.sin(2 * z)), Interaction(("x3", "x4"), lambda x, z: np.abs(x - z)))
        out.append(Network(f"surfaces {rho}", gaussian(4, rho), names(4), of(SMOOTH, 4), two, disputed=rho > 0))
        out.append(Network(f"three-way {rho}", gaussian(4, rho), names(4), of(SMOOTH, 4), (triple(rho),), disputed=rho > 0, bands=rho > 0))
    for shift in (0, 0.5):
        main = {"g": lambda g: lookup(g, LEVELS), "x1": SMOOTH[0], "x2": SMOOTH[1]}
        out.append(Network(f"factor {shift}", levels(shift), ("g", "x1", "x2"), main, (by_level(shift),), disputed=shift > 0, bands=True))
    out.append(Network("near copy", copied, names(4), of(SMOOTH, 4), (product("x3", "x4", 0),), bands=True, collinear=frozenset(("x1", "x2"))))
    for rho in (0, 0.9):
        smooth = gaussian(6, rho)
        out.append(Network(f"MLP smooth {rho}", smooth, names(6), file=f"mlp_smooth_{rho}.onnx", disputed=rho > 0))
        out.append(Network(f"MLP pairs {rho}", gaussian(4, rho), names(4), file=f"mlp_pairs_{rho}.onnx", disputed=rho > 0, bands=rho == 0))
        out.append(Network(f"NAM and MLP {rho}", smooth, names(6), file=f"nam_mlp_{rho}.onnx", disputed=rho > 0))
        out.append(Network(f"NAM {rho}", gaussian(6, rho, 6), names(6), file=f"nam_{rho}.onnx", additive=True))
        out.append(Network(f"boosted trees, pairs {rho}", gaussian(4, rho), names(4), file=f"trees_pairs_{rho}.onnx", disputed=rho > 0))
    out.append(Network("lines and MLP 0.5", gaussian(6, 0.5), names(6), file="lines_mlp_0.5.onnx", disputed=True))
    out.append(Network("MLP skewed 0.5", gaussian(4, 0.5, 2, np.exp), names(4), file="mlp_skewed_0.5.onnx", disputed=True))
    out.append(Network("boosted stumps 0.5", gaussian(6, 0.5, 6), names(6), file="stumps_0.5.onnx", additive=True))
    return out


def apart(rng: np.random.Generator, n: int, rho: float, transform: Curve = lambda z: z) -> Rows:
    """Four columns of equal correlation, transformed, and two independent ones."""
    x = np.hstack([transform(normal(rng, n, 4, rho, 4)), rng.normal(size=(n, 2))])
    return dict(zip(names(6), x.T))


# ---- a function of numpy as a graph


class Node(np.lib.mixins.NDArrayOperatorsMixin):
    """A value of a graph: numpy's functions of it are nodes of ONNX, so that a network is its formula, once."""

    OPERATORS = dict(
        add="Add",
        subtract="Sub",
        multiply="Mul",
        divide="Div",
        negative="Neg",
        absolute="Abs",
        sin="Sin",
        tanh="Tanh",
        exp="Exp",
        log="Log",
        sqrt="Sqrt",
    )

    def __init__(self, graph: Graph, name: str):
        self.graph, self.name = graph, name

    def __array_ufunc__(self, ufunc, method, *inputs, **_):
        if ufunc is np.greater:
            return self.graph.node("Cast", self.graph.node("Greater", *inputs), to=TensorProto.DOUBLE)
        return self.graph.node(self.OPERATORS[ufunc.__name__], *inputs)

    def lookup(self, table: dict[str, float]) -> Node:
        """An embedding of one number: the level's position, and the table's row there."""
        keys = list(table)
        position = self.graph.node(
            "LabelEncoder", self, domain="ai.onnx.ml", keys_strings=keys, values_int64s=list(range(len(keys))), default_int64=0
        )
        flat = self.graph.node("Reshape", position, np.array([-1]))
        return self.graph.node("Gather", np.array(list(table.values()))[:, None], flat, axis=0)


class Graph:
    """Nodes and constants on their way into a file."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def node(self, operator: str, *inputs, **attributes) -> Node:
        """Add a node; inputs that are no values of the graph are constants."""
        read = []
        for value in inputs:
            if isinstance(value, Node):
                read.append(value.name)
                continue
            array = np.asarray(value)
            self.constants.append(numpy_helper.from_array(array.astype(np.int64 if operator == "Reshape" else float), f"c{len(self.constants)}"))
            read.append(self.constants[-1].name)
        out = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, read, [out], **attributes))
        return Node(self, out)


def write(network: Network, path: Path) -> None:
    """Write a network that is known by its functions as an ONNX file in float64, an input for each column."""
    graph = Graph()
    values = {c: Node(graph, c) for c in network.columns}
    parts = [f(values[c]) for c, f in network.main.items()] + [i.function(*(values[c] for c in i.columns)) for i in network.interactions]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    graph.nodes.append(helper.make_node("Identity", [total.name], ["eta"]))
    of_type = {c: TensorProto.STRING if c in network.factors else TensorProto.DOUBLE for c in network.columns}
    inputs = [helper.make_tensor_value_info(c, of_type[c], ["N", 1]) for c in network.columns]
    output = helper.make_tensor_value_info("eta", TensorProto.DOUBLE, ["N", 1])
    model = helper.make_model(
        helper.make_graph(graph.nodes, "g", inputs, [output], graph.constants),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)],
        ir_version=8,
    )
    onnx.save(model, path)


def place(network: Network, folder: Path) -> Path:
    """Where the network's file is; one that is written by hand is written into the folder."""
    if network.file:
        return HERE / "networks" / network.file
    path = folder / (network.name.replace(" ", "_") + ".onnx")
    if not path.exists():
        write(network, path)
    return path


def function(network: Network, folder: Path) -> Callable[[Rows], np.ndarray]:
    """What the file computes, by ONNX Runtime in one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(place(network, folder)), options)
    types = {"tensor(double)": float, "tensor(float)": np.float32, "tensor(string)": object}
    kind = {i.name: types[i.type] for i in session.get_inputs()}

    def predict(rows: Rows) -> np.ndarray:
        if len(kind) == len(network.columns):
            feed = {c: np.asarray(rows[c], dtype=kind[c])[:, None] for c in kind}
        else:  # one input of all columns
            feed = {c: np.column_stack([rows[x] for x in network.columns]).astype(of) for c, of in kind.items()}
        return session.run(None, feed)[0].ravel().astype(float)

    return predict


# ---- the truth


def truth(network: Network, predict: Callable[[Rows], np.ndarray]) -> dict[str, Curve]:
    """The curve of every column, up to a constant."""
    if network.additive:
        return slices(network, predict)
    if network.main and all(i.main is not None for i in network.interactions):
        return closed(network)
    return nearest(network, predict, POPULATION)


def slices(network: Network, predict: Callable[[Rows], np.ndarray]) -> dict[str, Curve]:
    """Of an additive network the curves are what it computes along each axis."""
    at = {c: v[0] for c, v in network.sample(np.random.default_rng(0), 1).items()}

    def along(column: str) -> Curve:
        return lambda x: predict({c: x if c == column else np.full(len(x), at[c]) for c in network.columns})

    return {c: along(c) for c in network.columns}


def closed(network: Network) -> dict[str, Curve]:
    """The functions of single columns, and the main effects of the interactions."""

    def total(column: str) -> Curve:
        parts = [m[column] for m in (network.main, *(i.main for i in network.interactions)) if column in m]
        return lambda x: sum((f(x) for f in parts), np.zeros(len(x)))

    return {c: total(c) for c in network.columns}


class Even:
    """Draws as a generator does, but of one Sobol sequence: means over n rows are integrals to 1/n, not 1/sqrt(n)."""

    def __init__(self, n: int):
        self.points, self.used = qmc.Sobol(16, rng=np.random.default_rng(1)).random(n), 0

    def uniform(self, size: int | tuple[int, ...]) -> np.ndarray:
        """The next columns of the sequence."""
        take = size[1] if isinstance(size, tuple) else 1
        self.used += take
        return self.points[:, self.used - take : self.used].reshape(size)

    def normal(self, size: int | tuple[int, ...]) -> np.ndarray:
        """Standard normal numbers."""
        return ndtri(self.uniform(size))

    def choice(self, count: int, size: int, p: tuple[float, ...]) -> np.ndarray:
        """Numbers from 0 with these shares."""
        return np.minimum(np.searchsorted(np.cumsum(p), self.uniform(size)), count - 1)


def nearest(network: Network, predict: Callable[[Rows], np.ndarray], n: int) -> dict[str, Curve]:
    """The additive function nearest to the network over n rows of its population, by least squares.

    A column's functions are cubic splines with 27 quantile knots; beside them, of trees, a step at every cut of the
    model; of text its levels.
    """
    rows = network.sample(Even(n), n)
    bases = {c: basis(network, c, rows[c]) for c in network.columns}
    blocks = [bases[c](rows[c]) for c in network.columns]
    X = hstack([csr_matrix(np.ones((n, 1))), *blocks]).tocsr()
    gram = (X.T @ X).toarray() / n
    right = X.T @ predict(rows) / n
    # Each block holds the constant: a ridge far below the data's own size picks one of equal solutions.
    solution = np.linalg.solve(gram + 1e-10 * np.eye(len(gram)), right)
    ends = np.cumsum([1] + [b.shape[1] for b in blocks])
    return {c: lambda x, c=c, a=a, b=b: bases[c](x) @ solution[a:b] for c, a, b in zip(network.columns, ends, ends[1:])}


def basis(network: Network, column: str, values: np.ndarray) -> Callable[[np.ndarray], csr_matrix]:
    """The functions of one column, as a sparse matrix of their values."""
    if column in network.factors:
        seen = np.unique(values.astype(str))
        return lambda g: csr_matrix((np.asarray(g, dtype=str)[:, None] == seen).astype(float))
    knots = np.unique(np.quantile(values, [0, *ndtr(np.linspace(-3, 3, 25)), 1]))  # in the tails, too
    padded = np.concatenate([np.repeat(knots[0], 3), knots, np.repeat(knots[-1], 3)])

    def splines(x: np.ndarray) -> csr_matrix:
        return csr_matrix(BSpline.design_matrix(np.clip(x, knots[0], knots[-1]), padded, 3))

    cuts = cut_points(network, column)
    if not len(cuts):
        return splines

    def both(x: np.ndarray) -> csr_matrix:
        # Trees compare in float32: left of a cut is below it.
        bin_ = np.searchsorted(cuts, np.asarray(x, np.float32), side="right")
        cells = csr_matrix((np.ones(len(x)), (np.arange(len(x)), bin_)), shape=(len(x), len(cuts) + 1))
        return hstack([splines(x), cells]).tocsr()

    return both


def cut_points(network: Network, column: str) -> np.ndarray:
    """The thresholds of a column in a model of trees; none if the model is not of trees."""
    if not network.file:
        return np.empty(0, np.float32)
    trees = [n for n in onnx.load(HERE / "networks" / network.file).graph.node if n.op_type == "TreeEnsembleRegressor"]
    cuts: set[float] = set()
    for attributes in ({a.name: helper.get_attribute_value(a) for a in n.attribute} for n in trees):
        of = zip(attributes["nodes_featureids"], attributes["nodes_values"], attributes["nodes_modes"])
        cuts.update(value for feature, value, mode in of if mode != b"LEAF" and network.columns[feature] == column)
    return np.array(sorted(cuts), np.float32)
