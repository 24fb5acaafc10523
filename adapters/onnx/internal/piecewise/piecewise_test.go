package piecewise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/internal/base/kernel"
)

// drawn are layers as PyTorch begins with, of units that bend at about shift.
func drawn(rng *rand.Rand, shift, scale float64, below float64, widths ...int) (layers []Layer) {
	for i, n := range widths[1:] {
		k := widths[i]
		l := Layer{In: k, Out: n, Below: below}
		for range k * n {
			l.W = append(l.W, rng.NormFloat64()/math.Sqrt(float64(k)))
		}
		for j := range n {
			b := rng.NormFloat64()
			if i == 0 {
				l.W[j] *= scale
				b = scale * (b - shift*l.W[j]/scale)
				if rng.IntN(8) == 0 {
					l.W[j], b = 0, -1
				}
			}
			l.B = append(l.B, b)
		}
		if i == len(widths)-2 {
			l.Below = 1
		}
		layers = append(layers, l)
	}
	return layers
}

// bound is how large the sums of the layers may be: what their rounding is relative to.
func bound(layers []Layer, x float64) float64 {
	in, most := []float64{math.Abs(x)}, 0.0
	for _, l := range layers {
		out := make([]float64, l.Out)
		for j := range out {
			out[j] = math.Abs(l.B[j])
			for k, v := range in {
				out[j] += v * math.Abs(l.W[k*l.Out+j])
			}
		}
		in = out
	}
	for _, v := range in {
		most = max(most, v)
	}
	return most
}

// The pieces are the layers, anywhere: far out, at the bends and next to them.
func TestPiecesAreLayers(t *testing.T) {
	testPieces[float64](t, 0x1p-46)
	testPieces[float32](t, 0x1p-21)
}

func testPieces[T kernel.Float](t *testing.T, eps float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		shift, scale, below float64
		widths              []int
	}{
		{0, 1, 0, []int{1, 64, 64, 32, 1}},
		{2000, 1, 0, []int{1, 64, 64, 32, 1}},
		{0, 1e-6, 0, []int{1, 16, 16, 1}},
		{5, 1e4, 0, []int{1, 16, 16, 1}},
		{0, 1, 0.01, []int{1, 32, 32, 3}},
		{0, 1, -0.5, []int{1, 8, 8, 8, 2}},
		{0, 1, 0, []int{1, 1}},
		{0, 1, 0, []int{1, 200, 1}},
	} {
		layers := drawn(rng, c.shift, c.scale, c.below, c.widths...)
		budget := 1 << 30
		f := New(layers, &budget)
		if f == nil {
			t.Fatalf("%v: no function", c.widths)
		}
		if c.widths[1] == 64 && f.Pieces() < 64 {
			t.Errorf("%v: %d pieces", c.widths, f.Pieces())
		}
		table, m := NewTable[T](f), f.Outputs()
		var x []T
		for range 2000 {
			x = append(x, T(c.shift+rng.NormFloat64()/c.scale), T(rng.NormFloat64()*math.Exp(20*rng.NormFloat64())))
		}
		for _, b := range f.breaks {
			x = append(x, T(b), T(math.Nextafter(b, 9e99)), T(b)*(1+T(eps)), T(b)*(1-T(eps)))
		}
		x = append(x, 0, T(math.Copysign(0, -1)), 1e30, -1e30, 3e38, -3e38)
		got, want := make([]T, len(x)*m), make([]float64, m)
		table.Eval(got, m, x, 1, len(x))
		for r, v := range x {
			f.dense(want, float64(v))
			most := bound(layers, float64(v))
			for i := range want {
				if off := math.Abs(float64(got[r*m+i]) - want[i]); !(off <= eps*most) && most < math.MaxFloat32 {
					t.Fatalf("%v, %g: %g, layers %g, off by %.2g of %g", c, float64(v), float64(got[r*m+i]), want[i], off, most)
				}
			}
		}
	}
}

