package design_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
)

// bands are n rows of two bands of four.
func bands(r *rand.Rand, n, a, b int) *design.Product {
	x := (*design.Product)(nil).Sized(n, a, b)
	for _, band := range []*design.Banded{x.A, x.B} {
		for i := range band.First {
			band.First[i] = int32(r.IntN(band.D - band.K + 1))
		}
		for i := range band.Value {
			band.Value[i] = r.NormFloat64()
		}
	}
	return x
}

// multiplied is x by its entries, one after the other.
func multiplied(x *design.Product) *design.Sparse {
	n, d := x.Dims()
	s := &design.Sparse{D: d, K: 16}
	for i := range n {
		for l := range 4 {
			for m := range 4 {
				s.Index = append(s.Index, (x.A.First[i]+int32(l))*int32(x.B.D)+x.B.First[i]+int32(m))
				s.Value = append(s.Value, x.A.Value[4*i+l]*x.B.Value[4*i+m])
			}
		}
	}
	return s
}

func apart(t *testing.T, what string, got, want *mat.Dense) {
	t.Helper()
	for j, v := range want.RawMatrix().Data {
		if u := got.RawMatrix().Data[j]; math.Abs(u-v) > 1e-11 {
			t.Fatalf("%s: %v at %d, want %v", what, u, j, v)
		}
	}
}

// TestProduct: products of bands are those of their entries, by cells (of 3000 rows) or not (of 40), and when
// other rows are in the same memory.
func TestProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x := bands(r, 3000, 8, 6)
	for _, n := range []int{3000, 40, 700} {
		for _, arranged := range []bool{false, true} {
			x = x.Sized(n, 8, 6)
			copy(x.A.Value, bands(r, n, 8, 6).A.Value)
			if arranged {
				x.Arrange()
			}
			judge := multiplied(x)
			ones := func(int) float64 { return 1 }
			column := func(q int, f func(int) float64) design.Dense {
				m := mat.NewDense(n, q, nil)
				for i := range m.RawMatrix().Data {
					m.RawMatrix().Data[i] = f(i)
				}
				return design.Dense{Dense: m}
			}
			normal := func(int) float64 { return r.NormFloat64() }
			codes, weights := &design.Codes{D: 9}, column(1, func(int) float64 { return r.Float64() }).RawMatrix().Data
			for range n {
				codes.Code = append(codes.Code, int32(r.IntN(10)-1))
			}
			valued := &design.Codes{D: 9, Code: codes.Code, Value: column(1, normal).RawMatrix().Data}
			band, sparse := bands(r, n, 7, 5), multiplied(bands(r, n, 5, 4))
			for _, w := range [][]float64{nil, weights} {
				var work design.Work
				for i, other := range []design.Columns{nil, column(1, ones), column(20, normal), codes, valued, band.A, sparse, bands(r, n, 5, 5)} {
					pairs := [][2]design.Columns{{x, other}, {other, x}}
					if other == nil {
						pairs = [][2]design.Columns{{x, x}}
					}
					for _, pair := range pairs {
						_, p := pair[0].Dims()
						_, q := pair[1].Dims()
						got, want := mat.NewDense(p, q+3, nil).Slice(0, p, 0, q).(*mat.Dense), mat.NewDense(p, q, nil)
						wanted := pair
						for l := range wanted {
							if wanted[l] == design.Columns(x) {
								wanted[l] = judge
							}
						}
						for range 2 { // adds
							if err := work.AddCross(got, pair[0], pair[1], w); err != nil {
								t.Fatal(err)
							}
							if err := work.AddCross(want, wanted[0], wanted[1], w); err != nil {
								t.Fatal(err)
							}
						}
						apart(t, "product "+string(rune('0'+i)), mat.DenseCopyOf(got), want)
						if other == nil && !mat.Equal(got, got.T()) {
							t.Fatal("not symmetric")
						}
					}
				}
			}
			if got, want := design.MaxRowNorm(x), design.MaxRowNorm(judge); math.Abs(got-want) > 1e-12*want {
				t.Errorf("row norm %v, want %v", got, want)
			}
			beta, by, wantBy := bands(rand.New(rand.NewPCG(7, 8)), 12, 4, 4).A.Value, make([]float64, n), make([]float64, n)
			if err := errors.Join(design.MulVec(by, x, beta), design.MulVec(wantBy, judge, beta)); err != nil {
				t.Fatal(err)
			}
			apart(t, "combination", mat.NewDense(n, 1, by), mat.NewDense(n, 1, wantBy))
			all, want := mat.NewDense(n, 48, nil), mat.NewDense(n, 48, nil)
			if err := design.ToDense(want, judge); err != nil {
				t.Fatal(err)
			}
			if err := design.ToDense(all, x); err != nil {
				t.Fatal(err)
			}
			apart(t, "dense", all, want)
			for i := range n {
				design.CopyRow(all.RawRowView(i), x.First(n), i)
			}
			apart(t, "rows", all, want)
			x.A.Value[0]++
			x.Arrange()
			if err := design.ToDense(all, x); err != nil {
				t.Fatal(err)
			}
			if err := design.ToDense(want, multiplied(x)); err != nil {
				t.Fatal(err)
			}
			apart(t, "rows that changed", all, want)
		}
	}
}

// TestProductFaults: what is no product is refused.
func TestProductFaults(t *testing.T) {
	band := func(d, k int, first ...int32) *design.Banded {
		return &design.Banded{D: d, K: k, First: first, Value: make([]float64, len(first)*k)}
	}
	circle := band(5, 4, 0)
	circle.Cyclic = true
	for _, c := range []struct {
		x    design.Columns
		want string
	}{
		{(*design.Product)(nil), "design: the columns of a product are nil"},
		{&design.Product{A: band(5, 4, 0)}, "design: banded columns are nil"},
		{&design.Product{A: band(5, 4, 0), B: band(5, 3, 0)}, "design: columns of a product: each row of a band has 3 entries; need 4, not around a circle"},
		{&design.Product{A: circle, B: circle}, "design: columns of a product: each row of a band has 4 entries; need 4, not around a circle"},
		{&design.Product{A: band(5, 4, 0), B: band(5, 4, 0, 1)}, "design: columns of a product: bands of 1 and 2 rows"},
		{&design.Product{A: band(5, 4, 0), B: band(5, 4, 2)}, "design: banded columns: row 0 begins in column 2 of 5; rows of 4 entries begin in 0 to 1"},
		{&design.Product{A: band(5, 4, -1), B: band(5, 4, 0)}, "design: banded columns: row 0 begins in column -1 of 5; rows of 4 entries begin in 0 to 1"},
	} {
		if err := design.Check(c.x); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	late := &design.Product{A: band(5, 4, 0), B: band(5, 4, 2)}
	for _, other := range []design.Columns{&design.Codes{D: 2, Code: []int32{1}}, design.Dense{Dense: mat.NewDense(1, 2, nil)}} {
		if err := design.AddCross(mat.NewDense(2, 25, nil), other, late, nil); err == nil {
			t.Errorf("%T with a band that begins too late: no error", other)
		}
	}
}
