package decompose

import (
	"context"
	"fmt"

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
	addScaled(dst.Zeta, share, out.Zeta)
	addScaled(dst.Eta, share, out.Eta)
	each, zeta := dst.Taps[zetaOfEach].RawMatrix(), out.Zeta.RawMatrix()
	for r := range zeta.Rows {
		copy(each.Data[r*each.Stride+i*zeta.Cols:], zeta.Data[r*zeta.Stride:][:zeta.Cols])
	}
}

// addScaled adds share times b to a. Rows are short: most networks have one predictor.
func addScaled(a *mat.Dense, share float64, b *mat.Dense) {
	to, from := a.RawMatrix(), b.RawMatrix()
	for r := range from.Rows {
		into := to.Data[r*to.Stride:][:from.Cols]
		for k, v := range from.Data[r*from.Stride:][:from.Cols] {
			into[k] += share * v
		}
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
	for _, m := range [2]*mat.Dense{out.Eta, out.Zeta} {
		raw := m.RawMatrix()
		for r := range raw.Rows {
			for _, v := range raw.Data[r*raw.Stride:][:raw.Cols] {
				if v-v != 0 {
					return fmt.Errorf("data row %d: its output is %g: leave the network out, or such rows", b.Row(r)+1, v)
				}
			}
		}
	}
	return nil
}
