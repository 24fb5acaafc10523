package design_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
)

// levelled are columns by the levels of a factor: entries in every column, in cells, and products of bands, those of a
// kind side by side. Of each row at most one of a kind is not 0.
func levelled(r *rand.Rand, n, levels, shift int) []design.Columns {
	var every, cells, products []design.Columns
	for level := range levels {
		e, c, p := inCells(r, n, 5, 5, 1), inCells(r, n, 80, 16, 3), bands(r, n, 6, 5)
		for i := range n {
			if (i*i+shift)%(levels+1) != level {
				clear(e.Value[5*i : 5*i+5])
				clear(c.Value[16*i : 16*i+16])
				clear(p.A.Value[4*i : 4*i+4])
			}
		}
		every, cells, products = append(every, e), append(cells, c), append(products, p)
	}
	return slices.Concat(every, cells, products)
}

// arrangedCopy is x in memory of its own, arranged.
func arrangedCopy(x design.Columns) design.Columns {
	switch x := x.(type) {
	case *design.Banded:
		own := &design.Banded{D: x.D, K: x.K, Cyclic: x.Cyclic, First: x.First, Value: x.Value}
		own.Arrange()
		return own
	case *design.Sparse:
		own := &design.Sparse{D: x.D, K: x.K, Index: x.Index, Value: x.Value}
		own.Arrange()
		return own
	case *design.Product:
		own := &design.Product{A: &design.Banded{D: x.A.D, K: 4, First: x.A.First, Value: x.A.Value}, B: x.B}
		own.Arrange()
		return own
	}
	return x
}

// TestProductsOfLevels: products of smooths by levels, without the rows of other levels, are those of all rows.
func TestProductsOfLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 63, 64, 200, 700} {
		all := quadraticBases(r, n)
		others := len(all) // of which bands alone are arranged, so that each sum has the same bits
		all = append(all, levelled(r, n, 3, 0)...)
		w := make([]float64, n)
		for i := range w {
			w[i] = 0.5 + r.Float64()
		}
		var arranged []design.Columns
		for a, x := range all {
			if _, band := x.(*design.Banded); band || a >= others {
				x = arrangedCopy(x)
			}
			arranged = append(arranged, x)
		}
		var work design.Work
		for a := range all {
			_, rows := all[a].Dims()
			for b := range all {
				_, cols := all[b].Dims()
				for _, w := range [][]float64{nil, w} {
					got, want := mat.NewDense(rows, cols, nil), mat.NewDense(rows, cols, nil)
					if err := work.AddCross(got, arranged[a], arranged[b], w); err != nil {
						t.Fatal(err)
					}
					if err := work.AddCross(want, all[a], all[b], w); err != nil {
						t.Fatal(err)
					}
					size := mat.Max(want) - mat.Min(want)
					if a < others && b < others && !mat.Equal(got, want) || !mat.EqualApprox(got, want, 1e-13*size) {
						t.Fatalf("%d rows: %T %d and %T %d: other products than those of all rows", n, all[a], a, all[b], b)
					}
					if dense, ok := all[b].(design.Dense); ok {
						got.Zero()
						if err := work.AddCrosses([]*mat.Dense{got}, arranged[a], []design.Dense{dense}, w); err != nil {
							t.Fatal(err)
						}
						if !mat.EqualApprox(got, want, 1e-13*size) {
							t.Fatalf("%d rows: %T %d and %d at once: other products than those of all rows", n, all[a], a, b)
						}
					}
				}
			}
		}
	}
}

// TestOtherRowsOfProducts: what was arranged is forgotten with the rows.
func TestOtherRowsOfProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	const n = 100
	x := levelled(r, n, 3, 0)[6].(*design.Product)
	x.Arrange()
	x = x.Sized(n, 6, 5)
	for i := range x.A.Value {
		x.A.Value[i] = r.NormFloat64()
	}
	got, want := mat.NewDense(30, 30, nil), mat.NewDense(30, 30, nil)
	if err := errors.Join(design.AddCross(got, x, x, nil), design.AddCross(want, multiplied(x), multiplied(x), nil)); err != nil {
		t.Fatal(err)
	}
	apart(t, "product of other rows", got, want)
}

// TestQuadraticOfLevels: arranging columns changes no form, and neither does leaving them
// as they are.
func TestQuadraticOfLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	const n = 300
	bases := quadraticBases(r, n)
	all := append(levelled(r, n, 3, 0), bases[1], bases[2], bases[7])
	others := append(levelled(r, n, 3, 1), all[9:]...) // of which nothing shows in what comes after
	for first := range all {
		x, arranged, before, dims, p := []design.Columns{}, []design.Columns{}, []design.Columns{}, []int{}, 0
		for i := range all {
			c := all[(first+i)%len(all)]
			_, d := c.Dims()
			x, arranged, dims, p = append(x, c), append(arranged, arrangedCopy(c)), append(dims, d), p+d
			before = append(before, arrangedCopy(others[(first+i)%len(all)]))
		}
		c, mean := mat.NewSymDense(p, nil), make([]float64, p)
		for i := range p {
			mean[i] = r.Float64()
			for j := i; j < p; j++ {
				c.SetSym(i, j, r.NormFloat64())
			}
		}
		q, err := design.NewQuadratic(dims, c, mean)
		if err != nil {
			t.Fatal(err)
		}
		want, got := make([]float64, n), make([]float64, n)
		if err := q.Work().Rows(want, x); err != nil {
			t.Fatal(err)
		}
		work := q.Work()
		for range 2 {
			if err := errors.Join(work.Rows(got, before), work.Rows(got, arranged)); err != nil {
				t.Fatal(err)
			}
			for i, v := range want {
				if math.Abs(got[i]-v) > 1e-11*(1e3+math.Abs(v)) {
					t.Fatalf("from basis %d on, row %d: %g, want %g", first, i, got[i], v)
				}
			}
		}
	}
}

// TestOccupied counts rows.
func TestOccupied(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 8))
	const n = 70
	for _, x := range append(quadraticBases(r, n), levelled(r, n, 2, 0)...) {
		_, d := x.Dims()
		rows, want := mat.NewDense(n, d, nil), 0
		if err := design.ToDense(rows, x); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if mat.Norm(rows.RowView(i), 1) > 0 {
				want++
			}
		}
		if _, codes := x.(*design.Codes); codes {
			want = n
		}
		if got := design.Occupied(x); got != want {
			t.Errorf("%T: %d rows are not 0, want %d", x, got, want)
		}
		if got := design.Occupied(design.Dense{Dense: rows}); got != want && want < n {
			t.Errorf("%T, dense: %d rows are not 0, want %d", x, got, want)
		}
	}
}
