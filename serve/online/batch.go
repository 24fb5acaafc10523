package online

import (
	"context"
	"errors"
	"sync"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/serve"
)

// errBusy is a queue that is full.
var errBusy = errors.New("too many requests wait: try again later")

// dispatcher computes rows of one decomposition.
type dispatcher struct {
	e  *serve.Explainer
	mu sync.Mutex
}

// job is the rows of one request.
type job struct {
	rows *serve.Rows
	se   bool
	na   data.NAPolicy

	parts   [][]float64
	dropped int
}

func (d *dispatcher) do(ctx context.Context, j *job) (err error) {
	j.parts, j.dropped, err = d.e.Explain(ctx, j.rows, j.se, j.na)
	return err
}
