package main

import "math/big"

// gelu is x - |x| P or -|x| P by the sign of x, P = P(Z > |x|) = exp(-x^2/2) p/(|x| + 1).
func (f *formula) gelu() value {
	x := f.x()
	last := 15.5 // half its square is beyond the bound of exp
	if f.v.double {
		last = 41
	}
	a := f.min(f.number(last), f.abs(x))
	half, one := f.number(-0.5), f.number(1)
	d4 := f.add(a, f.number(4))
	w := f.div(a, d4)
	t := f.fma(f.number(2), w, f.number(-1)) // (a - 4)/(a + 4)
	tLow := f.fnma(w, f.sub(a, f.sub(d4, f.number(4))), f.fnma(w, d4, a))
	tLow = f.low(f.mul(tLow, f.mul(half, f.sub(w, one)))) // what w was rounded by, times 2

	c := f.coefficients("gelu")
	first := f.number(c[0])
	rest := f.horner(c[1:], t)
	p := f.fma(t, rest, first)
	pLow := f.add(f.fma(t, rest, f.sub(first, p)), f.number(f.coefficients("geluRest")[0]))
	pLow = f.fma(rest, tLow, pLow) // rest is close to the slope
	d := f.add(a, one)
	dLow := f.sub(a, f.sub(d, one))
	r := f.div(one, d)
	rLow := f.mul(r, f.fnma(r, dLow, f.fnma(r, d, one)))
	q := f.mul(r, p)
	qLow := f.fma(rLow, p, f.fma(r, pLow, f.low(f.fms(r, p, q))))

	square := f.mul(a, a)
	e := f.decay(f.mul(square, half), f.mul(f.fms(a, a, square), half))
	u := f.mul(q, e.s)
	rest = f.fma(e.s, f.fma(q, e.y, qLow), f.fms(q, e.s, u))
	tail := f.add(u, rest)
	tailLow := f.sub(rest, f.sub(tail, u))

	base := f.pick(f.negative(x), f.zero(), f.number(-1)) // P - 1 for positive x
	q = f.add(tail, base)
	rest = f.add(f.sub(tail, f.sub(q, base)), tailLow)
	return f.product(x, f.or(f.abs(e.negated), f.sign(x)), q, rest, f.negate(a))
}

const pi = "3.14159265358979323846264338327950288419716939937511"

// geluTanh is x sigmoid(v), v = 2 sqrt(2/pi) (x + 0.044715 x^3) as a sum of two numbers.
func (f *formula) geluTanh() value {
	m := f.format()
	c := new(big.Float).SetPrec(200).Sqrt(new(big.Float).SetPrec(200).Quo(big.NewFloat(8), exact(pi)))
	first, firstLow := m.split(c)
	cube, cubeLow := m.split(new(big.Float).SetPrec(200).Mul(c, exact("0.044715")))

	x := f.x()
	a := f.max(f.number(-30), f.negate(x))
	square := f.mul(a, a)
	squareLow := f.fms(a, a, square)
	p := f.mul(f.number(cube), square)
	pLow := f.fma(f.number(cube), squareLow, f.fma(f.number(cubeLow), square, f.fms(f.number(cube), square, p)))
	large, little := f.max(f.number(first), p), f.min(f.number(first), p)
	w := f.add(large, little)
	wLow := f.add(f.sub(little, f.sub(w, large)), f.add(pLow, f.number(firstLow)))
	v := f.mul(a, w)
	vLow := f.fma(a, wLow, f.fms(a, w, v))
	e := f.decay(f.max(f.number(-m.bound()), v), vLow)
	return f.gated(x, f.or(f.abs(v), f.sign(x)), e, a)
}
