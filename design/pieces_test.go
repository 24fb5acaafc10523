package design_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/pho-go/pho/design"
)

// drawPieces makes columns of one to three Pieces at n numbers, some of them far out or at knots, about a point or not.
func drawPieces(t *rapid.T, label string, n int) design.Columns {
	value := rapid.Float64Range(-8, 8)
	x := &design.Interpolated{}
	columns := 0
	for range rapid.IntRange(1, 3).Draw(t, label+" parts") {
		knots := rapid.SliceOfNDistinct(rapid.IntRange(-40, 40), 1, 12, rapid.ID[int]).Draw(t, "knots")
		d := rapid.IntRange(1, 5).Draw(t, label+" d")
		z := make([]float64, n)
		for i := range z {
			if z[i] = value.Draw(t, "z"); rapid.IntRange(0, 4).Draw(t, "at") == 0 {
				z[i] = float64(knots[rapid.IntRange(0, len(knots)-1).Draw(t, "knot")]) / 7
			}
		}
		draws := func(n int) []float64 { return rapid.SliceOfN(value, n, n).Draw(t, "values") }
		p := somePieces(t, knots, d, draws)
		x.Parts = append(x.Parts, p.Rows(nil, z, 1, n).Parts...)
		columns += d
	}
	if rapid.Bool().Draw(t, label+" about") {
		x.About = rapid.SliceOfN(value, columns, columns).Draw(t, "about")
	}
	return x
}

// somePieces are d functions with knots at sevenths, of drawn values and slopes.
func somePieces(t interface{ Fatal(...any) }, knots []int, d int, draws func(n int) []float64) *design.Pieces {
	at := map[int]bool{}
	for _, k := range knots {
		at[k] = true
	}
	var sorted []float64
	for k := -40; k <= 40; k++ {
		if at[k] {
			sorted = append(sorted, float64(k)/7)
		}
	}
	p, err := design.NewPieces(sorted, mat.NewDense(len(sorted), d, draws(len(sorted)*d)), draws(d), draws(d))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A function is what its definition says: linear between neighbours, with the given slopes outside.
func TestPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 40, 300} {
		var knots []float64
		for range n {
			at := -1e3
			if len(knots) > 0 {
				at = knots[len(knots)-1]
			}
			knots = append(knots, at+math.Exp(3*r.NormFloat64()))
		}
		const d = 3
		values, before, behind := mat.NewDense(n, d, nil), make([]float64, d), make([]float64, d)
		for l := range d {
			before[l], behind[l] = r.NormFloat64(), r.NormFloat64()
			for j := range n {
				values.Set(j, l, r.NormFloat64())
			}
		}
		p, err := design.NewPieces(knots, values, before, behind)
		if err != nil {
			t.Fatal(err)
		}
		z := []float64{knots[0] - 1e6, knots[n-1] + 1e6, 0, -1e3}
		for _, k := range knots {
			z = append(z, k, math.Nextafter(k, -1e9), math.Nextafter(k, 1e9), k+r.NormFloat64())
		}
		got := mat.NewDense(len(z), d, nil)
		p.Eval(got, z, 1, len(z))
		for i, v := range z {
			for l := range d {
				want, j := 0.0, 0
				for j < n && knots[j] < v {
					j++
				}
				switch {
				case j == 0:
					want = values.At(0, l) + before[l]*(v-knots[0])
				case j == n:
					want = values.At(n-1, l) + behind[l]*(v-knots[n-1])
				default:
					slope := (values.At(j, l) - values.At(j-1, l)) / (knots[j] - knots[j-1])
					want = values.At(j-1, l) + slope*(v-knots[j-1])
				}
				// rounding of a sum of two numbers of this size
				if off := math.Abs(got.At(i, l) - want); !(off <= 1e-14*(4+math.Abs(want))) {
					t.Fatalf("%d knots, function %d at %g: %g, want %g", n, l, v, got.At(i, l), want)
				}
			}
		}
	}
	// Constant functions have exactly their value anywhere, and are exactly 0 about it.
	p, err := design.NewPieces([]float64{0, 0.3, 7}, mat.NewDense(3, 2, []float64{0.1, 0, 0.1, 0, 0.1, 2}), []float64{0, 0}, []float64{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	var z []float64
	for range 500 {
		z = append(z, 3*r.NormFloat64())
	}
	x := p.Rows(nil, z, 1, len(z))
	x.About = []float64{0.1, 0}
	full, gram := dense(t, x), mat.NewDense(2, 2, nil)
	if err := design.AddCross(gram, x, x, nil); err != nil {
		t.Fatal(err)
	}
	for i, v := range z {
		if full.At(i, 0) != 0 || v < 0.3 && full.At(i, 1) != 0 {
			t.Fatalf("constant functions at %g: %v", v, full.RawRowView(i))
		}
	}
	if gram.At(0, 0) != 0 || gram.At(0, 1) != 0 {
		t.Errorf("products of a constant function about its value: %v", gram)
	}
	if _, err := design.NewPieces([]float64{1, 1}, mat.NewDense(2, 1, nil), []float64{0}, []float64{0}); err == nil {
		t.Error("knots that do not increase")
	}
}

// A form at interpolated columns, alone and beside others, is that at the same columns filled up.
func TestQuadraticOfPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	draws := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = r.NormFloat64()
		}
		return v
	}
	const n = 200
	x := &design.Interpolated{}
	for _, d := range []int{5, 32} {
		x.Parts = append(x.Parts, somePieces(t, []int{-20, -3, 0, 5, 9, 11, 30}, d, draws).Rows(nil, draws(n), 1, n).Parts...)
	}
	band := &design.Banded{D: 12, K: 4, First: make([]int32, n), Value: draws(4 * n)}
	for i := range n {
		band.First[i] = int32(r.IntN(9))
	}
	for _, others := range [][]design.Columns{nil, {band}, {band, design.Dense{Dense: mat.NewDense(n, 3, draws(3*n))}}} {
		for _, about := range [][]float64{nil, draws(37)} {
			for _, centred := range []bool{false, true} { // interpolated columns have means of the form, too
				x.About = about
				all := append(append([]design.Columns(nil), others...), x)
				full := append([]design.Columns(nil), all...)
				full[len(full)-1] = design.Dense{Dense: dense(t, x)}
				var dims []int
				p := 0
				for _, c := range all {
					_, d := c.Dims()
					dims, p = append(dims, d), p+d
				}
				c := mat.NewSymDense(p, nil)
				c.SymOuterK(1, mat.NewDense(p, p, draws(p*p)))
				mean := draws(p)
				if !centred {
					clear(mean[p-37:])
				}
				q, err := design.NewQuadratic(dims, c, mean)
				if err != nil {
					t.Fatal(err)
				}
				got, want := make([]float64, n), make([]float64, n)
				for range 2 {
					if err := q.Work().Rows(got, all); err != nil {
						t.Fatal(err)
					}
				}
				if err := q.Work().Rows(want, full); err != nil {
					t.Fatal(err)
				}
				for i := range got {
					if !(math.Abs(got[i]-want[i]) <= 1e-11*math.Abs(want[i])) { // rounding of sums of p^2 products
						t.Fatalf("%d others, about %v, row %d: %g, want %g", len(others), about != nil, i, got[i], want[i])
					}
				}
			}
		}
	}
}
