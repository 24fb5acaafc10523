package classes

import (
	"context"
	"maps"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Taps names the learned bases: the wrapped model's, and those of classes side by side.
func (m *Model) Taps() map[string]int { return maps.Clone(m.taps) }

// Forward runs the wrapped model once and mixes its predictors.
func (m *Model) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	n := b.Rows()
	if n == 0 {
		return nil
	}
	raw := m.pool.take(n, m.k)
	defer m.pool.giveBack(raw)
	clear(raw.Taps)
	for name, width := range m.raw {
		if raw.Taps[name] = dst.Taps[name]; raw.Taps[name] == nil {
			raw.Taps[name] = mat.NewDense(n, width, nil)
		}
	}
	if err := m.of.Forward(ctx, raw, b); err != nil {
		return err
	}
	m.mix(dst.Eta, raw.Eta)
	m.mix(dst.Zeta, raw.Zeta)
	for _, j := range m.joins {
		for i, tap := range j.of {
			from, to := raw.Taps[tap.Tensor], dst.Taps[j.tap.Tensor].Slice(0, n, j.from[i], j.from[i]+tap.Width).(*mat.Dense)
			if tap.Pieces != nil {
				m := from.RawMatrix()
				tap.Pieces.Eval(to, m.Data, m.Stride, n)
				continue
			}
			to.Copy(from)
		}
	}
	return nil
}

// mix sets the predictors of each row from those of the wrapped model.
func (m *Model) mix(dst, raw *mat.Dense) {
	n, _ := raw.Dims()
	means := make([]float64, len(m.heads))
	for i := range n {
		from, to := raw.RawRowView(i), dst.RawRowView(i)
		for l, h := range m.heads {
			means[l] = h.base(from)
			for j, c := range h.others {
				to[h.made[j]] = from[h.Predictors[c]] - means[l]
			}
		}
		for k, r := range m.rows {
			if r.head == nil {
				to[k] = from[r.from]
			}
		}
	}
}

// base is what is subtracted from the classes of a row.
func (h *head) base(row []float64) float64 {
	if h.reference >= 0 {
		return row[h.Predictors[h.reference]]
	}
	mean := 0.0
	for _, k := range h.Predictors {
		mean += row[k]
	}
	return mean / float64(len(h.Predictors))
}

// scratch holds outputs of the wrapped model that nobody uses.
type scratch struct{ pool sync.Pool }

func (s *scratch) take(n, k int) *decompose.Outputs {
	o, _ := s.pool.Get().(*decompose.Outputs)
	if o == nil {
		o = &decompose.Outputs{Zeta: &mat.Dense{}, Eta: &mat.Dense{}, Taps: map[string]*mat.Dense{}}
	}
	o.Zeta.Reset()
	o.Zeta.ReuseAs(n, k)
	o.Eta.Reset()
	o.Eta.ReuseAs(n, k)
	return o
}

func (s *scratch) giveBack(o *decompose.Outputs) { s.pool.Put(o) }
