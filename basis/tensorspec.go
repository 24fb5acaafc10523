package basis

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/coordinates"
	"github.com/pho-go/pho/basis/internal/tensorproduct"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// maxTensor bounds the columns of a tensor product.
const maxTensor = 5_000

// Margin is one factor of a tensor product before its data scan: a basis of one
// column, of several, or (both nil) the levels of a categorical column under a
// ridge, mgcv's "re".
type Margin struct {
	Columns []string
	Basis   Univariate   // of one column
	Surface Multivariate // of one or several
	// Uncentred leaves a margin of an interaction as it is (an entry of mgcv's mc that
	// is FALSE).
	Uncentred bool
}

// TensorOptions are the choices for Tensor; nil and the zero value are the
// defaults. SP has an entry for each margin.
type TensorOptions struct {
	SmoothOptions
	// Interaction centres the margins first, so that their main effects are not
	// among the product's functions: mgcv's ti in place of te.
	Interaction bool
	// Raw keeps the margins' coefficients as they are; by default a margin of one column has
	// function values at equispaced points as coefficients, if it does not have function values
	// already, so that the penalties do not depend on the basis (np = TRUE in mgcv; Wood 2006).
	Raw bool
}

// Tensor is the spec of te(...) or ti(...): the tensor product of the margins, one
// penalty for each, S_i between identities, scaled to a largest eigenvalue of 1
// before the usual scaling (Wood 2017, 5.6). te is centred as a whole. ti needs a
// second scan, for the column means of its margins: see decompose.Rescanner.
func Tensor(margins []Margin, o *TensorOptions) decompose.Spec {
	s := &tensorSpec{call: "te", margins: slices.Clone(margins)}
	if o != nil {
		s.o = *o
	}
	if s.o.Interaction {
		s.call = "ti"
	}
	for i := range s.margins {
		s.columns = append(s.columns, s.margins[i].Columns...)
	}
	s.name = s.call + "(" + strings.Join(s.columns, ",") + ")"
	if s.o.By != "" {
		s.name += ":" + s.o.By
	}
	return s
}

type tensorSpec struct {
	call, name string
	columns    []string
	margins    []Margin
	o          TensorOptions
}

func (s *tensorSpec) Scanner() decompose.Scanner {
	scan := &tensorScan{tensorSpec: s, by: s.o.byScan(), scans: make([]marginScan, len(s.margins))}
	for i, m := range s.margins {
		switch {
		case len(m.Columns) == 0:
		case m.Surface != nil:
			scan.scans[i].points = newPointScan(m.Columns, m.Surface.Limit())
		case m.Basis != nil:
			scan.scans[i].values = m.Basis.scan(m.Columns[0])
		default:
			scan.scans[i].levels = levelScan{column: m.Columns[0], limit: maxByLevels, advice: "each would be a column of the margin"}
		}
	}
	return scan
}

// tensorScan is what one set of rows shows of the margins.
type tensorScan struct {
	*tensorSpec
	scans []marginScan
	by    byScan
	again bool // the second scan is on, or over
}

// marginScan is what is known of a margin.
type marginScan struct {
	values columnScan
	points pointScan
	levels levelScan

	built   margin
	penalty *mat.SymDense
	sums    *chunkSums // of the columns, from the second scan; nil: it is not centred
}

func (s *tensorSpec) label() string { return s.name }

func (s *tensorSpec) check() error {
	if len(s.margins) == 0 {
		return fmt.Errorf("%s has no margins", s.call)
	}
	if err := checkColumns(s.columns); err != nil {
		return err
	}
	for _, m := range s.margins {
		var err error
		switch {
		case len(m.Columns) == 0:
			err = errors.New("a margin has no columns")
		case m.Surface != nil:
			err = m.Surface.Check(len(m.Columns))
		case len(m.Columns) > 1:
			err = fmt.Errorf("a margin of %d columns needs a basis of several: %s", len(m.Columns), enumerate(Classes(nil).multivariates()))
		case m.Basis != nil:
			err = m.Basis.check()
			if _, ok := m.Basis.(Stepped); ok && err == nil {
				err = errors.New("a margin has no cuts: they are of s(x)")
			}
			if b, ok := m.Basis.(BS); ok && err == nil && len(b.M) > 2 {
				err = fmt.Errorf("bs with several penalties cannot be a margin: give m = c(%d, %d)", b.M[0], b.M[1])
			}
		}
		if err != nil {
			return err
		}
	}
	if s.o.Interaction && len(s.o.Point) > 0 {
		return errors.New("ti takes no pc: its margins are centred")
	}
	return s.o.checkFor(len(s.columns), len(s.margins))
}

