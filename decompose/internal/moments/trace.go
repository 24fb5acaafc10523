package moments

import (
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/dyadic"
	"github.com/pho-go/pho/internal/linalg"
)

// Trace is tr(v C), C being the centred products of the columns of some of predictor k's bases (their places
// among its Bases), one after the other, over all rows. With the products C_i, the means m_i and the weights W_i
// of the nodes of s, and the mean m of all, it is
//
//	sum_i tr(v C_i) + W_i (m_i - m)'v(m_i - m),
//
// so that no products are added up.
func (s *Sum) Trace(v *mat.SymDense, k int, bases ...int) float64 {
	if s.layout.Factor {
		return linalg.TraceOfProduct(v, s.Total().Predictor(k).Products(bases...))
	}
	var at []int
	off := s.layout.offsets()
	for _, b := range bases {
		basis := s.layout.Predictors[k][b]
		for j := off[basis]; j < off[basis+1]; j++ {
			at = append(at, j)
		}
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
		trace += linalg.TraceOfProduct(v, m.productsOf(at))
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
