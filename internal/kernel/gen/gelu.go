package main

import (
	"math"
	"math/big"
)

// gelu is x - |x| P or -|x| P by the sign of x, P = P(Z > |x|). In float32 P is one of 16
// polynomials unless |x| is large.
func (f *formula) gelu() value {
	if f.v.double {
		return f.geluOf(f.x())
	}
	return f.byTails(geluTable, geluNear)
}

// byTails is gelu of the P that a table is for, up to |x| = near.
func (f *formula) byTails(table [9][16]float64, near float64) value {
	x := f.x()
	a := f.abs(x)
	far := f.less(f.number(near), a)
	f.far = &far
	index := f.add(a, f.number(1.5*(1<<21))) // the next multiple of 1/4 in the last bits
	row := func(i int) value { return f.lookup16(f.format().table16(table[i]), index) }
	t := f.sub(a, row(0))
	rest := row(len(table) - 1)
	for i := len(table) - 2; i > 1; i-- {
		rest = f.fma(rest, t, row(i))
	}
	first := row(1)
	p := f.fma(t, rest, first)
	pLow := f.fma(t, rest, f.sub(first, p))
	base := f.pick(f.negative(x), f.zero(), f.number(-1)) // P - 1 for positive x
	q := f.add(p, base)
	rest = f.add(f.sub(p, f.sub(q, base)), pLow)
	negated := f.negate(x)
	return f.or(f.fma(negated, q, f.mul(negated, rest)), f.sign(x))
}

// The last numbers that the tables are used for: behind them, before 3.875, their errors are beyond
// 1 ulp.
const (
	geluNear     = 3.625
	geluTanhNear = 3.1
)

func (f *formula) geluFar(near value) value {
	x := f.x()
	return f.pick(f.less(f.number(geluNear), f.abs(x)), f.geluOf(x), near)
}

func (m format) table16(v [16]float64) []uint64 {
	out := make([]uint64, len(v))
	for i, x := range v {
		out[i] = uint64(math.Float32bits(float32(x)))
	}
	return out
}

// geluOf is gelu with P = exp(-x^2/2) p/(|x| + 1).
func (f *formula) geluOf(x value) value {
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

// geluTanh is gelu with P = 1/(1 + exp(v)), v = 2 sqrt(2/pi) (|x| + 0.044715 |x|^3).
func (f *formula) geluTanh() value {
	if f.v.double {
		return f.geluTanhOf()
	}
	return f.byTails(geluTanhTable, geluTanhNear)
}

func (f *formula) geluTanhFar(near value) value {
	return f.pick(f.less(f.number(geluTanhNear), f.abs(f.x())), f.geluTanhOf(), near)
}

// geluTanhOf is x sigmoid(v), v of x as a sum of two numbers.
func (f *formula) geluTanhOf() value {
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
