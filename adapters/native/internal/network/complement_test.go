package network

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/internal/base/kernel"
)

// TestComplement: what is projected is orthogonal to the columns, projecting
// twice changes nothing, and dependent columns count once.
func TestComplement(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n, p, w = 12, 4, 3
	ld := kernel.UnitStride[float64](n)
	x, u := make([]float64, n*p), kernel.Units[float64](nil, w, n)
	for i := range u {
		u[i] = rng.NormFloat64()
	}
	for i := range n {
		x[i*p], x[i*p+1] = rng.NormFloat64(), rng.NormFloat64()
		x[i*p+2] = x[i*p] - 2*x[i*p+1] + 3 // with the intercept, a combination
		x[i*p+3] = rng.NormFloat64()
	}
	c := &complement{}
	c.of(x, n, true)
	if c.rank != 4 {
		t.Errorf("rank %d, want 4 of 5 columns", c.rank)
	}
	project(c, u, n)
	for j := range w {
		sum := 0.0
		for i := range n {
			sum += u[j*ld+i]
		}
		if math.Abs(sum) > 1e-12 {
			t.Errorf("column %d sums to %g", j, sum)
		}
		for k := range p {
			dot := 0.0
			for i := range n {
				dot += u[j*ld+i] * x[i*p+k]
			}
			if math.Abs(dot) > 1e-11 {
				t.Errorf("u_%d'x_%d = %g", j, k, dot)
			}
		}
	}
	again := append([]float64(nil), u...)
	project(c, again, n)
	for i := range u {
		if math.Abs(u[i]-again[i]) > 1e-13 {
			t.Fatalf("projecting twice changes element %d by %g", i, u[i]-again[i])
		}
	}
}
