"""Measures the projections of neural additive models: PHO on the learned bases (pho), PHONAM
`learned`, the same with --refit total (total), PHONAM `spline`, and that with cubic
regression splines in place of thin plate ones (cr). measure.sh runs it.

    python3 measure.py PHO DATA WORK     networks and decompositions; a line of WORK/runs.csv each
    python3 measure.py --table WORK      the tables of measured.md

A network has one tower for each feature and a deep part of all features that could do
the same. Networks of PyTorch (ReLU) and of `pho train` are trained on at most 4,000 rows with
several seeds, projected on all or on 300 of these rows, and looked at on other rows:

    left      Var(unstructured) / Var(eta): what the terms do not explain on new rows
    off       distance of the curves from those of mgcv's additive model of eta itself (bam,
              fREML, k = 20, all rows): root of sum_j Var(f_j - g_j) / sum_j Var(g_j)
    between   the same distance of the curves from their mean over the seeds

The curve of a feature is the sum of its terms. Needs pandas, torch and R with mgcv.
"""

import csv
import json
import os
import subprocess
import sys
import time

import numpy as np

SETS = {
    "airfoil": ("airfoil.csv", "sound_pressure_level", None),
    "bike": ("bike_hour.csv.gz", "cnt", ["hr", "weekday", "workingday", "mnth", "weathersit", "temp", "atemp", "hum", "windspeed"]),
    "california": ("california_housing.csv.gz", "med_house_value", None),
    "concrete": ("concrete.csv", "compressive_strength", None),
    "diabetes": ("diabetes.csv", "progression", None),
    "power": ("power_plant.csv", "energy_output", None),
}
FIT, NEW, FEW = 4000, 4000, 300
SEEDS = {"torch": 4, "native": 3}
VARIANTS = ["pho", "learned", "total", "spline", "cr"]
FIELDS = ["set", "trainer", "seed", "rows", "variant", "left", "off", "between", "rank", "columns", "seconds"]


