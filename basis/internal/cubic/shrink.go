package cubic

import (
	"errors"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// ShrunkPenalty is the penalty with the two eigenvalues that are 0 replaced (Marra and
// Wood 2011; mgcv's cs): by a tenth of the least other one for the line, by a tenth
// of that for the constant. The null space has no basis of its own; here it is the
// constant vector and the line orthogonal to it.
func (c *Natural) ShrunkPenalty() (*mat.SymDense, error) {
	const share = 0.1
	s := c.Penalty()
	k := len(c.knots)
	var eigen mat.EigenSym
	if !eigen.Factorize(s, false) {
		return nil, errors.New("the eigendecomposition of the penalty did not converge")
	}
	least := eigen.Values(nil)[2] // increasing, after the two that are 0
	line := make([]float64, k)
	for i := range line {
		line[i] = (c.knots[i] - c.knots[0]) / (c.knots[k-1] - c.knots[0])
	}
	floats.AddConst(-floats.Sum(line)/float64(k), line)
	floats.Scale(1/floats.Norm(line, 2), line)
	s.SymRankOne(s, share*least, mat.NewVecDense(k, line))
	constant := make([]float64, k)
	floats.AddConst(1, constant)
	s.SymRankOne(s, share*share*least/float64(k), mat.NewVecDense(k, constant))
	return s, nil
}
