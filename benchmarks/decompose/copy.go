package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"sync"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
)

// copied reads the rows, runs the network and writes, as CSV, as many columns as the
// contributions of ten terms have: a number that is the same in all rows, the inputs, and the
// predictor twice.
func copied(network, file, out string, workers int) error {
	m, src, err := opened(network, file, workers)
	if err != nil {
		return err
	}
	defer src.Close()
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	columns := append(append([]string{"intercept"}, m.Columns()...), "unstructured", "eta")
	rows := data.Rebatch(src.Batches(context.Background(), m.Columns()), 4096)
	err = data.WriteCSV(f, predicted(m, rows, workers), columns, workers)
	return errors.Join(err, f.Close())
}

// block is a batch with its predictor, once it is done.
type block struct {
	batch *data.Batch
	err   error
	done  chan struct{}
}

// predicted runs the network on batches by several workers and yields them in order, with the
// predictor as columns.
func predicted(m *onnx.Model, rows iter.Seq2[*data.Batch, error], workers int) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		todo, inOrder := make(chan *block), make(chan *block, 2*workers)
		var others sync.WaitGroup
		defer others.Wait()
		for range workers {
			others.Go(func() {
				for b := range todo {
					if b.err == nil {
						b.err = predict(m, b.batch)
					}
					close(b.done)
				}
			})
		}
		others.Go(func() {
			defer close(inOrder)
			defer close(todo)
			for batch, err := range rows {
				b := &block{batch: batch, err: err, done: make(chan struct{})}
				inOrder <- b
				todo <- b
			}
		})
		stopped := false
		for b := range inOrder {
			if <-b.done; !stopped {
				stopped = !yield(b.batch, b.err) || b.err != nil
			}
		}
	}
}

// predict adds columns to a batch that nobody else holds.
func predict(m *onnx.Model, b *data.Batch) error {
	eta, intercept := make([]float64, b.Rows()), make([]float64, b.Rows())
	local := b.Slice(0, b.Rows())
	if err := run(m, local.Shift(-b.Row(0)), eta); err != nil {
		return err
	}
	for i := range intercept {
		intercept[i] = 0.1234567890123456
	}
	for name, v := range map[string][]float64{"intercept": intercept, "unstructured": eta, "eta": eta} {
		if err := b.SetNumeric(name, v); err != nil {
			return fmt.Errorf("column %q: %w", name, err)
		}
	}
	return nil
}