// NaN and infinite inputs give the results of the layers.
func TestNoPiece(t *testing.T) {
	layers := drawn(rand.New(rand.NewPCG(3, 4)), 0, 1, 0, 1, 8, 8, 2)
	budget := 1 << 30
	table := NewTable[float64](New(layers, &budget))
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300} {
		got, want := make([]float64, 2), make([]float64, 2)
		table.Eval(got, 2, []float64{x}, 1, 1)
		table.f.dense(want, x)
		for i := range want {
			if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
				t.Errorf("%g: %g, want %g", x, got, want)
			}
		}
	}
	if table.Eval(make([]float64, 2), 2, []float64{math.NaN()}, 1, 1); t.Failed() {
		return
	}
	got := make([]float64, 2)
	if table.Eval(got, 2, []float64{math.NaN()}, 1, 1); !math.IsNaN(got[0]) {
		t.Errorf("of NaN it is %g", got)
	}
}

// The budget bounds what pieces cost, and layers that reach too far have none.
func TestNoFunction(t *testing.T) {
	layers := drawn(rand.New(rand.NewPCG(5, 6)), 0, 1, 0, 1, 256, 256, 1)
	budget := 1 << 20
	if f := New(layers, &budget); f != nil {
		t.Errorf("%d pieces within the budget", f.Pieces())
	}
	layers[0].W[3], budget = 1e31, 1<<30
	if f := New(layers, &budget); f != nil {
		t.Error("slopes beyond the limit")
	}
}

// Bends that lie close together are found among those that do not.
func TestSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	l := Layer{In: 1, Out: 300}
	for j := range 300 {
		at := 5 + 1e-9*rng.Float64()
		if j%10 == 0 {
			at = 1e5 * rng.NormFloat64()
		}
		l.W, l.B = append(l.W, 1), append(l.B, -at)
	}
	budget := 1 << 30
	table := NewTable[float64](New([]Layer{l}, &budget))
	x := []float64{-1e9, 1e9, 5}
	for _, b := range table.f.breaks {
		x = append(x, b, math.Nextafter(b, math.Inf(1)), math.Nextafter(b, math.Inf(-1)))
	}
	for _, v := range x {
		want := 0
		for _, b := range table.f.breaks {
			if v > b {
				want++
			}
		}
		if got := table.piece(v); got != want {
			t.Errorf("%g is of piece %d, found %d", v, want, got)
		}
	}
}

func BenchmarkEval(b *testing.B) {
	rng := rand.New(rand.NewPCG(9, 10))
	budget := 1 << 30
	table := NewTable[float32](New(drawn(rng, 0, 1, 0, 1, 64, 64, 32, 1), &budget))
	x, y := make([]float32, 256), make([]float32, 256)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	for b.Loop() {
		table.Eval(y, 1, x, 1, len(x))
	}
}

func BenchmarkNew(b *testing.B) {
	layers := drawn(rand.New(rand.NewPCG(9, 10)), 0, 1, 0, 1, 64, 64, 32, 1)
	for b.Loop() {
		budget := 1 << 30
		New(layers, &budget)
	}
}

// Knots tell the pieces: values there equal the layers' up to rounding. On a side where a unit is constant, as
// rectifiers are, they are exactly that constant: a dead unit must not show variance.
func TestKnots(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, widths := range [][]int{{1, 64, 64, 32}, {1, 8}, {1, 1}, {1, 32, 16}} {
		layers := drawn(rng, 0.3, 1, 0, widths...)
		layers[len(layers)-1].Below = 0
		budget := 1 << 30
		f := New(layers, &budget)
		knots, values, before, behind := f.Knots()
		m, want := f.Outputs(), make([]float64, f.Outputs())
		if len(values) != m*len(knots) || len(before) != m || len(behind) != m {
			t.Fatalf("%v: %d knots with %d values", widths, len(knots), len(values))
		}
		for j, at := range knots {
			f.dense(want, at)
			for i, v := range values[j*m:][:m] {
				if off := math.Abs(v - want[i]); off > 0x1p-46*bound(layers, at) {
					t.Errorf("%v, knot %g, unit %d: %g, layers %g", widths, at, i, v, want[i])
				}
				for k := j; len(knots) == len(f.breaks) && k <= j+1; k++ {
					if constant := f.values[k*m+i]; f.slopes[k*m+i] == 0 && v != constant {
						t.Errorf("%v, knot %g, unit %d: %g beside a piece of %g", widths, at, i, v, constant)
					}
				}
			}
		}
	}
}
