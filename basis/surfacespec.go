package basis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Surface is the spec of a smooth of one or more numeric columns together, such
// as s(lon,lat) in a formula. The scan collects the distinct points; a subsample
// chosen by hash if there are many, which a note tells. Constraints and By columns are as in
// Smooth.
func Surface(columns []string, b Multivariate, o *SmoothOptions) decompose.Spec {
	s := &surfaceSpec{columns: slices.Clone(columns), basis: b, name: "s(" + strings.Join(columns, ",") + ")"}
	if o != nil {
		s.o = *o
	}
	if s.o.By != "" {
		s.name += ":" + s.o.By
	}
	return s
}

type surfaceSpec struct {
	columns []string
	name    string
	basis   Multivariate
	o       SmoothOptions
}

// check refuses settings that no data can save.
func (s *surfaceSpec) check() error {
	if s.basis == nil {
		return fmt.Errorf("no basis is given; there are %s", enumerate(Classes(nil).multivariates()))
	}
	if err := checkColumns(s.columns); err != nil {
		return err
	}
	if err := s.o.checkFor(len(s.columns), penaltiesOf(s.basis)); err != nil {
		return err
	}
	return s.basis.Check(len(s.columns))
}

func checkColumns(columns []string) error {
	if len(columns) == 0 {
		return fmt.Errorf("it has no columns")
	}
	for i, c := range columns {
		if err := checkColumn(c); err != nil {
			return err
		}
		if slices.Contains(columns[:i], c) {
			return fmt.Errorf("column %q is there twice", c)
		}
	}
	return nil
}

func (s *surfaceSpec) Columns() []string { return withBy(s.columns, s.o.By) }

func (s *surfaceSpec) Scanner() decompose.Scanner {
	scan := &surfaceScan{surfaceSpec: s, by: s.o.byScan()}
	if s.basis != nil {
		scan.points = newPointScan(s.columns, s.basis.Limit())
	}
	return scan
}

// surfaceScan is what one set of rows shows of a surface's columns.
type surfaceScan struct {
	*surfaceSpec
	points pointScan
	by     byScan
}

func (s *surfaceScan) NeedsScan() bool { return true }

func (s *surfaceScan) Scan(b *data.Batch) error {
	if err := s.check(); err != nil {
		return fmt.Errorf("term %s: %w", s.name, err)
	}
	if err := s.points.scan(s.name, b); err != nil {
		return err
	}
	return s.by.scan(s.name, b)
}

func (s *surfaceScan) parts() []part {
	if s.basis == nil {
		return s.by.parts()
	}
	return s.by.parts(&s.points)
}

// Sums are the points and what is seen of by.
func (s *surfaceScan) Sums() (decompose.Sums, error) { return sumsOf(s.name, s.parts()) }

// Restore takes the sums of all rows.
func (s *surfaceScan) Restore(sums decompose.Sums) error { return restore(s.name, s.parts(), sums) }

func (s *surfaceScan) Build() ([]decompose.Block, error) {
	blocks, err := s.build()
	if err != nil {
		return nil, fmt.Errorf("term %s: %w", s.name, err)
	}
	return blocks, nil
}

func (s *surfaceScan) build() ([]decompose.Block, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	basis, penalties, err := buildOf(s.basis, s.points.sample())
	if err != nil {
		return nil, err
	}
	if err := s.o.checkFor(len(s.columns), len(penalties)); err != nil {
		return nil, err
	}
	term := func(y byVariable) decompose.Term { return newSurface(s.columns, s.basis.Class(), basis, y) }
	block, err := s.o.block(penalties, s.columns, term(byVariable{}))
	if err != nil {
		return nil, err
	}
	return s.by.blocks(block, s.o.ByOrdered, term)
}

// Notes tells when only a subsample of the points was used.
func (s *surfaceScan) Notes() []string {
	if !s.points.Sampled() || ownKnots(s.basis) {
		return nil
	}
	return []string{fmt.Sprintf("term %s: %s have more than %d distinct points; the basis is made from %d of them, chosen by hash",
		s.name, quoted(s.columns), s.points.Limit, s.points.N())}
}

func (s *surfaceSpec) label() string { return s.name }
