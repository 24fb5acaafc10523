package gorgonia_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/pho-go/pho/adapters/gorgonia"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// A graph of gorgonia's is a black box with one predictor, 3 x1 - x2.
func ExampleNew() {
	weights := tensor.New(tensor.WithShape(2, 1), tensor.WithBacking([]float64{3, -1}))
	build := func(rows int) (*gorgonia.Network, error) {
		g := G.NewGraph()
		x := G.NewMatrix(g, tensor.Float64, G.WithShape(rows, 2))
		w := G.NewMatrix(g, tensor.Float64, G.WithShape(2, 1), G.WithValue(weights))
		y, err := G.Mul(x, w)
		return &gorgonia.Network{Inputs: []gorgonia.Input{{Node: x, Columns: []string{"x1", "x2"}}}, Eta: y}, err
	}
	m, err := gorgonia.New(build, gorgonia.Structure{Predictors: []string{"y"}}, 0)
	if err != nil {
		log.Fatal(err)
	}
	rows := data.NewTable(2)
	if err := rows.AddNumeric("x1", []float64{1, 2}); err != nil {
		log.Fatal(err)
	}
	if err := rows.AddNumeric("x2", []float64{1, 0}); err != nil {
		log.Fatal(err)
	}
	for b, err := range rows.Batches(context.Background(), m.Columns()) {
		if err != nil {
			log.Fatal(err)
		}
		out := &decompose.Outputs{Eta: mat.NewDense(2, 1, nil), Zeta: mat.NewDense(2, 1, nil)}
		if err := m.Forward(context.Background(), out, b); err != nil {
			log.Fatal(err)
		}
		fmt.Println(out.Eta.RawMatrix().Data)
	}
	// Output: [2 6]
}

// decomposeOutputs is memory for n rows of m.
func decomposeOutputs(m decompose.Model, n int) *decompose.Outputs {
	k := len(m.Predictors())
	out := &decompose.Outputs{Eta: mat.NewDense(n, k, nil), Zeta: mat.NewDense(n, k, nil), Taps: map[string]*mat.Dense{}}
	for name, width := range m.Taps() {
		out.Taps[name] = mat.NewDense(n, width, nil)
	}
	return out
}
