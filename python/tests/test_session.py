"""The resident process: the command's numbers, for rows of any kind; and its life."""

import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy
import pandas
import pytest

import pho
import pho._command
import pho._decomposition


@pytest.fixture(scope="module")
def frame():
    random = numpy.random.default_rng(3)
    n = 600
    f = pandas.DataFrame({f"x{j}": random.normal(size=n) for j in range(10)})
    return f.assign(g=random.choice(["a", "b", "c"], n), day=random.integers(1, 5, n))


@pytest.fixture(scope="module")
def made(demo, frame):
    inputs = [f"x{j}" for j in range(10)]
    return pho.decompose(demo / "ssn.onnx", frame, "~ s(x1, k=5) + g + factor(day)", inputs=inputs)


@pytest.fixture(scope="module")
def session(made):
    with made.session() as s:
        yield s


def by_command(d, rows, tmp_path, *flags):
    """What the command itself writes for rows."""
    data, out = tmp_path / "rows.csv", tmp_path / "out.csv"
    rows.to_csv(data, index=False)
    pho._command.run(["apply", f"--decomposition={d.result}", f"--data={data}", f"--out={out}", *flags])
    return pandas.read_csv(out, float_precision="round_trip") if pandas.__version__ < "3" else pandas.read_csv(out)


def test_the_commands_numbers(session, made, frame, tmp_path):
    pandas.testing.assert_frame_equal(session.apply(frame), by_command(made, frame, tmp_path), check_exact=True)
    with_se = session.apply(frame.head(40), se=True)
    assert "s(x1).se" in with_se
    pandas.testing.assert_frame_equal(with_se, by_command(made, frame.head(40), tmp_path, "--se"), check_exact=True)
    assert session.parts == list(made.contributions)
    assert set(session.columns) == {*(f"x{j}" for j in range(10)), "g", "day"}


@pytest.mark.parametrize("kind", ["dict", "arrow", "batch", "polars", "lazy", "duckdb", "category", "nullable", "object", "float32"])
def test_rows_of_any_kind(kind, session, frame):
    few = frame.head(9)
    rows = few
    if kind == "dict":
        rows = {c: few[c].tolist() for c in few}
    elif kind in ("arrow", "batch"):
        pyarrow = pytest.importorskip("pyarrow")
        rows = pyarrow.Table.from_pandas(few) if kind == "arrow" else pyarrow.RecordBatch.from_pandas(few)
    elif kind in ("polars", "lazy"):
        rows = pytest.importorskip("polars").from_pandas(few)
        rows = rows.lazy() if kind == "lazy" else rows
    elif kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        pytest.importorskip("pyarrow")
        rows = duckdb.from_df(few)
    elif kind == "category":
        rows = few.astype({"g": "category", "day": "category"})
    elif kind == "nullable":
        rows = few.astype({"day": "Int64", "x3": "Float64"})
    elif kind == "object":
        rows = few.astype(object)
    else:
        rows = few.astype({f"x{j}": "float32" for j in range(10)})
        few = rows.astype({f"x{j}": "float64" for j in range(10)})
    pandas.testing.assert_frame_equal(session.apply(rows), session.apply(few), check_exact=True)


def test_one_row_is_what_it_was_given_as(session, frame):
    row = {c: frame[c][4] for c in frame}
    whole = session.apply(frame.iloc[[4]])
    parts = session.apply(row)
    assert parts == {c: whole[c].iloc[0] for c in whole}
    series = session.apply(frame.iloc[4])
    assert series.name == 4 and series["g"] == parts["g"]
    assert list(session.apply(frame.iloc[10:13]).index) == [10, 11, 12]
    assert session.apply({**row, "more": None})["eta"] == parts["eta"]
    assert len(session.apply(frame.head(0))) == 0


def test_missing_values(session, frame):
    rows = frame.head(5).copy()
    rows.loc[2, "x4"] = numpy.nan
    with pytest.raises(pho.Error, match="column \"x4\", data row 3: .*missing.*na='drop'"):
        session.apply(rows)
    parts = session.apply(rows, na="drop")
    assert list(parts["eta"].isna()) == [False, False, True, False, False]
    for missing in (None, numpy.nan, pandas.NA, float("nan")):
        with pytest.raises(pho.Error, match='column "g", data row 1'):
            session.apply({**frame.iloc[0].to_dict(), "g": missing})
    assert session.apply(frame.head(1))["eta"].notna().all()  # it lives


def test_levels_that_training_did_not_have(session, made, frame, tmp_path):
    rows = frame.head(5).copy()
    rows.loc[3, "g"] = "z"
    with pytest.raises(pho.Error, match='level "z" of column "g"'):
        session.apply(rows)
    with pytest.warns(UserWarning, match="'z' of 'g'"):
        parts = session.apply(rows, unseen="drop")
    assert list(parts["eta"].isna()) == [False, False, False, True, False]
    with pytest.warns(UserWarning, match="'z' of 'g'"):
        parts = session.apply(rows, unseen="zero")
    assert parts["g"][3] == 0 and parts["g"][0] != 0
    with pytest.warns(UserWarning, match='column "g" .*"z"'):
        files = made.apply([str(_csv(rows, tmp_path))], unseen="zero")
    pandas.testing.assert_frame_equal(files, parts, check_exact=False)


def _csv(rows, folder):
    path = folder / "rows.csv"
    rows.to_csv(path, index=False)
    return path