func (s *tensorSpec) Columns() []string { return withBy(s.columns, s.o.By) }

func (s *tensorScan) NeedsScan() bool { return true }

func (s *tensorScan) Scan(b *data.Batch) error {
	if s.again {
		return s.sums(b)
	}
	if err := s.check(); err != nil {
		return fmt.Errorf("term %s: %w", s.name, err)
	}
	for i := range s.scans {
		m, scan := &s.margins[i], &s.scans[i]
		switch {
		case m.Surface != nil:
			if err := scan.points.scan(s.name, b); err != nil {
				return err
			}
		case m.Basis != nil:
			if err := scan.values.scan(s.name, b); err != nil {
				return err
			}
		default:
			if err := scan.levels.scan(s.name, b); err != nil {
				return err
			}
		}
	}
	return s.by.scan(s.name, b)
}

// Again asks for the second scan of an interaction.
func (s *tensorScan) Again() (bool, error) {
	if s.again || !slices.ContainsFunc(s.margins, s.centred) {
		return false, nil
	}
	if err := s.marginBases(); err != nil {
		return false, fmt.Errorf("term %s: %w", s.name, err)
	}
	for i, m := range s.margins {
		if s.centred(m) {
			s.scans[i].sums = newChunkSums(s.scans[i].built.dim())
		}
	}
	s.again = true
	return true, nil
}

// centred tells whether a margin is centred on its own.
func (s *tensorSpec) centred(m Margin) bool {
	return s.o.Interaction && !m.Uncentred && (m.Basis != nil || m.Surface != nil)
}

// parts are what the scan that is on collects.
func (s *tensorScan) parts() (all []part) {
	for i := range s.scans {
		m, scan := &s.margins[i], &s.scans[i]
		switch {
		case s.again && scan.sums != nil:
			all = append(all, scan.sums)
		case s.again:
		case m.Surface != nil:
			all = append(all, &scan.points)
		case m.Basis != nil:
			all = append(all, &scan.values)
		default:
			all = append(all, &scan.levels)
		}
	}
	if s.again {
		return all
	}
	return s.by.parts(all...)
}

// Sums are what the scan that is on has seen of the margins.
func (s *tensorScan) Sums() (decompose.Sums, error) { return sumsOf(s.name, s.parts()) }

// Restore takes the sums of all rows.
func (s *tensorScan) Restore(sums decompose.Sums) error { return restore(s.name, s.parts(), sums) }

// sums adds up the columns of the margins, row by row.
func (s *tensorScan) sums(b *data.Batch) error {
	for i := range s.scans {
		scan := &s.scans[i]
		if scan.sums == nil {
			continue
		}
		rows, err := scan.built.eval(nil, s.name, b)
		if err != nil {
			return err
		}
		row := make([]float64, rows.Dim)
		for r := range b.Rows() {
			rows.Dense(row, r)
			floats.Add(scan.sums.of(b.Row(r)), row)
		}
	}
	return nil
}

// marginBases makes the margins from the first scan.
func (s *tensorScan) marginBases() error {
	if err := s.check(); err != nil {
		return err
	}
	dim := 1
	for i := range s.scans {
		m, scan := &s.margins[i], &s.scans[i]
		scan.built.columns = m.Columns
		var err error
		switch {
		case m.Surface != nil:
			scan.built.bs = m.Surface.Class()
			var penalties []*mat.SymDense
			if scan.built.surface, penalties, err = buildOf(m.Surface, scan.points.sample()); err != nil {
				return err
			}
			if len(penalties) != 1 {
				return fmt.Errorf("%s has %d penalties here, and a margin takes a basis with one", scan.built.bs, len(penalties))
			}
			scan.penalty = penalties[0]
		case m.Basis != nil:
			scan.built.spline, scan.penalty, err = m.Basis.build(&scan.values)
		default:
			if scan.levels.rows == 0 {
				return fmt.Errorf("no rows were scanned for the levels of column %q", m.Columns[0])
			}
			if scan.built.levels, err = scan.levels.levels(); err == nil {
				scan.penalty = penalty.Ridge(len(scan.built.levels.names))
			}
		}
		if err != nil {
			return err
		}
		if dim *= scan.built.dim(); dim > maxTensor {
			return fmt.Errorf("the product has more than %d columns: lower k", maxTensor)
		}
	}
	return nil
}

