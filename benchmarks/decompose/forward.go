package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
)

// forward reads the rows and runs the network on them, with as many workers as
// decompose has and in blocks like its own, and returns the number of rows. eta
// (nil: nobody wants it) takes the predictor of every row.
func forward(network, file string, workers int, eta []float64) (int64, error) {
	m, src, err := opened(network, file, workers)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	blocks := make(chan *data.Batch, workers)
	errs := make([]error, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for b := range blocks {
				if errs[w] == nil {
					errs[w] = run(m, b, eta)
				}
			}
		})
	}
	var rows int64
	for b, err := range data.Rebatch(src.Batches(context.Background(), m.Columns()), 4096) {
		if err != nil {
			return 0, err
		}
		rows += int64(b.Rows())
		blocks <- b
	}
	close(blocks)
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	if eta != nil && int64(len(eta)) != rows {
		return 0, fmt.Errorf("%d rows, want %d", rows, len(eta))
	}
	return rows, nil
}

// opened are the network and the rows that it is bound to.
func opened(network, file string, workers int) (*onnx.Model, files.Source, error) {
	g, err := onnx.LoadFile(network, nil)
	if err != nil {
		return nil, nil, err
	}
	src, err := files.Open([]string{file}, &files.Options{Workers: workers})
	if err != nil {
		return nil, nil, err
	}
	var columns []string
	for j := range inputs {
		columns = append(columns, fmt.Sprintf("x%d", j))
	}
	bind, err := onnx.Bind(g, src.Schema(), map[string][]string{"x": columns})
	if err == nil {
		var m *onnx.Model
		if m, err = onnx.NewModel(g, bind, nil); err == nil {
			return m, src, nil
		}
	}
	return nil, nil, errors.Join(err, src.Close())
}

func run(m *onnx.Model, b *data.Batch, eta []float64) error {
	out := &decompose.Outputs{Zeta: mat.NewDense(b.Rows(), 1, nil), Eta: mat.NewDense(b.Rows(), 1, nil)}
	if err := m.Forward(context.Background(), out, b); err != nil {
		return err
	}
	if eta != nil {
		copy(eta[b.Row(0):], out.Eta.RawMatrix().Data)
	}
	return nil
}
