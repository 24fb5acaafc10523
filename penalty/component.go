package penalty

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/linalg"
)

// spectrum is a term's standardised penalties in coordinates in which they are simple.
type spectrum struct {
	vectors *mat.Dense  // orthogonal (Dim x Dim): the first rank columns span the range of the total penalty
	rank    int         // 0: nothing is penalised
	blocks  [][]penalty // penalties that are together in a block
}

// spectrum standardises the penalties of a term, of which number and index are the first of its
// own and of its penalties.
func (t *Component) spectrum(number int, d []float64, live []bool, index int) (*spectrum, error) {
	var scaled []*mat.SymDense
	var indices []int
	var norms []float64
	total := mat.NewSymDense(t.Dim, nil)
	for j := range t.S {
		norm := 0.0
		if !live[j] {
			continue
		}
		sj, x := t.S[j], mat.NewSymDense(t.Dim, nil)
		for a := range t.Dim {
			for b := a; b < t.Dim; b++ {
				x.SetSym(a, b, sj.At(a, b)/(d[a]*d[b]))
			}
		}
		if norm = mat.Norm(x, 2); norm == 0 {
			continue // penalises nothing
		}
		scaled, norms = append(scaled, x), append(norms, norm)
		indices = append(indices, index+j)
		for a := range t.Dim {
			for b := a; b < t.Dim; b++ {
				total.SetSym(a, b, total.At(a, b)+x.At(a, b)/norm)
			}
		}
	}
	if len(scaled) == 0 {
		return &spectrum{}, nil
	}
	source := total
	if len(scaled) == 1 {
		source = scaled[0]
	}
	values, vectors, err := eigenDescending(source)
	if err != nil {
		return nil, fmt.Errorf("penalty: term %q: the penalty has no eigendecomposition: %w", t.Name, err)
	}
	rank := 0
	for rank < len(values) && values[rank] > spectrumTolerance*values[0] {
		rank++
	}
	if last := values[len(values)-1]; last < -1e-8*values[0] {
		return nil, fmt.Errorf("penalty: term %q: a penalty matrix is not positive semi-definite (eigenvalue %.3g next to %.3g)", t.Name, last, values[0])
	}
	own := &spectrum{vectors: vectors, rank: rank}
	if parts := separate(scaled, values, vectors, rank); parts != nil {
		own.vectors = parts.vectors
		for j, diag := range parts.diag {
			own.blocks = append(own.blocks, []penalty{{index: indices[j], component: number, diag: diag, rank: len(diag)}})
		}
	} else {
		members, faults := make([]penalty, len(scaled)), make([]error, len(scaled))
		linalg.Each(len(scaled), func(j int) {
			members[j] = penalty{index: indices[j], component: number}
			if err := members[j].project(scaled[j], vectors, rank); err != nil {
				faults[j] = fmt.Errorf("penalty: term %q, penalty %d: %w", t.Name, j+1, err)
			}
		})
		if err := cmp.Or(faults...); err != nil {
			return nil, err
		}
		if len(members) == 2 {
			own := newPair(members, [2]float64{norms[0], norms[1]}, values[:rank])
			members[0].pair, members[1].pair = own, own
		}
		own.blocks = append(own.blocks, members)
	}
	return own, nil
}

// add adds a term's penalties and their blocks to the system.
func (s *system) add(own *spectrum, d []float64) {
	if own.rank == 0 {
		return
	}
	for _, members := range own.blocks {
		s.addBlock(members...)
	}
	// log|S|_+ in original coordinates is log|S|_+ here + 2 log|D| - log|N'D^2N|,
	// and with N = D^-1 N_s R^-1 the last is -2 log|R|.
	for _, di := range d {
		s.logDetS += 2 * math.Log(di)
	}
	if dim := len(d); own.rank < dim {
		null := mat.DenseCopyOf(own.vectors.Slice(0, dim, own.rank, dim))
		_, logR := orthonormalise(null, d)
		s.logDetS += 2 * logR
	}
}

// project expresses x in the first rank columns of v and takes its root.
func (p *penalty) project(x *mat.SymDense, v *mat.Dense, rank int) error {
	dim, _ := v.Dims()
	var xv, y mat.Dense
	vr := v.Slice(0, dim, 0, rank)
	xv.Mul(x, vr)
	y.Mul(vr.T(), &xv)
	values, vectors, err := eigenDescending(symmetric(&y))
	if err != nil {
		return err
	}
	if values[rank-1] < -1e-8*values[0] {
		return fmt.Errorf("the matrix is not positive semi-definite (eigenvalue %.3g next to %.3g)", values[rank-1], values[0])
	}
	for p.rank < rank && values[p.rank] > spectrumTolerance*values[0] {
		p.rank++
	}
	p.root = mat.NewDense(p.rank, rank, nil)
	for i := range p.rank {
		r := math.Sqrt(values[i])
		for j := range rank {
			p.root.Set(i, j, r*vectors.At(j, i))
		}
	}
	return nil
}

// addBlock adds penalties on the same coordinates, those that come next: as many
// as the one penalty's diagonal has, or the columns of several roots.
func (s *system) addBlock(members ...penalty) {
	b := block{lo: s.penalised, dim: len(members[0].diag)}
	if members[0].diag == nil {
		_, b.dim = members[0].root.Dims()
	}
	for _, pen := range members {
		pen.block = len(s.blocks)
		if k := len(s.penalties); k > 0 {
			pen.lo = s.penalties[k-1].lo + s.penalties[k-1].rank
		}
		b.penalties = append(b.penalties, len(s.penalties))
		s.penalties = append(s.penalties, pen)
	}
	s.blocks = append(s.blocks, b)
	s.penalised += b.dim
}

// disjoint are penalties of one term that touch different coordinates: the columns
// of vectors in their order, then the null space. diag are the square roots of
// their diagonals.
type disjoint struct {
	vectors *mat.Dense
	diag    [][]float64
}

// separate finds out whether the penalties are diagonal and of different
// coordinates in the first rank columns of vectors: one penalty is, and so are
// random slopes and smooths of many levels in their natural parametrisation. nil
// if not.
func separate(scaled []*mat.SymDense, values []float64, vectors *mat.Dense, rank int) *disjoint {
	if len(scaled) > 1 {
		for _, x := range scaled {
			if _, _, ok := diagonalEigen(x); !ok {
				return nil
			}
		}
	}
	dim, _ := vectors.Dims()
	var order []int
	p := &disjoint{diag: make([][]float64, len(scaled))}
	if len(scaled) == 1 {
		for _, v := range values[:rank] {
			p.diag[0] = append(p.diag[0], math.Sqrt(v))
		}
		p.vectors = vectors
		return p
	}
	owner := make([]int, rank)
	for c := range rank {
		owner[c] = -1
		for i := range dim {
			if vectors.At(i, c) == 0 {
				continue
			}
			for j, x := range scaled {
				if x.At(i, i) != 0 {
					if owner[c] >= 0 {
						return nil // two penalties on one coordinate
					}
					owner[c] = j
					p.diag[j] = append(p.diag[j], math.Sqrt(x.At(i, i)))
				}
			}
		}
	}
	for j := range scaled {
		if len(p.diag[j]) == 0 {
			return nil
		}
		for c := range rank {
			if owner[c] == j {
				order = append(order, c)
			}
		}
	}
	for c := rank; c < dim; c++ {
		order = append(order, c)
	}
	p.vectors = pick(vectors, nil, order)
	return p
}
