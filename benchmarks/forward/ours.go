package main

import (
	"errors"
	"slices"
	"time"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/internal/base/taskpool"
)

// ours is a network prepared for rows.
type ours struct {
	runner           onnx.Evaluator
	x, y             []float64
	rows             int
	columns, outputs int
}

func newOurs(g *onnx.Graph, k kind, rows int, c network) (*ours, error) {
	runner, err := onnx.GoEngine{Precision: k.precision, NoMatrixUnits: !k.units}.Prepare(g, []string{"y"})
	if err != nil {
		return nil, err
	}
	outputs := max(1, c.outputs)
	return &ours{runner, c.values(rows), make([]float64, rows*outputs), rows, c.columns, outputs}, nil
}

// blockRows is the number of rows that decompose sends through at once.
const blockRows = 256

// run passes over all rows again and again for so many seconds, in blocks that the workers share,
// and returns the rows/s of the median pass.
func (o *ours) run(workers int, seconds float64) (rowsPerSecond float64, err error) {
	pool := taskpool.New(workers)
	defer pool.Close()
	blocks := (o.rows + blockRows - 1) / blockRows
	errs := make([]error, blocks)
	deadline := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	group := max(1, 256/o.rows) // passes timed together
	var took []float64
	for len(took) == 0 || time.Now().Before(deadline) {
		started := time.Now()
		for range group {
			pool.Each(blocks, func(i int) { errs[i] = o.block(i * blockRows) })
			if err := errors.Join(errs...); err != nil {
				return 0, err
			}
		}
		took = append(took, time.Since(started).Seconds())
	}
	slices.Sort(took)
	return float64(o.rows*group) / took[len(took)/2], nil
}

// block runs the rows from i on.
func (o *ours) block(i int) error {
	n := min(blockRows, o.rows-i)
	return o.runner.Run([][]float64{o.y[i*o.outputs : (i+n)*o.outputs]}, [][]float64{o.x[i*o.columns : (i+n)*o.columns]}, n)
}
