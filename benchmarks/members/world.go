package main

import (
	"math"
	"math/rand/v2"

	"github.com/pho-go/pho/data"
)

// world is what rows are drawn from: features with a normal copula, an additive part and an
// interaction, and noise.
type world struct {
	features    int
	correlation float64 // of every two features
	noise       float64 // sd
	interaction float64
}

// truth is the mean of the response at the features.
func (w world) truth(x []float64) float64 {
	return math.Sin(math.Pi*x[0]) + x[1]*x[1]*1.5 + 0.5*x[2] + w.interaction*x[0]*x[1]
}

// draw is n rows with columns x0, x1, ..., y and the truth mu: features are uniform on
// (-1, 1) each.
func (w world) draw(rng *rand.Rand, n int) (*data.Table, [][]float64, error) {
	x := make([][]float64, w.features)
	y, mu := make([]float64, n), make([]float64, n)
	row := make([]float64, w.features)
	for i := range n {
		common := rng.NormFloat64()
		for j := range row {
			z := math.Sqrt(w.correlation)*common + math.Sqrt(1-w.correlation)*rng.NormFloat64()
			row[j] = math.Erf(z / math.Sqrt2) // 2 Phi(z) - 1
			x[j] = append(x[j], row[j])
		}
		mu[i] = w.truth(row)
		y[i] = mu[i] + w.noise*rng.NormFloat64()
	}
	t := data.NewTable(n)
	for j, v := range x {
		if err := t.AddNumeric(name(j), v); err != nil {
			return nil, nil, err
		}
	}
	if err := t.AddNumeric("y", y); err != nil {
		return nil, nil, err
	}
	return t, x, t.AddNumeric("mu", mu)
}

// name is that of feature j.
func name(j int) string { return "x" + string(rune('0'+j)) }

// names are all of them.
func (w world) names() []string {
	var out []string
	for j := range w.features {
		out = append(out, name(j))
	}
	return out
}
