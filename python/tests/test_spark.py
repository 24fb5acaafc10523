"""pho.spark on a cluster of processes: a master, two workers, each with an executor of its own.

Needs pyspark and Java (`make check-spark`); skipped without.
"""

import os
import pathlib
import shutil
import signal
import sys
import threading
import time
import warnings

import pytest

import pho

pyspark = pytest.importorskip("pyspark", reason="pho.spark is not tested: pyspark is not installed (make check-spark)")
if shutil.which("java") is None:
    pytest.skip("pho.spark is not tested: there is no Java (Debian: openjdk-17-jre-headless)", allow_module_level=True)
if not sys.platform.startswith("linux"):
    pytest.skip("pho.spark is not tested: executors are found, and killed, by /proc of Linux", allow_module_level=True)

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")

SHARD = 1 << 15
ROWS = 5 * SHARD + 1234
INPUTS = {"x": [f"x{j}" for j in range(10)]}


@pytest.fixture(scope="module")
def spark(tmp_path_factory, program):
    folder = tmp_path_factory.mktemp("spark")
    home = folder / "home"  # workers write below it
    home.mkdir()
    for entry in pathlib.Path(pyspark.__file__).parent.iterdir():
        (home / entry.name).symlink_to(entry)
    os.environ.update(
        SPARK_HOME=str(home),
        SPARK_LOCAL_IP="127.0.0.1",
        SPARK_LOCAL_DIRS=str(folder / "local"),
        PYSPARK_PYTHON=sys.executable,
    )
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for key, value in {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def rows(demo):
    """Rows of the demo drawn again and again, with a number and a column that nothing reads."""
    frame = pd.read_csv(demo / "data.csv", float_precision="round_trip").sample(ROWS, replace=True, random_state=1).reset_index(drop=True)
    return frame.assign(id=np.arange(ROWS), when=pd.Timestamp("2026-01-01"))


@pytest.fixture(scope="module")
def table(spark, rows):
    """The rows in no order, in partitions of different sizes."""
    return spark.createDataFrame(rows.sample(frac=1, random_state=2)).repartition(7)


class Killer(threading.Thread):
    """Kills the executor of the first process of each pass that has begun with its rows.

    The process is stopped first, so that it is in the middle whatever the machine does.
    """

    def __init__(self, passes):
        super().__init__(daemon=True)
        self.left = set(passes)
        self.killed = {}
        self.done = threading.Event()
        self.start()

    def run(self):
        while self.left and not self.done.wait(0.001):
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    self._look(int(pid))
                except (OSError, ProcessLookupError):
                    pass  # it has ended

    def _look(self, pid):
        arguments = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        name = next((n for n in self.left if _is_of(arguments, n)), None)
        if name is None or _read(pid) < _opened(arguments) + _bytes_of_rows(name):
            return
        os.kill(pid, signal.SIGSTOP)
        executor = _executor(pid)
        if executor is None or _state(pid) not in "tT":
            os.kill(pid, signal.SIGCONT)
            return
        self.killed[name] = _read(pid)
        self.left.discard(name)
        os.kill(executor, signal.SIGKILL)
        time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)


def _is_of(arguments, name):
    return "--stdio" in arguments if name == "serve" else f"--pass={name}" in arguments


def _bytes_of_rows(name):
    """What a process has read when it is in the middle: it copies its rows first, and reads the copy."""
    return 200_000 if name == "serve" else int(1.2 * SHARD * 12 * 8)


def _opened(arguments):
    """The bytes of the plan and of the network that a process reads besides."""
    total = 0
    for argument in arguments:
        path = pathlib.Path(argument.partition("=")[2] if "=" in argument else argument)
        if argument.startswith(("--plan=", "--model=")) or (path.is_absolute() and path.is_dir()):
            total += sum(f.stat().st_size for f in ([path] if path.is_file() else path.rglob("*")) if f.is_file())
    return total


def _read(pid):
    """The bytes that a process has read."""
    return int(pathlib.Path(f"/proc/{pid}/io").read_text().split("rchar: ")[1].split()[0])


