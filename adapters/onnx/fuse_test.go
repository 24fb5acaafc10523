package onnx

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// A Relu joins the product before it if nobody else sees the product, and the
// bits are those of two passes.
func TestReluJoinsProduct(t *testing.T) {
	for _, precision := range []Precision{Double, Single} {
		g, err := Load(bytes.NewReader(mlpModel(t)), nil)
		if err != nil {
			t.Fatal(err)
		}
		const rows = 37
		rng := rand.New(rand.NewPCG(1, 2))
		x := make([]float64, rows*10)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		run := func(joined int, names ...string) [][]float64 {
			var want []*Value
			var dst [][]float64
			for _, name := range names {
				v := g.values[name]
				want = append(want, v)
				dst = append(dst, make([]float64, rows*v.Width()))
			}
			if found := planRun(g, want).rectified(want); len(found) != joined {
				t.Errorf("wanting %v: %d products joined, want %d", names, len(found), joined)
			}
			r, err := NewRunner(g, want, RunOptions{Precision: precision})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Run(dst, [][]float64{x}, rows); err != nil {
				t.Fatal(err)
			}
			return dst
		}
		apart := run(0, "g0", "h0", "g1", "h1", "g2")
		for i, h := range apart[1] {
			if p := apart[0][i]; h != max(p, 0) {
				t.Fatalf("h0 element %d is %v, its product %v", i, h, p)
			}
		}
		both := run(2, "g2")[0]
		one := run(1, "g0", "g2")
		for i, want := range apart[4] {
			if both[i] != want || one[1][i] != want {
				t.Fatalf("row %d is %v with both joined, %v with one, %v apart", i, both[i], one[1][i], want)
			}
		}
	}
}
