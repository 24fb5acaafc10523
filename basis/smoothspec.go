package basis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

// Univariate is a spline basis of one variable before its data scan: TP, PS or CR.
type Univariate interface {
	label() string                                  // as in bs=
	check() error                                   // of the settings alone
	values(column string) values                    // what to collect
	build(v *values) (spline, *mat.SymDense, error) // the basis and its penalty
}

// SmoothOptions are the choices common to all smooths; nil and the zero value
// are the defaults.
type SmoothOptions struct {
	// By is a column that multiplies the smooth (numeric) or gives each of its
	// levels a smooth of its own (categorical in the batches); empty: none.
	By          string
	ByFactor    bool      // the By column is categories even if batches hold numbers
	SP          []float64 // one fixed smoothing parameter; nil or negative: to be chosen
	Unpenalized bool      // no penalty at all (mgcv's fx = TRUE)
}

// Smooth is the spec of a smooth of one numeric column, s(column) in a formula.
// The scan collects the range (and for CR the distinct values: all up to 1e6 of
// them, beyond that a subsample chosen by hash, see Noter). Build gives one
// centred block; with a numeric By one that is not centred unless the By column
// is constant; with a factor By one for each level, centred over all rows. The
// spec serves one scan.
func Smooth(column string, b Univariate, o *SmoothOptions) decompose.Spec {
	s := &smoothSpec{column: column, basis: b, name: "s(" + column + ")"}
	if o != nil {
		s.o = *o
	}
	if s.o.By != "" {
		s.name += ":" + s.o.By
	}
	if b != nil {
		s.x = b.values(column)
	}
	s.by = levelScan{column: s.o.By, limit: maxByLevels, advice: "each would have a smooth of its own"}
	return s
}

// Noter is what a spec has that may have done something worth telling: after
// Build, Notes says so in whole sentences; none is the normal case.
type Noter interface{ Notes() []string }

type smoothSpec struct {
	column string
	name   string
	basis  Univariate
	o      SmoothOptions

	x            values
	by           levelScan
	factor       bool // by is categorical
	byMin, byMax float64
	byRows       int64
}

// check refuses settings that no data can save.
func (s *smoothSpec) check() error {
	if s.basis == nil {
		return fmt.Errorf("no basis is given; there are %s", haveBases())
	}
	if err := checkColumn(s.column); err != nil {
		return err
	}
	if s.o.By != "" {
		if err := checkColumn(s.o.By); err != nil {
			return err
		}
	} else if s.o.ByFactor {
		return fmt.Errorf("ByFactor without a By column")
	}
	if err := s.o.check(); err != nil {
		return err
	}
	return s.basis.check()
}

// check refuses options that suit no smooth.
func (o *SmoothOptions) check() error {
	if len(o.SP) > 1 {
		return fmt.Errorf("%d smoothing parameters, but s() has one penalty", len(o.SP))
	}
	for _, v := range o.SP {
		if !finite(v) {
			return fmt.Errorf("the smoothing parameter is %v", v)
		}
	}
	if o.Unpenalized && len(o.SP) > 0 {
		return fmt.Errorf("both fx and sp are given: without a penalty there is no smoothing parameter")
	}
	return nil
}

func (s *smoothSpec) Columns() []string {
	if s.o.By != "" && s.o.By != s.column {
		return []string{s.column, s.o.By}
	}
	return []string{s.column}
}

func (s *smoothSpec) NeedsScan() bool { return true }

func (s *smoothSpec) Scan(b *data.Batch) error {
	if err := s.check(); err != nil {
		return fmt.Errorf("term %s: %w", s.name, err)
	}
	if err := s.x.scan(s.name, b); err != nil {
		return err
	}
	if s.o.By == "" {
		return nil
	}
	if s.o.ByFactor || b.Categorical(s.o.By) {
		s.factor = true
		return s.by.scan(s.name, b)
	}
	z, err := b.Numeric(s.o.By)
	if err != nil {
		return fmt.Errorf("term %s: %w", s.name, err)
	}
	if s.byRows == 0 {
		s.byMin, s.byMax = math.Inf(1), math.Inf(-1)
	}
	for i, v := range z {
		if !finite(v) {
			return notFinite(s.name, s.o.By, v, b.Row(i))
		}
		s.byMin, s.byMax = min(s.byMin, v), max(s.byMax, v)
	}
	s.byRows += int64(len(z))
	return nil
}

func (s *smoothSpec) Build() ([]decompose.Block, error) {
	blocks, err := s.build()
	if err != nil {
		return nil, fmt.Errorf("term %s: %w", s.name, err)
	}
	return blocks, nil
}

func (s *smoothSpec) build() ([]decompose.Block, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	basis, matrix, err := s.basis.build(&s.x)
	if err != nil {
		return nil, err
	}
	var p penalty.Penalty
	if !s.o.Unpenalized {
		p = penalty.Penalty{S: []*mat.SymDense{matrix}, SP: s.o.SP}
	}
	plain := SmoothTerm{column: s.column, basis: basis}
	switch {
	case s.o.By == "":
		return []decompose.Block{{Term: newSmooth(plain), Penalty: p, Constraint: decompose.SumToZero}}, nil
	case s.factor:
		return s.perLevel(plain, p)
	}
	product := plain
	product.by = s.o.By
	b := decompose.Block{Term: newSmooth(product), Penalty: p, Base: []decompose.Term{newSmooth(plain)}}
	if s.byMin == s.byMax {
		b.Constraint = decompose.SumToZero
	}
	return []decompose.Block{b}, nil
}

// perLevel gives each level a smooth on the same basis.
func (s *smoothSpec) perLevel(plain SmoothTerm, p penalty.Penalty) ([]decompose.Block, error) {
	l, err := newLevels(s.o.By, s.by.names())
	if err != nil {
		return nil, err
	}
	siblings := make([]decompose.Term, len(l.names))
	for i := range siblings {
		t := plain
		t.levels, t.level = l, int32(i)
		siblings[i] = newSmooth(t)
	}
	blocks := make([]decompose.Block, len(siblings))
	for i, t := range siblings {
		blocks[i] = decompose.Block{Term: t, Penalty: p, Constraint: decompose.SumToZero, Base: siblings}
	}
	return blocks, nil
}

// Notes tells when the knots come from a subsample.
func (s *smoothSpec) Notes() []string {
	if !s.x.sampled() {
		return nil
	}
	if s.x.tally != nil {
		return []string{fmt.Sprintf("term %s: column %q has more than %d distinct values; its knots are %d of them, chosen by hash",
			s.name, s.column, s.x.limit, s.x.tally.n())}
	}
	return []string{fmt.Sprintf("term %s: column %q has more than %d distinct values; the knots are quantiles of %d of them, chosen by hash",
		s.name, s.column, s.x.limit, len(s.x.kept))}
}

func (s *smoothSpec) label() string { return s.name }
