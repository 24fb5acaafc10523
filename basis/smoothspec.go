package basis

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// SmoothOptions are the choices common to all smooths; nil and the zero value
// are the defaults.
type SmoothOptions struct {
	// By is a column that multiplies the smooth (numeric) or gives each of its
	// levels a smooth of its own (categorical in the batches); empty: none.
	By       string
	ByFactor bool // the By column is categories even if batches hold numbers
	// ByOrdered: as ByFactor, but the first level has no smooth of its own: the
	// others are differences from it, next to a smooth without By (mgcv's ordered
	// factors).
	ByOrdered   bool
	SP          []float64 // fixed smoothing parameters, one per penalty; nil or negative: to be chosen
	Unpenalized bool      // no penalty at all (mgcv's fx = TRUE)
	// Point is where the smooth is 0 (mgcv's pc), one number per column; nil: it sums
	// to zero over the rows.
	Point []float64
	// Link: smooths with the same non-empty Link have the same smoothing parameters
	// (mgcv's id): those of all levels of a factor By, say.
	Link string
	// Select adds a penalty on what the others leave unpenalised, so that the whole
	// smooth can be taken out (mgcv's select = TRUE).
	Select bool
}

// Smooth is the spec of a smooth of one numeric column, s(column) in a formula.
// The scan collects the range (and for CR the distinct values: all up to 1e6 of
// them, beyond that a subsample chosen by hash, which a note tells). Build gives one
// centred block; with a numeric By one that is not centred unless the By column
// is constant; with a factor By one for each level, centred over all rows.
func Smooth(column string, b Univariate, o *SmoothOptions) decompose.Spec {
	s := &smoothSpec{column: column, basis: b, name: "s(" + column + ")"}
	if o != nil {
		s.o = *o
	}
	if s.o.By != "" {
		s.name += ":" + s.o.By
	}
	return s
}

type smoothSpec struct {
	column string
	name   string
	basis  Univariate
	o      SmoothOptions
}

// check refuses settings that no data can save.
func (s *smoothSpec) check() error {
	if s.basis == nil {
		return fmt.Errorf("no basis is given; there are %s", enumerate(ownNames()))
	}
	if err := checkColumn(s.column); err != nil {
		return err
	}
	if err := s.o.checkFor(1, s.penalties()); err != nil {
		return err
	}
	return s.basis.check()
}

// penalties is the number of penalties of the basis.
func (s *smoothSpec) penalties() int {
	if b, ok := unstepped(s.basis).(BS); ok {
		if _, _, orders, err := b.settings(); err == nil {
			return len(orders)
		}
	}
	return 1
}

// checkFor refuses options that suit no smooth of so many columns and penalties, the
// number of which may be undetermined.
func (o *SmoothOptions) checkFor(columns, penalties int) error {
	switch {
	case o.By != "":
		if err := checkColumn(o.By); err != nil {
			return err
		}
	case o.ByFactor || o.ByOrdered:
		return fmt.Errorf("ByFactor without a By column")
	}
	switch n := len(o.SP); {
	case penalties == undetermined:
	case n > 1 && penalties == 1:
		return fmt.Errorf("%d smoothing parameters, but s() has one penalty", n)
	case n > 0 && n != penalties:
		return fmt.Errorf("%d smoothing parameters for %d penalties: give one for each, negative to have it chosen", n, penalties)
	}
	for _, v := range o.SP {
		if !finite(v) {
			return fmt.Errorf("the smoothing parameter is %v", v)
		}
	}
	if o.Unpenalized && len(o.SP) > 0 {
		return fmt.Errorf("both fx and sp are given: without a penalty there is no smoothing parameter")
	}
	if n := len(o.Point); n != 0 && n != columns {
		return fmt.Errorf("pc has %d numbers for %d columns: it is the point where the smooth is 0", n, columns)
	}
	for _, v := range o.Point {
		if !finite(v) {
			return fmt.Errorf("pc is %v", v)
		}
	}
	return nil
}

