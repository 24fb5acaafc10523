package penalty

import (
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// No row has entries in two groups of eliminated columns, so that sums of products about 0 have zeros
// there; those about a point have not (linalg.Shifted).

// groupsApart tells whether m, whose band is of the eliminated columns, is 0 between different groups.
func (e *schur) groupsApart(m *linalg.Near, start int) bool {
	n := e.n()
	if m == nil || m.Lo != start || m.Hi != start+n {
		return false
	}
	group := make([]int, n)
	for g := range e.at {
		lo, hi := e.group(g)
		for _, c := range e.column[lo:hi] {
			group[c] = g
		}
	}
	for i := range n {
		for k := 1; k < min(m.Width, n-i); k++ {
			if m.Own[i*m.Width+k] != 0 && group[i+k] != group[i] {
				return false
			}
		}
	}
	return true
}

// timesNear is m N, where m.Near is 0 between groups.
func (e *schur) timesNear(m linalg.Shifted, n *mat.Dense) *mat.Dense {
	near, start := m.Near, m.Near.Lo
	p, q := n.Dims()
	var out *mat.Dense
	if left := near.Others; left == nil {
		out = mat.NewDense(p, q, nil)
	} else {
		others, _ := left.Dims()
		of := mat.NewDense(others, q, nil)
		for l := range others {
			of.SetRow(l, n.RawRowView(near.Other(l)))
		}
		out = linalg.TransTimes(left, of)
		back := product(left.Slice(0, others, start, near.Hi).(*mat.Dense), n.Slice(start, near.Hi, 0, q).(*mat.Dense))
		for l := range others {
			row := out.RawRowView(near.Other(l))
			kernel.Add(row, row, back.RawRowView(l))
		}
	}
	for g := range e.at {
		lo, hi := e.group(g)
		for _, a := range e.column[lo:hi] {
			for _, b := range e.column[lo:hi] {
				kernel.Axpy(out.RawRowView(start+a), n.RawRowView(start+b), near.At(a, b))
			}
		}
	}
	gn, cn := make([]float64, q), make([]float64, q)
	for i := range p {
		kernel.Axpy(gn, n.RawRowView(i), m.G[i])
		kernel.Axpy(cn, n.RawRowView(i), m.C[i])
	}
	for i := range p {
		kernel.Axpy(out.RawRowView(i), cn, -m.G[i])
		kernel.Axpy(out.RawRowView(i), gn, -m.C[i])
	}
	return out
}

// addApart adds D m D, where m is 0 between groups.
func (e *schur) addApart(out *mat.SymDense, m *linalg.Near) {
	raw := out.RawSymmetric()
	for g, at := range e.at {
		lo, hi := e.group(g)
		size := hi - lo
		d, own, dm := mat.NewDense(size, size, nil), mat.NewDense(size, size, nil), mat.NewDense(size, size, nil)
		for i, a := range e.column[lo:hi] {
			for j, b := range e.column[lo:hi] {
				d.Set(i, j, e.inverse[at+i*size+j]/(e.d[lo+i]*e.d[lo+j]))
				own.Set(i, j, m.At(a, b))
			}
		}
		dm.Mul(d, own)
		own.Mul(dm, d)
		for i, a := range e.column[lo:hi] {
			for j, b := range e.column[lo:hi] {
				if a <= b {
					raw.Data[(m.Lo+a)*raw.Stride+m.Lo+b] += own.At(i, j)
				}
			}
		}
	}
}
