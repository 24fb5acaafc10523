"""Fits the polynomials of the elementwise kernels and writes coefficients.go.

Run in this directory: python minimax.py > coefficients.go (needs mpmath; a minute).

Every fit is a Remez exchange in 60 digits: the polynomial whose largest weighted error
is smallest. Weights make that error relative to the function's result. Coefficients are
then rounded to the precision they run in; the comment of each gives the weighted error
after that, as a power of two.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass

from mpmath import cos, erf, erfc, exp, expm1, log, log1p, lu_solve, matrix, mp, mpf, pi, sqrt, tanh

mp.dps = 60

Function = Callable[[mpf], mpf]


@dataclass
class Fit:
    """A polynomial in variable(x) near f(x), error times weight(x), for x in [low, high]."""

    name: str
    comment: str
    f: Function
    weight: Function
    low: mpf
    high: mpf
    degree: dict[int, int]  # by bits of the precision
    variable: Function = lambda x: x


def horner(coefficients: list[mpf], v: mpf) -> mpf:
    total = mpf(0)
    for c in reversed(coefficients):
        total = total * v + c
    return total


def remez(fit: Fit, degree: int) -> tuple[list[mpf], Callable[[list[mpf]], mpf]]:
    """The coefficients, lowest first, and the largest weighted error of others like them."""
    n = 40 * (degree + 2)
    xs = [fit.low + (fit.high - fit.low) * (1 - cos(pi * (i + mpf(1) / 2) / n)) / 2 for i in range(n)]
    vs, fs, ws = [fit.variable(x) for x in xs], [fit.f(x) for x in xs], [fit.weight(x) for x in xs]
    points = [int((i + 0.5) * n / (degree + 2)) for i in range(degree + 2)]
    for _ in range(60):
        a, b = matrix(degree + 2, degree + 2), matrix(degree + 2, 1)
        for row, i in enumerate(points):
            for k in range(degree + 1):
                a[row, k] = vs[i] ** k
            a[row, degree + 1] = (-1) ** row / ws[i]
            b[row] = fs[i]
        solution = lu_solve(a, b)
        c = [solution[k] for k in range(degree + 1)]
        errors = [ws[i] * (fs[i] - horner(c, vs[i])) for i in range(n)]
        new = extremes(errors, degree + 2)
        if new == points:
            break
        points = new
    return c, lambda other: max(abs(ws[i] * (fs[i] - horner(other, vs[i]))) for i in range(n))


def extremes(errors: list[mpf], count: int) -> list[int]:
    """The places of the largest error of each run of one sign, the count best in a row."""
    found: list[int] = []
    for i, e in enumerate(errors):
        if found and (errors[found[-1]] > 0) == (e > 0):
            if abs(e) > abs(errors[found[-1]]):
                found[-1] = i
        else:
            found.append(i)
    while len(found) > count:
        found.pop(0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1)
    if len(found) < count:
        raise ValueError(f"{len(found)} alternations, need {count}")
    return found


def rounded(x: mpf, bits: int) -> mpf:
    """x in 24 or 53 bits."""
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0]) if bits == 24 else mpf(float(x))


# Where the formulas of functions.go change over; see there.
SMALL_TANH = mpf("0.55")
SMALL_ERF = mpf("1.0")
PLACE = {"gelu": mpf(4), "erf": mpf(3)}  # t = (x - place)/(x + place)

SPLIT = {"gelu", "log1p"}  # the first coefficient is a sum of two numbers


def mobius(name: str) -> Function:
    return lambda x: (x - PLACE[name]) / (x + PLACE[name])


def exp_rest(r: mpf) -> mpf:
    return (expm1(r) - r) / r**2


def fits(bits: int) -> list[Fit]:
    steps = {24: 8, 53: 4}[bits]
    slack = 1 + mpf(2) ** -12
    tiny = mpf(2) ** -20
    end = {24: mpf("15.5"), 53: mpf(41)}[bits]
    return [
        Fit("exp", "(exp(r) - 1 - r)/r^2, |r| <= log(2)/(2 steps)", exp_rest,
            lambda r: r**2 / exp(r), -log(2) / (2 * steps) * slack, log(2) / (2 * steps) * slack, {24: 2, 53: 6}),
        Fit("expm1", "(exp(r) - 1 - r)/r^2, |r| <= log(2)/2", exp_rest,
            lambda r: r**2 / abs(expm1(r)), -log(2) / 2 * slack, log(2) / 2 * slack, {24: 5, 53: 10}),
        Fit("tanh", f"(tanh(x) - x)/x^3 in x^2, x <= {SMALL_TANH}", lambda x: (tanh(x) - x) / x**3,
            lambda x: x**3 / tanh(x), tiny, SMALL_TANH * slack, {24: 4, 53: 10}, lambda x: x * x),
        Fit("log1p", "(log(1 + e) - e)/e^2 in e - 1/2, e <= 1", lambda e: (log1p(e) - e) / e**2,
            lambda e: e**2 / log1p(e), tiny, mpf(1) * slack, {24: 10, 53: 21}, lambda e: e - mpf(1) / 2),
        Fit("gelu", "(x + 1) exp(x^2/2) P(Z > x) in (x - 4)/(x + 4)",
            lambda x: (x + 1) * exp(x * x / 2) * erfc(x / sqrt(2)) / 2,
            lambda x: 1 / ((x + 1) * exp(x * x / 2) * erfc(x / sqrt(2)) / 2), mpf(0), end, {24: 11, 53: 23}, mobius("gelu")),
        Fit("smallErf", f"erf(x)/x - 1 in x^2, x <= {SMALL_ERF}", lambda x: erf(x) / x - 1,
            lambda x: x / erf(x), tiny, SMALL_ERF * slack, {24: 6, 53: 14}, lambda x: x * x),
        Fit("erfc", f"exp(x^2) erfc(x) in (x - 3)/(x + 3), x >= {SMALL_ERF}", lambda x: exp(x * x) * erfc(x),
            lambda x: exp(-x * x), SMALL_ERF, mpf(6), {24: 6, 53: 14}, mobius("erf")),
    ]


def tail_table(tail: Function) -> list[list[mpf]]:
    """tail(c + t) by powers of t around 16 centres c near multiples of 1/4.

    Every c is a float32 for which tail(c) is all but one, too, so that the first term is
    accurate without a second number.
    """
    rows = []
    for i in range(16):
        c = mpf(i) / 4
        while i > 0 and abs(rounded(tail(c), 24) / tail(c) - 1) > mpf(2) ** -33:
            c += mpf(2) ** -23 if i < 4 else mpf(2) ** -22
        half = mpf(1) / 8 + mpf(2) ** -10
        fit = Fit("tail", "", lambda t: (tail(c + t) - tail(c)) / t, lambda t: abs(t) / tail(c + t),
                  mpf(0) if i == 0 else -half, half, {})
        coefficients, _ = remez(fit, 6)
        rows.append([c, rounded(tail(c), 24), *(rounded(x, 24) for x in coefficients)])
    return rows


def normal_tail(x: mpf) -> mpf:
    return erfc(x / sqrt(2)) / 2


def approximate_tail(x: mpf) -> mpf:
    """What GELU by tanh has in the place of the normal tail."""
    return 1 / (1 + exp(sqrt(8 / pi) * (x + mpf("0.044715") * x**3)))


def main() -> None:
    print("// Code generated by minimax.py. DO NOT EDIT.\n\npackage main\n")
    print("// polynomials are the coefficients of the fits, lowest first, by precision and name.")
    print("var polynomials = map[bool]map[string][]float64{")
    for double, bits in ((False, 24), (True, 53)):
        print(f"\t{str(double).lower()}: {{")
        for fit in fits(bits):
            c, worst = remez(fit, fit.degree[bits])
            rest = rounded(c[0] - rounded(c[0], bits), bits)
            c = [rounded(x, bits) for x in c]
            exactly = [c[0] + (rest if fit.name in SPLIT else 0), *c[1:]]
            print(f"\t\t// {fit.comment}: 2^{float(log(worst(exactly), 2)):.1f}")
            print(f'\t\t"{fit.name}": {{' + ", ".join(float(x).hex() for x in c) + "},")
            if fit.name in SPLIT:
                print(f'\t\t"{fit.name}Rest": {{{float(rest).hex()}}},')
        print("\t},")
    print("}")
    for name, tail in (("geluTable", normal_tail), ("geluTanhTable", approximate_tail)):
        rows = tail_table(tail)
        print(f"\n// {name} is what tail_table gives of {tail.__name__}: 16 centres, then the coefficients by power.")
        print(f"var {name} = [{len(rows[0])}][16]float64{{")
        for k in range(len(rows[0])):
            print("\t{" + ", ".join(float(row[k]).hex() for row in rows) + "},")
        print("}")


if __name__ == "__main__":
    main()
