package main

import (
	"math"
	"slices"
)

// formula is a function of one vector as a list of steps, each of which makes one value of
// values before it. Registers and instructions are chosen later: see code. The steps
// of avx2 and avx512 are the same arithmetic in the same order, so that their results are
// the same bits.
type formula struct {
	v     vector
	steps []step
	far   *value // mask of the lanes that it is not meant for
	near  bool   // exp(-|x|) is a normal number in all others
}

// value is the number of the step that makes it.
type value int

type step struct {
	op    string
	args  []value
	imm   int
	bits  []uint64 // of a constant (one), or of a table
	mask  bool     // the value is a mask
	taken int      // steps that read the value
}

func (f *formula) add1(s step) value {
	for i, have := range f.steps {
		if have.op == s.op && have.imm == s.imm && slices.Equal(have.args, s.args) && slices.Equal(have.bits, s.bits) {
			return value(i)
		}
	}
	for _, a := range s.args {
		f.steps[a].taken++
	}
	f.steps = append(f.steps, s)
	return value(len(f.steps) - 1)
}

func (f *formula) do(op string, args ...value) value { return f.add1(step{op: op, args: args}) }

// x is the argument. It is read once, before everything else.
func (f *formula) x() value { return f.do("x") }

// scalar is a loop's first or second scalar.
func (f *formula) scalar(i int) value { return f.add1(step{op: "scalar", imm: i}) }

// add, sub, mul, fma and fnma leave out what is the constant 0, mul a last factor of 1: low
// parts and scales that a precision, or a number that is near, does without are that.
func (f *formula) add(a, b value) value {
	switch {
	case f.isZero(a):
		return b
	case f.isZero(b):
		return a
	}
	return f.do("VADD", a, b)
}

func (f *formula) sub(a, b value) value {
	if f.isZero(b) {
		return a
	}
	return f.do("VSUB", a, b)
}

func (f *formula) mul(a, b value) value {
	switch {
	case f.isZero(a) || f.isZero(b):
		return f.zero()
	case b == f.number(1):
		return a
	}
	return f.do("VMUL", a, b)
}

// fma is ab + c.
func (f *formula) fma(a, b, c value) value {
	switch {
	case f.isZero(a) || f.isZero(b):
		return c
	case f.isZero(c):
		return f.mul(a, b)
	}
	return f.do("VFMADD", a, b, c)
}

// fnma is c - ab.
func (f *formula) fnma(a, b, c value) value {
	if f.isZero(a) || f.isZero(b) {
		return c
	}
	return f.do("VFNMADD", a, b, c)
}

// fms is ab - c.
func (f *formula) fms(a, b, c value) value { return f.do("VFMSUB", a, b, c) }

func (f *formula) isZero(a value) bool {
	s := f.steps[a]
	return s.op == "constant" && s.bits[0] == 0
}

func (f *formula) zero() value { return f.bits(0) }

// low is what a number was rounded by. The bound of float64 leaves room for some of these.
func (f *formula) low(rest value) value {
	if f.v.double {
		return f.zero()
	}
	return rest
}

func (f *formula) div(a, b value) value { return f.do("VDIV", a, b) }
func (f *formula) and(a, b value) value { return f.do("VAND", a, b) }
func (f *formula) or(a, b value) value  { return f.do("VOR", a, b) }

// min and max are b if either is NaN.
func (f *formula) min(a, b value) value { return f.do("VMIN", a, b) }
func (f *formula) max(a, b value) value { return f.do("VMAX", a, b) }

// addBits and shiftBits are arithmetic of integers.
func (f *formula) addBits(a, b value) value { return f.do("VPADD", a, b) }
func (f *formula) shiftBits(a value, n int) value {
	return f.add1(step{op: "VPSLL", args: []value{a}, imm: n})
}

// shiftRight fills up with zeros.
func (f *formula) shiftRight(a value, n int) value {
	return f.add1(step{op: "VPSRL", args: []value{a}, imm: n})
}

func (f *formula) less(a, b value) value {
	return f.add1(step{op: "less", args: []value{a, b}, mask: true})
}

// negative is the mask of the lanes whose sign bit is set. AVX2 blends by sign bits.
func (f *formula) negative(a value) value {
	if f.v.bytes == 32 {
		return a
	}
	return f.add1(step{op: "negative", args: []value{a}, mask: true})
}

// pick is a where the mask is set, b elsewhere.
func (f *formula) pick(mask, a, b value) value {
	if a == b {
		return a
	}
	return f.do("pick", mask, a, b)
}

// number is a constant; bits is one by its bits.
func (f *formula) number(x float64) value {
	if f.v.double {
		return f.bits(math.Float64bits(x))
	}
	return f.bits(uint64(math.Float32bits(float32(x))))
}

func (f *formula) bits(b uint64) value {
	return f.add1(step{op: "constant", bits: []uint64{b}})
}

// lookup is the element of a table that the last bits of an index tell, 8 numbers
// of float32 or 4 of float64. index prepares them.
func (f *formula) lookup(table []uint64, index value) value {
	return f.add1(step{op: "lookup", args: []value{index}, bits: table})
}

func (f *formula) index(t value) value {
	if f.v.name == neonName {
		return f.add1(step{op: "index", args: []value{t}, imm: neonBytes})
	}
	if !f.v.double || f.v.bytes == 64 {
		return t
	}
	// AVX2 looks up 32 bits at a time: two neighbours make a float64.
	low := f.add1(step{op: "VPSHUFD", args: []value{t}, imm: 0xa0})
	return f.or(f.addBits(low, low), f.bits(1<<32))
}

// abs and sign take a value apart.
func (f *formula) abs(a value) value  { return f.and(a, f.bits(f.signBit()-1)) }
func (f *formula) sign(a value) value { return f.and(a, f.bits(f.signBit())) }

func (f *formula) signBit() uint64 {
	if f.v.double {
		return 1 << 63
	}
	return 1 << 31
}

// polynomial is one of coefficients.go. Even and odd powers are summed beside each
// other: half as long to wait for.
func (f *formula) polynomial(name string, x value) value { return f.horner(f.coefficients(name), x) }

func (f *formula) coefficients(name string) []float64 {
	c := polynomials[f.v.double][name]
	if c == nil {
		panic("no polynomial " + name)
	}
	return c
}

const longPolynomial = 7

func (f *formula) horner(c []float64, x value) value {
	if len(c) > longPolynomial {
		var halves [2][]float64
		for i, v := range c {
			halves[i%2] = append(halves[i%2], v)
		}
		square := f.mul(x, x)
		odd := f.steps1(halves[1], square)
		return f.fma(odd, x, f.steps1(halves[0], square))
	}
	return f.steps1(c, x)
}

func (f *formula) steps1(c []float64, x value) value {
	sum := f.number(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		sum = f.fma(sum, x, f.number(c[i]))
	}
	return sum
}
