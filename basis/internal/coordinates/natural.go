package coordinates

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/eigen"
)

// Products are what Natural needs of a basis' rows x_i (d values each).
type Products struct {
	Rows int64
	Sum  []float64     // sum of x_i
	Gram *mat.SymDense // sum of x_i x_i'
}

// NewProducts are those of no rows of d values.
func NewProducts(d int) *Products {
	return &Products{Sum: make([]float64, d), Gram: mat.NewSymDense(d, nil)}
}

// Add takes in one row.
func (p *Products) Add(row []float64) {
	p.Rows++
	p.Gram.SymRankOne(p.Gram, 1, mat.NewVecDense(len(row), row))
	for l, v := range row {
		p.Sum[l] += v
	}
}

// Why rows have no natural parametrisation.
var (
	ErrUndetermined     = errors.New("the rows do not determine the basis functions")
	ErrHardlyDetermined = errors.New("the rows hardly determine the basis functions")
)

// Natural gives the parametrisation P (k x k) in which the penalty on the rows'
// function is size times the identity on the first rank coefficients and 0 on the
// others, and the columns of XP have mean square 1 on the average in both groups.
// The null space is turned so that its directions are uncorrelated, the one of
// least variance, the constant, last.
func Natural(x *Products, s *mat.SymDense) (p *mat.Dense, rank int, size float64, err error) {
	k, n := len(x.Sum), float64(x.Rows)
	values, vectors, err := generalized(s, x.Gram)
	if err != nil {
		return nil, 0, 0, err
	}
	null, err := nullity(s)
	if err != nil {
		return nil, 0, 0, err
	}
	rank = k - null
	sum := 0.0
	for j := range rank {
		sum += 1 / values[k-1-j]
	}
	size = n * float64(rank) / sum
	p = mat.NewDense(k, k, nil)
	for j := range rank { // the range, by falling eigenvalue
		v := vectors.ColView(k - 1 - j)
		f := math.Sqrt(size / values[k-1-j])
		for i := range k {
			p.Set(i, j, f*v.AtVec(i))
		}
	}
	if null == 0 {
		return p, rank, size, nil
	}
	directions, err := uncorrelated(mat.DenseCopyOf(vectors.Slice(0, k, 0, null)), x)
	if err != nil {
		return nil, 0, 0, err
	}
	for j := range null { // by falling variance
		for i := range k {
			p.Set(i, rank+j, math.Sqrt(n)*directions.At(i, null-1-j))
		}
	}
	return p, rank, size, nil
}

// generalized solves S v = lambda G v: the eigenvalues, increasing, and the vectors, with
// V'GV = I.
func generalized(s, gram *mat.SymDense) ([]float64, *mat.Dense, error) {
	var chol mat.Cholesky
	if !chol.Factorize(gram) {
		return nil, nil, ErrUndetermined
	}
	var upper mat.TriDense
	chol.UTo(&upper)
	var inverse mat.Dense // R^-1
	if err := inverse.Inverse(&upper); err != nil {
		return nil, nil, ErrHardlyDetermined
	}
	var d mat.EigenSym
	if !d.Factorize(Congruent(s, &inverse), true) {
		return nil, nil, errEigen
	}
	values := d.Values(nil)
	var vectors, out mat.Dense
	d.VectorsTo(&vectors)
	eigen.Canonicalize(values, &vectors)
	out.Mul(&inverse, &vectors)
	return values, &out, nil
}

// uncorrelated turns the basis B (k x c) of a null space, where (XB)'XB = I, so that its
// functions have no covariance over the rows, by increasing variance.
func uncorrelated(b *mat.Dense, x *Products) (*mat.Dense, error) {
	_, c := b.Dims()
	mean := mat.NewVecDense(c, nil)
	mean.MulVec(b.T(), mat.NewVecDense(len(x.Sum), x.Sum))
	centred := mat.NewSymDense(c, nil)
	for i := range c {
		centred.SetSym(i, i, 1)
	}
	centred.SymRankOne(centred, -1/float64(x.Rows), mean)
	var d mat.EigenSym
	if !d.Factorize(centred, true) {
		return nil, errors.New("the eigendecomposition of the null space did not converge")
	}
	var turn, out mat.Dense
	d.VectorsTo(&turn)
	out.Mul(b, &turn)
	eigen.Canonicalize(d.Values(nil), &out)
	return &out, nil
}

// nullity is the dimension of a penalty's null space.
func nullity(s *mat.SymDense) (int, error) {
	var d mat.EigenSym
	if !d.Factorize(s, false) {
		return 0, errEigen
	}
	values := d.Values(nil)
	null := 0
	for null < len(values) && values[null] < 1e-11*values[len(values)-1] {
		null++
	}
	return null, nil
}
