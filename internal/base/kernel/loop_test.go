package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// elementwise are the functions of one slice: as it runs, what it computes, and
// the units in the last place it may be off (0: the same bits).
type elementwise[T Float] struct {
	name string
	run  func(s isa, dst, src []T)
	want func(x T) T
	ulps float64
}

func elementwiseFunctions[T Float]() []elementwise[T] {
	math1 := func(f func(float64) float64) func(T) T { return func(x T) T { return T(f(float64(x))) } }
	return []elementwise[T]{
		{"Relu", relu[T], func(x T) T {
			if x < 0 {
				return 0
			}
			return x
		}, 0},
		{"LeakyRelu", func(s isa, dst, src []T) { leakyRelu(s, dst, src, 0.125) }, func(x T) T {
			if x < 0 {
				return 0.125 * x
			}
			return x
		}, 0},
		{"Clip to 0 and 6", clipTo[T](0, 6), clipped[T](0, 6), 0},
		{"Clip to -0.5 and a half", clipTo[T](-0.5, 0.5), clipped[T](-0.5, 0.5), 0},
		{"Clip to 2 and 1", clipTo[T](2, 1), clipped[T](2, 1), 0},
		{"Clip from below", clipTo(-1, T(math.Inf(1))), clipped(-1, T(math.Inf(1))), 0},
		// The reference may be off by 1 itself. TestFloat32Accuracy and TestFloat64Accuracy have
		// better ones.
		{"Exp", exp[T], math1(math.Exp), 2},
		{"Sigmoid", sigmoid[T], math1(logistic), 4},
		{"Tanh", tanh[T], math1(math.Tanh), 3},
	}
}

func clipTo[T Float](lo, hi T) func(s isa, dst, src []T) {
	return func(s isa, dst, src []T) { clip(s, dst, src, lo, hi) }
}

func clipped[T Float](lo, hi T) func(T) T {
	return func(x T) T {
		switch {
		case x > hi || x < lo && lo > hi:
			return hi
		case x < lo:
			return lo
		}
		return x // NaN, too
	}
}

// lastExp is where the last of the finite results begin that math.Exp takes for
// infinite on amd64 (Go 1.26): no reference for the others.
const lastExp, overflowExp = 709.4, 709.782712893384

// ulps is the distance of x from y in units of y's last place.
func ulps[T Float](x, y T) float64 {
	switch {
	case same(x, y):
		return 0
	case x != x || y != y || math.IsInf(float64(x), 0) || math.IsInf(float64(y), 0):
		return math.Inf(1)
	}
	var unit float64
	if sizeOf[T]() == 8 {
		unit = math.Nextafter(math.Abs(float64(y)), math.Inf(1)) - math.Abs(float64(y))
	} else {
		z := float32(math.Abs(float64(y)))
		unit = float64(math.Nextafter32(z, float32(math.Inf(1)))) - float64(z)
	}
	return math.Abs(float64(x)-float64(y)) / unit
}

func checkElementwise[T Float](t testing.TB, s isa, src []T, off int) {
	t.Helper()
	for _, f := range elementwiseFunctions[T]() {
		for _, inPlace := range []bool{false, true} {
			from, dst := newGuarded[T](len(src), off), newGuarded[T](len(src), off/2)
			copy(from.v, src)
			if inPlace {
				dst = from
			}
			f.run(s, dst.v, from.v)
			for i, x := range src {
				if f.name == "Exp" && s != plain && x > lastExp && x <= overflowExp {
					if want := math.Exp(float64(x)-10) * math.Exp(10); sizeOf[T]() == 8 && ulps(dst.v[i], T(want)) > 5 {
						t.Fatalf("%v Exp(%v) is %v, want %v", s, x, dst.v[i], want)
					}
					continue
				}
				if want := f.want(x); ulps(dst.v[i], want) > f.ulps {
					t.Fatalf("%v %s(%v) is %v, want %v (%.1f ulp off)", s, f.name, x, dst.v[i], want, ulps(dst.v[i], want))
				}
			}
			from.check(t)
			dst.check(t)
		}
	}
}

