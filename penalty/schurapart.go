package penalty

import (
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/kernel"
	"github.com/pho-go/pho/internal/linalg"
)

// No row has entries in two groups of eliminated columns, so that sums of products about 0 have zeros
// there; those about a point have not (linalg.Shifted).

// groupsApart tells whether m is 0 between eliminated columns of different groups.
func (e *schur) groupsApart(m *mat.SymDense, start int) bool {
	raw, n := m.RawSymmetric(), e.n()
	group := make([]int, n)
	for g := range e.at {
		lo, hi := e.group(g)
		for _, c := range e.column[lo:hi] {
			group[c] = g
		}
	}
	var crossed atomic.Bool
	linalg.EachRow(n, func(i int) {
		for j, v := range raw.Data[(start+i)*raw.Stride+start:][i+1 : n] {
			if v != 0 && group[i+1+j] != group[i] {
				crossed.Store(true)
				return
			}
		}
	})
	return !crossed.Load()
}

// times is m N. Of m.M what is between groups is not read, for it is 0; with m.G nil, m.M is taken as it is.
func (e *schur) times(m linalg.Shifted, n *mat.Dense, start int) *mat.Dense {
	if m.G == nil {
		return product(linalg.Mirror(m.M), n)
	}
	raw, end := m.M.RawSymmetric(), start+e.n()
	p, q := n.Dims()
	var others []int // the columns left
	for j := range p {
		if j < start || j >= end {
			others = append(others, j)
		}
	}
	var out *mat.Dense
	if len(others) == 0 {
		out = mat.NewDense(p, q, nil)
	} else {
		left, of := mat.NewDense(len(others), p, nil), mat.NewDense(len(others), q, nil)
		for l, j := range others {
			of.SetRow(l, n.RawRowView(j))
			row := left.RawRowView(l)
			for i := range j {
				row[i] = raw.Data[i*raw.Stride+j]
			}
			copy(row[j:], raw.Data[j*raw.Stride+j:])
		}
		out = linalg.TransTimes(left, of)
		back := product(left.Slice(0, len(others), start, end).(*mat.Dense), n.Slice(start, end, 0, q).(*mat.Dense))
		for l, j := range others {
			kernel.Add(out.RawRowView(j), out.RawRowView(j), back.RawRowView(l))
		}
	}
	for g := range e.at {
		lo, hi := e.group(g)
		for _, a := range e.column[lo:hi] {
			for _, b := range e.column[lo:hi] {
				kernel.Axpy(out.RawRowView(start+a), n.RawRowView(start+b), raw.Data[(start+min(a, b))*raw.Stride+start+max(a, b)])
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

// aroundApart makes m, which is 0 between groups, D m D.
func (e *schur) aroundApart(m *mat.SymDense, start int) {
	raw, blocks := m.RawSymmetric(), make([]float64, 0, len(e.inverse))
	for g, at := range e.at {
		lo, hi := e.group(g)
		size := hi - lo
		d, own, dm := mat.NewDense(size, size, nil), mat.NewDense(size, size, nil), mat.NewDense(size, size, nil)
		for i, a := range e.column[lo:hi] {
			for j, b := range e.column[lo:hi] {
				d.Set(i, j, e.inverse[at+i*size+j]/(e.d[lo+i]*e.d[lo+j]))
				own.Set(i, j, raw.Data[(start+min(a, b))*raw.Stride+start+max(a, b)])
			}
		}
		dm.Mul(d, own)
		own.Mul(dm, d)
		blocks = append(blocks, own.RawMatrix().Data...)
	}
	end := start + e.n()
	for i := range raw.N {
		row := raw.Data[i*raw.Stride : i*raw.Stride+raw.N]
		if start <= i && i < end { // up to end 0, but for the groups
			clear(row[end:])
		} else {
			clear(row[i:])
		}
	}
	for g := range e.at {
		lo, hi := e.group(g)
		for _, a := range e.column[lo:hi] {
			for _, b := range e.column[lo:hi] {
				if a <= b {
					raw.Data[(start+a)*raw.Stride+start+b] = blocks[0]
				}
				blocks = blocks[1:]
			}
		}
	}
}
