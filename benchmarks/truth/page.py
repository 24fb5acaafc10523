"""Writes docs/truth.md and tables.md from the results of truth.py: `python page.py results.jsonl docs/truth.md tables.md`.

Refuses results that lack cells, or in which pho is not of one clean commit; --draft writes them all the same, and says so.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.stats import norm

import networks as judge
from methods import PEERS
from truth import OURS, plan

FLOOR = 0.002  # of the predictor's sd: an error below it is one that nobody sees, and counts as that
EXACT = 1e-4  # of it: curves so near to the truth are exact
WORST, MEAN = 1.05, 0.5
LOW, HIGH, POINT = 0.93, 0.975, 0.88
Z = norm.ppf(0.995)
JUDGED = tuple(OURS)


def interval(held: int, of: int) -> tuple[float, float]:
    """Wilson's interval of 99 %."""
    share, z2 = held / of, Z * Z
    centre, half = (share + z2 / (2 * of)) / (1 + z2 / of), Z / (1 + z2 / of) * np.sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    return centre - half, centre + half


class Results:
    """Cells by network, method, what and rows."""

    def __init__(self, path: Path):
        self.cells = [json.loads(line) for line in path.read_text().splitlines()]
        self.networks = {n.name: n for n in judge.networks()}
        self.curves = {(c["network"], c["method"]): c for c in self.cells if c["what"] == "curves" and c["rmse"]}
        self.bands = [c for c in self.cells if c["what"] == "bands"]
        self.names = [n for n in self.networks if (n, "pho") in self.curves]

    def error(self, network: str, method: str) -> float:
        """Mean RMSE of the columns' curves, in standard deviations of the predictor."""
        cell = self.curves.get((network, method))
        return float(np.mean(list(cell["rmse"].values()))) / cell["sd"] if cell else np.nan

    def best(self, network: str, peers: tuple[str, ...] = PEERS) -> tuple[str, float]:
        """The peer of the smallest error."""
        name = min((p for p in peers if (network, p) in self.curves), key=lambda p: self.error(network, p))
        return name, self.error(network, name)

    def ratio(self, network: str, method: str, peers: tuple[str, ...] = PEERS) -> float:
        """Error over the best peer's."""
        return max(self.error(network, method), FLOOR) / max(self.best(network, peers)[1], FLOOR)

    def compared(self, agree: bool = False, seen: bool = False) -> list[str]:
        """Networks whose curves are defined by the rows; of those, where all methods mean the same curve, where the best peer errs."""
        return [
            n
            for n in self.names
            if not self.networks[n].collinear and not (agree and self.networks[n].disputed) and not (seen and self.best(n, PEERS)[1] <= FLOOR)
        ]

    def mean(self, method: str, **of) -> float:
        """Geometric mean of the ratios."""
        peers = of.pop("peers", PEERS)
        return float(np.exp(np.mean([np.log(self.ratio(n, method, peers)) for n in self.compared(**of)])))

    def coverages(self, method: str) -> list[dict]:
        """Of every column with bands, how often they held, and whether that is what they promise."""
        out = []
        for cell in self.bands:
            for column, b in cell["bands"].items() if cell["method"] == method else ():
                if not b.get("lowest_of") or b["rmse"] <= EXACT * cell["sd"]:
                    continue  # no curve, no band, or one that is exact on every sample: there is nothing to cover
                half = Z * (b["pointwise_sd"] or 0) / np.sqrt(b["lowest_of"])
                whole = interval(b["whole"], b["whole_of"]) if b["whole_of"] else None
                out.append(
                    dict(
                        network=cell["network"],
                        n=cell["n"],
                        column=column,
                        pointwise=b["pointwise"],
                        half=half,
                        whole=b["whole"] / b["whole_of"] if whole else np.nan,
                        lowest=b["lowest"] / b["lowest_of"],
                        outside=not (
                            b["pointwise"] + half >= LOW
                            and b["pointwise"] - half <= HIGH
                            and (whole is None or (whole[1] >= LOW and whole[0] <= HIGH))
                        ),
                        below=interval(b["lowest"], b["lowest_of"])[1] < POINT,
                    )
                )
        return out

    def verdicts(self, method: str) -> dict[str, np.ndarray]:
        """Of each verdict: how often said, how often right, how often the curve moved."""
        out: dict[str, np.ndarray] = {}
        for cell in self.bands:
            for b in cell["bands"].values() if cell["method"] == method else ():
                for verdict, tally in b.get("verdicts", {}).items():
                    out[verdict] = out.get(verdict, np.zeros(3, int)) + tally
        return out


