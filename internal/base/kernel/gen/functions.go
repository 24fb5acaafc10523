package main

import (
	"fmt"
	"math"
)

// functions by their number from firstFunction on, as the constants of package kernel count them.
var functions = []function{
	both("exp", form{(*formula).exponential, nil}),
	{"sigmoid", decaying((*formula).sigmoid), sigmoidEven.form((*formula).sigmoidByPieces, (*formula).sigmoid)},
	{"tanh", form{(*formula).tanh, nil}, form{(*formula).tanhByPieces, nil}},
	{"silu", decaying((*formula).silu), siluEven.form((*formula).gatedByPieces, (*formula).silu)},
	both("softplus", decaying((*formula).softplus)),
	both("elu", form{(*formula).elu, nil}),
	both("erf", form{(*formula).erf, nil}),
	{"gelu", form{(*formula).gelu, nil}, geluEven.form((*formula).gatedByPieces, (*formula).gelu)},
	{"geluTanh", form{(*formula).geluTanh, nil}, geluTanhEven.form((*formula).gatedByPieces, (*formula).geluTanh)},
	both("mish", decaying((*formula).mish)),
	both("softsign", form{(*formula).softsign, nil}),
	both("hardSigmoid", form{(*formula).hardSigmoid, nil}),
	both("hardSwish", form{(*formula).hardSwish, nil}),
	{name: "xLogX", float64: form{(*formula).xLogX, nil}},
}

// function is one of x by a form for each precision; no body: there is none.
type function struct {
	name             string
	float64, float32 form
}

func both(name string, f form) function { return function{name, f, f} }

func (fn function) form(double bool) form {
	if double {
		return fn.float64
	}
	return fn.float32
}

// form is body, or far where body's formula sets the mask of the same name.
// far is for numbers far from 0 that body has no room for, and is a branch taken if one number of a
// vector needs it.
type form struct {
	body func(f *formula) value
	far  func(f *formula, near value) value
}

// decaying is a function by exp(-|x|) that spares itself, where that is a normal number, what
// the others need: the arithmetic is the same, less steps that change nothing.
func decaying(body func(f *formula) value) form {
	mask := func(f *formula) value {
		return f.less(f.negate(f.x()), f.number(-f.format().far))
	}
	near := func(f *formula) value {
		far := mask(f)
		f.far, f.near = &far, true
		return body(f)
	}
	return form{near, func(f *formula, near value) value { return f.pick(mask(f), body(f), near) }}
}

// transcendental writes the functions in both precisions of an instruction set.
func transcendental(s *source, set isa) {
	p := &pool{bits: map[string][]uint64{}, size: map[string]int{}}
	for _, double := range []bool{true, false} {
		v := vector{set, double}
		s.function("function"+v.typ(), "l", fmt.Sprintf("function%s runs one function over a loop's values: see type loop.", v.typ()))
		s.op("MOVQ", mem(loopDst, "DI"), "R8")
		s.op("MOVQ", mem(loopA, "DI"), "SI")
		s.op("MOVQ", mem(loopN, "DI"), "CX")
		s.op("SHLQ", imm(map[bool]int{false: 2, true: 3}[double]), "CX")
		s.op("ADDQ", "CX", "SI")
		s.op("ADDQ", "CX", "R8")
		s.op("NEGQ", "CX")
		s.op("MOVQ", mem(loopOp, "DI"), "AX")
		for i, o := range functions {
			if o.form(double).body != nil {
				s.op("CMPQ", "AX", imm(len(operations)+i))
				s.op("JEQ", o.name)
			}
		}
		s.finish()
		for _, o := range functions {
			if o.form(double).body != nil {
				s.label(o.name)
				s.loopOver(p, v, o.name, o.form(double))
			}
		}
	}
	p.write(s, set.bytes)
}

// exponential is exp(x), over all of its range.
func (f *formula) exponential() value {
	m := f.format()
	x := f.x()
	x = f.min(f.number(m.overflow), f.max(f.number(m.underflow), x))
	e := f.power(x, -1)
	if f.v.bytes == 64 {
		p := f.lookup(m.powers(), e.index)
		return f.do("VSCALEF", f.fma(p, e.y, p), f.mul(e.k, f.number(1/float64(m.steps))))
	}
	// In two steps, the first one exact.
	half := f.add1(step{op: "VROUND", args: []value{f.mul(e.k, f.number(0.5/float64(m.steps)))}, imm: 9}) // down
	rest := f.add(f.fnma(half, f.number(float64(m.steps)), e.k), f.number(m.magic()))
	p := f.scaled(rest, e.index)
	return f.mul(f.fma(p, e.y, p), f.powerOf2(half))
}

// powerOf2 is 2^n of an integer n.
func (f *formula) powerOf2(n value) value {
	m := f.format()
	return f.shiftBits(f.add(n, f.number(m.magic()+m.bias)), m.bits)
}

