package native_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// A semi-structured network is trained and taken apart at once.
func ExampleTrain() {
	const n = 1000
	rng := rand.New(rand.NewPCG(1, 1))
	x, z, y := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], z[i] = 2*rng.Float64()-1, 2*rng.Float64()-1
		y[i] = 3*x[i] + math.Sin(3*z[i]) + x[i]*z[i] + 0.3*rng.NormFloat64()
	}
	rows := data.NewTable(n)
	for _, c := range []struct {
		name string
		v    []float64
	}{{"x", x}, {"z", z}, {"y", y}} {
		if err := rows.AddNumeric(c.name, c.v); err != nil {
			log.Fatal(err)
		}
	}

	model, fit, err := native.Train(context.Background(), native.Config{
		Structured: native.Structured{Formulas: []string{"y ~ x + s(z, bs=\"ps\")"}},
		Deep:       native.Deep{Columns: []string{"x", "z"}},
		Training:   native.Training{Epochs: 60, Seed: 1},
	}, rows)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fit.Rows, "rows,", fit.Validation, "held out")

	result, err := decompose.Decompose(context.Background(), model, rows, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range result.Predictors[0].Terms {
		fmt.Printf("%s %.1f\n", t.Name, t.After.Variance)
	}
	// Output:
	// 800 rows, 200 held out
	// x 3.0
	// s(z) 0.5
}
