package decompose

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
)

// forward runs the network on chunks of rows for one worker, in buffers of its
// own, and hands its taps to the terms.
type forward struct {
	model Model
	taps  []string
	width map[string]int
	k     int
	own   *Outputs // evalRows rows,
	first *Outputs // and some of them
	rows  *data.Batch
	held  bool        // rows hold some of a batch
	none  *data.Batch // empty
	eval  *evaluator
}

func newForward(m Model, p *plan) *forward {
	f := &forward{model: m, width: m.Taps(), k: len(m.Predictors()), rows: data.NewBatch(0, 0), none: data.NewBatch(0, 0), eval: p.evaluator()}
	f.taps = sortedKeys(f.width)
	f.own = f.outputs(evalRows)
	f.first = f.own
	return f
}

// cut is rows i to j-1 of b, valid until the next call: taps may be added to it. It is b
// itself where nothing is cut or added.
func (f *forward) cut(b *data.Batch, i, j int) *data.Batch {
	if len(f.taps) == 0 && i == 0 && j == b.Rows() {
		return b
	}
	b.SliceInto(f.rows, i, j)
	f.held = true
	return f.rows
}

// forget lets go of the rows that were cut last.
func (f *forward) forget() {
	if f.held {
		f.none.SliceInto(f.rows, 0, 0)
		f.held = false
	}
}

// outputs allocates outputs for n rows.
func (f *forward) outputs(n int) *Outputs { return newOutputs(n, f.k, f.taps, f.width) }

// view is rows i to j-1 of o, sharing its memory.
func (o *Outputs) view(i, j int) *Outputs {
	rows := func(m *mat.Dense) *mat.Dense {
		_, c := m.Dims()
		return m.Slice(i, j, 0, c).(*mat.Dense)
	}
	v := &Outputs{Zeta: rows(o.Zeta), Eta: rows(o.Eta), Taps: make(map[string]*mat.Dense, len(o.Taps))}
	for name, m := range o.Taps {
		v.Taps[name] = rows(m)
	}
	return v
}

// run evaluates the network at the rows of b, into rows at, at+1, ... of into
// (nil: buffers that the next call overwrites), and adds the taps to b.
func (f *forward) run(ctx context.Context, b *data.Batch, into *Outputs, at int) (*Outputs, error) {
	var out *Outputs
	if into != nil {
		out = into.view(at, at+b.Rows())
	} else {
		out = f.ownRows(b.Rows())
	}
	if err := f.model.Forward(ctx, out, b); err != nil {
		return nil, err
	}
	return out, f.tap(b, out)
}

// ownRows is the first n rows of the outputs that run overwrites.
func (f *forward) ownRows(n int) *Outputs {
	if r, _ := f.first.Eta.Dims(); r != n {
		f.first = f.own.view(0, n)
	}
	return f.first
}

// at is stored, or run if there is nothing stored.
func (f *forward) at(ctx context.Context, b *data.Batch, stored, into *Outputs, at int) (*Outputs, error) {
	if stored != nil {
		return f.stored(b, stored, at)
	}
	return f.run(ctx, b, into, at)
}

// stored is run with outputs kept from an earlier pass.
func (f *forward) stored(b *data.Batch, from *Outputs, at int) (*Outputs, error) {
	if r, _ := from.Eta.Dims(); at+b.Rows() > r {
		return nil, errOtherRows
	}
	out := from.view(at, at+b.Rows())
	return out, f.tap(b, out)
}

func (f *forward) tap(b *data.Batch, out *Outputs) error {
	for _, name := range f.taps {
		if err := b.SetTensor(name, out.Taps[name]); err != nil {
			return err
		}
	}
	return nil
}
