package moments

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/dyadic"
	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// Trace is tr(v C), C being the centred products of the columns of some of predictor k's bases (their places
// among its Bases), one after the other, over all rows. With the products C_i, the means m_i and the weights W_i
// of the nodes of s, and the mean m of all, it is
//
//	sum_i tr(v C_i) + W_i (m_i - m)'v(m_i - m),
//
// so that no products are added up.
func (s *Sum) Trace(of mat.Symmetric, k int, bases ...int) float64 {
	v, dense := of.(*mat.SymDense)
	if s.layout.Factor || !dense {
		return linalg.Trace(of, s.Total().Predictor(k).Products(bases...))
	}
	own := make([]int, len(bases))
	for i, b := range bases {
		own[i] = s.layout.Predictors[k][b]
	}
	off := s.layout.offsets()
	at := columnsOf(off, own)
	if !slices.IsSorted(own) {
		order := make([]int, len(at))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int { return at[i] - at[j] })
		v = partOf(v, order)
		slices.Sort(own)
		slices.Sort(at)
	}
	var nodes []*Moments
	weight, mean := 0.0, make([]float64, len(at))
	s.chunks.Each(func(n dyadic.Node[*Moments], ok bool) {
		if !ok || n.Value.SumW == 0 {
			return
		}
		nodes = append(nodes, n.Value)
		weight += n.Value.SumW
		for i, j := range at {
			mean[i] += n.Value.SumW * n.Value.Mean[j]
		}
	})
	trace, zeros := 0.0, make([]float64, len(at))
	for _, m := range nodes {
		trace += m.traceWith(v, off, own)
		if len(nodes) == 1 {
			break
		}
		apart := make([]float64, len(at))
		for i, j := range at {
			apart[i] = m.Mean[j] - mean[i]/weight
		}
		trace += m.SumW * linalg.Quadratic(v, apart, zeros)
	}
	return trace
}

// columnsOf are the columns of bases that begin at off.
func columnsOf(off, bases []int) (at []int) {
	for _, b := range bases {
		for j := off[b]; j < off[b+1]; j++ {
			at = append(at, j)
		}
	}
	return at
}

// traceWith is tr(v C), C being m's products of the columns of bases (increasing), which begin at off: summed by
// rows of the upper triangles. What is told by the numbers is not written down for it: -W m_i m_j of a row is a
// multiple of the means.
func (m *Moments) traceWith(v *mat.SymDense, off, bases []int) float64 {
	raw, at := v.RawSymmetric(), columnsOf(off, bases)
	basis := make([]int, 0, len(at)) // the place of a column's basis among bases
	for l, b := range bases {
		for range off[b+1] - off[b] {
			basis = append(basis, l)
		}
	}
	parts := make([]float64, raw.N)
	linalg.EachRow(raw.N, func(r int) {
		x, i := raw.Data[r*raw.Stride+r:r*raw.Stride+raw.N], at[r]
		next := off[bases[basis[r]]+1]
		own, rest := m.row(i, next)
		n := len(own)
		sum := kernel.Dot(x[1:n], own[1:]) - m.SumW*m.Mean[i]*kernel.Dot(x[n:next-i], m.Mean[i+n:next])
		to := next - i
		for _, b := range bases[basis[r]+1:] {
			d := off[b+1] - off[b]
			sum += kernel.Dot(x[to:to+d], rest[off[b]-next:off[b+1]-next])
			to += d
		}
		parts[r] = x[0]*own[0] + 2*sum
	})
	trace := 0.0
	for _, part := range parts {
		trace += part
	}
	return trace
}