// block is what the blocks of a smooth with the penalties S have in common. At is
// the term without by, of the columns; it is evaluated at the point that pc names.
func (o *SmoothOptions) block(s []*mat.SymDense, columns []string, plain decompose.Term) (decompose.Block, error) {
	b := decompose.Block{Constraint: decompose.SumToZero()}
	if !o.Unpenalized {
		b.Penalty, b.Select = penalty.Penalty{SP: o.SP}, o.Select
		for i, own := range s {
			b.Penalty.S = append(b.Penalty.S, own)
			if o.Link != "" {
				b.Penalty.Link = append(b.Penalty.Link, fmt.Sprintf("%s.%d", o.Link, i+1))
			}
		}
	}
	if len(o.Point) == 0 {
		return b, nil
	}
	at := data.NewBatch(1, 0)
	for i, name := range columns {
		if err := at.SetNumeric(name, o.Point[i:i+1]); err != nil {
			return b, err
		}
	}
	row := mat.NewDense(1, plain.Dim(), nil)
	if err := plain.Eval(row, at); err != nil {
		return b, fmt.Errorf("pc: %w", err)
	}
	b.Constraint = decompose.Orthogonal(row.RawRowView(0))
	return b, nil
}

func (s *smoothSpec) Columns() []string { return withBy([]string{s.column}, s.o.By) }

func (s *smoothSpec) Scanner() decompose.Scanner {
	scan := &smoothScan{smoothSpec: s, by: s.o.byScan()}
	if s.basis != nil {
		scan.x = s.basis.scan(s.column)
	}
	return scan
}

// smoothScan is what one set of rows shows of a smooth's columns.
type smoothScan struct {
	*smoothSpec
	x  columnScan
	by byScan
}

func (s *smoothScan) NeedsScan() bool { return true }

func (s *smoothScan) Scan(b *data.Batch) error {
	if err := s.check(); err != nil {
		return fmt.Errorf("term %s: %w", s.name, err)
	}
	if err := s.x.scan(s.name, b); err != nil {
		return err
	}
	return s.by.scan(s.name, b)
}

func (s *smoothScan) parts() []part { return s.by.parts(&s.x) }

// Sums are the values and what is seen of by.
func (s *smoothScan) Sums() (decompose.Sums, error) { return sumsOf(s.name, s.parts()) }

// Restore takes the sums of all rows.
func (s *smoothScan) Restore(sums decompose.Sums) error { return restore(s.name, s.parts(), sums) }

func (s *smoothScan) Build() ([]decompose.Block, error) {
	blocks, err := s.build()
	if err != nil {
		return nil, fmt.Errorf("term %s: %w", s.name, err)
	}
	return blocks, nil
}

func (s *smoothScan) build() ([]decompose.Block, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	basis, matrix, err := s.basis.build(&s.x)
	if err != nil {
		return nil, err
	}
	all := []*mat.SymDense{matrix}
	if b, ok := unstepped(s.basis).(BS); ok {
		smooth, jumps := basis, (*stepped)(nil)
		if jumps, ok = basis.(*stepped); ok {
			smooth = jumps.of
		}
		more, err := b.further(smooth)
		if err != nil {
			return nil, err
		}
		for i := range more {
			if jumps != nil {
				more[i] = jumps.bordered(more[i])
			}
		}
		all = append(all, more...)
	}
	term := func(y byVariable) decompose.Term { return newSmooth(SmoothTerm{column: s.column, basis: basis, by: y}) }
	block, err := s.o.block(all, []string{s.column}, term(byVariable{}))
	if err != nil {
		return nil, err
	}
	return s.by.blocks(block, s.o.ByOrdered, term)
}

// Notes tells when the knots come from a subsample, and when a period was guessed.
func (s *smoothScan) Notes() []string {
	if note := guessedPeriod(s.name, s.basis, &s.x); note != "" {
		return []string{note}
	}
	if !s.x.Sampled() {
		return nil
	}
	if ownKnots(unstepped(s.basis)) {
		return nil
	}
	if s.x.Points != nil {
		return []string{fmt.Sprintf("term %s: column %q has more than %d distinct values; the basis is made from %d of them, chosen by hash",
			s.name, s.column, s.x.Limit, s.x.Points.N())}
	}
	return []string{fmt.Sprintf("term %s: column %q has more than %d distinct values; the knots are quantiles of %d of them, chosen by hash",
		s.name, s.column, s.x.Limit, len(s.x.Distinct()))}
}

func (s *smoothSpec) label() string { return s.name }