// sigmoid is 1/(1+e) or e/(1+e), e = exp(-|x|).
func (f *formula) sigmoid() value {
	x := f.x()
	_, bounded := f.minus(x)
	e := f.decay(bounded, -1)
	negative := f.negative(x)
	n := f.pick(negative, e.high, f.number(1))
	nLow := f.pick(negative, e.low, f.zero())
	q, rest, r := f.quotient(n, nLow, e.high, e.low)
	return f.mul(f.fma(rest, r, q), f.farScale(x))
}

// silu is x sigmoid(x), as -|x| (-1)/(1+e) for positive x.
func (f *formula) silu() value {
	x := f.x()
	_, bounded := f.minus(x)
	return f.gated(x, x, f.decay(bounded, -1), bounded)
}

// gated is x/(1+e) or x e/(1+e) by the sign of x, where e = exp(-|at|).
func (f *formula) gated(x, at value, e decay, bounded value) value {
	negative := f.negative(x)
	n := f.pick(negative, e.high, f.number(-1))
	nLow := f.pick(negative, e.low, f.zero())
	q, rest, r := f.quotient(n, nLow, e.high, e.low)
	return f.product(x, at, q, f.mul(rest, r), bounded)
}

// product is -|x| (q + rest) where the factor decays as exp(at) does for negative x. An infinite x
// meets no rest but a factor that is exactly 0, or not: x 0 is NaN there, as in x sigmoid(x).
func (f *formula) product(x, at, q, rest, bounded value) value {
	y := f.mul(f.fma(f.negate(x), q, f.mul(bounded, rest)), f.scaleOrZero(at))
	return f.or(y, f.sign(x)) // of a sum of two zeros, too
}

// tanh is an odd polynomial near 0, 1 - 2/(1 + exp(2|x|)) elsewhere. It is for float64.
func (f *formula) tanh() value {
	x := f.x()
	one := f.number(1)
	a := f.min(f.number(20), f.abs(x))
	square := f.mul(a, a)
	small := f.fma(a, f.mul(square, f.polynomial("tanh", square)), a)
	e := f.power(f.add(a, a), -1)
	s := f.scaled(e.t, e.index)
	high := f.fma(s, e.y, s)
	d := f.add(high, one)
	r := f.div(one, d)
	twice := f.add(r, r)
	large := f.sub(one, twice)
	return f.or(f.pick(f.less(a, f.number(0.55)), small, large), f.sign(x))
}

// softplus is max(x, 0) + log(1+e), e = exp(-|x|), log(1+e) = e + e^2 p(e - 1/2).
func (f *formula) softplus() value {
	x := f.x()
	_, bounded := f.minus(x)
	e := f.decay(bounded, -1)
	positive := f.min(f.number(1000), f.max(f.zero(), x)) // Inf - Inf below would be NaN
	large, little := f.max(positive, e.high), f.min(positive, e.high)
	sum := f.add(large, little)
	low := f.add(f.sub(little, f.sub(sum, large)), e.low)

	c := f.coefficients("log1p")
	v, first := f.sub(e.high, f.number(0.5)), f.number(c[0])
	rest := f.horner(c[1:], v)
	p := f.fma(v, rest, first)
	pLow := f.low(f.add(f.fma(v, rest, f.sub(first, p)), f.number(f.coefficients("log1pRest")[0])))
	square := f.mul(e.high, e.high)
	low = f.fma(square, pLow, f.fma(f.low(f.fms(e.high, e.high, square)), p, low))
	low = f.fma(f.mul(e.low, p), f.add(e.high, e.high), low)
	y := f.add(sum, f.fma(square, p, low))
	return f.max(f.mul(y, f.farScale(x)), x)
}

// elu is x, or scalar (exp(x) - 1) for negative x, summed without cancellation: 2^n (1+y) - 1,
// |y| < 1/2.
func (f *formula) elu() value {
	m := f.format()
	x := f.x()
	least := -20.0
	if f.v.double {
		least = -40
	}
	bounded := f.max(f.number(least), f.min(f.zero(), x))
	hi, lo := m.split(ln2)
	t := f.fma(bounded, f.number(math.Log2E), f.number(m.magic()+m.bias))
	n := f.sub(t, f.number(m.magic()+m.bias))
	r := f.fnma(n, f.number(lo), f.fnma(n, f.number(hi), bounded))
	y := f.fma(f.mul(r, r), f.polynomial("expm1", r), r)
	s := f.shiftBits(t, m.bits)
	e := f.fma(s, y, f.sub(s, f.number(1)))
	return f.pick(f.less(x, f.zero()), f.mul(f.scalar(0), e), x)
}

