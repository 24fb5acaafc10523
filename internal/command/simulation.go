package command

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/pho-go/pho/data"
)

// demoFunctions are the ten effects of the paper's simulation (appendix,
// simulation details).
func demoFunctions() []func(x float64) float64 {
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

// simulate draws rows of the ten-function simulation.
func simulate(rows int, seed uint64) (*data.Table, error) {
	random := rand.New(rand.NewPCG(seed, 0))
	functions := demoFunctions()
	x := make([][]float64, len(functions))
	y := make([]float64, rows)
	for j := range x {
		x[j] = make([]float64, rows)
	}
	for i := range rows {
		for j, f := range functions {
			x[j][i] = random.NormFloat64()
			y[i] += f(x[j][i])
		}
		y[i] += random.NormFloat64()
	}
	table := data.NewTable(rows)
	for j := range x {
		if err := table.AddNumeric(fmt.Sprintf("x%d", j), x[j]); err != nil {
			return nil, err
		}
	}
	return table, table.AddNumeric("y", y)
}

// writeRows writes numeric columns as CSV with all their digits.
func writeRows(w io.Writer, t *data.Table) error {
	names := t.Schema().Names()
	return data.WriteCSV(w, t.Batches(context.Background(), names), names, 1)
}