// everywhere draws numbers of all magnitudes, and now and then a special one.
func everywhere[T Float](rng *rand.Rand, n int) []T {
	v := make([]T, n)
	for i := range v {
		switch rng.IntN(5) {
		case 0:
			awkward(rng, v[i:i+1], true)
		case 1:
			v[i] = T(math.Float64frombits(rng.Uint64()))
		case 2:
			v[i] = T((rng.Float64() - 0.5) * 1520)
		case 3:
			v[i] = T(math.Ldexp(rng.Float64()-0.5, -rng.IntN(60)))
		default:
			v[i] = T((rng.Float64() - 0.5) * 50)
		}
	}
	return v
}

func TestElementwise(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(1, 2))
		for n := range 150 {
			checkElementwise(t, s, everywhere[float64](rng, n), n%8)
			checkElementwise(t, s, everywhere[float32](rng, n), n%16)
		}
		checkElementwise(t, s, everywhere[float64](rng, 100_000), 0)
		checkElementwise(t, s, everywhere[float32](rng, 100_000), 0)
		checkElementwise(t, s, []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(),
			709.78271289338397, 709.8, 710, -708.4, -745.13, -745.2, -750, -1e300, 1e300, 5e-324, -5e-324, 22, -22, 1e-8,
			0.34657359027997264, -0.34657359027997264, math.MaxFloat64, 2.2250738585072014e-308}, 0)
	})
}

// The same value gives the same bits wherever it stands.
func TestElementwisePositions(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		for _, f := range elementwiseFunctions[float32]() {
			for n := 1; n < 70; n++ {
				v := make([]float32, n)
				for i := range v {
					v[i] = -0.7
				}
				f.run(s, v, v)
				one := []float32{-0.7}
				f.run(s, one, one)
				for i, x := range v {
					if x != one[0] {
						t.Fatalf("%s: element %d of %d is %v, alone %v", f.name, i, n, x, one[0])
					}
				}
			}
		}
	})
}

func checkLarger[T Float](t testing.TB, s isa, rng *rand.Rand, n int) {
	t.Helper()
	a, b, dst := newGuarded[T](n, rng.IntN(16)), newGuarded[T](n, rng.IntN(16)), newGuarded[T](n, rng.IntN(16))
	copy(a.v, everywhere[T](rng, n))
	copy(b.v, everywhere[T](rng, n))
	x, y := slices.Clone(a.v), slices.Clone(b.v)
	all := []*guarded[T]{a, b, dst}
	into := all[rng.IntN(3)]
	larger(s, into.v, a.v, b.v)
	for i, got := range into.v {
		right := got == max(x[i], y[i])
		if x[i] != x[i] || y[i] != y[i] { // NaN
			right = same(got, x[i]) || same(got, y[i])
		}
		if !right {
			t.Fatalf("%v: the larger of %v and %v (element %d of %d) is %v", s, x[i], y[i], i, n, got)
		}
	}
	for _, g := range all {
		g.check(t)
	}
}

