package native

import (
	"iter"

	"github.com/pho-go/pho/adapters/native/internal/additive"
	"github.com/pho-go/pho/adapters/native/internal/likelihood"
	"github.com/pho-go/pho/adapters/native/internal/network"
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/internal/kernel"
)

// dataset is rows ready for training: everything that the network reads, and the response
// that the loss compares with.
type dataset[T kernel.Float] struct {
	network.Batch[T]
	*likelihood.Target
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

// gather copies the given rows into dst.
func (d *dataset[T]) gather(dst *dataset[T], rows []int) {
	n := len(rows)
	dst.N = n
	if dst.Target == nil {
		dst.Target = &likelihood.Target{}
		dst.X, dst.Structured, dst.Codes = make([][]T, len(d.X)), make([][]T, len(d.Structured)), make([][][]int32, len(d.Codes))
		for i := range d.Codes {
			dst.Codes[i] = make([][]int32, len(d.Codes[i]))
		}
	}
	for i, x := range d.X {
		dst.X[i] = gatherRows(dst.X[i], x, len(x)/d.N, rows)
		for j, c := range d.Codes[i] {
			dst.Codes[i][j] = gatherRows(dst.Codes[i][j], c, 1, rows)
		}
	}
	for k, x := range d.Structured {
		dst.Structured[k] = gatherRows(dst.Structured[k], x, len(x)/d.N, rows)
	}
	dst.Y, dst.W = gatherRows(dst.Y, d.Y, 1, rows), gatherRows(dst.W, d.W, 1, rows)
	if d.Event != nil {
		dst.Event = gatherRows(dst.Event, d.Event, 1, rows)
	}
	if d.Offset != nil {
		dst.Offset = gatherRows(dst.Offset, d.Offset, 1, rows)
	}
}

func gatherRows[E any](dst, src []E, width int, rows []int) []E {
	if size := len(rows) * width; cap(dst) < size {
		dst = make([]E, size)
	} else {
		dst = dst[:size]
	}
	if width == 1 {
		for i, r := range rows {
			dst[i] = src[r]
		}
		return dst
	}
	for i, r := range rows {
		copy(dst[i*width:][:width], src[r*width:])
	}
	return dst
}

// part is rows i to j-1 without copying.
func (d *dataset[T]) part(i, j int) *dataset[T] {
	p := &dataset[T]{Target: &likelihood.Target{Y: d.Y[i:j], W: d.W[i:j]}}
	p.N = j - i
	cut := func(x []T) []T {
		w := len(x) / d.N
		return x[i*w : j*w]
	}
	for k, x := range d.X {
		p.X = append(p.X, cut(x))
		var codes [][]int32
		for _, c := range d.Codes[k] {
			codes = append(codes, c[i:j])
		}
		p.Codes = append(p.Codes, codes)
	}
	for _, x := range d.Structured {
		p.Structured = append(p.Structured, cut(x))
	}
	if d.Event != nil {
		p.Event = d.Event[i:j]
	}
	if d.Offset != nil {
		p.Offset = d.Offset[i:j]
	}
	return p
}

// blocks are all rows in order, size at a time.
func (d *dataset[T]) blocks(size int) iter.Seq[*network.Batch[T]] {
	return func(yield func(*network.Batch[T]) bool) {
		for i := 0; i < d.N; i += size {
			if !yield(&d.part(i, min(i+size, d.N)).Batch) {
				return
			}
		}
	}
}