def _state(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def _executor(pid):
    """The executor that a process works for: an ancestor that is a Java program for executors."""
    while pid > 1:
        if b"CoarseGrainedExecutorBackend" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
            return pid
        pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return None


@pytest.fixture(scope="module")
def killed(demo, spark, table):
    """A decomposition in each of whose passes an executor is killed."""
    killer = Killer(["scan", "fit", "explain"])
    try:
        d = pho.spark.decompose(str(demo / "ssn.onnx"), table, response="y", inputs=INPUTS, order_by="id", rows_per_task=SHARD)
    finally:
        killer.done.set()
    assert not killer.left, f"no executor was killed in {killer.left}"
    return d


@pytest.fixture(scope="module")
def alone(demo, rows):
    """The same rows, in order, on this machine."""
    return pho.decompose(str(demo / "ssn.onnx"), rows.drop(columns="when"), response="y", inputs=INPUTS)


def assert_same_files(cluster, alone):
    names = sorted(n for n in os.listdir(alone.result) if n != "run.json" and not n.startswith("contributions"))
    assert names == sorted(n for n in os.listdir(cluster.result) if n != "run.json")
    for name in names:
        assert pathlib.Path(cluster.file(name)).read_bytes() == pathlib.Path(alone.file(name)).read_bytes(), name


def test_same_bytes_though_executors_are_killed(killed, alone):
    assert_same_files(killed, alone)


def test_same_bytes_though_an_executor_is_killed_while_pairs_are_sought(demo, rows, table):
    """With a pair added there is a pass of pairs before the terms are known."""
    killer = Killer(["pairs"])
    options = {"response": "y", "inputs": INPUTS, "interactions": 1}
    try:
        d = pho.spark.decompose(str(demo / "ssn.onnx"), table, order_by="id", rows_per_task=SHARD, **options)
    finally:
        killer.done.set()
    assert not killer.left, "no executor was killed"
    here = pho.decompose(str(demo / "ssn.onnx"), rows.drop(columns="when"), **options)
    assert "ti(" in pathlib.Path(here.file("decomposition.json")).read_text()
    assert_same_files(d, here)


def test_apply_adds_contributions(killed, alone, table):
    killer = Killer(["serve"])
    try:
        out = killed.apply(table).toPandas().sort_values("id").reset_index(drop=True)
    finally:
        killer.done.set()
    assert not killer.left, "no executor was killed"
    assert list(out.columns[: len(table.columns)]) == table.columns
    parts = alone.contributions
    for name in parts.columns:
        assert np.array_equal(out["pho_" + name], parts[name]), name
    assert killed.summary() == alone.summary()
    with pytest.raises(pho.UsageError, match="prefix"):
        killed.apply(table, prefix="")
    with pytest.raises(pho.UsageError, match="lacks the columns x3"):
        killed.apply(table.drop("x3"))


def test_partitions_as_they_are(demo, spark, table, alone, rows):
    """Without an order: the frame's partitions, some empty, and a warning if they come from a shuffle."""
    few = table.filter("id < 9000").repartition(9, "id").filter("id % 9 > 5")
    with pytest.warns(UserWarning, match="order_by"):
        d = pho.spark.decompose(str(demo / "ssn.onnx"), few, response="y", inputs=INPUTS)
    kept = rows[(rows.id < 9000) & (rows.id % 9 > 5)].drop(columns="when")
    here = pho.decompose(str(demo / "ssn.onnx"), kept, response="y", inputs=INPUTS)
    a, b = d.apply(kept), here.apply(kept)
    np.testing.assert_allclose(a.to_numpy(), b.to_numpy(), rtol=1e-11, atol=1e-11)


def test_files_are_not_shuffled(spark, rows, tmp_path):
    from pho.spark import _rows, _shipping

    _shipping.ship(spark.sparkContext, None)
    path = str(tmp_path / "rows.parquet")
    rows.drop(columns="when").to_parquet(path, compression=None)  # snappy is not everywhere
    frame = spark.read.parquet(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shards = _rows.cut(_rows.readable(frame), None, SHARD)
    assert sum(shards.counts) == ROWS
    shards.release()


def test_what_the_program_says_is_raised(demo, spark, rows):
    bad = rows[:5000].assign(x2=rows.x2[:5000].where(rows.id[:5000] != 4321))
    frame = spark.createDataFrame(bad)
    with pytest.raises(pho.Error, match="x2"):
        pho.spark.decompose(str(demo / "ssn.onnx"), frame, response="y", inputs=INPUTS, order_by="id")
    with pytest.raises(pho.UsageError, match="pho.decompose takes others"):
        pho.spark.decompose(str(demo / "ssn.onnx"), bad, response="y")
    with pytest.raises(pho.UsageError, match="shards"):
        pho.spark.decompose(str(demo / "ssn.onnx"), frame, shards=3)


def test_many_parts_are_added_as_a_tree(demo, spark, rows, monkeypatch):
    from pho.spark import _passes

    monkeypatch.setattr(_passes, "_FAN_IN", 2)
    some = rows[: 5 * 4096 + 7].drop(columns="when")
    d = pho.spark.decompose(str(demo / "ssn.onnx"), spark.createDataFrame(some), response="y", inputs=INPUTS, order_by="id", rows_per_task=4096)
    here = pho.decompose(str(demo / "ssn.onnx"), some, response="y", inputs=INPUTS)
    assert pathlib.Path(d.file("decomposition.json")).read_bytes() == pathlib.Path(here.file("decomposition.json")).read_bytes()


@pytest.fixture(scope="module")
def some(rows):
    return rows[:20_000].drop(columns="when")


@pytest.fixture(scope="module")
def small(spark, some):
    """Fewer rows, in no order."""
    return spark.createDataFrame(some.sample(frac=1, random_state=3)).repartition(3).persist()


def called(folder):
    """A function of rows that notes in a folder who calls it on how many."""

    def poly(frame):
        with open(os.path.join(folder, str(os.getpid())), "a") as file:
            file.write(f"{len(frame)}\n")
        return frame["x0"] * frame["x1"] + frame["x2"] * 0.5

    return poly


def test_a_function_is_called_once_for_each_row_where_the_rows_are(some, small, tmp_path):
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    options = {"response": "y", "inputs": ["x0", "x1", "x2"]}
    d = pho.spark.decompose(called(str(there)), small, order_by="id", rows_per_task=8192, **options)
    asked = {int(f.name): list(map(int, f.read_text().split())) for f in there.iterdir()}
    assert sum(asked.pop(os.getpid())) == 2000 + 32, "the driver asks about the first rows, and about some of them again"
    assert sum(map(sum, asked.values())) == len(some)
    alone = pho.decompose(called(str(here)), some, **options)
    assert_same_files(d, alone)
    out = d.apply(small.drop("y", "x9")).toPandas().sort_values("id").reset_index(drop=True)
    assert "prediction" not in out
    for name in alone.contributions.columns:
        assert np.array_equal(out["pho_" + name], alone.contributions[name]), name
    with pytest.raises(pho.UsageError, match="lacks the columns x1"):
        d.apply(small.drop("x1"))


def classifier():
    class Classifier:
        """Certain of classes at the ends of x0."""

        classes_ = ["no", "yes"]

        def predict_proba(self, frame):
            assert not frame[["x0", "x1"]].isna().any().any()
            p = np.clip(0.5 + 0.3 * frame["x0"] + 0.05 * frame["x1"], 0.01, 0.99).to_numpy()
            return np.column_stack([1 - p, p])

    return Classifier()


def test_an_object_with_predict_proba(spark, some):
    rows = some.assign(y=np.where(some.y > some.y.mean(), "yes", "no"), x1=some.x1.where(~some.id.between(300, 317)))
    rows.loc[rows.id >= 15_000, "x1"] = np.nan  # the last partition has no row that is whole
    options = {"response": "y", "inputs": ["x0", "x1"], "na": "drop"}
    frame = spark.createDataFrame(rows).repartitionByRange(4, "id").sortWithinPartitions("id")
    d = pho.spark.decompose(classifier(), frame, order_by="id", rows_per_task=4096, **options)
    alone = pho.decompose(classifier(), rows, **options)
    assert d.artifact["predictors"][0]["head"] == "sigmoid"
    assert d.rows == alone.rows == 15_000 - 18
    assert_same_files(d, alone)


def test_predictions_are_columns_of_the_frame(small, some):
    from pyspark.sql import functions

    p = some.assign(p1=np.clip(some.x0 * some.x0, 0.05, 0.3), p2=np.clip(some.x1 * some.x1, 0.05, 0.3), only=np.clip(some.x0, 0, 1))
    p["p3"] = 1 - p.p1 - p.p2
    frame = small.sparkSession.createDataFrame(p)
    terms = "~ s(x0) + s(x1)"
    d = pho.spark.decompose(frame[["p1", "p2", "p3"]], frame, terms, link="softmax", order_by="id", rows_per_task=8192)
    here = pho.decompose(p[["p1", "p2", "p3"]].to_numpy(), some, terms, link="softmax")
    assert len(d.predictors) == len(here.predictors) == 3
    out = d.apply(frame).toPandas().sort_values("id").reset_index(drop=True)
    np.testing.assert_array_equal(out.filter(regex="^pho_").to_numpy(), here.contributions.to_numpy())
    # Of 0 and 1 a link that was asked for is refused, and clipped predictions are taken.
    with pytest.raises(pho.UsageError, match="rows have probabilities of 0 and"):
        pho.spark.decompose(frame["only"], frame, terms, link="logit", order_by="id")
    d = pho.spark.decompose(frame["only"], frame, terms, link="logit", clip=1e-4, order_by="id", rows_per_task=8192)
    here = pho.decompose(p.only, some, terms, link="logit", clip=1e-4)
    out = d.apply(frame).toPandas().sort_values("id")
    np.testing.assert_array_equal(out["pho_eta"], here.contributions["eta"])
    np.testing.assert_array_equal(out["pho_s(x0)"], here.contributions["s(x0)"])
    # A dot does not stand for the predictions themselves.
    d = pho.spark.decompose(frame["only"], frame.select("x0", "only"), order_by="x0")
    assert d.terms["term"].tolist() == ["s(x0)"]
    for other in (frame["only"] * 2, (frame["only"] * 2).alias("only"), small["y"].alias("nowhere"), functions.col("nowhere")):
        with pytest.raises(pho.UsageError, match="withColumn"):
            pho.spark.decompose(other, frame)


def test_a_model_that_cannot_be_called_there_is_an_error(spark, some):
    from pyspark.sql import functions

    lock = threading.Lock()

    def locked(frame):
        with lock:
            return frame["x0"]

    def late(answer):
        return lambda frame: frame["x0"] if frame["id"].min() < 2000 else answer(frame)

    ordered = spark.createDataFrame(some).repartitionByRange(2, "id").sortWithinPartitions("id").persist()
    given = [
        (locked, pho.UsageError, "the function .*locked cannot be pickled"),
        (late(lambda f: f["x0"].where(f["id"] < 15_000)), pho.Error, r"returns nan in \d+ of \d+ rows.*\(partition 1\)"),
        (late(lambda f: f["x0"][:3]), pho.Error, r"returns an array of shape \(3, 1\) for"),
        (late(lambda f: f[["x0", "x1"]]), pho.Error, "returns 2 predictions a row, and 1 before"),
        (late(lambda f: f["nowhere"]), pho.Error, "raised KeyError"),
        (lambda f: np.random.default_rng().normal(size=len(f)), pho.Error, "changes its answer"),
        (some["x0"].to_numpy(), pho.UsageError, "give their column"),
    ]
    for model, kind, match in given:
        with pytest.raises(kind, match=match):
            pho.spark.decompose(model, ordered, "~ s(x0)")
    holed = ordered.withColumn("p", functions.expr("if(id = 15000, null, x0)"))
    with pytest.raises(pho.Error, match='"p".*missing'):
        pho.spark.decompose(holed["p"], holed, "~ s(x0)")
    # What no executor has: a module of the tests.
    with pytest.raises(pho.Error, match="cannot be read on an executor.*addPyFile"):
        pho.spark.decompose(elsewhere, ordered, "~ s(x0)")
    # A link that the last rows alone do not take.
    with pytest.raises(pho.UsageError, match="rows have negative predictions"):
        pho.spark.decompose(late(lambda f: -1 - f["x0"] ** 2), ordered.selectExpr("id", "x0 * x0 as x0"), "~ s(x0)", link="log")


def elsewhere(frame):
    return frame["x0"]