def rows(path, name, data):
    import pandas as pd

    file, response, columns = SETS[name]
    table = pd.read_csv(os.path.join(data, file))
    columns = columns or [c for c in table.columns if c != response]
    table = table[columns + [response]].rename(columns={response: "y"}).sample(frac=1, random_state=7)
    table["y"] = (table["y"] - table["y"].mean()) / table["y"].std()
    fit = table.iloc[: min(FIT, 7 * len(table) // 10)]
    new = table.iloc[len(fit) : len(fit) + NEW]
    for part, t in [("fit", fit), ("few", fit.iloc[:FEW]), ("new", new), ("all", pd.concat([fit, new]))]:
        t.to_csv(os.path.join(path, part + ".csv"), index=False)
    return columns


def torch_network(path, columns, seed):
    import pandas as pd
    import torch
    from torch import nn

    def tower(*widths):
        layers = []
        for a, b in zip(widths[:-1], widths[1:]):
            layers += [nn.Linear(a, b), nn.ReLU()]
        return nn.Sequential(*layers)

    class NAM(nn.Module):
        def __init__(self, mean, sd):
            super().__init__()
            self.register_buffer("mean", mean)
            self.register_buffer("sd", sd)
            d = len(mean)
            self.features = nn.ModuleList(tower(1, 32, 16) for _ in range(d))
            self.outs = nn.ModuleList(nn.Linear(16, 1, bias=False) for _ in range(d))
            self.deep = nn.Sequential(tower(d, 32, 16), nn.Linear(16, 1))

        def forward(self, x):
            x = (x - self.mean) / self.sd
            eta = self.deep(x)
            for j, (f, out) in enumerate(zip(self.features, self.outs)):
                eta = eta + out(f(x[:, j : j + 1]))
            return eta

    table = pd.read_csv(os.path.join(path, "fit.csv"))
    x = torch.tensor(table[columns].to_numpy(), dtype=torch.float32)
    y = torch.tensor(table[["y"]].to_numpy(), dtype=torch.float32)
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    net = NAM(x.mean(0), x.std(0))
    steps = 3000
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)
    for _ in range(steps):
        at = torch.randint(len(x), (128,))
        opt.zero_grad()
        ((net(x[at]) - y[at]) ** 2).mean().backward()
        opt.step()
        schedule.step()
    net.eval()
    out = os.path.join(path, f"torch{seed}.onnx")
    torch.onnx.export(net, (x[:1],), out, opset_version=13, input_names=["x"], output_names=["y"],
                      dynamic_axes={"x": {0: "N"}, "y": {0: "N"}}, dynamo=False)
    return out, ["--input", "x=" + ",".join(columns)]


def native_network(pho, path, columns, seed):
    out = os.path.join(path, f"native{seed}")
    run(pho, "train", "--data", os.path.join(path, "fit.csv"), "--kind", "nam", "--response", "y", "--features", ",".join(columns),
        "--deep", ",".join(columns), "--hidden", "32,16", "--epochs", "100", "--seed", str(seed), "--out", out)
    return os.path.join(out, "model.onnx"), []


def splines(path, columns):
    """The formula that --phonam spline makes, with cubic regression splines."""
    import pandas as pd

    table = pd.read_csv(os.path.join(path, "few.csv"))
    distinct = {c: table[c].nunique() for c in columns}
    return "~ " + " + ".join(c if n < 3 else f's({c}, bs="cr", k={min(10, n)})' for c, n in distinct.items())


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(" ".join(command[:2]) + ": " + done.stderr[-600:])
    return done.stdout


def curves(pho, path, result, model):
    """The curves of each feature, eta and the unstructured part at the rows of new.csv."""
    import pandas as pd

    out = os.path.join(path, "parts.csv")
    run(pho, "apply", "--decomposition", result, "--model", model, "--data", os.path.join(path, "new.csv"), "--out", out)
    parts = pd.read_csv(out)
    d = json.load(open(os.path.join(result, "decomposition.json")))["predictors"][0]
    by = {}
    for t in d["terms"]:
        by[t["features"][0]] = by.get(t["features"][0], 0) + parts[t["name"]].to_numpy()
    return by, parts["eta"].to_numpy(), parts["unstructured"].to_numpy(), d


REFERENCE = """
suppressMessages(library(mgcv)); a <- commandArgs(TRUE)
d <- read.csv(a[1], check.names = FALSE); names(d) <- make.names(names(d)); new <- read.csv(a[2]); names(new) <- make.names(names(new))
x <- setdiff(names(d), c("y", "eta"))
term <- function(v) { u <- length(unique(d[[v]])); if (u < 4) v else sprintf("s(%s, k = %d)", v, min(20, u - 1)) }
m <- bam(as.formula(paste("eta ~", paste(sapply(x, term), collapse = " + "))), data = d, method = "fREML")
p <- predict(m, new, type = "terms"); colnames(p) <- sub("^s\\\\((.*)\\\\)$", "\\\\1", colnames(p))
write.csv(p[, x, drop = FALSE], a[3], row.names = FALSE)
"""


def reference(pho, path, result, model, columns):
    """Curves of mgcv's additive model of eta, from all rows, at those of new.csv."""
    import pandas as pd

    everywhere = os.path.join(path, "everywhere.csv")
    run(pho, "apply", "--decomposition", result, "--model", model, "--data", os.path.join(path, "all.csv"), "--out", everywhere)
    table = pd.read_csv(os.path.join(path, "all.csv"))
    table["eta"] = pd.read_csv(everywhere)["eta"]
    table.to_csv(everywhere, index=False)
    script, out = os.path.join(path, "reference.R"), os.path.join(path, "reference.csv")
    open(script, "w").write(REFERENCE)
    run("Rscript", script, everywhere, os.path.join(path, "new.csv"), out)
    return dict(zip(columns, pd.read_csv(out).to_numpy().T))


def distance(f, g):
    return float(np.sqrt(sum(np.var(f[c] - g[c]) for c in g) / sum(np.var(g[c]) for c in g)))


def measure(pho, data, work):
    done = os.path.join(work, "runs.csv")
    seen = set()
    if os.path.exists(done):
        seen = {(r["set"], r["trainer"]) for r in csv.DictReader(open(done))}
    for trainer, seeds in SEEDS.items():
        for name in SETS:
            if (name, trainer) in seen or not os.path.exists(os.path.join(data, SETS[name][0])):
                continue
            path = os.path.join(work, name)
            os.makedirs(path, exist_ok=True)
            columns, found = rows(path, name, data), {}
            for seed in range(seeds):
                model, bind = torch_network(path, columns, seed) if trainer == "torch" else native_network(pho, path, columns, seed)
                truth = None
                for sample in ["fit", "few"]:
                    for v in VARIANTS:
                        result = os.path.join(path, "result")
                        flags = {
                            "pho": ["--method", "pho"],
                            "learned": ["--phonam", "learned"],
                            "total": ["--phonam", "learned", "--refit", "total"],
                            "spline": ["--phonam", "spline"],
                            "cr": ["--phonam", "spline", "--formula", splines(path, columns)],
                        }[v]
                        began = time.time()
                        try:
                            run(pho, "decompose", "--model", model, *bind, "--data", os.path.join(path, sample + ".csv"), *flags, "--out", result)
                        except RuntimeError as e:
                            print(name, trainer, seed, sample, v, e, flush=True)
                            continue
                        seconds = time.time() - began
                        f, eta, left, d = curves(pho, path, result, model)
                        if truth is None:
                            truth = reference(pho, path, result, model, columns)
                        found.setdefault((sample, v), []).append((f, {
                            "set": name, "trainer": trainer, "seed": seed, "rows": sample, "variant": v,
                            "left": np.var(left) / np.var(eta), "off": distance(f, truth),
                            "rank": d["rank"], "columns": d["columns"], "seconds": seconds,
                        }))
            lines = []
            for group in found.values():
                mean = {c: np.mean([f[c] for f, _ in group], axis=0) for c in columns}
                for f, line in group:
                    line["between"] = distance(f, mean) * np.sqrt(len(group) / (len(group) - 1))
                    lines.append({k: f"{x:.5g}" if isinstance(x, float) else x for k, x in line.items()})
            new = not os.path.exists(done)
            with open(done, "a", newline="") as out:
                w = csv.DictWriter(out, FIELDS)
                if new:
                    w.writeheader()
                w.writerows(lines)
            print(name, trainer, "done", flush=True)


def table(work):
    runs = list(csv.DictReader(open(os.path.join(work, "runs.csv"))))
    measures = [("left", 100, 1), ("off", 1, 2), ("between", 1, 2)]

    def median(**where):
        x = [float(r[where["field"]]) for r in runs if all(r[k] == v for k, v in where.items() if k != "field")]
        return np.median(x) if x else np.nan

    for sample, words in [("fit", "all rows of training"), ("few", "300 rows")]:
        print(f"\n{words}: medians over networks, {' / '.join(VARIANTS)}\n")
        print("| | left, % of Var(eta) | off | between seeds |\n|---|---|---|---|")
        ratios = {}
        for trainer in SEEDS:
            for name in SETS:
                cells = []
                for field, scale, digits in measures:
                    x = [median(field=field, set=name, trainer=trainer, rows=sample, variant=v) for v in VARIANTS]
                    cells.append(" / ".join(f"{scale * v:.{digits}f}" for v in x))
                    ratios.setdefault(field, []).append(np.array(x) / np.nanmin(x))
                print(f"| {name}, {trainer} | " + " | ".join(cells) + " |")
        for what, of in [("mean ratio to the best", lambda r: np.exp(np.nanmean(np.log(r), axis=0))), ("largest ratio", lambda r: np.nanmax(r, axis=0))]:
            print(f"| *{what}* | " + " | ".join(" / ".join(f"{v:.2f}" for v in of(np.array(ratios[f]))) for f, _, _ in measures) + " |")


if __name__ == "__main__":
    if sys.argv[1] == "--table":
        table(sys.argv[2])
    else:
        measure(*sys.argv[1:4])
