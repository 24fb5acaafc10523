package kernel

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// unary are the functions of one number under test by name.
func unary[T Float]() map[string]func(s isa, dst, src []T) {
	functions := map[string]func(s isa, dst, src []T){
		"Exp": exp[T], "Sigmoid": sigmoid[T], "Tanh": tanh[T], "SiLU": silu[T], "Softplus": softplus[T],
		"Elu": func(s isa, dst, src []T) { elu(s, dst, src, 1) },
		"Erf": erf[T], "Gelu": gelu[T], "GeluTanh": geluTanh[T], "Mish": mish[T], "Softsign": softsign[T], "HardSwish": hardSwish[T],
		"HardSigmoid": func(s isa, dst, src []T) { hardSigmoid(s, dst, src, T(float32(0.2)), 0.5) },
	}
	if f, ok := any(xLogX).(func(s isa, dst, src []T)); ok { // of float64
		functions["XLogX"] = f
	}
	return functions
}

// everyFloat32 is the environment variable that makes TestFloat32Accuracy run over all
// numbers; it takes about half a minute a function. The assembly's functions of float64 are the judges
// then (TestFloat64Accuracy is theirs): they are faster than package math.
const everyFloat32 = "PHO_EVERY_FLOAT32"

// TestFloat32Accuracy: no float32 result is off by more than 1 unit in the last place, the
// formulas in float64 being the judges, and 0, infinities and NaN are theirs.
func TestFloat32Accuracy(t *testing.T) {
	stride, judge := uint64(2003), plain
	if testing.Short() {
		stride = 40009
	}
	if os.Getenv(everyFloat32) != "" {
		stride, judge = 1, best()
	}
	s := best()
	if s == plain {
		t.Skip("no assembly on this machine")
	}
	for name, f := range unary[float32]() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worst, at := 0.5, float32(0)
			const block = 1 << 12
			x, y := make([]float32, block), make([]float32, block)
			wide, want := make([]float64, block), make([]float64, block)
			for bits := uint64(0); bits < 1<<32; {
				n := 0
				for ; n < block && bits < 1<<32; bits += stride {
					x[n] = math.Float32frombits(uint32(bits))
					wide[n] = float64(x[n])
					n++
				}
				f(s, y[:n], x[:n])
				unary[float64]()[name](judge, want[:n], wide[:n])
				for i, z := range y[:n] {
					if z == float32(want[i]) && z != 0 {
						continue // nearest
					}
					if e := off32(z, want[i]); e > worst {
						worst, at = e, x[i]
					}
				}
			}
			t.Logf("%s: %.3f ulp at %v", name, worst, at)
			if worst > 1 {
				y := []float32{at}
				f(s, y, y)
				w := []float64{float64(at)}
				unary[float64]()[name](plain, w, w)
				t.Errorf("%s(%v) is %v, want %v: %.3f ulp off", name, at, y[0], w[0], worst)
			}
		})
	}
}

// off32 is the distance of y from the number z in units of the last place of a float32 there.
func off32(y float32, z float64) float64 {
	nearest := float32(z)
	switch {
	case nearest == 0 && y == 0:
		if math.Signbit(float64(y)) != math.Signbit(z) {
			return math.Inf(1)
		}
		return 0
	case same(y, nearest):
		if nearest != nearest || math.IsInf(z, 0) {
			return 0
		}
	case y != y || z != z || math.IsInf(float64(y), 0) != math.IsInf(float64(nearest), 0):
		return math.Inf(1)
	}
	if math.IsInf(float64(y), 0) {
		return 0
	}
	a := math.Abs(float64(nearest))
	return math.Abs(float64(y)-z) / (float64(math.Nextafter32(float32(a), float32(math.Inf(1)))) - a)
}

// TestFunctionsSetsAgree: AVX2 gives the bits of AVX-512, for numbers of all magnitudes and
// special ones.
func TestFunctionsSetsAgree(t *testing.T) {
	if best() < avx512 {
		t.Skip("this machine does not run avx512")
	}
	functionsSetsAgree[float64](t)
	functionsSetsAgree[float32](t)
}

func functionsSetsAgree[T Float](t *testing.T) {
	v := everywhere[T](rand.New(rand.NewPCG(3, 4)), 100_000)
	for name, f := range unary[T]() {
		x, y := make([]T, len(v)), make([]T, len(v))
		f(avx2, x, v)
		f(avx512, y, v)
		for i := range v {
			if !same(x[i], y[i]) {
				t.Fatalf("%s(%v) is %v with AVX2, %v with AVX-512", name, v[i], x[i], y[i])
			}
		}
	}
}

// TestFunctionsOfSpecialNumbers: zeros keep their signs, results that are not finite agree
// with the formulas, and numbers at which one formula gives way to the next have a result, too.
func TestFunctionsOfSpecialNumbers(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		specialNumbers[float64](t, s, math.SmallestNonzeroFloat64, math.MaxFloat64)
		specialNumbers[float32](t, s, math.SmallestNonzeroFloat32, math.MaxFloat32)
	})
}

func specialNumbers[T Float](t *testing.T, s isa, tiny, huge T) {
	inf := math.Inf(1)
	numbers := []T{0, T(math.Copysign(0, -1)), T(inf), T(-inf), T(math.NaN()), huge, -huge, tiny, -tiny, 1000, -1000, -1e6}
	for _, edge := range []float32{0.55, 1, 3, 3.28, 7.49, 70} { // where formulas change over
		for x := math.Nextafter32(edge, 0); x <= math.Nextafter32(edge, 100); x = math.Nextafter32(x, 100) {
			numbers = append(numbers, T(x), T(-x))
		}
	}
	for _, x := range numbers {
		for name, f := range unary[T]() {
			y, want := []T{x}, []float64{float64(x)}
			f(s, y, y)
			unary[float64]()[name](plain, want, want)
			if ulps(y[0], T(want[0])) > 40 { // package math's formulas cancel, some of them
				t.Errorf("%T, %v: %s(%v) is %v, want %v", x, s, name, x, y[0], T(want[0]))
			}
		}
	}
}

// TestFunctionsAnywhere: the same number gives the same bits wherever it stands, and
// nothing beside the result is written.
func TestFunctionsAnywhere(t *testing.T) {
	eachISA(t, func(t *testing.T, s isa) {
		functionsAnywhere[float64](t, s)
		functionsAnywhere[float32](t, s)
	})
}

func functionsAnywhere[T Float](t *testing.T, s isa) {
	rng := rand.New(rand.NewPCG(8, 1))
	for name, f := range unary[T]() {
		for n := range 70 {
			from, to := newGuarded[T](n, rng.IntN(16)), newGuarded[T](n, rng.IntN(16))
			copy(from.v, everywhere[T](rng, n))
			f(s, to.v, from.v)
			for i, x := range from.v {
				one := []T{x}
				if f(s, one, one); !same(one[0], to.v[i]) {
					t.Fatalf("%T, %v: %s(%v) is %v at %d of %d, alone %v", x, s, name, x, to.v[i], i, n, one[0])
				}
			}
			from.check(t)
			to.check(t)
		}
	}
}
