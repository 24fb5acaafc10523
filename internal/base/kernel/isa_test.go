package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// supported are the instruction sets this machine can run, plain first.
func supported() []isa {
	var sets []isa
	for s := plain; s <= neon; s++ {
		if runs(s) {
			sets = append(sets, s)
		}
	}
	return sets
}

// runs tells whether this machine can run an instruction set.
func runs(s isa) bool {
	return s == plain || (s == neon) == (best() == neon) && s <= best()
}

// eachISA runs f once for each instruction set; those the machine lacks are
// reported as skipped.
func eachISA(t *testing.T, f func(t *testing.T, s isa)) {
	for s := plain; s <= neon; s++ {
		t.Run(s.String(), func(t *testing.T) {
			if !runs(s) {
				t.Skipf("this machine does not run %v", s)
			}
			f(t, s)
		})
	}
}

// fma is x*y + z rounded once: what one lane of the assembly computes.
func fma[T Float](x, y, z T) T {
	switch any(x).(type) {
	case float64:
		return T(math.FMA(float64(x), float64(y), float64(z)))
	}
	// The product of two float32 is exact in float64; the sum is rounded to
	// odd, so that rounding it again to float32 is rounding once.
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	if math.IsInf(s, 0) || math.IsNaN(s) {
		return T(s)
	}
	v := s - p
	rest := (p - (s - v)) + (c - v)
	if bits := math.Float64bits(s); rest != 0 && bits&1 == 0 {
		if (rest > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
		s = math.Float64frombits(bits)
	}
	return T(s)
}

// mulAdd is the multiply-add of an instruction set.
func mulAdd[T Float](s isa) func(x, y, z T) T {
	if s == plain {
		return func(x, y, z T) T { return z + T(x*y) }
	}
	return fma[T]
}

// same compares bits, but takes all NaNs for one.
func same[T Float](x, y T) bool {
	if x != x || y != y {
		return x != x && y != y
	}
	return math.Float64bits(float64(x)) == math.Float64bits(float64(y))
}

// guarded is memory of n values, off values after a 64 byte boundary, between
// values that must stay as they are.
type guarded[T Float] struct {
	v          []T
	all        []T
	from, size int
}

const guardBand = 40

func newGuarded[T Float](n, off int) *guarded[T] {
	g := &guarded[T]{all: make([]T, n+2*guardBand+80), size: n}
	base := uintptr(unsafe.Pointer(&g.all[guardBand]))
	g.from = guardBand + int(-base%64)/sizeOf[T]() + off
	for i := range g.all {
		g.all[i] = guardValue
	}
	g.v = g.all[g.from : g.from+n : g.from+n]
	return g
}

const guardValue = -12345.5

func (g *guarded[T]) check(t testing.TB) {
	t.Helper()
	for i, x := range g.all {
		if (i < g.from || i >= g.from+g.size) && x != guardValue {
			t.Fatalf("wrote %v at %d, outside of %d values", x, i-g.from, g.size)
		}
	}
}

// awkward values: many zeros as after a Relu, now and then what IEEE arithmetic
// treats in its own way.
func awkward[T Float](rng *rand.Rand, v []T, special bool) {
	tiny := T(math.SmallestNonzeroFloat64)
	if sizeOf[T]() == 4 {
		tiny = T(math.SmallestNonzeroFloat32)
	}
	for i := range v {
		switch v[i] = T(rng.NormFloat64()); {
		case rng.IntN(4) == 0:
			v[i] = 0
		case special && rng.IntN(40) == 0:
			v[i] = []T{T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1)), T(math.Copysign(0, -1)), tiny, -3 * tiny}[rng.IntN(6)]
		}
	}
}

// TestVectorSetsAgree: AVX2 gives the bits of AVX-512 in the functions that other tests
// know to rounding only. Those compare everything else with one multiply-add after
// the other, bit for bit.
func TestVectorSetsAgree(t *testing.T) {
	if !runs(avx512) {
		t.Skip("this machine does not run avx512")
	}
	vectorSetsAgree[float64](t)
	vectorSetsAgree[float32](t)
}

func vectorSetsAgree[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	for n := range 300 {
		a, b := make([]T, n), make([]T, n)
		awkward(rng, a, n%3 == 0)
		awkward(rng, b, false)
		for i := range a {
			a[i] *= T(math.Exp(6*rng.Float64() - 1))
		}
		if x, y := dot(avx2, a, b), dot(avx512, a, b); !same(x, y) {
			t.Fatalf("%T, %d numbers: Dot is %v and %v", x, n, x, y)
		}
		functions := unary[T]()
		functions["Axpy"] = func(s isa, dst, src []T) { axpy(s, dst, src, 1.7) }
		functions["LeakyRelu"] = func(s isa, dst, src []T) { leakyRelu(s, dst, src, 0.3) }
		for name, f := range functions {
			x, y := slices.Clone(b), slices.Clone(b)
			f(avx2, x, a)
			f(avx512, y, a)
			for i := range x {
				if !same(x[i], y[i]) {
					t.Fatalf("%T, %s of %v is %v and %v", x[i], name, a[i], x[i], y[i])
				}
			}
		}
	}
}
