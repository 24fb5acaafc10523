package basis

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// FactorSmooth is the spec of s(x, g, bs="fs"): a smooth of x for each level of g,
// all with the same smoothing parameters: one for their curvature, and one for each
// direction of the basis' null space (a slope, then a level), so that all of it is
// penalised, as for random effects; it is not centred (Wood 2017, 7.7.4). It needs
// a second scan, for the basis' cross products. Of o, SP, Link and Unpenalized
// count.
func FactorSmooth(column, factor string, b Univariate, o *SmoothOptions) decompose.Spec {
	s := &factorSmoothSpec{name: "s(" + column + "," + factor + ")", column: column, factor: factor, basis: b}
	if o != nil {
		s.o = *o
	}
	return s
}

type factorSmoothSpec struct {
	name   string
	column string
	factor string
	basis  Univariate
	o      SmoothOptions
}

func (s *factorSmoothSpec) label() string { return s.name }

func (s *factorSmoothSpec) check() error {
	if s.basis == nil {
		return fmt.Errorf("no basis is given; there are %s", haveBases())
	}
	if err := checkColumns([]string{s.column, s.factor}); err != nil {
		return err
	}
	if b, ok := s.basis.(BS); ok && len(b.M) > 2 {
		return errors.New("fs takes bases with one penalty")
	}
	switch {
	case s.o.By != "":
		return errors.New("fs takes no by: its factor is one")
	case len(s.o.Point) > 0:
		return errors.New("fs takes no pc: it is not constrained")
	}
	o := s.o
	o.SP = nil // how many there are is known later
	if err := o.checkFor(2, 1); err != nil {
		return err
	}
	return s.basis.check()
}

func (s *factorSmoothSpec) Columns() []string { return []string{s.column, s.factor} }

func (s *factorSmoothSpec) Scanner() decompose.Scanner {
	scan := &factorSmoothScan{factorSmoothSpec: s, levels: levelScan{
		column: s.factor, limit: maxByLevels, advice: "each would have a smooth of its own",
	}}
	if s.basis != nil {
		scan.x = s.basis.values(s.column)
	}
	return scan
}

// factorSmoothScan is what one set of rows shows of the columns, and of the basis'
// products over them.
type factorSmoothScan struct {
	*factorSmoothSpec
	x      values
	levels levelScan

	again   bool
	built   margin
	penalty *mat.SymDense
	gram    *mat.SymDense // of the basis, from the second scan
	sum     []float64
	rows    int64
}

func (s *factorSmoothScan) NeedsScan() bool { return true }

func (s *factorSmoothScan) Scan(b *data.Batch) error {
	if s.again {
		return s.products(b)
	}
	if err := s.check(); err != nil {
		return fmt.Errorf("term %s: %w", s.name, err)
	}
	if err := s.x.scan(s.name, b); err != nil {
		return err
	}
	return s.levels.scan(s.name, b)
}

// Again asks for the second scan.
func (s *factorSmoothScan) Again() (bool, error) {
	if s.again {
		return false, nil
	}
	if err := s.check(); err != nil {
		return false, fmt.Errorf("term %s: %w", s.name, err)
	}
	basis, p, err := s.basis.build(&s.x)
	if err != nil {
		return false, fmt.Errorf("term %s: %w", s.name, err)
	}
	s.again, s.penalty = true, p
	s.built = margin{columns: []string{s.column}, spline: basis}
	s.gram, s.sum = mat.NewSymDense(basis.dim(), nil), make([]float64, basis.dim())
	return true, nil
}

// products adds b(x)b(x)' over the rows.
func (s *factorSmoothScan) products(b *data.Batch) error {
	rows, err := s.built.eval(s.name, b)
	if err != nil {
		return err
	}
	row := make([]float64, rows.dim)
	for i := range b.Rows() {
		rows.dense(row, i)
		s.gram.SymRankOne(s.gram, 1, mat.NewVecDense(len(row), row))
		for l, v := range row {
			s.sum[l] += v
		}
	}
	s.rows += int64(b.Rows())
	return nil
}

func (s *factorSmoothScan) Build() ([]decompose.Block, error) {
	b, err := s.build()
	if err != nil {
		return nil, fmt.Errorf("term %s: %w", s.name, err)
	}
	return []decompose.Block{b}, nil
}

