package main

import (
	"math"
	"math/big"
)

// format is what the formulas need to know of a precision.
type format struct {
	bits      int     // of the mantissa behind the point
	steps     int     // of the table of powers of 2 between 1 and 2
	logSteps  int     // their logarithm
	bias      float64 // of the exponent
	underflow float64 // exp of it is 0
	overflow  float64 // exp of it is infinite
	far       float64 // exp(-far) is normal, and nothing beside 1
	shift     float64 // a power of 2 that exp(-underflow) times 2^shift is normal with
}

func (f *formula) format() format {
	if f.v.double {
		return format{52, 4, 2, 1023, -745.2, 709.8, 690, 512}
	}
	return format{23, 8, 3, 127, -104, 88.8, 70, 64}
}

// magic plus a small integer has that integer in its last bits.
func (m format) magic() float64 { return math.Ldexp(1.5, m.bits) }

// round is x in the precision.
func (m format) round(x float64) float64 {
	if m.bits == 23 {
		return float64(float32(x))
	}
	return x
}

// split is an accurate number as a sum of two of the precision.
func (m format) split(x *big.Float) (hi, lo float64) {
	h, _ := x.Float64()
	hi = m.round(h)
	rest := new(big.Float).SetPrec(200).Sub(x, big.NewFloat(hi))
	l, _ := rest.Float64()
	return hi, m.round(l)
}

// exact reads a constant of 40 digits.
func exact(digits string) *big.Float {
	x, _, err := big.ParseFloat(digits, 10, 200, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return x
}

func over(x *big.Float, by int) *big.Float {
	return new(big.Float).SetPrec(200).Quo(x, big.NewFloat(float64(by)))
}

var ln2 = exact("0.69314718055994530941723212145817656807550013436026")

// power is exp(x) in parts: 2^(k/steps) (1 + y), |y| < 1/20 or 1/10.
type power struct {
	k, t, index, y value
}

// power of x = high + low; low may be none (-1).
func (f *formula) power(high, low value) power {
	m := f.format()
	hi, lo := m.split(over(ln2, m.steps))
	t := f.fma(high, f.number(float64(m.steps)*math.Log2E), f.number(m.magic()))
	k := f.sub(t, f.number(m.magic()))
	r := f.fnma(k, f.number(lo), f.fnma(k, f.number(hi), high)) // the inner one is exact
	if low >= 0 {
		r = f.add(r, low)
	}
	index := f.index(t)
	square := f.mul(r, r)
	y := f.fma(square, f.polynomial("exp", r), f.add(r, f.lookup(m.powersRest(), index)))
	return power{k, t, index, y}
}

// step is the power of 2 nearest below entry j of the table: 2^(j/steps).
func (m format) stepOf(j int) (hi, rest float64) {
	x := big.NewFloat(math.Ldexp(1, j)).SetPrec(400)
	for n := m.steps; n > 1; n /= 2 {
		x = new(big.Float).SetPrec(400).Sqrt(x)
	}
	hi, lo := m.split(x)
	return hi, m.round(lo / hi)
}

func (m format) table(entry func(j int) float64) []uint64 {
	out := make([]uint64, m.steps)
	for j := range out {
		if out[j] = math.Float64bits(entry(j)); m.bits == 23 {
			out[j] = uint64(math.Float32bits(float32(entry(j))))
		}
	}
	return out
}

// powers is the table of 2^(j/steps) rounded, powersRest that of its relative errors.
func (m format) powers() []uint64 {
	return m.table(func(j int) float64 { hi, _ := m.stepOf(j); return hi })
}

func (m format) powersRest() []uint64 {
	return m.table(func(j int) float64 { _, rest := m.stepOf(j); return rest })
}

// scaled is 2^(k/steps), which must be a normal number. In t, k = steps n + j stands in the last bits;
// moved up they are n in the exponent and j below it, which the table has less of.
func (f *formula) scaled(t, index value) value {
	m := f.format()
	table := m.powers()
	for j := range table {
		table[j] -= uint64(j) << (m.bits - m.logSteps)
	}
	return f.addBits(f.lookup(table, index), f.shiftBits(t, m.bits-m.logSteps))
}

// decay is exp(-a) = (high + low)/scale for a >= 0, for use beside 1: where a > far, and where
// exp(-a) may be subnormal, it is too large by 2^shift.
type decay struct {
	negated   value // -a, no less than a bound behind underflow
	s, y      value // high is s (1 + y)
	high, low value
}

// bound is an a whose exp(-a) times any number of functions that decay is 0.
func (m format) bound() float64 { return -1.1 * m.underflow }

// decay of the number whose negative is -a; low is added to that if it is not -1.
func (f *formula) decay(negated, low value) decay {
	m := f.format()
	e := f.power(negated, low)
	if f.near {
		s := f.scaled(e.t, e.index)
		high := f.fma(s, e.y, s)
		return decay{negated, s, e.y, high, f.low(f.fma(s, e.y, f.sub(s, high)))}
	}
	isFar := f.less(negated, f.number(-m.far))
	shifted := f.add(e.t, f.number(m.shift*float64(m.steps)))
	s := f.scaled(f.pick(isFar, shifted, e.t), e.index)
	high := f.fma(s, e.y, s)
	return decay{negated, s, e.y, high, f.low(f.fma(s, e.y, f.sub(s, high)))}
}

// farScale is what takes the scale of a decay away again, for negative x: 1 or 2^-shift.
func (f *formula) farScale(x value) value {
	m := f.format()
	if f.near {
		return f.number(1)
	}
	return f.pick(f.less(x, f.number(-m.far)), f.number(math.Ldexp(1, -int(m.shift))), f.number(1))
}

// scaleOrZero is farScale, 0 where exp(-at) is.
func (f *formula) scaleOrZero(at value) value {
	if f.near {
		return f.number(1)
	}
	return f.pick(f.less(f.number(-f.format().bound()), at), f.farScale(at), f.zero())
}

// negate is -|x|.
func (f *formula) negate(x value) value { return f.or(x, f.bits(f.signBit())) }

// minus is -|x|, bounded its value no less than -bound.
func (f *formula) minus(x value) (negated, bounded value) {
	negated = f.negate(x)
	if f.near {
		return negated, negated
	}
	return negated, f.max(f.number(-f.format().bound()), negated)
}

// quotient is n/(1 + d) = q + rest, both n and d sums of two numbers.
func (f *formula) quotient(n, nLow, d, dLow value) (q, rest, r value) {
	one := f.number(1)
	high := f.add(one, d)
	low := f.add(f.sub(d, f.sub(high, one)), dLow) // what the sum was rounded by
	r = f.div(one, high)
	q = f.mul(n, r)
	rest = f.fnma(q, low, f.fnma(q, high, n))
	return q, f.add(rest, nLow), r
}
