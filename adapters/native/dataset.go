package native

import (
	"iter"

	"github.com/pho-go/pho/adapters/native/internal/additive"
	"github.com/pho-go/pho/adapters/native/internal/likelihood"
	"github.com/pho-go/pho/adapters/native/internal/network"
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/internal/base/kernel"
)

// dataset is rows ready for training: everything that the network reads, and the response
// that the loss compares with.
type dataset[T kernel.Float] struct {
	network.Table[T]
	*likelihood.Target
}

// batch is some rows of a dataset.
type batch[T kernel.Float] struct {
	network.Batch[T]
	likelihood.Target
}

func newDataset[T kernel.Float](f *rows.Frame, t *likelihood.Target, plans []*network.Plan, parts []*additive.Part) (*dataset[T], error) {
	d := &dataset[T]{Target: t}
	d.N = f.Rows()
	for _, p := range plans {
		x, codes, err := p.Read(f.Batch)
		if err != nil {
			return nil, err
		}
		d.X, d.Codes = append(d.X, nn.Rounded[T](x)), append(d.Codes, codes)
	}
	for _, s := range parts {
		p := s.Width()
		x := make([]float64, d.N*p)
		if p > 0 {
			if err := s.Eval(x, p, f.Batch); err != nil {
				return nil, err
			}
		}
		d.Structured = append(d.Structured, nn.Rounded[T](x))
	}
	return d, nil
}

// take copies the given rows of d.
func (b *batch[T]) take(d *dataset[T], rows []int) {
	d.Rows(&b.Batch, rows)
	b.Y, b.W = network.Pick(b.Y, d.Y, rows), network.Pick(b.W, d.W, rows)
	if d.Event != nil {
		b.Event = network.Pick(b.Event, d.Event, rows)
	}
	if d.Offset != nil {
		b.Offset = network.Pick(b.Offset, d.Offset, rows)
	}
}

// part sets dst to rows i to j-1.
func (d *dataset[T]) part(dst *batch[T], i, j int) {
	d.Part(&dst.Batch, i, j)
	dst.Target = likelihood.Target{Y: d.Y[i:j:j], W: d.W[i:j:j]}
	if d.Event != nil {
		dst.Event = d.Event[i:j:j]
	}
	if d.Offset != nil {
		dst.Offset = d.Offset[i:j:j]
	}
}

// blocks are all rows in order, size at a time; each is overwritten by the next.
func (d *dataset[T]) blocks(size int) iter.Seq[*network.Batch[T]] {
	return func(yield func(*network.Batch[T]) bool) {
		b := &network.Batch[T]{}
		for i := 0; i < d.N; i += size {
			if d.Part(b, i, min(i+size, d.N)); !yield(b) {
				return
			}
		}
	}
}
