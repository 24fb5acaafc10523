// Package simulation draws the data of the paper's simulation studies (its
// appendix "Simulation Details").
package simulation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/data"
)

// Sample is n rows with columns x0, x1, ... of the structured part, z0, z1, ...
// that only the deep part sees, and y.
type Sample struct {
	Table *data.Table
	X     [][]float64 // p columns
	Y     []float64
	// Truth are the structured effects at the rows: p columns, as they are, not
	// centred.
	Truth [][]float64
	Deep  []string // names of all features: what the deep part reads
}

// Coefficients of the linear effects: the first p of -2.5, -2, ..., 2.5 without 0.
func Coefficients(p int) []float64 {
	var beta []float64
	for b := -2.5; b <= 2.5; b += 0.5 {
		if b != 0 {
			beta = append(beta, b)
		}
	}
	return beta[:p]
}

// Functions are the paper's f_0, ..., f_9.
func Functions() []func(float64) float64 {
	return []func(float64) float64{
		func(x float64) float64 { return math.Cos(5 * x) },
		func(x float64) float64 { return math.Tanh(3 * x) },
		func(x float64) float64 { return -x * x * x },
		func(x float64) float64 { return -3 * x * math.Cos(3*x-2) },
		func(x float64) float64 { return math.Exp(0.5*x) - 1 },
		func(x float64) float64 { return x * x },
		func(x float64) float64 { return math.Sin(x) * math.Cos(x) },
		func(x float64) float64 { return math.Sqrt(math.Abs(x)) },
		func(x float64) float64 { return math.Exp(-x*x/2)/math.Sqrt(2*math.Pi) - 1.0/8 },
		func(x float64) float64 { return -x * math.Tanh(3*x) * math.Sin(4*x) },
	}
}

// Names of the functions, as formulas.
func Names() []string {
	return []string{"cos(5x)", "tanh(3x)", "−x³", "−3x cos(3x−2)", "exp(x/2)−1", "x²", "sin x cos x", "√|x|", "φ(x)−1/8", "−x tanh(3x) sin(4x)"}
}

// Linear draws y = X beta + e with the Coefficients.
func Linear(rng *rand.Rand, n, p, noise int) (*Sample, error) {
	var f []func(float64) float64
	for _, b := range Coefficients(p) {
		f = append(f, func(x float64) float64 { return b * x })
	}
	return Draw(rng, n, f, noise)
}

// Draw draws len(f) + noise standard normal features and y, the sum of f_j(x_j)
// and a standard normal error, centred. The deep part sees all features: those of
// the structured part are its own, too (exact overlap).
func Draw(rng *rand.Rand, n int, f []func(float64) float64, noise int) (*Sample, error) {
	s := &Sample{Table: data.NewTable(n), Y: make([]float64, n)}
	for i := range s.Y {
		s.Y[i] = rng.NormFloat64()
	}
	for j := range len(f) + noise {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		name := fmt.Sprintf("z%d", j-len(f))
		if j < len(f) {
			name = fmt.Sprintf("x%d", j)
			truth := make([]float64, n)
			for i, v := range x {
				truth[i] = f[j](v)
			}
			floats.Add(s.Y, truth)
			s.X, s.Truth = append(s.X, x), append(s.Truth, truth)
		}
		s.Deep = append(s.Deep, name)
		if err := s.Table.AddNumeric(name, x); err != nil {
			return nil, err
		}
	}
	floats.AddConst(-floats.Sum(s.Y)/float64(n), s.Y)
	return s, s.Table.AddNumeric("y", s.Y)
}

// Formula is y ~ term(x0) + term(x1) + ..., term being a format such as "s(%s)".
func (s *Sample) Formula(term string) string {
	terms := make([]string, len(s.X))
	for j := range terms {
		terms[j] = fmt.Sprintf(term, fmt.Sprintf("x%d", j))
	}
	return "y ~ " + strings.Join(terms, " + ")
}

// RMSE is the root mean squared difference of a and b.
func RMSE(a, b []float64) float64 {
	return floats.Distance(a, b, 2) / math.Sqrt(float64(len(a)))
}

// Centred is v less its mean.
func Centred(v []float64) []float64 {
	c := append([]float64(nil), v...)
	floats.AddConst(-floats.Sum(v)/float64(len(v)), c)
	return c
}
