package penalty

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// pair are two penalties on a block in coordinates in which both are diagonal, as they are at all
// lambdas then: V'S_j V = diag(size_j) (Golub and Van Loan 2013, 8.7.1). What is zero in one of them
// is so by its rank, so that no lambda of the other's makes rounding of it count.
type pair struct {
	to     *mat.Dense   // V: dim x dim
	size   [2][]float64 // dim each
	logDet float64      // -2 log|det V|
}

// newPair finds V for penalties with roots in coordinates where S_1/norm_1 + S_2/norm_2 is the diagonal
// total T: V = T^-1/2 U, U the eigenvectors of T^-1/2 S_1/norm_1 T^-1/2. The eigenvalues of both penalties
// add up to 1; nil: rounding leaves them too few digits.
func newPair(members []penalty, norm [2]float64, total []float64) *pair {
	const digits = 1e-11
	dim := len(total)
	p := &pair{to: mat.NewDense(dim, dim, nil)}
	var halves [2]*mat.Dense // root_j (norm_j T)^-1/2
	for j := range halves {
		halves[j] = mat.DenseCopyOf(members[j].root)
		for i := range members[j].rank {
			for l, v := range halves[j].RawRowView(i) {
				halves[j].Set(i, l, v/math.Sqrt(norm[j]*total[l]))
			}
		}
		p.size[j] = make([]float64, dim)
	}
	_, u, err := eigenDescending(symmetric(product(transposed(halves[0]), halves[0])))
	if err != nil {
		return nil
	}
	for j, half := range halves {
		image := product(half, u)
		for i := range members[j].rank {
			for l, v := range image.RawRowView(i) {
				p.size[j][l] += v * v
			}
		}
	}
	for i := range dim {
		for j, some := range [2]bool{i < members[0].rank, i >= dim-members[1].rank} {
			if !some {
				p.size[j][i] = 0
			} else if p.size[j][i] == 0 {
				return nil
			}
		}
		if sum := p.size[0][i] + p.size[1][i]; !(math.Abs(sum-1) < digits) {
			return nil
		}
		for j := range p.size {
			p.size[j][i] *= norm[j]
		}
		p.logDet += math.Log(total[i])
		row := p.to.RawRowView(i)
		for l, v := range u.RawRowView(i) {
			row[l] = v / math.Sqrt(total[i])
		}
	}
	return p
}

// overlap is that at these lambdas; false: the total penalty is singular in floating point.
func (p *pair) overlap(lambda [2]float64) (*overlap, bool) {
	dim := len(p.size[0])
	o := &overlap{logDet: p.logDet, to: mat.DenseCopyOf(p.to), share: make([][]float64, 2)}
	scale := make([]float64, dim)
	for i := range scale {
		total := lambda[0]*p.size[0][i] + lambda[1]*p.size[1][i]
		o.logDet += math.Log(total)
		scale[i] = 1 / math.Sqrt(total)
	}
	if !finite(o.logDet) {
		return nil, false
	}
	for i := range dim {
		row := o.to.RawRowView(i)
		for l, f := range scale {
			row[l] *= f
		}
	}
	for j, size := range p.size {
		var rows []int
		for i, v := range size {
			if v > 0 {
				rows = append(rows, i)
			}
			o.share[j] = append(o.share[j], lambda[j]*v*scale[i]*scale[i])
		}
		own := mat.NewDense(len(rows), dim, nil)
		for r, i := range rows {
			own.Set(r, i, math.Sqrt(o.share[j][i]))
		}
		o.part = append(o.part, own)
	}
	return o, true
}