func (s *tensorScan) Build() ([]decompose.Block, error) {
	blocks, err := s.build()
	if err != nil {
		return nil, fmt.Errorf("term %s: %w", s.name, err)
	}
	return blocks, nil
}

func (s *tensorScan) build() ([]decompose.Block, error) {
	if !s.again {
		if slices.ContainsFunc(s.margins, s.centred) {
			return nil, errors.New("ti needs a second scan of the rows: ask Again after the first, as decompose.Prepare does")
		}
		if err := s.marginBases(); err != nil {
			return nil, err
		}
	} else if slices.ContainsFunc(s.scans, func(m marginScan) bool { return m.sums != nil && m.sums.rows == 0 }) {
		return nil, errors.New("no rows were seen in the second scan")
	}
	maps := make([]*mat.Dense, len(s.scans))
	each := make([]*mat.SymDense, len(s.scans))
	margins, dims := make([]margin, len(s.scans)), make([]int, len(s.scans))
	mapped, random := false, false
	for i := range s.scans {
		margins[i] = s.scans[i].built
		dims[i] = margins[i].dim()
		var err error
		if maps[i], each[i], err = s.coordinates(i); err != nil {
			return nil, fmt.Errorf("margin %s: %w", strings.Join(s.margins[i].Columns, ","), err)
		}
		mapped = mapped || maps[i] != nil
		random = random || margins[i].levels != nil
	}
	term := func(y byVariable) decompose.Term { return newTensor(s.call, margins, y) }
	block, err := s.o.block(tensorproduct.Penalties(each), s.columns, term(byVariable{}))
	if err != nil {
		return nil, err
	}
	if s.o.Interaction || random {
		block.Constraint = decompose.Free()
	}
	norm := &tensorNorm{&TensorTerm{name: s.name, call: s.call, margins: margins}, maps}
	switch {
	case mapped:
		block.Coordinates = decompose.Mapped(tensorproduct.Map(maps, dims), norm)
	case s.o.By != "":
		block.Coordinates = decompose.Raw(norm)
	}
	return s.by.blocks(block, s.o.ByOrdered, term)
}

// coordinates gives the map from the coordinates in which margin i enters the
// product to those of its basis (nil: the same), and its penalty there, with a
// largest eigenvalue of 1.
func (s *tensorScan) coordinates(i int) (*mat.Dense, *mat.SymDense, error) {
	m, scan := &s.margins[i], &s.scans[i]
	var to *mat.Dense
	p := scan.penalty
	if s.centred(*m) {
		if scan.sums.width < 2 {
			return nil, nil, errors.New("nothing is left of a basis of one function once it is centred")
		}
		to = coordinates.Orthogonal(scan.sums.total())
		p = coordinates.Congruent(p, to)
	}
	if m.Basis != nil && !s.o.Raw && !valued(m.Basis) {
		if values := coordinates.FunctionValues(scan.built.spline, scan.values.Min, scan.values.Max, to); values != nil {
			p = coordinates.Congruent(p, values)
			if to != nil {
				var product mat.Dense
				product.Mul(to, values)
				values = &product
			}
			to = values
		}
	}
	unit, err := coordinates.Unit(p)
	return to, unit, err
}

// valued tells whether the coefficients of a basis are function values.
func valued(b Univariate) bool {
	v, ok := b.(interface{ valued() bool })
	return ok && v.valued()
}

// Notes tells when a margin's knots come from a subsample, and when its period was guessed.
func (s *tensorScan) Notes() []string {
	var notes []string
	for i, m := range s.margins {
		scan := &s.scans[i]
		if m.Basis != nil {
			if note := guessedPeriod(s.name, m.Basis, &scan.values); note != "" {
				notes = append(notes, note)
				continue
			}
		}
		switch {
		case m.Surface != nil && scan.points.Sampled():
			notes = append(notes, fmt.Sprintf("term %s: %s have more than %d distinct points; its knots are %d of them, chosen by hash",
				s.name, quoted(m.Columns), scan.points.Limit, scan.points.N()))
		case m.Basis != nil && scan.values.Sampled():
			notes = append(notes, fmt.Sprintf("term %s: column %q has more than %d distinct values; its knots are found from a part of them, chosen by hash",
				s.name, m.Columns[0], scan.values.Limit))
		}
	}
	return notes
}
