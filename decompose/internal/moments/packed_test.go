package moments

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/design"
)

// TestPackedProducts: what sums leave out of the products of codes and of wide bands comes to the same bytes
// whether chunks are added in one sum or in two that were written and read, and to the numbers that
// columns of zeros and others have. Where a chunk holds such columns all products are there.
func TestPackedProducts(t *testing.T) {
	const chunks, rows, levels, wide, entries = 8, 50, 6, 40, 4
	l := Layout{Bases: []Basis{{Name: "g", Dim: levels}, {Name: "s", Dim: wide}, {Name: "x", Dim: 1}}, Predictors: [][]int{{0, 1, 2}}, Responses: 1}
	for _, mixed := range []bool{false, true} {
		r := rand.New(rand.NewPCG(1, 2))
		whole, plain := NewSum(l, 0), NewChunk(l)
		parts := []*Sum{NewSum(l, 0), NewSum(l, 4)}
		for i := range chunks {
			codes, x, z, w := &design.Codes{D: levels, Code: make([]int32, rows)}, mat.NewDense(rows, 1, nil), mat.NewDense(rows, 1, nil), make([]float64, rows)
			ones, filled := mat.NewDense(rows, levels, nil), mat.NewDense(rows, wide, nil)
			band := &design.Banded{D: wide, K: entries, First: make([]int32, rows), Value: make([]float64, rows*entries)}
			for row := range rows {
				codes.Code[row] = int32(r.IntN(levels))
				ones.Set(row, int(codes.Code[row]), 1)
				band.First[row] = int32(r.IntN(wide - entries + 1))
				for j := range entries {
					band.Value[row*entries+j] = r.Float64()
					filled.Set(row, int(band.First[row])+j, band.Value[row*entries+j])
				}
				x.Set(row, 0, r.NormFloat64())
				z.Set(row, 0, r.NormFloat64())
				w[row] = 0.5 + r.Float64()
			}
			var g, s design.Columns = codes, band
			if mixed && i%3 == 1 {
				ones.Set(0, 0, 1)
				ones.Set(0, 1, 1) // a row in two columns
				g, s = design.Dense{Dense: ones}, design.Dense{Dense: filled}
			}
			made := func(g, s design.Columns) *Chunk {
				c := NewChunk(l)
				if err := c.Add([]design.Columns{g, s, design.Dense{Dense: x}}, w, z); err != nil {
					t.Fatal(err)
				}
				return c
			}
			for _, sum := range []*Sum{whole, parts[i/4]} {
				m := made(g, s).MomentsInto(nil)
				if packed := m.held.width[0] == 1 && m.held.width[1] == entries; packed == (mixed && i%3 == 1) {
					t.Errorf("mixed %v: chunk %d holds products in widths %v", mixed, i, m.held.width)
				}
				if err := sum.Append(m); err != nil {
					t.Fatal(err)
				}
			}
			if err := plain.Add([]design.Columns{design.Dense{Dense: ones}, design.Dense{Dense: filled}, design.Dense{Dense: x}}, w, z); err != nil {
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
		same, total := plain.Moments(), whole.Total()
		for i := range levels + wide + 1 {
			for j := i; j <= levels+wide; j++ {
				if far := math.Abs(total.XX.At(i, j) - same.XX.At(i, j)); !(far < 1e-11) {
					t.Fatalf("mixed %v: product %d, %d is %g, want %g", mixed, i, j, total.XX.At(i, j), same.XX.At(i, j))
				}
			}
		}
	}
}
