"""The judge: pho with no options, and its peers, next to functions that are known.

    python truth.py --pho bin/pho --out DIR [--quick] [--only pho|peers] [--network REGEXP]

Every cell (a network, a method, a number of rows) is a file in DIR/cells. One that is there is kept if it is of the
same rows, settings and versions, and, of pho, of the same commit: so an interrupted run goes on, a new pho is measured
alone, and what --earlier has counts as well. At the end all cells go into DIR/results.jsonl.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import methods
import networks as judge

EDITION = 1  # to be counted up when the truth, or the code of a method, has changed
SEED = 51
OURS = {"pho": "the file", "pho, predictions": "its predictions"}
POINTS = 41  # where bands are looked at, from the 1st to the 99th percentile
SIZES = {500: 200, 2000: 100}  # rows of a sample: samples for pho
SIZES_PEER = {500: 100, 2000: 40}  # and for mgcv, which takes ten times as long


def rms(v: np.ndarray) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(np.square(v))))


def call(*words: object) -> float:
    """Run a program and return the processor seconds that it took; its message is the error's."""
    with tempfile.TemporaryFile() as said:
        started = subprocess.Popen([str(w) for w in words], stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        if started.returncode:
            said.seek(0)
            raise RuntimeError(f"{words[0]} {words[1]}: {said.read().decode()[-500:]}")
    return used.ru_utime + used.ru_stime


def mgcv_formulas(network: judge.Network) -> dict[str, str]:
    """What mgcv is given: bases and sizes, and the pairs that the network has, which it need not look for."""

    def of(bs: str, k: int) -> str:
        return " + ".join(c if c in network.factors else f's({c}, bs="{bs}", k={k})' for c in network.columns)

    out = {f"{bs}, k = {k}": f"eta ~ {of(bs, k)}" for bs, k in (("cr", 20), ("cr", 40), ("ps", 20))}
    numeric = [p for p in network.pairs if not set(p) & set(network.factors)]
    if numeric:
        out["cr, k = 20, its pairs"] = f"eta ~ {of('cr', 20)} + " + " + ".join(f"ti({a}, {b}, k=6)" for a, b in numeric)
    return out


class Case:
    """A network with its function, its true curves and its population's spread."""

    def __init__(self, network: judge.Network, folder: Path):
        self.network = network
        self.file = judge.place(network, folder)
        self.predict = judge.function(network, folder)
        self.truth = judge.truth(network, self.predict)
        rows = network.sample(np.random.default_rng(0), 20000)
        self.sd = float(self.predict(rows).std())
        self.sd_of = {c: float(np.std(self.truth[c](rows[c]))) for c in network.columns}
        self.points = {
            c: np.unique(rows[c]) if c in network.factors else np.linspace(*np.quantile(rows[c], [0.01, 0.99]), POINTS) for c in network.columns
        }

    def rows(self, n: int, sample: int) -> judge.Rows:
        """Draw a sample of n rows."""
        return self.network.sample(np.random.default_rng([SEED, n, sample]), n)

    def centred(self, column: str, at: np.ndarray, rows: judge.Rows) -> np.ndarray:
        """The true curve, less its mean over the rows."""
        return self.truth[column](at) - self.truth[column](rows[column]).mean()

    def errors(self, curves: dict[str, np.ndarray], rows: judge.Rows) -> dict[str, float]:
        """RMSE at the rows of every column's curve, centred; a column without a curve has one that is zero."""
        out = {}
        for c in self.network.columns:
            curve = np.asarray(curves.get(c, np.zeros(len(rows[c]))), float)
            out[c] = rms(curve - curve.mean() - self.centred(c, rows[c], rows))
        return out


# ---- pho


def decompose(case: Case, kind: str, pho: Path, rows: judge.Rows, work: Path) -> tuple[Path, float]:
    """Run pho on the rows as a user without wishes would; its folder, and seconds."""
    frame = pd.DataFrame(rows)
    words = ["--model", case.file]
    if kind != "pho":
        frame["eta"] = case.predict(rows)
        words = ["--predictions", "eta"]
    frame.to_csv(work / "rows.csv", index=False)
    return work / "result", call(pho, "decompose", *words, "--data", work / "rows.csv", "--out", work / "result")


def own_terms(result: Path) -> tuple[dict[str, list[dict]], str]:
    """The terms of each single column, and the commit of the program that wrote the result.

    `together` are the terms with whose sum alone a term is told, `sum` the verdict of that.
    """
    predictor = json.loads((result / "decomposition.json").read_text())["predictors"][0]
    out: dict[str, list[dict]] = {}
    for t in predictor["terms"]:
        if len(t["features"]) == 1:
            sums = [e for e in predictor["entangled"] if t["name"] in e["terms"]]
            t["together"] = {n for e in sums for n in e["terms"]}
            t["sum"] = "weak" if any(e.get("weak") for e in sums) else "identified"
            out.setdefault(t["features"][0], []).append(t)
    return out, json.loads((result / "run.json").read_text()).get("commit", "")


def pho_curves(case: Case, kind: str, pho: Path, n: int) -> dict:
    """Errors of pho's curves at the rows of one sample."""
    rows = case.rows(n, 0)
    with tempfile.TemporaryDirectory() as work:
        result, seconds = decompose(case, kind, pho, rows, Path(work))
        terms, commit = own_terms(result)
        parts = pd.read_csv(result / "contributions.csv")
    curves = {c: sum(parts[t["name"]].to_numpy() for t in own) for c, own in terms.items()}
    return dict(rmse=case.errors(curves, rows), seconds=seconds, commit=commit, verdicts={c: worst(own) for c, own in terms.items()})


def worst(terms: list[dict]) -> str:
    """The verdict of a column with several terms: the most cautious. That only their own sum is told is no doubt of it."""
    names = {t["name"] for t in terms}
    said = {t["sum"] if t["verdict"] == "sum" and t["together"] <= names else t["verdict"] for t in terms}
    return min(said, key=["sum", "weak", "convention", "identified"].index)


def pho_bands(case: Case, kind: str, pho: Path, n: int, samples: int) -> dict:
    """Bands and verdicts of pho over samples."""
    found, seconds, commit = [], 0.0, ""
    with tempfile.TemporaryDirectory() as work:
        for s in range(samples):
            rows = case.rows(n, s + 1)
            result, took = decompose(case, kind, pho, rows, Path(work))
            seconds += took
            terms, commit = own_terms(result)
            effects = pd.read_csv(result / "effects.csv", dtype={"x": object})
            effects = effects[effects["stage"] == "after"]
            sample = {}
            for c, own in terms.items():
                names = {t["name"] for t in own}
                curve = effects[[set(t.split(" + ")) == names for t in effects["term"]]]
                sample[c] = looked_at(case, c, curve, rows) | dict(verdict=worst(own)) if len(curve) else None
            found.append(sample)
    return dict(bands=summary(case, found), samples=samples, seconds=seconds / samples, commit=commit)


def looked_at(case: Case, column: str, curve: pd.DataFrame, rows: judge.Rows) -> dict:
    """A curve of effects.csv next to the truth: pointwise where it has a value nearest to each point."""
    at = case.points[column]
    if column in case.network.factors:
        curve = curve.set_index("x").loc[list(at)]
        x, nearest = at, np.arange(len(at))
    else:
        curve = curve.assign(x=curve["x"].astype(float)).sort_values("x")
        x = curve["x"].to_numpy()
        nearest = np.abs(x[:, None] - at).argmin(0)
    target = case.centred(column, x, rows)
    within = np.unique(nearest) if column in case.network.factors else np.flatnonzero((x >= at[0]) & (x <= at[-1]))
    value = curve["value"].to_numpy(float)

    def held(low: str, high: str, where: np.ndarray) -> np.ndarray:
        # Rounding is no error of a band: of curves that are exact it has no width.
        slack = 1e-9 * case.sd
        low_, high_ = (curve[k].to_numpy(float)[where] for k in (low, high))
        return (low_ - slack <= target[where]) & (target[where] <= high_ + slack)

    none = curve[["lower", "upper"]].isna().to_numpy()[nearest].any()
    return dict(
        error=(value - target)[nearest],
        held=None if none else held("lower", "upper", nearest),
        whole=None if none else bool(held("lower_sim", "upper_sim", within).all()),
    )


# ---- mgcv


def mgcv(case: Case, n: int, rscript: str, samples: int = 0) -> dict:
    """Errors of mgcv's curves on one sample in all settings; or, of samples, the bands of one of them."""
    formulas = mgcv_formulas(case.network)
    if samples:
        formulas = dict(list(formulas.items())[:1])
    drawn = [case.rows(n, s + 1) for s in range(samples)] or [case.rows(n, 0)]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        job = dict(rows=[], formulas=list(formulas.values()), columns=list(case.network.columns), out=str(work / "answer.json"))
        for s, rows in enumerate(drawn):
            job["rows"].append(str(work / f"rows{s}.csv"))
            pd.DataFrame(rows).assign(eta=case.predict(rows)).to_csv(job["rows"][-1], index=False)
        if samples:
            at = pd.DataFrame({c: np.resize(v, POINTS) for c, v in case.points.items()})
            at.to_csv(work / "at.csv", index=False)
            job["at"] = [str(work / "at.csv")] * samples
        (work / "job.json").write_text(json.dumps(job))
        call(rscript, Path(__file__).with_name("peer.R"), work / "job.json")
        answers = json.loads((work / "answer.json").read_text())
    if not samples:
        tried = {name: dict(rmse=case.errors(a["curves"], drawn[0]), seconds=a["seconds"]) for name, a in zip(formulas, answers[0])}
        return best(tried)
    found = []
    for rows, (a,) in zip(drawn, answers):
        sample = {}
        for c in case.network.columns:
            k = len(case.points[c])
            error = np.array(a["value"][c], float)[:k] - case.centred(c, case.points[c], rows)
            se, factor = np.array(a["se"][c], float)[:k], a["factor"].get(c)
            sample[c] = dict(error=error, held=np.abs(error) <= 1.959964 * se, verdict="")
            sample[c]["whole"] = None if factor is None else bool((np.abs(error) <= factor * se).all())
        found.append(sample)
    seconds = float(np.mean([a["seconds"] for (a,) in answers]))
    return dict(bands=summary(case, found), samples=samples, seconds=seconds, setting=next(iter(formulas)))


# ---- both


def best(tried: dict[str, dict]) -> dict:
    """The setting of the smallest mean RMSE, and what the others came to."""
    mean = {name: float(np.mean(list(t["rmse"].values()))) for name, t in tried.items()}
    name = min(mean, key=mean.__getitem__)
    return dict(tried[name], setting=name, tried=mean)


def summary(case: Case, samples: list[dict]) -> dict[str, dict]:
    """Of each column, over samples: how often bands held, verdicts, whether they were right, and what moved."""
    out = {}
    for c in case.network.columns:
        own = [s[c] for s in samples if s.get(c)]
        if not own:
            out[c] = dict(missing=len(samples))
            continue
        with_bands = [s for s in own if s["held"] is not None]
        error = np.array([s["error"] for s in own])
        moved = np.sqrt(np.mean((error - error.mean(0)) ** 2, axis=1))
        own_sd = case.sd_of[c]
        verdicts: dict[str, list[int]] = {}
        for s, m in zip(own, moved):
            tally = verdicts.setdefault(s["verdict"], [0, 0, 0])  # said, right, moved
            tally[0] += 1
            tally[1] += right(case, c, s)
            tally[2] += bool(m > max(0.5 * own_sd, 0.05 * case.sd))
        held = np.array([s["held"] for s in with_bands]) if with_bands else np.empty((0, 1))
        share = held.mean(1)
        whole = [s["whole"] for s in with_bands if s["whole"] is not None]
        out[c] = dict(
            missing=len(samples) - len(own),
            without_band=len(own) - len(with_bands),
            pointwise=float(share.mean()) if len(share) else None,
            pointwise_sd=float(share.std(ddof=1)) if len(share) > 1 else None,
            lowest=int(held.sum(0).min()) if len(share) else None,
            lowest_of=len(share),
            whole=sum(whole),
            whole_of=len(whole),
            rmse=rms(error),
            verdicts={k: v for k, v in sorted(verdicts.items()) if k},
        )
    return out


def right(case: Case, column: str, found: dict) -> bool:
    """Whether a verdict was right (docs/truth.md says it in words)."""
    off = rms(found["error"])
    if found["verdict"] in ("identified", "convention"):
        return bool(found["whole"]) or off <= 0.02 * case.sd
    return column in case.network.collinear or off > max(0.25 * case.sd_of[column], 0.05 * case.sd)


def peer(case: Case, method: str, n: int) -> dict:
    """Errors of a peer in all its settings, on the sample that pho has."""
    rows = case.rows(n, 0)
    problem, tried, failed = methods.Problem(case.network, rows, case.predict), {}, {}
    for name, curves in methods.settings(method, problem).items():
        start = time.process_time()
        shared = problem.shared_seconds
        try:
            found = curves()
        except Exception as e:  # a setting that a peer refuses is none of its best
            failed[name] = f"{type(e).__name__}: {e}"[:200]
            continue
        tried[name] = dict(rmse=case.errors(found, rows), seconds=time.process_time() - start + shared)
    return (best(tried) if tried else dict(rmse=None)) | (dict(failed=failed) if failed else {})


# ---- cells


def versions(method: str, rscript: str) -> str:
    """The versions that a peer's cell is of."""
    package = dict(SHAP=("shap",), EBM=("interpret-core",), effector=("effector",)).get(method, ())
    if method == "mgcv":
        said = [rscript, "-e", 'cat("mgcv", format(packageVersion("mgcv")), "with R", format(getRversion()))']
        return subprocess.run(said, check=True, capture_output=True, text=True).stdout
    return ", ".join(f"{p} {importlib.metadata.version(p)}" for p in package) or f"numpy {np.__version__}"


def machine() -> str:
    """The processor."""
    try:
        model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    except OSError:
        model = None
    return f"{model.group(1) if model else platform.processor() or platform.machine()}, {os.cpu_count()} processors"


def commit_of(pho: Path) -> str:
    """The commit that a program was built from, as it says itself in the results that it writes."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        pd.DataFrame(dict(x=np.arange(50.0), eta=np.arange(50.0) ** 2)).to_csv(work / "rows.csv", index=False)
        call(pho, "decompose", "--predictions", "eta", "--data", work / "rows.csv", "--out", work / "result")
        return json.loads((work / "result" / "run.json").read_text()).get("commit", "")


def plan(quick: bool) -> list[tuple[judge.Network, str, str, int, int]]:
    """All cells: network, method, what is measured, rows, samples."""
    out = []
    for network in judge.networks():
        if quick and network.name not in QUICK:
            continue
        n = 500 if quick else 2000
        for method in [*OURS, *methods.PEERS]:
            if not (quick and method == "EBM"):
                out.append((network, method, "curves", n, 1))
        if network.bands:
            for method in ("pho", "pho, predictions", "mgcv"):
                for n, samples in ({500: 20} if quick else SIZES_PEER if method == "mgcv" else SIZES).items():
                    out.append((network, method, "bands", n, samples))
    return out


QUICK = ("smooth 0.9", "steps 0", "skewed 0", "smooth and remainder 0", "pairs 0", "factor 0", "near copy", "NAM and MLP 0")


def main() -> None:
    """Make the cells that are missing, and collect all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pho", type=Path, default=Path("bin/pho"))
    parser.add_argument("--rscript", default="Rscript")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--earlier", type=Path, help="a results.jsonl whose cells count, too")
    parser.add_argument("--quick", action="store_true", help="eight networks, 500 rows, 20 samples, no EBM: three minutes")
    parser.add_argument("--only", choices=("pho", "peers"))
    parser.add_argument("--network", default="", help="those whose name this regular expression finds")
    parser.add_argument("--methods", default="", help="those whose name this regular expression finds")
    args = parser.parse_args()
    cells = args.out / "cells"
    cells.mkdir(parents=True, exist_ok=True)
    (args.out / "networks").mkdir(exist_ok=True)
    kept = args.out / "results.jsonl"
    left_by = args.earlier if args.earlier and args.earlier.exists() else None
    earlier = {c["cell"]: c for c in map(json.loads, left_by.read_text().splitlines())} if left_by else {}
    commit = "" if args.only == "peers" else commit_of(args.pho)
    version = {m: versions(m, args.rscript) for m in methods.PEERS if args.only != "pho"}
    case, current, all_of = None, None, []
    for network, method, what, n, samples in plan(args.quick):
        ours = method in OURS
        name = re.sub(r"\W+", "-", f"{network.name} {method} {what} {n}")
        path = cells / f"{name}.json"
        left = not args.only or (args.only == "pho") == ours
        chosen = left and re.search(args.network, network.name) and re.search(args.methods, method)
        known = [json.loads(path.read_text())] if path.exists() else []
        known += [earlier[name]] if name in earlier else []
        there = known[0] if known else None
        if chosen and current is not network.name:
            file = judge.place(network, args.out / "networks")
            current, case = network.name, None
        if chosen:
            key = [EDITION, SEED, n, samples, hashlib.sha256(file.read_bytes()).hexdigest(), commit if ours else version[method]]
            key = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16]
            there = next((c for c in known if c["key"] == key), None)
            if not there:
                case = case or Case(network, args.out / "networks")
                start = time.time()
                if ours:
                    found = pho_bands(case, method, args.pho, n, samples) if what == "bands" else pho_curves(case, method, args.pho, n)
                elif method == "mgcv":
                    found = mgcv(case, n, args.rscript, samples if what == "bands" else 0)
                else:
                    found = peer(case, method, n)
                there = dict(
                    cell=name,
                    network=network.name,
                    method=method,
                    what=what,
                    n=n,
                    key=key,
                    sd=case.sd,
                    version=version.get(method, ""),
                    machine=machine(),
                    **found,
                )
                temporary = path.with_suffix(".tmp")
                temporary.write_text(json.dumps(rounded(there)))
                temporary.replace(path)
                there = json.loads(path.read_text())
                print(f"{name}: {time.time() - start:.1f} s", flush=True)
        if there:
            all_of.append(there)
    kept.write_text("".join(json.dumps(c) + "\n" for c in all_of))


def rounded(value):
    """Numbers to five digits: what is printed has three."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return [rounded(v) for v in value] if isinstance(value, (list, tuple)) else value


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
