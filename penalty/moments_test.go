package penalty

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// momentsOf forms a Problem without terms from rows.
func momentsOf(x *mat.Dense, z, w []float64, intercept bool) *Problem {
	n, dim := x.Dims()
	p := &Problem{Intercept: intercept, XX: mat.NewSymDense(dim, nil), XZ: make([]float64, dim)}
	mean, meanZ := make([]float64, dim), 0.0
	for i := range n {
		if w[i] > 0 {
			p.Rows++
			p.SumW += w[i]
			p.SumLogW += math.Log(w[i])
		}
	}
	if intercept {
		for i := range n {
			for j := range dim {
				mean[j] += w[i] * x.At(i, j) / p.SumW
			}
			meanZ += w[i] * z[i] / p.SumW
		}
	}
	p.XMean, p.ZMean = mean, meanZ
	row := make([]float64, dim)
	for i := range n {
		for j := range dim {
			row[j] = x.At(i, j) - mean[j]
		}
		zi := z[i] - meanZ
		p.ZZ += w[i] * zi * zi
		for j, v := range row {
			p.XZ[j] += w[i] * v * zi
			for k := j; k < dim; k++ {
				p.XX.(*mat.SymDense).SetSym(j, k, p.XX.At(j, k)+w[i]*v*row[k])
			}
		}
	}
	return p
}
