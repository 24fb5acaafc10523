package native_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// simulated has n rows of y = 3 x + sin(3 z) + x z + noise.
func simulated(n int) *data.Table {
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
	return rows
}

// A semi-structured network is trained and decomposed at once.
func ExampleTrain() {
	rows := simulated(1000)
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

// A network is saved, and the file is decomposed: it holds the formula's terms, and the
// interaction x z stays in the deep part.
func ExampleModel_WriteONNX() {
	ctx, rows := context.Background(), simulated(1000)
	model, _, err := native.Train(ctx, native.Config{
		Structured: native.Structured{Formulas: []string{"y ~ x + s(z, bs=\"ps\")"}},
		Deep:       native.Deep{Columns: []string{"x", "z"}},
		Training:   native.Training{Epochs: 60, Seed: 1},
		Export:     &native.ExportOptions{}, // what cannot be written is refused before training
	}, rows)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := model.WriteONNX(&file, nil); err != nil {
		log.Fatal(err)
	}

	graph, err := onnx.Load(&file, nil)
	if err != nil {
		log.Fatal(err)
	}
	bind, err := onnx.Bind(graph, rows.Schema(), nil, "y")
	if err != nil {
		log.Fatal(err)
	}
	saved, err := onnx.NewModel(graph, bind, &onnx.Options{Decode: basis.Decode})
	if err != nil {
		log.Fatal(err)
	}
	result, err := decompose.Decompose(ctx, saved, rows, nil)
	if err != nil {
		log.Fatal(err)
	}
	eta := result.Predictors[0]
	for _, t := range eta.Terms {
		fmt.Printf("%s is %s: variance %.1f\n", t.Name, t.Kind, t.After.Variance)
	}
	fmt.Printf("deep part: variance %.1f\n", eta.Variance.Unstructured)
	// Output:
	// x is linear: variance 3.0
	// s(z) is smooth: variance 0.5
	// deep part: variance 0.1
}
