package report_test

import (
	"fmt"
	"os"

	"github.com/pho-go/pho/report"
)

// The curve of a linear term, before and after the projection, at two points.
func ExampleWriteEffects() {
	err := report.WriteEffects(os.Stdout, []report.Effect{{
		Predictor: "eta", Term: "x1", X: &report.Axis{Feature: "x1", Values: []float64{0, 1}},
		Before: []float64{-0.5, 0.5}, After: []float64{-1, 1}, SE: []float64{0.25, 0.25},
	}})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// predictor,term,stage,x,x2,value,se,lower,upper
	// eta,x1,before,0,,-0.5,,,
	// eta,x1,before,1,,0.5,,,
	// eta,x1,after,0,,-1,0.25,-1.49,-0.51
	// eta,x1,after,1,,1,0.25,0.51,1.49
}