// erf is an odd polynomial near 0, 1 - exp(-x^2) p elsewhere.
func (f *formula) erf() value {
	x := f.x()
	a := f.min(f.number(6), f.abs(x))
	square := f.mul(a, a)
	rest := f.fnma(a, a, square)
	e := f.power(f.negate(square), rest)

	c := f.coefficients("smallErf")
	second := f.number(c[1])
	high := f.horner(c[2:], square)
	p := f.fma(high, square, second)
	pLow := f.low(f.fma(high, square, f.sub(second, p)))
	p = f.fma(p, square, f.fma(pLow, square, f.fnma(p, f.low(rest), f.number(c[0]))))
	small := f.fma(a, p, a)

	s := f.scaled(e.t, e.index)
	t := f.div(f.sub(a, f.number(3)), f.add(a, f.number(3)))
	c = f.coefficients("erfc")
	first := f.number(c[0])
	rest = f.horner(c[1:], t)
	p = f.fma(t, rest, first)
	pLow = f.low(f.fma(t, rest, f.sub(first, p)))
	large := f.fnma(s, f.add(p, f.fma(p, e.y, pLow)), f.number(1))
	return f.or(f.pick(f.less(a, f.number(1)), small, large), f.sign(x))
}

// mish is x n/d by the sign of x: n = e^2 + 2e, d = n + 2 if it is negative, n = 1 + 2e,
// d = n + 2e^2 if not, e = exp(-|x|).
func (f *formula) mish() value {
	x := f.x()
	_, bounded := f.minus(x)
	e := f.decay(bounded, -1)
	twice, twiceLow := f.add(e.high, e.high), f.add(e.low, e.low)
	square := f.mul(e.high, e.high)
	squareLow := f.fma(twice, e.low, f.fms(e.high, e.high, square))

	one, two := f.number(1), f.number(2)
	negative := f.negative(x)
	n, nLow := f.sum(twice, twiceLow, f.pick(negative, square, one), f.pick(negative, squareLow, f.zero()))
	d, dLow := f.sum(n, nLow, f.pick(negative, two, f.add(square, square)), f.pick(negative, f.zero(), f.add(squareLow, squareLow)))
	r := f.div(f.pick(negative, one, f.number(-1)), d) // as product has it
	q := f.mul(n, r)
	size := f.abs(q)
	rest := f.add(f.fnma(size, dLow, f.fnma(size, d, n)), nLow)
	return f.product(x, x, q, f.mul(rest, r), bounded)
}

// sum adds two sums of two numbers.
func (f *formula) sum(a, aLow, b, bLow value) (high, low value) {
	large, little := f.max(a, b), f.min(a, b)
	high = f.add(large, little)
	return high, f.add(f.sub(little, f.sub(high, large)), f.add(aLow, bLow))
}

// softsign is x/(1 + |x|).
func (f *formula) softsign() value {
	x := f.x()
	a := f.abs(x)
	q, rest, r := f.quotient(x, f.zero(), a, f.zero())
	return f.or(f.fma(rest, r, q), f.sign(x))
}

// hardSigmoid is a x + b, at least 0 and at most 1.
func (f *formula) hardSigmoid() value {
	x := f.x()
	return f.min(f.number(1), f.max(f.zero(), f.fma(f.scalar(0), x, f.scalar(1))))
}

// hardSwish is x where that is 3 or more, x t/6 elsewhere, t = max(x + 3, 0).
func (f *formula) hardSwish() value {
	x := f.x()
	three, six := f.number(3), f.number(6)
	shifted := f.add(x, three)
	t := f.max(f.zero(), shifted)
	p := f.mul(x, t)
	low := f.fma(x, f.sub(x, f.sub(shifted, three)), f.fms(x, t, p))
	low = f.pick(f.less(f.number(-3), x), low, f.zero())
	q := f.div(p, six)
	y := f.fma(f.add(f.fnma(q, six, p), low), f.number(1.0/6), q)
	return f.or(f.pick(f.less(x, three), y, x), f.sign(x))
}

// xLogX is x log(x): with x = 2^k (1+u), 1+u from sqrt(1/2) to sqrt(2), and s = u/(2+u),
// log(1+u) = 2s + s^3 p(s^2) = u - (u^2/2 - s (u^2/2 + s^2 p)). It is for float64.
func (f *formula) xLogX() value {
	const shift = 54
	m := f.format()
	x := f.x()
	tiny := f.less(x, f.number(0x1p-1022))
	normal := f.pick(tiny, f.mul(x, f.number(1<<shift)), x)
	root := math.Float64bits(math.Sqrt(0.5))
	t := f.addBits(normal, f.bits(math.Float64bits(1)-root))
	whole := math.Ldexp(1, m.bits)
	k := f.sub(f.or(f.shiftRight(t, m.bits), f.number(whole)), f.pick(tiny, f.number(whole+m.bias+shift), f.number(whole+m.bias)))
	u := f.sub(f.addBits(f.and(t, f.bits(1<<m.bits-1)), f.bits(root)), f.number(1))
	s := f.div(u, f.add(u, f.number(2)))
	square := f.mul(s, s)
	half := f.mul(f.mul(u, u), f.number(0.5))
	hi, lo := m.split(ln2)
	low := f.fma(s, f.fma(square, f.polynomial("log", square), half), f.mul(k, f.number(lo)))
	log := f.fma(k, f.number(hi), f.sub(u, f.sub(half, low)))
	return f.pick(f.less(x, f.zero()), f.number(math.NaN()), f.mul(x, log))
}
