package basis

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/coordinates"
	"github.com/pho-go/pho/basis/internal/tensorproduct"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
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
		return fmt.Errorf("no basis is given; there are %s", enumerate(ownNames()))
	}
	if err := checkColumns([]string{s.column, s.factor}); err != nil {
		return err
	}
	if _, ok := s.basis.(Stepped); ok {
		return errors.New("cuts are of a smooth without levels, s(x)")
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
		scan.x = s.basis.scan(s.column)
	}
	return scan
}

// factorSmoothScan is what one set of rows shows of the columns, and of the basis'
// products over them.
type factorSmoothScan struct {
	*factorSmoothSpec
	x      columnScan
	levels levelScan

	again    bool
	built    margin
	rows     *tensorproduct.Rows // of the batch before, to be written over
	penalty  *mat.SymDense
	products *chunkSums // of the basis, from the second scan: sums, and the upper triangle of the products row by row
}

func (s *factorSmoothScan) NeedsScan() bool { return true }

func (s *factorSmoothScan) Scan(b *data.Batch) error {
	if s.again {
		return s.addProducts(b)
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
	k := basis.Dim()
	s.products = newChunkSums(k + k*(k+1)/2)
	return true, nil
}

// addProducts adds b(x)b(x)' over the rows.
func (s *factorSmoothScan) addProducts(b *data.Batch) error {
	rows, err := s.built.eval(s.rows, s.name, b)
	if err != nil {
		return err
	}
	s.rows = rows
	row := make([]float64, rows.Dim)
	for i := range b.Rows() {
		sum, first, w := s.products.of(b.Row(i)), int(rows.First[i]), rows.Width
		if 2*w <= rows.Dim && first+w <= rows.Dim { // others are added up in vectors
			addBand(sum, rows.Dim, first, rows.Value[i*w:(i+1)*w])
			continue
		}
		rows.Dense(row, i)
		addProducts(sum, row)
	}
	return nil
}

// addProducts adds a row, and the upper triangle of its products, to sum.
func addProducts(sum, row []float64) {
	floats.Add(sum[:len(row)], row)
	products := sum[len(row):]
	for l, v := range row {
		if v != 0 {
			floats.AddScaled(products[:len(row)-l], v, row[l:])
		}
		products = products[len(row)-l:]
	}
}

// addBand is addProducts of a row of k numbers that are 0 but for value, from number first on.
func addBand(sum []float64, k, first int, value []float64) {
	at := k + first*(2*k-first+1)/2 // where row first of the triangle begins
	for l, v := range value {
		sum[first+l] += v
		to := sum[at : at+len(value)-l]
		for j, w := range value[l:] {
			to[j] += float64(v * w) // rounded, as above
		}
		at += k - first - l
	}
}

// productsOf are the sums of rows of k values as addProducts has them.
func productsOf(k int, sums *chunkSums) *coordinates.Products {
	p := coordinates.NewProducts(k)
	p.Rows = sums.rows
	total := sums.total()
	copy(p.Sum, total)
	products := total[k:]
	for l := range k {
		for j := l; j < k; j++ {
			p.Gram.SetSym(l, j, products[j-l])
		}
		products = products[k-l:]
	}
	return p
}

// parts are what the scan that is on collects.
func (s *factorSmoothScan) parts() []part {
	if s.again {
		return []part{s.products}
	}
	return []part{&s.x, &s.levels}
}

// Sums are what the scan that is on has seen.
func (s *factorSmoothScan) Sums() (decompose.Sums, error) { return sumsOf(s.name, s.parts()) }

// Restore takes the sums of all rows.
func (s *factorSmoothScan) Restore(sums decompose.Sums) error {
	return restore(s.name, s.parts(), sums)
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
	if !s.again || s.products.rows == 0 {
		return none, errors.New("fs needs a second scan of the rows: ask Again after the first, as decompose.Prepare does")
	}
	products := productsOf(s.built.dim(), s.products)
	to, rank, size, err := coordinates.Natural(products, s.penalty)
	switch {
	case errors.Is(err, coordinates.ErrUndetermined):
		return none, fmt.Errorf("column %q does not determine %d basis functions: lower k", s.column, len(products.Sum))
	case errors.Is(err, coordinates.ErrHardlyDetermined):
		return none, fmt.Errorf("column %q hardly determines %d basis functions: lower k", s.column, len(products.Sum))
	case err != nil:
		return none, err
	}
	l, err := s.levels.levels()
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
	penalties, o := naturalPenalties(t, rank, size), s.o
	if err := o.checkFor(2, len(penalties)); err != nil {
		return none, err
	}
	shared, err := o.block(penalties, nil, t)
	if err != nil {
		return none, err
	}
	b.Penalty = shared.Penalty
	return b, nil
}

// naturalPenalties has one penalty on the range of all levels, size on the first rank
// coefficients of each, and one on each direction of the null space.
func naturalPenalties(t *FactorSmoothTerm, rank int, size float64) (all []*mat.SymDense) {
	k, d := t.basis.Dim(), t.Dim()
	for j := rank - 1; j < k; j++ {
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
		all = append(all, p)
	}
	return all
}

// Notes tells when the knots come from a subsample.
func (s *factorSmoothScan) Notes() []string {
	if !s.x.Sampled() {
		return nil
	}
	return []string{fmt.Sprintf("term %s: column %q has more than %d distinct values; its knots are found from a part of them, chosen by hash", s.name, s.column, s.x.Limit)}
}
