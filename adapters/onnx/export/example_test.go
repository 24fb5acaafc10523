package export_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"
	"os"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/export"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// A network of ten columns with linear terms and a deep part is decomposed, and the parts are
// written into its file, whose own output stays.
func Example() {
	file, err := os.ReadFile("../../../internal/command/demo/ssn.onnx")
	if err != nil {
		log.Fatal(err)
	}
	g, err := onnx.Load(bytes.NewReader(file), nil)
	if err != nil {
		log.Fatal(err)
	}
	const n = 500
	rows := data.NewTable(n)
	for j := range 10 {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Sin(float64((i + 1) * (2*j + 3)))
		}
		if err := rows.AddNumeric(fmt.Sprintf("x%d", j), x); err != nil {
			log.Fatal(err)
		}
	}
	bind, err := onnx.Bind(g, rows.Schema(), nil)
	if err != nil {
		log.Fatal(err)
	}
	m, err := onnx.NewModel(g, bind, nil)
	if err != nil {
		log.Fatal(err)
	}
	r, err := decompose.Decompose(context.Background(), m, rows, &decompose.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var adapted bytes.Buffer
	if err := export.Write(&adapted, export.File{Model: file}, m, r, nil); err != nil {
		log.Fatal(err)
	}
	for _, o := range decode(nil, adapted.Bytes()).Graph.Output {
		fmt.Print(o.Name, " ")
	}
	// Output:
	// y x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 intercept unstructured eta
}