func checkArithmetic[T Float](t testing.TB, s isa, rng *rand.Rand, n int) {
	t.Helper()
	for name, op := range map[string]struct {
		run  func(s isa, dst, a, b []T)
		want func(x, y T) T
	}{
		"Add": {add[T], func(x, y T) T { return x + y }},
		"Sub": {sub[T], func(x, y T) T { return x - y }},
		"Mul": {mul[T], func(x, y T) T { return x * y }},
		"Div": {div[T], func(x, y T) T { return x / y }},
	} {
		for _, form := range [][2]int{{n, n}, {n, 1}, {1, n}, {1, 1}} {
			for into := range 3 {
				a, b := newGuarded[T](form[0], rng.IntN(16)), newGuarded[T](form[1], rng.IntN(16))
				copy(a.v, everywhere[T](rng, form[0]))
				copy(b.v, everywhere[T](rng, form[1]))
				dst := newGuarded[T](n, rng.IntN(16))
				x, y := append([]T{}, a.v...), append([]T{}, b.v...)
				if into == 1 && form[0] == n {
					dst = a
				} else if into == 2 && form[1] == n {
					dst = b
				}
				if n == 0 && (form[0] == 0 || form[1] == 0) && form[0]+form[1] > 0 || n > 0 {
					op.run(s, dst.v, a.v, b.v)
				}
				for i, got := range dst.v {
					if want := op.want(x[i%form[0]], y[i%form[1]]); !same(got, want) {
						t.Fatalf("%v %s of %d and %d into %d: element %d is %v, want %v", s, name, form[0], form[1], into, i, got, want)
					}
				}
				for _, g := range []*guarded[T]{a, b, dst} {
					g.check(t)
				}
			}
		}
	}
	checkLarger[T](t, s, rng, n)
	// Sums: one rounding each in any order, so within n roundings of the terms.
	a, b := newGuarded[T](n, rng.IntN(16)), newGuarded[T](n, rng.IntN(16))
	awkward(rng, a.v, false)
	awkward(rng, b.v, false)
	sum, abs, epsilon := 0.0, 0.0, math.Ldexp(1, -23)
	if sizeOf[T]() == 8 {
		epsilon = math.Ldexp(1, -52)
	}
	for i, x := range a.v {
		sum += float64(x) * float64(b.v[i])
		abs += math.Abs(float64(x) * float64(b.v[i]))
	}
	if got := float64(dot(s, a.v, b.v)); !(math.Abs(got-sum) <= float64(n)*epsilon*abs) {
		t.Fatalf("%v Dot of %d is %v, want %v", s, n, got, sum)
	}
	start := append([]T{}, a.v...)
	axpy(s, a.v, b.v, -1.7)
	for i, got := range a.v {
		if want := mulAdd[T](s)(b.v[i], -1.7, start[i]); !same(got, want) {
			t.Fatalf("%v Axpy of %d: element %d is %v, want %v", s, n, i, got, want)
		}
	}
	a.check(t)
}

func TestArithmetic(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		rng := rand.New(rand.NewPCG(5, 6))
		for n := range 140 {
			checkArithmetic[float64](t, s, rng, n)
			checkArithmetic[float32](t, s, rng, n)
		}
	})
}

func TestIntegerArithmetic(t *testing.T) {
	for n := range 40 {
		a, dst := make([]int64, n), make([]int64, n)
		for i := range a {
			a[i] = int64(i) << 40
		}
		Add(dst, a, []int64{3})
		Mul(dst, dst, a)
		Sub(dst, dst, a)
		for i, x := range a {
			if want := (x+3)*x - x; dst[i] != want {
				t.Fatalf("element %d of %d is %d, want %d", i, n, dst[i], want)
			}
		}
	}
}

func FuzzElementwise(f *testing.F) {
	f.Add(uint64(1), uint8(100), 1.5)
	f.Add(uint64(2), uint8(9), -745.13)
	f.Fuzz(func(t *testing.T, seed uint64, n uint8, x float64) {
		rng := rand.New(rand.NewPCG(seed, 9))
		v, single := everywhere[float64](rng, int(n)), everywhere[float32](rng, int(n))
		v, single = append(v, x), append(single, float32(x))
		for _, s := range supported() {
			checkElementwise(t, s, v, int(seed%8))
			checkElementwise(t, s, single, int(seed%16))
			checkArithmetic[float64](t, s, rng, int(n))
			checkArithmetic[float32](t, s, rng, int(n))
		}
	})
}

func benchElementwise[T Float](b *testing.B, name string) {
	rng := rand.New(rand.NewPCG(1, 2))
	src, dst := make([]T, 4096), make([]T, 4096)
	for i := range src {
		src[i] = T(rng.NormFloat64())
	}
	run := func(s isa, what string, f func()) {
		b.Run(fmt.Sprintf("%s/%s/%v", what, name, s), func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/4096, "ns/value")
		})
	}
	for _, s := range supported() {
		for _, f := range elementwiseFunctions[T]() {
			run(s, f.name, func() { f.run(s, dst, src) })
		}
		run(s, "Add", func() { add(s, dst, src, src) })
	}
}

func BenchmarkElementwise(b *testing.B) {
	benchElementwise[float64](b, "float64")
	benchElementwise[float32](b, "float32")
}
