package thinplate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/pho-go/pho/basis/internal/distinct"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plates has bases of all dimensions on n points, with their penalties.
func plates(t *testing.T, n int) (bases []*Basis, penalties []*mat.SymDense) {
	r := rand.New(rand.NewPCG(11, 1))
	for _, s := range []struct {
		d    int
		m, k int
	}{{1, 2, 10}, {1, 2, 25}, {1, 1, 6}, {1, 3, 11}, {1, 2, n}, {2, 2, 20}, {2, 3, 20}, {3, 3, 24}, {3, 2, 20}} {
		data := distinct.NewPoints(s.d, 2000)
		for range n {
			data.Add([]float64{3*r.Float64() - 1, r.NormFloat64(), 100 * r.Float64()}[:s.d]...)
		}
		data.Sort()
		b, penalty, err := construct(Space{s.d, s.m, s.k}, data, nil)
		must(t, err)
		bases, penalties = append(bases, b), append(penalties, penalty)
	}
	return bases, penalties
}

// TestThinPlateIsItsSum: fast evaluation is the sum over the points of weights
// times thin plate functions, inside and outside.
func TestThinPlateIsItsSum(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	bases, _ := plates(t, 60)
	for i, b := range bases {
		n, radial := len(b.points)/b.d, b.k-len(b.powers)
		for range 50 {
			x := []float64{5*r.Float64() - 2, 2 * r.NormFloat64(), 150 * r.Float64()}[:b.d]
			got := make([]float64, b.k)
			b.Evaluate(got, b.k, x)
			at := slices.Clone(x)
			floats.Sub(at, b.shift)
			want, size := make([]float64, b.k), make([]float64, b.k)
			for j := range n {
				eta := b.semiKernel(squaredDistance(at, b.points[j*b.d:(j+1)*b.d]))
				for l, w := range b.weights[j*radial : (j+1)*radial] {
					want[l] += w * eta
					size[l] += math.Abs(w * eta)
				}
			}
			for l := range radial {
				if math.Abs(got[l]-want[l]) > 1e-13*size[l] {
					t.Fatalf("basis %d (d = %d, m = %d), column %d at %v: %v, the sum is %v", i, b.d, b.m, l, x, got[l], want[l])
				}
			}
		}
	}
}

// TestThinPlateEndsInPolynomials: beyond the points a smooth of one column is a
// polynomial of degree m - 1, however far.
func TestThinPlateEndsInPolynomials(t *testing.T) {
	bases, _ := plates(t, 60)
	for i, b := range bases {
		if b.d > 1 {
			continue
		}
		for _, at := range []float64{-1e7, -30, 30, 1e7} {
			values := make([]float64, (b.m+1)*b.k)
			for j := range b.m + 1 {
				b.Evaluate(values[j*b.k:], b.k, []float64{at + at/8*float64(j)})
			}
			for l := range b.k { // the difference of order m
				difference, size := 0.0, 0.0
				for j := range b.m + 1 {
					v := values[j*b.k+l] * float64(choose(b.m, j)) * math.Pow(-1, float64(j))
					difference += v
					size += math.Abs(v)
				}
				if math.Abs(difference) > 1e-12*size {
					t.Errorf("basis %d, column %d near %v: a difference of order %d is %g of the values", i, l, at, b.m, difference/size)
				}
			}
		}
	}
}

// TestThinPlateWeightsAreOrthogonal to polynomials: without this the functions
// grow beyond the points and the penalty is no integral.
func TestThinPlateWeightsAreOrthogonal(t *testing.T) {
	bases, penalties := plates(t, 60)
	for i, b := range bases {
		n, radial := len(b.points)/b.d, b.k-len(b.powers)
		w := mat.NewDense(n, radial, b.weights)
		p := b.polynomials()
		var product mat.Dense
		product.Mul(p.T(), w)
		if size := mat.Norm(p, 2) * mat.Norm(w, 2); mat.Max(&product) > 1e-12*size || mat.Min(&product) < -1e-12*size {
			t.Errorf("basis %d: T'delta = %v", i, mat.Formatted(&product))
		}
		for j := radial; j < b.k; j++ {
			for l := range b.k {
				if penalties[i].At(j, l) != 0 {
					t.Errorf("basis %d: the polynomial %v is penalised", i, b.powers[j-radial])
				}
			}
		}
	}
}

// TestThinPlatePenaltyIsTheIntegral of the squared second derivative, in one
// dimension, where f is a natural cubic spline; in any number of dimensions it is
// delta'E delta.
func TestThinPlatePenaltyIsTheIntegral(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 1))
	bases, penalties := plates(t, 60)
	for i, b := range bases {
		a := mat.NewVecDense(b.k, nil)
		for j := range b.k {
			a.SetVec(j, r.NormFloat64())
		}
		got := mat.Inner(a, penalties[i], a)
		n, radial := len(b.points)/b.d, b.k-len(b.powers)
		var delta mat.VecDense
		delta.MulVec(mat.NewDense(n, radial, b.weights), a.SliceVec(0, radial))
		e := b.allDistances()
		if want := mat.Inner(&delta, e, &delta); math.Abs(got/want-1) > 1e-6 {
			t.Errorf("basis %d: a'Sa = %v, delta'E delta = %v", i, got, want)
		}
		if b.d > 1 || b.m != 2 {
			continue
		}
		second := func(piece int, h float64) float64 {
			s := 0.0
			for j := range radial {
				c := b.line.piece(piece)[j:]
				s += a.AtVec(j) * (2*c[2*radial] + 6*c[3*radial]*h)
			}
			return s
		}
		want := 0.0
		for piece := 1; piece < n; piece++ {
			h := b.points[piece] - b.points[piece-1]
			u, v, w := second(piece, 0), second(piece, h/2), second(piece, h)
			want += h / 6 * (u*u + 4*v*v + w*w)
		}
		if math.Abs(got/want-1) > 1e-8 {
			t.Errorf("basis %d: a'Sa = %v, the integral is %v", i, got, want)
		}
	}
}

// TestThinPlateDoesNotSeeUnits: shifted and scaled alike, points give the same
// basis, up to signs. (In two dimensions the logarithm makes truncation depend on
// the unit, in mgcv too.)
func TestThinPlateDoesNotSeeUnits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := rapid.SampledFrom([]int{1, 3}).Draw(rt, "d")
		n := rapid.IntRange(25, 50).Draw(rt, "n")
		shift := rapid.Float64Range(-100, 100).Draw(rt, "shift")
		scale := rapid.Float64Range(1e-3, 1e3).Draw(rt, "scale")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		x, y := make([]float64, n*d), make([]float64, n*d)
		for i := range x {
			x[i] = r.Float64()
			y[i] = shift + scale*x[i]
		}
		var values [2]*mat.Dense
		for i, at := range [][]float64{x, y} {
			data := distinct.NewPoints(d, 2000)
			for j := 0; j < len(at); j += d {
				data.Add(at[j : j+d]...)
			}
			data.Sort()
			b, _, err := construct(Space{d, DefaultOrder(d), 14}, data, nil)
			must(t, err)
			values[i] = mat.NewDense(n, b.k, nil)
			b.Evaluate(values[i].RawMatrix().Data, b.k, at)
		}
		for j := range 14 {
			u, v := mat.Col(nil, j, values[0]), mat.Col(nil, j, values[1])
			if floats.Dot(u, v) < 0 {
				floats.Scale(-1, v)
			}
			if diff := floats.Distance(u, v, math.Inf(1)); diff > 1e-6 { // rms is 1
				rt.Fatalf("column %d differs by %g", j, diff)
			}
		}
	})
}