def goals(r: Results, method: str) -> list[tuple[str, str, bool]]:
    """What is to be reached, what was, and whether that is enough."""
    worst = max(r.compared(), key=lambda n: r.ratio(n, method))
    mean = r.mean(method)
    found = r.coverages(method)
    outside, below = [c for c in found if c["outside"]], [c for c in found if c["below"]]
    lowest = min(found, key=lambda c: c["lowest"])
    said = r.verdicts(method)
    moved = said.get("identified", np.zeros(3, int))
    return [
        (f"on no network worse than {WORST} times the best peer", f"{r.ratio(worst, method):.2f} on {worst}", r.ratio(worst, method) <= WORST),
        (f"on the mean at most {MEAN} of the best peer", f"{mean:.2f}", mean <= MEAN),
        (f"bands of 95 % hold {100 * LOW:g} to {100 * HIGH:g} %", f"{len(outside)} of {len(found)} curves outside", not outside),
        (
            f"at no point below {100 * POINT:g} %",
            f"{len(below)} of {len(found)} curves; lowest {100 * lowest['lowest']:.0f} % ({lowest['network']}, {lowest['n']} rows, {lowest['column']})",
            not below,
        ),
        ("no `identified` that moves", f"{moved[2]} of {moved[0]}", moved[2] == 0),
    ]


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of a table."""
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows), ""]


def page(r: Results, draft: list[str]) -> str:
    """The whole page."""
    commits = sorted({c["commit"] for c in r.cells if "commit" in c})
    out = ["# Next to known truth", ""]
    if draft:
        out += [f"**A draft**: {'; '.join(draft)}.", ""]
    out += [TOP.format(networks=len(r.names), commit=", ".join(commits) or "unknown", machine="; ".join(sorted({c["machine"] for c in r.cells}))), ""]

    out += ["## What is not met", ""]
    rows = []
    for method in JUDGED:
        rows += [[method, goal, got, "met" if met else "**missed**"] for goal, got, met in goals(r, method)]
    out += table(["", "goal", "found", ""], sorted(rows, key=lambda row: row[3] == "met"))
    for method in JUDGED:
        lost = sorted((n for n in r.compared() if r.ratio(n, method) > WORST), key=lambda n: -r.ratio(n, method))
        if lost:
            out += [f"`{method}` is worse than the best peer on {len(lost)} of {len(r.compared())} networks, furthest on", ""]
            out += table(
                ["network", "error", "best peer", "its error", "ratio"],
                [[n, f"{r.error(n, method):.4f}", r.best(n)[0], f"{r.best(n)[1]:.4f}", f"{r.ratio(n, method):.2f}"] for n in lost[:5]],
            )

    out += ["## Errors of curves", "", ERRORS, ""]
    shown = [*OURS, *PEERS]
    alone = tuple(p for p in PEERS if p != "mgcv")
    out += table(
        ["geometric mean of ratios", "networks", *JUDGED],
        [
            ["to the best peer", str(len(r.compared())), *(f"{r.mean(m):.2f}" for m in JUDGED)],
            [
                "to the best peer, where all methods mean the same curve",
                str(len(r.compared(agree=True))),
                *(f"{r.mean(m, agree=True):.2f}" for m in JUDGED),
            ],
            [
                f"to the best peer, where its error is above {FLOOR}: elsewhere the ratio is 1 at least",
                str(len(r.compared(seen=True))),
                *(f"{r.mean(m, seen=True):.2f}" for m in JUDGED),
            ],
            ["to the best of those that open models (without mgcv)", str(len(r.compared())), *(f"{r.mean(m, peers=alone):.2f}" for m in JUDGED)],
            *(
                [f"to {p}", str(len(r.compared())), *(f"{r.mean(m, peers=(p,)):.2f}" for m in JUDGED)]
                for p in PEERS
                if all((n, p) in r.curves for n in r.compared())
            ),
        ],
    )
    out += ["Processor seconds of the setting that counts, median over networks:", ""]
    out += table(
        ["", *shown],
        [
            [
                "seconds",
                *(
                    f"{np.median([c['seconds'] for k, c in r.curves.items() if k[1] == m]):.3g}" if any(k[1] == m for k in r.curves) else "-"
                    for m in shown
                ),
            ]
        ],
    )

    out += ["## Bands", "", BANDS, ""]
    rows = []
    for method in dict.fromkeys(cell["method"] for cell in r.bands):
        found = r.coverages(method)
        for n in sorted({c["n"] for c in found}):
            of = [c for c in found if c["n"] == n]
            rows.append(
                [
                    method,
                    str(n),
                    str(len(of)),
                    f"{100 * np.mean([c['pointwise'] for c in of]):.1f}",
                    str(sum(c["outside"] and c["pointwise"] < (LOW + HIGH) / 2 for c in of)),
                    str(sum(c["outside"] and c["pointwise"] >= (LOW + HIGH) / 2 for c in of)),
                    str(sum(c["below"] for c in of)),
                    f"{100 * min(c['lowest'] for c in of):.0f}",
                ]
            )
    out += table(["", "rows", "curves", "pointwise, mean", "too narrow", "too wide", f"a point below {100 * POINT:g} %", "lowest point"], rows)

    out += ["## Verdicts", "", VERDICTS, ""]
    rows = [[m, f"`{v}`", str(t[0]), f"{100 * t[1] / t[0]:.1f} %", str(t[2])] for m in JUDGED for v, t in sorted(r.verdicts(m).items())]
    out += table(["", "verdict", "said", "right", "moved"], rows)
    versions = sorted({c["version"] for c in r.cells if c["version"]})
    out += ["## How it is done", "", HOW.format(versions=", ".join(versions))]
    return "\n".join(out)


def tables(r: Results) -> str:
    """Every network's errors and bands."""
    out = ["# Every network next to known truth", "", "The tables behind [the page](../../docs/truth.md), which says what they mean.", ""]
    shown = [*OURS, *PEERS]
    rows = []
    for n in sorted(r.names, key=lambda n: (bool(r.networks[n].collinear), -r.ratio(n, JUDGED[1]))):
        marks = "".join(["*" if r.networks[n].disputed else "", " (verdicts only)" if r.networks[n].collinear else ""])
        rows.append(
            [n + marks, *("-" if np.isnan(r.error(n, m)) else f"{r.error(n, m):.4f}" for m in shown), *(f"{r.ratio(n, m):.2f}" for m in JUDGED)]
        )
    out += ["## Errors of curves", "", *table(["network", *shown, *(f"ratio, {m}" for m in JUDGED)], rows)]
    for method in JUDGED:
        bad = [c for c in r.coverages(method) if c["outside"] or c["below"]]
        if bad:
            out += [f"## Bands of `{method}` that miss 95 %, in percent of samples", ""]
            bad.sort(key=lambda c: c["pointwise"])
            out += table(
                ["network", "rows", "column", "pointwise, mean (99 % interval)", "lowest point", "whole curve"],
                [
                    [
                        c["network"],
                        str(c["n"]),
                        c["column"],
                        f"{100 * c['pointwise']:.1f} (± {100 * c['half']:.1f})",
                        f"{100 * c['lowest']:.0f}",
                        f"{100 * c['whole']:.0f}",
                    ]
                    for c in bad
                ],
            )
    rows = []
    for cell in r.bands:
        found = [c for c in r.coverages(cell["method"]) if (c["network"], c["n"]) == (cell["network"], cell["n"])]
        if found:
            mean, low = np.mean([c["pointwise"] for c in found]), min(c["lowest"] for c in found)
            whole = np.nanmean([c["whole"] for c in found])
            rows.append(
                [
                    cell["network"],
                    str(cell["n"]),
                    cell["method"],
                    str(cell["samples"]),
                    str(len(found)),
                    f"{100 * mean:.1f}",
                    f"{100 * low:.0f}",
                    f"{100 * whole:.1f}",
                    f"{cell['seconds']:.2g}",
                ]
            )
    out += ["## Bands", ""]
    out += table(["network", "rows", "", "samples", "curves", "pointwise", "lowest point", "whole curve", "seconds a sample"], rows)
    return "\n".join(out)


