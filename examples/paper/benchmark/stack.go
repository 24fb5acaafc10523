package main

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
)

// stackWeights are the weights w >= 0 with sum 1 that minimise |y - P w|^2, the
// columns of P being out-of-fold predictions (Breiman 1996). With m of them all 2^m
// - 1 supports are tried: exact, and cheap for the few that there are. Without the
// constraint of sign the minimum on a support solves
//
//	(D'D) w = mu 1,   1'w = 1,   D = P - y 1'
func stackWeights(y []float64, p [][]float64) []float64 {
	m := len(p)
	gram := mat.NewSymDense(m, nil)
	for a := range m {
		for b := a; b < m; b++ {
			sum := 0.0
			for i, v := range y {
				sum += (p[a][i] - v) * (p[b][i] - v)
			}
			gram.SetSym(a, b, sum)
		}
	}
	best, lowest := make([]float64, m), math.Inf(1)
	for support := 1; support < 1<<m; support++ {
		var at []int
		for a := range m {
			if support>>a&1 == 1 {
				at = append(at, a)
			}
		}
		w, ok := onSupport(gram, at)
		if !ok {
			continue
		}
		full := mat.NewVecDense(m, nil)
		for i, a := range at {
			full.SetVec(a, w[i])
		}
		if loss := mat.Inner(full, gram, full); loss < lowest {
			lowest = loss
			copy(best, full.RawVector().Data)
		}
	}
	return best
}

// simplest puts all weight on the first column, unless the weights lower its mean
// squared error by more than a standard error (the rule of Breiman et al. 1984).
func simplest(y []float64, p [][]float64, w []float64) []float64 {
	gain := make([]float64, len(y))
	for i, v := range y {
		fit := 0.0
		for a := range p {
			fit += w[a] * p[a][i]
		}
		gain[i] = (v-p[0][i])*(v-p[0][i]) - (v-fit)*(v-fit)
	}
	if mean, se := experiment.Mean(gain); mean > se {
		return w
	}
	first := make([]float64, len(w))
	first[0] = 1
	return first
}

// onSupport solves for the weights at the given columns; false: they are not
// determined, or some are negative.
func onSupport(gram *mat.SymDense, at []int) ([]float64, bool) {
	g, one := mat.NewSymDense(len(at), nil), mat.NewVecDense(len(at), nil)
	for i, a := range at {
		one.SetVec(i, 1)
		for j := i; j < len(at); j++ {
			g.SetSym(i, j, gram.At(a, at[j]))
		}
	}
	if len(at) == 1 {
		return []float64{1}, true
	}
	var chol mat.Cholesky
	if !chol.Factorize(g) || chol.Cond() > 1e10 {
		return nil, false
	}
	var w mat.VecDense
	if chol.SolveVecTo(&w, one) != nil {
		return nil, false
	}
	w.ScaleVec(1/mat.Sum(&w), &w)
	for _, v := range w.RawVector().Data {
		if v < 0 {
			return nil, false
		}
	}
	return w.RawVector().Data, true
}
