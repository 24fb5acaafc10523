// Command external decomposes a network trained elsewhere: the library calls
// behind `pho decompose`, without its files.
//
//	go run ./examples/external [MODEL.onnx ROWS.csv]
//
// Without arguments it opens the network of the demo on rows that it draws
// itself.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

func main() {
	model, src, err := input(os.Args[1:])
	if err == nil {
		err = run(context.Background(), model, src)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// input opens the files of the command line. Any data.Source will do: a table
// in memory is one.
func input(args []string) (model string, src data.Source, err error) {
	switch len(args) {
	case 0:
		src, err = draw(2000)
		return "internal/command/demo/ssn.onnx", src, err
	case 2:
		src, err = data.OpenCSV(args[1:], nil)
		return args[0], src, err
	}
	return "", nil, errors.New("usage: external [MODEL.onnx ROWS.csv]")
}

// draw makes standard normal columns x0 to x9.
func draw(rows int) (*data.Table, error) {
	random := rand.New(rand.NewPCG(1, 2))
	table := data.NewTable(rows)
	for j := range 10 {
		x := make([]float64, rows)
		for i := range x {
			x[i] = random.NormFloat64()
		}
		if err := table.AddNumeric(fmt.Sprintf("x%d", j), x); err != nil {
			return nil, err
		}
	}
	return table, nil
}

func run(ctx context.Context, model string, src data.Source) error {
	graph, err := onnx.LoadFile(model, nil)
	if err != nil {
		return err
	}
	// The network's inputs from the data's columns; y is the response.
	bind, err := onnx.Bind(graph, src.Schema(), nil, "y")
	if err != nil {
		return err
	}
	net, err := onnx.NewModel(graph, bind, nil)
	if err != nil {
		return err
	}
	// Two splines beside what the network has itself.
	formula, err := basis.Parse(`~ s(x2, bs="ps", k=20) + s(x5, bs="cr")`, &basis.Options{Schema: src.Schema()})
	if err != nil {
		return err
	}
	blocks, err := decompose.Prepare(ctx, src, formula.Specs, net.Columns())
	if err != nil {
		return err
	}
	m, err := decompose.With(net, map[string][]decompose.Block{"": blocks})
	if err != nil {
		return err
	}
	r, err := decompose.Decompose(ctx, m, src, nil)
	if err != nil {
		return err
	}
	p := r.Predictors[0]
	fmt.Printf("structured variance %.3f before, %.3f after, of %.3f\n",
		p.VarianceBefore.Structured, p.Variance.Structured, p.Variance.Total)
	for _, t := range p.Terms {
		fmt.Printf("%-8s edf %5.2f  sd %.3f -> %.3f\n", t.Name, t.EDF, math.Sqrt(t.Before.Variance), math.Sqrt(t.After.Variance))
	}
	return nil
}
