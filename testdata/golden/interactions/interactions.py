"""Planted pairs of columns, as InterpretML's FAST and mgcv rank them (interactions.json).

The data sets are those of interaction/recovery_test.go, number by number: SplitMix64 and
Box-Muller, columns with the same correlation rho between any two. The predictor has
additive parts, three pairs (0,1), (2,3), (4,5) of falling size, a triple (6,7,8) and noise.
Everybody ranks pairs by the same remainder: what least squares on splines of all columns
leave.

FAST (Lou et al. 2013) is interpret.utils.measure_interactions on the remainder. mgcv ranks
by what ti(a,b) explains beside ti(a) + ti(b), one pair at a time; with ten columns only,
since it takes a fit for each pair. Needs interpret, scikit-learn, numpy and Rscript with
mgcv.
"""
import json
import os
import subprocess
import sys
import tempfile

import interpret
import numpy as np
import sklearn
from interpret.utils import measure_interactions
from sklearn.preprocessing import SplineTransformer

ROWS = 4000


def uniforms(seed, count):
    state = (np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * np.arange(1, count + 1, dtype=np.uint64))
    x = state
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return ((x >> np.uint64(11)).astype(float) + 0.5) / 2.0**53


def normals(seed, count):
    u = uniforms(seed, 2 * count)
    return np.sqrt(-2 * np.log(u[0::2])) * np.cos(2 * np.pi * u[1::2])


def planted(seed, p, rho, pure, noise):
    z = normals(seed, ROWS * (p + 2)).reshape(ROWS, p + 2)  # common, p of their own, noise
    x = np.sqrt(rho) * z[:, :1] + np.sqrt(1 - rho) * z[:, 1:-1]
    a = x.T
    eta = a[0] + np.sin(2 * a[1]) + a[2] ** 2 / 2 + a[3] + np.tanh(a[4])
    eta = eta + pure * (0.6 * a[0] * a[1] + 0.25 * a[2] * np.sin(2 * a[3]) + 0.35 * np.tanh(a[4] * a[5]))
    return x, eta + 0.4 * np.tanh(a[6] * a[7] * a[8]) + noise * z[:, -1]


def remainder(x, eta):
    b = SplineTransformer(n_knots=7, degree=3, knots="quantile").fit_transform(x)
    b = np.column_stack([np.ones(len(eta)), b])
    return eta - b @ np.linalg.lstsq(b, eta, rcond=None)[0]


MGCV = """
suppressMessages(library(mgcv))
d <- read.csv("data.csv"); p <- ncol(d) - 1; out <- NULL
for (i in 1:(p-1)) for (j in (i+1):p) {
  e <- data.frame(r = d$r, a = d[[i]], b = d[[j]])
  m0 <- gam(r ~ ti(a) + ti(b), data = e, method = "REML")
  m1 <- gam(r ~ ti(a) + ti(b) + ti(a, b), data = e, method = "REML")
  out <- rbind(out, c(i - 1, j - 1, (deviance(m0) - deviance(m1)) / sum(e$r^2)))
}
out <- out[order(-out[, 3]), ]
write.table(out[1:10, ], "out.txt", row.names = FALSE, col.names = FALSE)
cat(as.character(packageVersion("mgcv")))
"""


def mgcv(x, r):
    with tempfile.TemporaryDirectory() as dir:
        np.savetxt(os.path.join(dir, "data.csv"), np.column_stack([x, r]), delimiter=",", comments="",
                   header=",".join([f"x{j}" for j in range(x.shape[1])] + ["r"]))
        run = subprocess.run([os.environ.get("RSCRIPT", "Rscript"), "-e", MGCV], cwd=dir, capture_output=True, text=True, check=True)
        out = np.loadtxt(os.path.join(dir, "out.txt"))
    return run.stdout.strip(), [[int(i), int(j)] for i, j, _ in out]


def cases():
    """Columns that correlate turn most of a pair into functions of single columns: pure
    makes up for that, and without it pairs are weak, the more so in noise."""
    for p in (10, 50):
        for rho in (0, 0.5, 0.9):
            yield p, rho, float(np.round(1 / np.sqrt(1 - rho * rho), 6)), 0.3
        yield p, 0.9, 1.0, 0.05
        yield p, 0.9, 1.0, 0.3


def main():
    sets, version = [], ""
    for p, rho, pure, noise in cases():
        for seed in (1, 2, 3):
            x, eta = planted(seed, p, rho, pure, noise)
            r = remainder(x, eta)
            ranks = measure_interactions(x, r, feature_names=[f"x{j}" for j in range(p)], objective="rmse")
            one = {"p": p, "rho": rho, "pure": pure, "noise": noise, "seed": seed, "eta": eta[:3].round(9).tolist(),
                   "fast": [[int(i), int(j)] for (i, j), _ in ranks[:60]]}
            if p == 10 and seed == 1:
                version, one["mgcv"] = mgcv(x, r)
            sets.append(one)
            print(p, rho, pure, noise, seed, one["fast"][:5], one.get("mgcv", [])[:5], file=sys.stderr)
    doc = {"versions": {"interpret": interpret.__version__, "scikit-learn": sklearn.__version__, "mgcv": version},
           "rows": ROWS, "sets": sets}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "interactions.json"), "w") as f:
        f.write(json.dumps(doc).replace('{"p"', '\n{"p"') + "\n")


main()
