package penalty

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestColumnsThatHardlyAnyRowReaches: fine triangular bases on normal values have
// columns with one row or none at their ends. Next to no penalty X'WX + S is singular
// there to rounding, which is no reason not to choose one.
func TestColumnsThatHardlyAnyRowReaches(t *testing.T) {
	const n, k, terms = 4000, 120, 3
	random := rand.New(rand.NewPCG(9, 9))
	x := mat.NewDense(n, k*terms, nil)
	z := make([]float64, n)
	for i := range n {
		for j := range terms {
			v := math.Max(-5.9, math.Min(random.NormFloat64(), 5.9))
			z[i] += math.Sin(float64(j+1) * v)
			at := (v + 6) / 12 * (k - 1)
			cell := int(at)
			x.Set(i, j*k+cell, 1-(at-float64(cell)))
			x.Set(i, j*k+cell+1, at-float64(cell))
		}
		z[i] += 0.3 * random.NormFloat64()
	}
	p := &Problem{Rows: n, SumW: n, Intercept: true, XX: mat.NewSymDense(k*terms, nil), XZ: make([]float64, k*terms), XMean: make([]float64, k*terms)}
	for _, v := range z {
		p.ZMean += v / n
	}
	for c := range k * terms {
		for i := range n {
			p.XMean[c] += x.At(i, c) / n
		}
	}
	for i := range n {
		row := x.RawRowView(i)
		for c := range row {
			row[c] -= p.XMean[c]
			p.XZ[c] += row[c] * (z[i] - p.ZMean)
		}
		p.ZZ += (z[i] - p.ZMean) * (z[i] - p.ZMean)
	}
	p.XX.(*mat.SymDense).SymOuterK(1, x.T())
	second, err := Difference(k, 2)
	if err != nil {
		t.Fatal(err)
	}
	for j := range terms {
		p.Terms = append(p.Terms, Component{Name: string(rune('a' + j)), Start: j * k, Dim: k, S: []mat.Symmetric{second}})
	}
	fit, err := Select(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if fit.Status != Converged && fit.Status != AtBound {
		t.Errorf("status %v", fit.Status)
	}
	if rms := math.Sqrt(fit.RSS / n); math.Abs(rms-0.3) > 0.03 {
		t.Errorf("residuals have standard deviation %g, the noise 0.3", rms)
	}
	for j, l := range fit.Lambda {
		if !(l > 0) || fit.EDF[j] > 60 {
			t.Errorf("term %d: lambda %g, edf %g", j, l, fit.EDF[j])
		}
	}
}