def test_bad_rows_are_errors_and_the_next_are_welcome(session, frame):
    row = frame.iloc[0].to_dict()
    for change, want in (
        ({"g": "zz"}, 'level "zz"'),
        ({"day": 99}, 'level "99"'),
        ({"x1": "much"}, "holds text, where numbers are needed"),
        ({"x1": pandas.Timestamp("2026-01-01")}, "holds dates"),
        ({"x1": 2**60}, "beyond 2\\^53"),
        ({"x1": float("inf")}, "Inf"),
        ({"g": 3}, 'level "3"'),
    ):
        with pytest.raises(pho.Error, match=want):
            session.apply({**row, **change})
        assert session.apply(row)["eta"]
    with pytest.raises(pho.Error, match='no column "x7" in the rows'):
        session.apply(frame.drop(columns="x7"))
    with pytest.raises(pho.Error, match="holds dates"):
        session.apply(frame.head(2).assign(x2=pandas.Timestamp("2026-01-01")))
    with pytest.raises(pho.UsageError, match="it is error, drop or keep"):
        session.apply(row, na="guess")
    with pytest.raises(pho.UsageError, match=r"rows are a builtins\.int"):
        session.apply(3)


def test_apply_goes_through_it_or_not(made, frame, monkeypatch, tmp_path):
    quick = made.apply(frame.set_index("x9", drop=False))
    assert made._kept is not None
    monkeypatch.setattr(pho._decomposition, "_FEW", 3)
    monkeypatch.setattr(made, "_kept", None)
    slow = made.apply(frame.set_index("x9", drop=False))
    assert made._kept is None
    pandas.testing.assert_frame_equal(quick, slow, check_exact=True)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    assert len(made.apply(tmp_path / "rows.csv")) == len(frame)
    with pytest.raises(pho.Error, match='no column "x7" in the rows'):  # not a file that nobody knows
        made.apply(frame.drop(columns="x7"))


def test_closed(made, frame):
    with made.session() as s:
        process = s._open[0]._process
        s.apply(frame.head(1))
    assert process.returncode == 0
    with pytest.raises(pho.UsageError, match="closed"):
        s.apply(frame.head(1))
    s.close()
    with pytest.raises(TypeError, match="pickle the decomposition"):
        pickle.dumps(s)


def test_no_process_is_left(demo, frame):
    d = pho.load(demo / "ssn")
    d.apply({f"x{j}": 0.5 for j in range(10)})
    process = d._kept._open[0]._process
    del d
    gc.collect()
    assert process.wait(5) == 0
    script = f"""
import pho
d = pho.load({str(demo / "ssn")!r})
d.apply({{f"x{{j}}": 0.5 for j in range(10)}})
print(d._kept._open[0]._process.pid)
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env, timeout=60)
    assert out.returncode == 0 and not out.stderr, out.stderr
    for _ in range(50):
        if not alive(int(out.stdout)):
            break
        time.sleep(0.1)
    assert not alive(int(out.stdout))


def alive(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def test_a_killed_process_is_an_error_and_then_a_new_one(made, frame):
    with made.session() as s:
        want = s.apply(frame.head(2))
        s._open[0]._process.kill()
        with pytest.raises(pho.Error, match="ended with status"):
            s.apply(frame.head(2))
        pandas.testing.assert_frame_equal(s.apply(frame.head(2)), want)


def test_threads_wait_for_each_other(session, frame):
    want = [session.apply(frame.iloc[[i]])["eta"].iloc[0] for i in range(20)]
    got = [[None] * 20 for _ in range(4)]

    def work(k):
        for i in range(20):
            got[k][i] = session.apply(frame.iloc[[i]])["eta"].iloc[0]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == [want] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_has_its_own(made, frame):
    with made.session() as s:
        want = s.apply(frame.head(1))["eta"].iloc[0]
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if s.apply(frame.head(1))["eta"].iloc[0] == want and s._open[0].pid == os.getpid() else 1)
            except BaseException:
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        assert s.apply(frame.head(1))["eta"].iloc[0] == want


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forks_end_removes_nothing(made):
    child = os.fork()
    if child == 0:
        made._delete()
        os._exit(0)
    os.waitpid(child, 0)
    assert os.path.exists(made.file("decomposition.json"))


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_interrupt_of_a_session(made, frame):
    many = pandas.concat([frame] * 400, ignore_index=True)
    with made.session() as s:
        want = s.apply(frame.head(1))
        threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            for _ in range(100):
                s.apply(many)
        pandas.testing.assert_frame_equal(s.apply(frame.head(1)), want)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_interrupt_of_a_decomposition(demo, tmp_path, monkeypatch):
    rows = pandas.concat([pandas.read_csv(demo / "data.csv")] * 60, ignore_index=True)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    began = time.monotonic()
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(20):
            pho.decompose(demo / "ssn.onnx", rows, response="y", interactions=2)
    assert time.monotonic() - began < 10
    assert not list(tmp_path.iterdir())


def test_pickled_and_copied(made, frame):
    want = made.apply(frame.head(3))
    for other in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made), copy.copy(made)):
        assert other.result != made.result
        pandas.testing.assert_frame_equal(other.apply(frame.head(3)), want)
        pandas.testing.assert_frame_equal(other.contributions, made.contributions)


def test_in_other_processes(made, frame):
    joblib = pytest.importorskip("joblib")
    parts = joblib.Parallel(n_jobs=2)(joblib.delayed(made.apply)(frame.iloc[i : i + 2]) for i in range(0, 6, 2))
    pandas.testing.assert_frame_equal(pandas.concat(parts), made.apply(frame.head(6)))
