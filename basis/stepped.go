package basis

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/knot"
)

// Stepped is a smooth that may jump, for functions that are smooth between steps: the basis Of
// and, for each of Cuts, a function that is 0 below the cut and 1 from it on. The jumps are not
// penalised. It is of s() alone, not of margins, and Of is not cyclic.
type Stepped struct {
	Of   Univariate
	Cuts []float64 // one or more, increasing
}

func (s Stepped) label() string {
	if s.Of == nil {
		return ""
	}
	return s.Of.label()
}

func (s Stepped) check() error {
	switch s.Of.(type) {
	case nil:
		return fmt.Errorf("cuts of no basis: there are %s", enumerate(ownNames()))
	case Stepped:
		return errors.New("the basis of a smooth with cuts has cuts itself: give all of them at once")
	case interface{ hasPeriod() bool }:
		return fmt.Errorf("a cyclic smooth such as bs = %q has no cuts: its ends are one point", s.Of.label())
	}
	if len(s.Cuts) == 0 {
		return errors.New("cuts has no number: give the values at which the function may jump")
	}
	for i, c := range s.Cuts {
		if !knot.Finite(c) {
			return fmt.Errorf("cut %d is %v: it must be a number", i+1, c)
		}
		if i > 0 && c <= s.Cuts[i-1] {
			return fmt.Errorf("cut %d (%v) is not greater than the one before (%v): cuts must increase", i+1, c, s.Cuts[i-1])
		}
	}
	return s.Of.check()
}

func (s Stepped) scan(column string) columnScan { return s.Of.scan(column) }

func (s Stepped) build(v *columnScan) (spline, *mat.SymDense, error) {
	b, p, err := s.Of.build(v)
	if err != nil {
		return nil, nil, err
	}
	if first, last := s.Cuts[0], s.Cuts[len(s.Cuts)-1]; first <= v.Min || last > v.Max {
		return nil, nil, fmt.Errorf("column %q goes from %v to %v, and cuts from %v to %v do not all part it: give cuts above the least value and not above the greatest", v.column, v.Min, v.Max, first, last)
	}
	t, err := newStepped(b, slices.Clone(s.Cuts))
	if err != nil {
		return nil, nil, err
	}
	return t, t.bordered(p), nil
}

// unstepped is b without cuts.
func unstepped(b Univariate) Univariate {
	if s, ok := b.(Stepped); ok {
		return s.Of
	}
	return b
}

// stepped is the basis of Stepped at its knots.
type stepped struct {
	of   spline
	cuts []float64
}

func newStepped(of spline, cuts []float64) (*stepped, error) {
	if k := of.Dim() + len(cuts); k > maxK {
		return nil, fmt.Errorf("%d functions and %d cuts are more than %d columns", of.Dim(), len(cuts), maxK)
	}
	return &stepped{of, cuts}, nil
}

// Dim counts a function for each cut.
func (s *stepped) Dim() int { return s.of.Dim() + len(s.cuts) }

// Width is Dim.
func (s *stepped) Width() int { return s.Dim() }

// Row writes the smooth's functions, then the steps.
func (s *stepped) Row(out []float64, x float64) int {
	k, w := s.of.Dim(), s.of.Width()
	clear(out[w:])
	if first := s.of.Row(out[:w], x); first > 0 {
		copy(out[first:first+w], out[:w])
		clear(out[:min(first, w)])
	}
	for j := range s.reached(x) {
		out[k+j] = 1
	}
	return 0
}

// reached is how many cuts are not above x.
func (s *stepped) reached(x float64) int {
	return sort.Search(len(s.cuts), func(j int) bool { return s.cuts[j] > x })
}

// bordered is a penalty of the smooth's functions as one of all: 0 for the steps.
func (s *stepped) bordered(p *mat.SymDense) *mat.SymDense {
	out := mat.NewSymDense(s.Dim(), nil)
	k := s.of.Dim()
	for i := range k {
		for j := i; j < k; j++ {
			out.SetSym(i, j, p.At(i, j))
		}
	}
	return out
}

// express parts the pieces of the smooth at the cuts: the steps are constants on them.
func (s *stepped) express(column string) (*Piecewise, error) {
	pieces, ok := piecesOf(s.of)
	if !ok {
		return nil, fmt.Errorf("a basis of type %T does not say what it computes of a row", s.of)
	}
	pieces.Breaks = slices.Concat(pieces.Breaks, s.cuts)
	slices.Sort(pieces.Breaks)
	pieces.Breaks = slices.Compact(pieces.Breaks)
	e, err := pieces.interpolate(column, s.of)
	if err != nil {
		return nil, err
	}
	for q := range e.Coef {
		n, k := e.Coef[q].Dims()
		wide := mat.NewDense(n, s.Dim(), nil)
		wide.Slice(0, n, 0, k).(*mat.Dense).Copy(e.Coef[q])
		for i := 1; q == 0 && i < n; i++ {
			for j := range s.reached(pieces.Breaks[i-1]) {
				wide.Set(i, k+j, 1)
			}
		}
		e.Coef[q] = wide
	}
	return e, nil
}
