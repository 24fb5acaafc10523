package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// deBoor is the recurrence on the knots lo + i h, i = -3, -2, ...
func deBoor(x, lo, h float64, i, d int) float64 {
	knot := func(i int) float64 { return lo + float64(i)*h }
	if d == 0 {
		if x >= knot(i) && x < knot(i+1) {
			return 1
		}
		return 0
	}
	return (x-knot(i))/(float64(d)*h)*deBoor(x, lo, h, i, d-1) + (knot(i+d+1)-x)/(float64(d)*h)*deBoor(x, lo, h, i+1, d-1)
}

func TestSplines(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		intervals := 1 + rng.IntN(30)
		lo := rng.NormFloat64()
		hi := lo + rng.ExpFloat64()
		x := make([]float64, n)
		for i := range x {
			if x[i] = lo + (hi-lo)*rng.Float64(); rng.IntN(8) == 0 {
				x[i] = []float64{lo, hi}[rng.IntN(2)]
			}
			x[i] = min(max(x[i], lo), hi)
		}
		outside := n > 0 && rng.IntN(4) == 0
		if outside {
			x[rng.IntN(n)] = []float64{math.Nextafter(lo, -9), math.Nextafter(hi, 9), math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(5)]
		}
		scale := float64(intervals) / (hi - lo)
		want, wantFirst := make([]float64, Band*n), make([]int32, n)
		if got := splines(plain, wantFirst, want, x, lo, hi, scale, intervals); got == outside {
			t.Fatalf("plain: all within is %v", got)
		}
		for _, s := range supported() {
			value, first := newGuarded[float64](Band*n, rng.IntN(8)), make([]int32, n)
			if got := splines(s, first, value.v, x, lo, hi, scale, intervals); got == outside {
				t.Fatalf("%v: all within is %v", s, got)
			}
			value.check(t)
			if !outside && (!slices.Equal(value.v, want) || !slices.Equal(first, wantFirst)) {
				t.Fatalf("%v: %v %v, want %v %v", s, first, value.v, wantFirst, want)
			}
		}
		for i, v := range x {
			if outside || v == hi {
				break
			}
			for l := range Band {
				exact := deBoor(v, lo, (hi-lo)/float64(intervals), int(wantFirst[i])+l-3, 3)
				if math.Abs(want[Band*i+l]-exact) > 1e-13+1e-15*scale*max(math.Abs(lo), math.Abs(hi)) {
					t.Fatalf("x %v in %v to %v: function %d is %v, want %v", v, lo, hi, l, want[Band*i+l], exact)
				}
			}
		}
	}
}

func TestBandNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for n := range 40 {
		for range 20 {
			v := newGuarded[float64](Band*n, rng.IntN(8))
			awkward(rng, v.v, false)
			if n > 0 && rng.IntN(3) == 0 {
				v.v[rng.IntN(Band*n)] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e300}[rng.IntN(4)]
			}
			want := 0.0
			for i := range n {
				s := 0.0
				for _, x := range v.v[Band*i:][:Band] {
					s += math.Abs(x)
				}
				want = max(want, s+(s-s))
			}
			for _, s := range supported() {
				if got := bandNorm(s, v.v); !(got != got && want != want) && math.Abs(got-want) > 1e-14*want {
					t.Fatalf("%v: %v, want %v", s, got, want)
				}
			}
		}
	}
}

func TestBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	for n := range 70 {
		for range 10 {
			v := newGuarded[float64](n, rng.IntN(8))
			awkward(rng, v.v, false)
			bad := n > 0 && rng.IntN(3) == 0
			if bad {
				v.v[rng.IntN(n)] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
			}
			for _, s := range supported() {
				lo, hi, finite := bounds(s, v.v)
				if finite == bad {
					t.Fatalf("%v: finite is %v", s, finite)
				}
				if !bad && n > 0 && (lo != slices.Min(v.v) || hi != slices.Max(v.v)) {
					t.Fatalf("%v: %v to %v, want %v to %v", s, lo, hi, slices.Min(v.v), slices.Max(v.v))
				}
			}
		}
	}
	if lo, hi, finite := Bounds(nil); lo != math.Inf(1) || hi != math.Inf(-1) || !finite {
		t.Errorf("of nothing: %v to %v, %v", lo, hi, finite)
	}
}