TOP = """{networks} networks whose function is known are opened by pho and by its peers; this page says how far each curve
is from the truth, how often bands hold it, and how often verdicts are right. `make truth` makes it; nothing in it is written by hand.
pho of commit {commit}, on {machine}.

- `pho`: `pho decompose --model FILE`, no options: it reads the graph.
- `pho, predictions`: `pho decompose --predictions`, no options: it knows what its peers know."""

ERRORS = f"""Root mean square, over 2,000 rows, of the difference between a centred curve and the true one; the mean over the network's
columns, in standard deviations of its predictor. Errors below {FLOOR} count as {FLOOR} in ratios: a difference that nobody sees.
Every network's errors are in [tables.md](../benchmarks/truth/tables.md). Those marked * there have interactions of dependent columns, or
none that is known: methods differ in what they call the effect of a column then, and the truth here is the main effect (below)."""

BANDS = f"""Samples of 500 and 2,000 rows. Each band is looked at in 41 places from the 1st to the 99th percentile of its column; *lowest point* is the
place where the fewest samples hold. The whole curve, in [tables.md](../benchmarks/truth/tables.md), is the simultaneous band; it counts where pho
draws it between these percentiles, and for mgcv in the 41 places. A goal is missed where the 99 % Monte Carlo interval lies outside. Curves within {100 * EXACT:g} % of the
predictor's standard deviation on every sample have nothing to cover, and are left out: truths found by least squares are not known better.
mgcv's are Bayesian (Vc), those of `cr`, k = 20."""

