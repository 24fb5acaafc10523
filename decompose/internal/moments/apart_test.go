package moments

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
)

// TestOpenProducts: what sums leave out of the products of codes comes to the same bytes whether
// chunks are added in one sum or in two that were written and read, and to the numbers that
// columns of zeros and ones have. Where a chunk holds such columns all products are there.
func TestOpenProducts(t *testing.T) {
	const chunks, rows, levels = 8, 50, 6
	l := Layout{Bases: []Basis{{Name: "g", Dim: levels}, {Name: "x", Dim: 1}}, Predictors: [][]int{{0, 1}}, Responses: 1}
	for _, mixed := range []bool{false, true} {
		r := rand.New(rand.NewPCG(1, 2))
		whole, plain := NewSum(l, 0), NewSum(l, 0)
		parts := []*Sum{NewSum(l, 0), NewSum(l, 4)}
		for i := range chunks {
			codes, x, z, w := &design.Codes{D: levels, Code: make([]int32, rows)}, mat.NewDense(rows, 1, nil), mat.NewDense(rows, 1, nil), make([]float64, rows)
			ones := mat.NewDense(rows, levels, nil)
			for row := range rows {
				codes.Code[row] = int32(r.IntN(levels))
				ones.Set(row, int(codes.Code[row]), 1)
				x.Set(row, 0, r.NormFloat64())
				z.Set(row, 0, r.NormFloat64())
				w[row] = 0.5 + r.Float64()
			}
			var g design.Columns = codes
			if mixed && i%3 == 1 {
				ones.Set(0, 0, 1)
				ones.Set(0, 1, 1) // a row in two columns
				g = design.Dense{Dense: ones}
			}
			made := func(g design.Columns) *Chunk {
				c := NewChunk(l)
				if err := c.Add([]design.Columns{g, design.Dense{Dense: x}}, w, z); err != nil {
					t.Fatal(err)
				}
				return c
			}
			for _, s := range []*Sum{whole, parts[i/4]} {
				if err := s.Append(made(g).MomentsInto(nil)); err != nil {
					t.Fatal(err)
				}
			}
			if err := plain.Append(made(design.Dense{Dense: ones}).Moments()); err != nil {
				t.Fatal(err)
			}
		}
		want, err := whole.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		merged := new(Sum)
		for i, part := range parts {
			raw, err := part.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			read := new(Sum)
			if err := read.UnmarshalBinary(raw); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				merged = read
			} else if err := merged.Merge(read); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := merged.MarshalBinary(); err != nil || !bytes.Equal(got, want) {
			t.Errorf("mixed %v: sums that were written merge to other bytes (%v)", mixed, err)
		}
		same := plain.Total()
		for name, total := range map[string]*Moments{"total": whole.Total()} {
			for i := range levels + 1 {
				for j := i; j <= levels; j++ {
					if far := math.Abs(total.XX.At(i, j) - same.XX.At(i, j)); !(far < 1e-11) {
						t.Fatalf("mixed %v, %s: product %d, %d is %g, want %g", mixed, name, i, j, total.XX.At(i, j), same.XX.At(i, j))
					}
				}
			}
		}
	}
}
