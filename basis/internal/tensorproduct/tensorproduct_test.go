package tensorproduct

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// drawn has three margins at n rows: banded around a circle, one value, and full.
func drawn(r *rand.Rand, n int) []*Rows {
	margins := []*Rows{newRows(n, 3, 5), newRows(n, 1, 4), newRows(n, 2, 2)}
	for _, m := range margins {
		for i := range m.First {
			if m.Width < m.Dim {
				m.First[i] = int32(r.IntN(m.Dim))
			}
		}
		for i := range m.Value {
			m.Value[i] = r.NormFloat64()
		}
	}
	return margins
}

// rowOf is the Kronecker product of the margins' rows i, each mapped.
func rowOf(margins []*Rows, maps []*mat.Dense, i int) *mat.Dense {
	out := mat.NewDense(1, 1, []float64{1})
	for l, m := range margins {
		row := mat.NewDense(1, m.Dim, nil)
		m.Dense(row.RawRowView(0), i)
		if maps != nil && maps[l] != nil {
			var mapped mat.Dense
			mapped.Mul(row, maps[l])
			row = &mapped
		}
		var product mat.Dense
		product.Kronecker(out, row)
		out = &product
	}
	return out
}

func TestRowsAreKroneckerProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	const n = 20
	margins, factors := drawn(r, n), make([]float64, n)
	for i := range factors {
		factors[i] = r.NormFloat64()
	}
	for _, f := range [][]float64{nil, factors} {
		k, index, value := Kronecker(nil, nil, margins, f)
		if k != 6 {
			t.Fatalf("%d products in a row, want 6", k)
		}
		for i := range n {
			want, scale := rowOf(margins, nil, i), 1.0
			if f != nil {
				scale = f[i]
			}
			got := make([]float64, 40)
			for l := range k {
				got[index[i*k+l]] += value[i*k+l]
			}
			for j, v := range got {
				if math.Abs(v-scale*want.At(0, j)) > 1e-14 {
					t.Fatalf("row %d, column %d is %v, want %v", i, j, v, scale*want.At(0, j))
				}
			}
		}
	}
}

// TestMapsAndNorms: the map of the product maps each margin, and the norm of a mapped
// row is the product of the margins' norms.
func TestMapsAndNorms(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	margins, maps := drawn(r, 10), []*mat.Dense{mat.NewDense(5, 4, nil), nil, mat.NewDense(2, 2, nil)}
	for _, m := range maps {
		if m != nil {
			for i := range m.RawMatrix().Data {
				m.RawMatrix().Data[i] = r.NormFloat64()
			}
		}
	}
	whole, norms := Map(maps, []int{5, 4, 2}), make([]float64, len(margins[0].First))
	Norms(norms, margins, maps)
	for i, norm := range norms {
		want := rowOf(margins, maps, i)
		var got mat.Dense
		got.Mul(rowOf(margins, nil, i), whole)
		if !mat.EqualApprox(&got, want, 1e-12) {
			t.Fatalf("row %d is mapped to %v, want %v", i, mat.Formatted(&got), mat.Formatted(want))
		}
		sum := 0.0
		for _, v := range want.RawRowView(0) {
			sum += math.Abs(v)
		}
		if math.Abs(norm-sum) > 1e-12*sum {
			t.Errorf("the norm of row %d is %v, want %v", i, norm, sum)
		}
	}
}

// TestPenalties: the penalty of a product of functions is that of the margin's times the
// squared norms of the others' coefficients.
func TestPenalties(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	each, a := []*mat.SymDense{mat.NewSymDense(3, nil), mat.NewSymDense(2, nil)}, []*mat.Dense{mat.NewDense(3, 1, nil), mat.NewDense(2, 1, nil)}
	for l, s := range each {
		for i := range s.SymmetricDim() {
			a[l].Set(i, 0, r.NormFloat64())
			for j := range i + 1 {
				s.SetSym(i, j, r.NormFloat64())
			}
		}
	}
	var product mat.Dense
	product.Kronecker(a[0], a[1])
	for l, s := range Penalties(each) {
		own, other := a[l].ColView(0), a[1-l].ColView(0)
		want := mat.Inner(own, each[l], own) * mat.Dot(other, other)
		if got := mat.Inner(product.ColView(0), s, product.ColView(0)); math.Abs(got-want) > 1e-12 {
			t.Errorf("penalty %d is %v, want %v", l, got, want)
		}
	}
}