VERDICTS = """On the same samples. `identified` or `convention` is right if the simultaneous band holds the curve, or if the error is at most
2 % of the predictor's standard deviation. `weak` or `sum` is right if no sample of this size tells the column from another (`near copy`: x1
and x2), or if the error is above a quarter of the curve's standard deviation and above 5 % of the predictor's. A curve moved if it is
farther than half its standard deviation, and than 5 % of the predictor's, from the mean over the samples."""

HOW = """**The truth** of a column is its main effect: the function of that column in the additive function nearest to the network
in mean square over the population. Where a network is additive these are its own functions. Else columns depend on each other in
pairs alone, and the main effects of the hierarchical functional ANOVA (Hooker 2007) are the same: in closed form for the networks
that are written by hand (of x1 x2 at correlation r: r/(1 + r²) x² for each), by least squares on a million evenly spread rows for the
others (right to about 0.003; `benchmarks/truth/test_truth.py`). Methods that define
other curves where columns are dependent *and* interact are compared by a second mean, without these networks.

**The networks** are written by hand as ONNX in float64, or were trained (MLP, NAM, NAM or lines beside an MLP, XGBoost; 4,000 rows with
noise, `benchmarks/truth/train.py`) and are in `benchmarks/truth/networks`. The number is the correlation; of `factor` it is
the shift of x1 from level to level. *lines and MLP* has lines for structure, and lines are all that `pho` then shows: what is curved stays
in the remainder, which the command says.

**The peers** (PDP, ALE, SHAP, EBM, effector's ALE and RHALE, mgcv) have the rows, and the function to call. Each has two to eight settings
(`benchmarks/truth/methods.py`), of which the one counts that is nearest to the truth on this network, which no user could choose; pho has one
setting. mgcv is told the true pairs.

Versions: {versions}.

    make truth            # goes on where it was interrupted; a new commit makes pho's figures anew, peers' stay
    make truth QUICK=1    # eight networks, a few minutes; writes nothing into docs/

Results: `benchmarks/truth/results.jsonl`, a line for each network, method and number of rows.
"""


def main() -> None:
    """Write the page, and say what of the goals is met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("page", type=Path)
    parser.add_argument("tables", type=Path)
    parser.add_argument("--draft", action="store_true")
    args = parser.parse_args()
    r = Results(args.results)
    there = {(c["network"], c["method"], c["what"], c["n"]) for c in r.cells}
    missing = [p for p in plan(False) if (p[0].name, *p[1:4]) not in there]
    commits = {c["commit"] for c in r.cells if "commit" in c}
    wrong = []
    if missing:
        wrong.append(f"{len(missing)} of {len(plan(False))} cells are missing")
    if len(commits) != 1 or any(not c or "+" in c for c in commits):
        wrong.append(f"pho is not of one clean commit: {', '.join(sorted(c or 'unknown' for c in commits)) or 'none'}")
    if wrong and not args.draft:
        raise SystemExit(f"truth: {args.page} is not written: {'; '.join(wrong)}. Run make truth to its end.")
    args.page.write_text(page(r, wrong))
    args.tables.write_text(tables(r))
    for method in JUDGED:
        for goal, got, met in goals(r, method):
            print(f"{'met   ' if met else 'missed'}  {method}: {goal}: {got}")


if __name__ == "__main__":
    main()
