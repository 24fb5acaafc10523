package decompose

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
)

// memberOutputs are what one network gives for some rows, for one caller of Forward.
type memberOutputs struct {
	forwards []*forward // by network; its terms have no evaluator of their own
	columns  *mat.Dense // of a term at the rows
}

// outputs are buffers that nobody else uses, until they are given back.
func (m *Members) outputs() *memberOutputs {
	if o, ok := m.idle.Get().(*memberOutputs); ok {
		return o
	}
	o := &memberOutputs{}
	for _, member := range m.members {
		o.forwards = append(o.forwards, newForward(member.Model, &plan{}))
	}
	return o
}

func (m *Members) giveBack(o *memberOutputs) {
	for _, f := range o.forwards {
		f.forget()
	}
	m.idle.Put(o)
}

// Forward runs all networks, one after the other, and gives the means of their deep parts
// and predictors. An output that is not finite is an error that names the network and the
// row.
func (m *Members) Forward(ctx context.Context, dst *Outputs, b *data.Batch) error {
	o := m.outputs()
	defer m.giveBack(o)
	dst.Zeta.Zero()
	dst.Eta.Zero()
	n, share := b.Rows(), 1/float64(len(m.members))
	at := make([]int, len(m.joints)) // first column of the network at hand
	for first := 0; first < n; first += evalRows {
		last := min(first+evalRows, n)
		into := dst.view(first, last)
		clear(at)
		for i, member := range m.members {
			rows := o.forwards[i].cut(b, first, last)
			out, err := o.forwards[i].run(ctx, rows, nil, 0)
			if err == nil {
				err = finiteOutputs(out, rows)
			}
			if err == nil {
				m.add(into, i, share, out)
				err = m.addColumns(into, i, at, o, rows)
			}
			if err != nil {
				return fmt.Errorf("network %q: %w", member.Name, err)
			}
		}
	}
	return nil
}

// add adds the outputs of network i to the means, and notes its deep parts.
func (m *Members) add(dst *Outputs, i int, share float64, out *Outputs) {
	each, k := dst.Taps[zetaOfEach], len(m.predictors)
	n, _ := out.Zeta.Dims()
	for r := range n {
		floats.AddScaled(dst.Zeta.RawRowView(r), share, out.Zeta.RawRowView(r))
		floats.AddScaled(dst.Eta.RawRowView(r), share, out.Eta.RawRowView(r))
		copy(each.RawRowView(r)[i*k:(i+1)*k], out.Zeta.RawRowView(r))
	}
}

// addColumns notes the columns of network i that others do not have.
func (m *Members) addColumns(dst *Outputs, i int, at []int, o *memberOutputs, rows *data.Batch) error {
	for l, joint := range m.joints {
		term := m.terms[i][joint.predictor][joint.term].Term
		d := term.Dim()
		o.columns = resize(o.columns, rows.Rows(), d)
		if err := term.Eval(o.columns, rows); err != nil {
			return err
		}
		to := dst.Taps[joint.tensor]
		for r := range rows.Rows() {
			copy(to.RawRowView(r)[at[l]:at[l]+d], o.columns.RawRowView(r))
		}
		at[l] += d
	}
	return nil
}

// finiteOutputs refuses NaN and infinities, which a mean would spread over all networks.
func finiteOutputs(out *Outputs, b *data.Batch) error {
	n, k := out.Eta.Dims()
	for r := range n {
		for j := range k {
			for _, v := range [2]float64{out.Eta.At(r, j), out.Zeta.At(r, j)} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return fmt.Errorf("data row %d: its output is %g: leave the network out, or such rows", b.Row(r)+1, v)
				}
			}
		}
	}
	return nil
}
