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
from itertools import pairwise

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
TANH_SCALE = mpf("1.6484375")  # 1 + 9.1 times it is just less than 16
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
            lambda x: x**3 / tanh(x), tiny, SMALL_TANH * slack, {53: 10}, lambda x: x * x),
        Fit("log1p", "(log(1 + e) - e)/e^2 in e - 1/2, e <= 1", lambda e: (log1p(e) - e) / e**2,
            lambda e: e**2 / log1p(e), tiny, mpf(1) * slack, {24: 10, 53: 21}, lambda e: e - mpf(1) / 2),
        Fit("log", "(log((1 + s)/(1 - s)) - 2s)/s^3 in s^2, s <= (sqrt(2) - 1)/(sqrt(2) + 1)", lambda s: (log((1 + s) / (1 - s)) - 2 * s) / s**3,
            lambda s: s**3 / log((1 + s) / (1 - s)), tiny, (sqrt(2) - 1) / (sqrt(2) + 1) * slack, {53: 6}, lambda s: s * s),
        Fit("gelu", "(x + 1) exp(x^2/2) P(Z > x) in (x - 4)/(x + 4)",
            lambda x: (x + 1) * exp(x * x / 2) * erfc(x / sqrt(2)) / 2,
            lambda x: 1 / ((x + 1) * exp(x * x / 2) * erfc(x / sqrt(2)) / 2), mpf(0), end, {24: 11, 53: 23}, mobius("gelu")),
        Fit("smallErf", f"erf(x)/x - 1 in x^2, x <= {SMALL_ERF}", lambda x: erf(x) / x - 1,
            lambda x: x / erf(x), tiny, SMALL_ERF * slack, {24: 6, 53: 14}, lambda x: x * x),
        Fit("erfc", f"exp(x^2) erfc(x) in (x - 3)/(x + 3), x >= {SMALL_ERF}", lambda x: exp(x * x) * erfc(x),
            lambda x: exp(-x * x), SMALL_ERF, mpf(6), {24: 6, 53: 14}, mobius("erf")),
    ]


def normal_tail(x: mpf) -> mpf:
    return erfc(x / sqrt(2)) / 2


def rounded_in_turn(c: list[mpf], fit: Fit) -> list[mpf]:
    """c in float32: what a coefficient is rounded by goes to those after it, by least squares of the weighted error."""
    n = 8 * len(c)
    ts = [fit.low + (fit.high - fit.low) * (1 - cos(pi * (i + mpf(1) / 2) / n)) / 2 for i in range(n)]
    ws = [fit.weight(t) for t in ts]
    c = list(c)
    for k in range(len(c)):
        exactly = c[k]
        c[k] = rounded(exactly, 24)
        rest = range(k + 1, len(c))
        if rest:
            a = matrix([[w * t**j for j in rest] for t, w in zip(ts, ws, strict=True)])
            b = matrix([w * t**k * (exactly - c[k]) for t, w in zip(ts, ws, strict=True)])
            for j, moved in zip(rest, lu_solve(a, b), strict=True):
                c[j] += moved
    return c


@dataclass
class Piece:
    """Where one of the polynomials of a table runs: part x is added beside it, exactly if x is short."""

    low: mpf
    high: mpf
    part: mpf = mpf(0)
    centre: mpf = mpf("0.5")  # 0 is low, 1 is high


def piece_table(f: Function, pieces: list[Piece], degree: int) -> tuple[list[list[mpf]], mpf]:
    """f(c + t) by powers of t around a centre c of each piece, and the largest relative error.

    Every c is a float32 for which f(c) is all but one, too, so that the first term is
    accurate without a second number. A piece that has 0 at an end has its centre there.
    """
    rows, worst = [], mpf(0)
    for p in pieces:
        c = mpf(0) if p.low == 0 or p.high == 0 else rounded(p.low + (p.high - p.low) * p.centre, 24)
        value = f(c) - p.part * c
        while c != 0 and abs(rounded(value, 24) / value - 1) > mpf(2) ** -33:
            c += mpf(2) ** -20 * abs(c) // mpf(2) ** -23 * mpf(2) ** -23
            c = rounded(c, 24)
            value = f(c) - p.part * c
        slack = (p.high - p.low) * mpf(2) ** -12
        low = p.low if p.low == 0 else p.low - slack - c
        high = p.high if p.high == 0 else p.high + slack - c

        def rest(t: mpf, c: mpf = c, p: Piece = p, value: mpf = value) -> mpf:
            if t == 0:
                t = mpf(2) ** -60
            return (f(c + t) - p.part * (c + t) - value) / t

        fit = Fit("piece", "", rest, lambda t, c=c: abs(t) / abs(f(c + t)), low, high, {})
        coefficients, error = remez(fit, degree - 1)
        if p.part != 0:
            coefficients[0] = max(coefficients[0], mpf(2) ** -40)  # so that f(-0) is -0
        coefficients = rounded_in_turn(coefficients, fit)
        worst = max(worst, error(coefficients))
        rows.append([c, p.part, rounded(value, 24), *coefficients])
    return rows, worst


def tanh_pieces() -> list[Piece]:
    """The halves of four octaves of 1 + TANH_SCALE x."""
    edges = [(mpf(e) - 1) / TANH_SCALE for e in ("1", "1.5", "2", "3", "4", "6", "8", "12", "16")]
    return [Piece(low, high, mpf(1) if low == 0 else mpf(0)) for low, high in pairwise(edges)]


def even_pieces(step: str, part: str) -> list[Piece]:
    """Around 0, -step and so on to -7 steps; part is for the first.

    What is added to the first term must not cancel much of it, so centres are where f is small: towards -inf, but where
    x sigmoid(x) and its like rise in the second piece.
    """
    h = mpf(step) / 2
    rising = 1 if mpf(part) != 0 else 0
    return [
        Piece(-h, mpf(0), mpf(part)),
        *(Piece(-(2 * i + 1) * h, (1 - 2 * i) * h, centre=mpf("0.7" if i == rising else "0.35")) for i in range(1, 8)),
    ]


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
            if bits not in fit.degree:
                continue
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
    for name, f, pieces, degree in (
        ("tanhPieces", tanh, tanh_pieces(), 7),
        ("siluPieces", lambda x: x / (1 + exp(-x)), even_pieces("1", "0.5"), 7),
        ("sigmoidPieces", lambda x: 1 / (1 + exp(-x)), even_pieces("1", "0"), 7),
        ("geluPieces", lambda x: x * normal_tail(-x), even_pieces("0.4375", "0.5"), 7),
        ("geluTanhPieces", lambda x: x * approximate_tail(-x), even_pieces("0.4375", "0.5"), 7),
    ):
        rows, worst = piece_table(f, pieces, degree)
        print(f"\n// {name} is what piece_table gives: 8 centres, the parts of x, then the coefficients by power: 2^{float(log(worst, 2)):.1f}.")
        print(f"var {name} = pieces{{")
        for k in range(len(rows[0])):
            print("\t{" + ", ".join(float(row[k]).hex() for row in rows) + "},")
        print("}")


if __name__ == "__main__":
    main()
