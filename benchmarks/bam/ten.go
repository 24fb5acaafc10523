package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
)

// tenColumns are x0 to x9 and z.
func tenColumns() []variable {
	var all []variable
	for j := range 10 {
		all = append(all, variable{name: fmt.Sprintf("x%d", j)})
	}
	return append(all, variable{name: "z"})
}

// tenSmooths are a smooth of each.
func tenSmooths(x [][]float64, how smooth) ([]decompose.Spec, error) {
	var specs []decompose.Spec
	for j, c := range tenColumns()[:10] {
		o := &basis.SmoothOptions{SP: how.take(1)}
		switch how.bs {
		case "ps":
			specs = append(specs, basis.Smooth(c.name, basis.PS{K: how.k}, o))
		case "tp":
			specs = append(specs, basis.Smooth(c.name, basis.TP{K: how.k, Knots: x[j][:min(how.knots, len(x[j]))]}, o))
		default:
			return nil, fmt.Errorf("basis %q: it is ps or tp", how.bs)
		}
	}
	return specs, nil
}

// tenFunctions draws x0..x9 and z, the sum of the paper's ten functions and noise.
func tenFunctions(rows int) [][]float64 {
	f := []func(float64) float64{
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
	random := rand.New(rand.NewPCG(7, 8))
	columns := make([][]float64, len(f)+1)
	for j := range columns {
		columns[j] = make([]float64, rows)
	}
	for i := range rows {
		z := random.NormFloat64()
		for j := range f {
			x := random.NormFloat64()
			columns[j][i] = x
			z += f[j](x)
		}
		columns[len(f)][i] = z
	}
	return columns
}