func (s *factorSmoothScan) build() (decompose.Block, error) {
	var none decompose.Block
	if !s.again || s.rows == 0 {
		return none, errors.New("fs needs a second scan of the rows: ask Again after the first, as decompose.Prepare does")
	}
	to, rank, size, err := s.natural()
	if err != nil {
		return none, err
	}
	l, err := newLevels(s.levels.column, s.levels.names())
	if err != nil {
		return none, err
	}
	t, err := newFactorSmooth(s.column, s.built.spline, to, l)
	if err != nil {
		return none, err
	}
	b := decompose.Block{Term: t}
	if s.o.Unpenalized {
		return b, nil
	}
	k, d := t.basis.dim(), t.Dim()
	for j := rank - 1; j < k; j++ { // the range as one, then each direction of the null space
		p := mat.NewSymDense(d, nil)
		for at := 0; at < d; at += k {
			if j >= rank {
				p.SetSym(at+j, at+j, 1)
				continue
			}
			for i := range rank {
				p.SetSym(at+i, at+i, size)
			}
		}
		b.Penalty.S = append(b.Penalty.S, p)
	}
	o := s.o
	if err := o.checkFor(2, len(b.Penalty.S)); err != nil {
		return none, err
	}
	shared, err := o.block(b.Penalty.S, nil, t)
	if err != nil {
		return none, err
	}
	b.Penalty = shared.Penalty
	return b, nil
}

// natural gives the parametrisation P (k x k) in which the penalty on the rows'
// function is size times the identity on the first rank coefficients and 0 on the
// others, and the columns of XP have mean square 1 on the average in both groups.
// The null space is turned so that its directions are uncorrelated, the one of
// least variance, the constant, last.
func (s *factorSmoothScan) natural() (to *mat.Dense, rank int, size float64, err error) {
	k, n := len(s.sum), float64(s.rows)
	var chol mat.Cholesky
	if !chol.Factorize(s.gram) {
		return nil, 0, 0, fmt.Errorf("column %q does not determine %d basis functions: lower k", s.column, k)
	}
	var upper mat.TriDense
	chol.UTo(&upper)
	var inverse mat.Dense // R^-1
	if err := inverse.Inverse(&upper); err != nil {
		return nil, 0, 0, fmt.Errorf("column %q hardly determines %d basis functions: lower k", s.column, k)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(congruent(s.penalty, &inverse), true) {
		return nil, 0, 0, errors.New("the eigendecomposition of the penalty did not converge")
	}
	values := eigen.Values(nil) // increasing
	null, err := nullity(s.penalty)
	if err != nil {
		return nil, 0, 0, err
	}
	rank = k - null
	var vectors, turned mat.Dense
	eigen.VectorsTo(&vectors)
	turnRuns(values, &vectors)
	turned.Mul(&inverse, &vectors)
	to = mat.NewDense(k, k, nil)
	column := func(j int) mat.Vector { return turned.ColView(j) }
	// The range, by falling eigenvalue.
	sum := 0.0
	for j := range rank {
		sum += 1 / values[k-1-j]
	}
	size = n * float64(rank) / sum
	for j := range rank {
		v := column(k - 1 - j)
		f := math.Sqrt(size / values[k-1-j])
		for i := range k {
			to.Set(i, j, f*v.AtVec(i))
		}
	}
	if null == 0 {
		return to, rank, size, nil
	}
	// The null space: (XP)'(XP) = I there; its centred products decide.
	basis := mat.DenseCopyOf(turned.Slice(0, k, 0, null))
	mean := mat.NewVecDense(null, nil)
	mean.MulVec(basis.T(), mat.NewVecDense(k, s.sum))
	centred := penalty.Ridge(null)
	centred.SymRankOne(centred, -1/n, mean)
	var inner mat.EigenSym
	if !inner.Factorize(centred, true) {
		return nil, 0, 0, errors.New("the eigendecomposition of the null space did not converge")
	}
	var turn, final mat.Dense
	inner.VectorsTo(&turn)
	final.Mul(basis, &turn)
	turnRuns(inner.Values(nil), &final)
	for j := range null { // by falling variance
		from := null - 1 - j
		for i := range k {
			to.Set(i, rank+j, math.Sqrt(n)*final.At(i, from))
		}
	}
	return to, rank, size, nil
}

// nullity is the dimension of a penalty's null space.
func nullity(s *mat.SymDense) (int, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(s, false) {
		return 0, errors.New("the eigendecomposition of the penalty did not converge")
	}
	values := eigen.Values(nil)
	null := 0
	for null < len(values) && values[null] < 1e-11*values[len(values)-1] {
		null++
	}
	return null, nil
}

// Notes tells when the knots come from a subsample.
func (s *factorSmoothScan) Notes() []string {
	if !s.x.sampled() {
		return nil
	}
	return []string{fmt.Sprintf("term %s: column %q has more than %d distinct values; its knots are found from a part of them, chosen by hash", s.name, s.column, s.x.limit)}
}
