"""What pho monitor says of bike sharing, month by month, against the same from pandas and scipy.

    python benchmarks/drift.py --pho bin/pho --data ../shared/data/bike_hour.csv.gz

A network is trained on 2011, decomposed there, and followed through 2012. From the contributions
of every row, which pho apply writes, pandas computes the changes of means and of shares of the
variance by their definitions; scipy tests them (Welch); numpy counts the stability index. Needs
pandas and scipy.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

COLUMNS = ["hr", "workingday", "weekday", "temp", "hum", "windspeed", "weathersit"]


def prepared(path: Path, to: Path) -> dict[int, Path]:
    """The rows of each year, with a time and the logarithm of the rentals."""
    rows = pd.read_csv(path)
    day = pd.Timestamp("2011-01-01") + pd.to_timedelta(rows["day_index"], unit="D")
    rows["when"] = day.dt.strftime("%Y-%m-%d") + "T" + rows["hr"].map("{:02d}:00".format)
    rows["rentals"] = np.log(rows["cnt"]).round(6)
    files = {}
    for year, own in rows.groupby(day.dt.year):
        files[year] = to / f"bike{year}.csv"
        own[["when", *COLUMNS, "rentals"]].to_csv(files[year], index=False)
    return files


def by_hand(parts: pd.DataFrame, months: pd.Series, a: str, b: str) -> dict[str, tuple[float, float]]:
    """Changes of the mean and of Cov(part, eta) of every part from month a to month b."""
    x, y = parts[months == a], parts[months == b]
    return {
        name: (
            y[name].mean() - x[name].mean(),
            y[name].cov(y["eta"]) - x[name].cov(x["eta"]),
        )
        for name in parts.columns
    }


def stability(a: np.ndarray, b: np.ndarray, edges: np.ndarray) -> float:
    """PSI of two samples between edges, with half a row added to each bin that has rows."""
    counts = [np.bincount(np.searchsorted(edges, v), minlength=len(edges) + 1) for v in (a, b)]
    used = counts[0] + counts[1] > 0
    p, q = ((c[used] + 0.5) / (c.sum() + used.sum() / 2) for c in counts)
    return float(((q - p) * np.log(q / p)).sum())


def main() -> None:
    """Train, decompose, monitor, and compare with the peers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pho", default="bin/pho")
    parser.add_argument("--data", type=Path, default=Path("../shared/data/bike_hour.csv.gz"))
    args = parser.parse_args()
    pho = str(Path(args.pho).resolve())
    with tempfile.TemporaryDirectory() as scratch:
        to = Path(scratch)

        def call(*words: object) -> str:
            done = subprocess.run([pho, *map(str, words)], cwd=to, check=True, capture_output=True, text=True)
            return done.stdout

        files = prepared(args.data.resolve(), to)
        call(
            "train",
            "--data",
            files[2011],
            "--formula",
            'rentals ~ s(hr, bs="cc") + s(temp) + s(hum) + weathersit',
            "--deep",
            ",".join(COLUMNS),
            "--epochs",
            20,
            "--out",
            "net",
        )
        call("decompose", "--model", "net/model.onnx", "--data", files[2011], "--formula", "rentals ~ windspeed", "--out", "result")
        call("monitor", "result", "--data", files[2011], "--data", files[2012], "--time", "when", "--by", "month", "--state", "state.json")
        parts = []
        for year, path in files.items():
            call("apply", "--decomposition", "result", "--data", path, "--out", f"parts{year}.csv")
            parts.append(pd.read_csv(to / f"parts{year}.csv"))
        split = pd.concat(parts, ignore_index=True).drop(columns="intercept")
        rows = pd.concat([pd.read_csv(path) for path in files.values()], ignore_index=True)
        months = rows["when"].str[:7]
        document = json.loads((to / "state.json").read_text())
        edges = {f["feature"]: np.array(f["edges"]) for f in document["decomposition"]["features"] if "edges" in f}

        mean = share = psi = welch = 0.0
        agree = verdicts = 0
        for a, b in pairwise(sorted(months.unique())):
            change = json.loads(call("compare", "state.json", "--periods", f"{a}..{b}", "--json"))["changes"][0]
            predictor = change["predictors"][0]
            want = by_hand(split, months, a, b)
            figures = {p["name"]: (p["mean"], p["variance_share"]) for p in predictor["parts"]}
            figures["eta"] = (predictor["mean"], predictor["variance"])
            assert set(figures) == set(want), (set(figures), set(want))
            for name, (m, v) in figures.items():
                mean = max(mean, abs(m["change"] - want[name][0]))
                share = max(share, abs(v["change"] - want[name][1]))
                test = stats.ttest_ind(split.loc[months == b, name], split.loc[months == a, name], equal_var=False)
                # Ours is the larger of Welch's standard error and the pooled one.
                welch = max(welch, abs(m["ratio"]) - abs(test.statistic))
                agree += (m["p"] < 0.05) == (test.pvalue < 0.05)
                verdicts += 1
            for f in change["features"]:
                if f["feature"] in edges:
                    at = edges[f["feature"]]
                    single = (at == at.astype(np.float32)).all()  # as the network sees the column
                    of = rows[f["feature"]].to_numpy(np.float32 if single else float).astype(float)
                    psi = max(psi, abs(f["psi"] - stability(of[months == a], of[months == b], at)))
        print(f"{months.nunique() - 1} pairs of months, {verdicts} means")
        print(f"changes of means: pandas differs by {mean:.1e} at most")
        print(f"changes of Cov(part, eta): pandas differs by {share:.1e} at most")
        print(f"stability index: numpy differs by {psi:.1e} at most")
        print(f"in standard errors above scipy's Welch by {welch:.1e} at most; the same verdict at 5 % in {agree} of {verdicts}")
        assert mean < 1e-12 and share < 1e-12 and psi < 1e-12 and welch < 1e-9


if __name__ == "__main__":
    main()
