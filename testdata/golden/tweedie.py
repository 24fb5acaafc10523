"""Log-densities of Tweedie distributions with 40 digits, from mpmath's sum of the series
of Dunn and Smyth (2005) as they write it. Writes tweedie.json next to this script:

    python3 testdata/golden/tweedie.py        # mpmath

A fixed grid, no seed.
"""
import json
import os

import mpmath as mp

mp.mp.dps = 60


def logdensity(y, mu, phi, p):
    y, mu, phi, p = map(mp.mpf, (y, mu, phi, p))
    if y == 0:
        return -mu ** (2 - p) / (phi * (2 - p))
    a = (2 - p) / (1 - p)  # negative
    logz = -a * mp.log(y) + a * mp.log(p - 1) - (1 - a) * mp.log(phi) - mp.log(2 - p)
    term = lambda j: mp.exp(j * logz - mp.loggamma(j + 1) - mp.loggamma(-a * j))
    top = max(1, int(y ** (2 - p) / ((2 - p) * phi)))
    while term(mp.mpf(top + 1)) > term(mp.mpf(top)):
        top += 1
    total, most = mp.mpf(0), term(mp.mpf(top))
    for step in (1, -1):
        j = top if step == 1 else top - 1
        while j > 0:
            t = term(mp.mpf(j))
            total += t
            if t < most * mp.mpf(10) ** -40:
                break
            j += step
    return mp.log(total) - mp.log(y) + (y * mu ** (1 - p) / (1 - p) - mu ** (2 - p) / (2 - p)) / phi


cases = []
for p in (1.01, 1.05, 1.2, 1.5, 1.8, 1.95, 1.99):
    for phi in (1e-3, 0.05, 1, 20, 1e3):
        for y in (0, 1e-6, 0.03, 1, 7.5, 400, 1e5):
            if y and y ** (2 - p) / ((2 - p) * phi) > 3e4:
                continue  # too many terms for mpmath
            for step in (-1.5, 0, 0.7):
                eta = float(mp.log(y or 1)) + step
                cases.append({"p": p, "phi": phi, "y": y, "eta": eta, "loglik": float(mp.nstr(logdensity(y, mp.exp(mp.mpf(eta)), phi, p), 25))})
for p, phi, y in ((1.5, 1e-4, 1.0), (1.9, 1e-3, 3.0), (1.5, 1e-3, 900.0)):  # many amounts
    cases.append({"p": p, "phi": phi, "y": y, "eta": float(mp.log(y)) + 0.01, "loglik": float(mp.nstr(logdensity(y, mp.exp(mp.mpf(float(mp.log(y)) + 0.01)), phi, p), 25))})

out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tweedie.json")
with open(out, "w") as f:
    f.write('{\n  "provenance": "mpmath %s, testdata/golden/tweedie.py",\n  "cases": [\n' % mp.__version__)
    f.write(",\n".join("    " + json.dumps(c) for c in cases))
    f.write("\n  ]\n}\n")
print(len(cases))
