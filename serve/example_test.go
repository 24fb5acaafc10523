package serve_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"strconv"

	"github.com/pho-go/pho"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/serve"
)

// A decomposition stays open, and rows are split as they come.
func ExampleExplainer() {
	ctx, table := context.Background(), data.NewTable(500)
	for j := range 10 {
		x := make([]float64, table.Rows())
		for i := range x {
			x[i] = math.Sin(float64(i * (j + 3)))
		}
		if err := table.AddNumeric("x"+strconv.Itoa(j), x); err != nil {
			log.Fatal(err)
		}
	}
	d, err := pho.Decompose(ctx, "../internal/command/demo/ssn.onnx", table, nil)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "result")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := d.Write(ctx, dir); err != nil {
		log.Fatal(err)
	}

	e, err := serve.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	rows := serve.NewRows(1)
	for _, c := range e.Columns() {
		err = errors.Join(err, rows.AddNumeric(c.Name, []float64{0.5}))
	}
	if err != nil {
		log.Fatal(err)
	}
	parts, _, err := e.Explain(ctx, rows, false, data.NAError)
	if err != nil {
		log.Fatal(err)
	}
	sum := 0.0
	for _, v := range parts[:len(parts)-1] {
		sum += v[0]
	}
	fmt.Println(e.Parts(false))
	fmt.Printf("the parts sum to %.3f, the network says %.3f\n", sum, parts[len(parts)-1][0])
	// Output:
	// [intercept x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 unstructured eta]
	// the parts sum to 0.781, the network says 0.781
}
