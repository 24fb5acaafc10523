package report_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/report"
)

// The curve of a linear term, before and after the projection, at two points.
func ExampleWriteEffects() {
	err := report.WriteEffects(os.Stdout, []report.Effect{{
		Predictor: "eta", Term: "x1", X: &report.Axis{Feature: "x1", Values: []float64{0, 1}},
		Before: []float64{-0.5, 0.5}, After: []float64{-1, 1}, SE: []float64{0.25, 0.25}, Sim: []float64{0.6, 0.6},
	}})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// predictor,term,stage,x,x2,value,se,lower,upper,lower_sim,upper_sim
	// eta,x1,before,0,,-0.5,,,,,
	// eta,x1,before,1,,0.5,,,,,
	// eta,x1,after,0,,-1,0.25,-1.49,-0.51,-1.6,-0.4
	// eta,x1,after,1,,1,0.25,0.51,1.49,0.4,1.6
}

// A model is decomposed, its effects are evaluated, and all of it becomes one HTML page.
func ExampleWrite() {
	const n = 200
	rows, x, y := data.NewTable(n), make([]float64, n), make([]float64, n)
	for i := range n {
		x[i] = float64(i) / n
		y[i] = 3*x[i] + 0.1*float64(i%5)
	}
	if err := errors.Join(rows.AddNumeric("x", x), rows.AddNumeric("y", y)); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	model, _, err := native.Train(ctx, native.Config{Architecture: native.GAM, Structured: native.Structured{Formulas: []string{"y ~ x"}}}, rows)
	if err != nil {
		log.Fatal(err)
	}
	result, err := decompose.Decompose(ctx, model, rows, nil)
	if err != nil {
		log.Fatal(err)
	}
	applier, err := result.Applier(model)
	if err != nil {
		log.Fatal(err)
	}
	effects, err := report.Effects(ctx, result, applier)
	if err != nil {
		log.Fatal(err)
	}
	last := effects[0].X.Len() - 1
	fmt.Printf("effect of %s: %.1f at %.1f, %.1f at %.1f\n", effects[0].Term, effects[0].After[0], effects[0].X.Values[0], effects[0].After[last], effects[0].X.Values[last])
	var page bytes.Buffer
	if err := report.Write(&page, result, effects); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(page.String(), "<svg"), strings.Contains(page.String(), "<script"))
	// Output:
	// effect of x: -1.5 at 0.0, 1.5 at 1.0
	// true true
}
