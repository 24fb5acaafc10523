package decompose

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/projection"
	"github.com/pho-go/pho/internal/base/linalg"
)

// piece is a term's columns in the sum of some terms, with their coefficients.
type piece struct {
	term                 int
	before, moved        []float64 // the network's own, and what PHO added to them
	centreBefore, centre float64   // subtracted from the values before and after
}

// pieces are those of a sum of terms: the terms, in order, then margins of theirs that
// are not among them.
func (d *Predictor) pieces(terms []int) []piece {
	out := make([]piece, 0, len(terms))
	at := map[int]int{}
	for _, j := range terms {
		t := &d.Terms[j]
		at[j] = len(out)
		out = append(out, piece{j, t.Beta, t.Alpha, t.Before.Mean, t.Center})
	}
	exchanges := d.exchanges()
	if exchanges == nil {
		return out
	}
	for i := range out {
		out[i].before, out[i].moved = slices.Clone(out[i].before), slices.Clone(out[i].moved)
		e := &exchanges[out[i].term]
		out[i].add(1, e.received, e.receivedBefore)
	}
	for _, j := range terms {
		for i, m := range exchanges[j].margins {
			to := exchanges[j].given[i]
			if _, ok := at[to]; !ok {
				at[to] = len(out)
				n := len(d.Terms[to].Alpha)
				out = append(out, piece{term: to, before: make([]float64, n), moved: make([]float64, n)})
			}
			out[at[to]].add(-1, m.Coef, m.Before)
		}
	}
	return out
}

// Piece is a basis and its coefficients in a term.
type Piece struct {
	Term Term
	Coef []float64 // in raw coordinates; a copy
}

// Pieces are what term j's values over any row are the sum of, less its Center: its own basis with
// Beta, Alpha and the coefficients that other terms have given to it, then its margins' bases with
// minus the coefficients given to them.
func (d *Predictor) Pieces(j int) []Piece {
	var out []Piece
	for _, p := range d.pieces([]int{j}) {
		coef := slices.Clone(p.moved)
		floats.Add(coef, p.before)
		out = append(out, Piece{d.Terms[p.term].term, coef})
	}
	return out
}

// add adds coefficients of the whole and of the network's own part; nil: zeros.
func (p *piece) add(sign float64, after, before []float64) {
	if after != nil {
		floats.AddScaled(p.moved, sign, after)
	}
	if before != nil {
		floats.AddScaled(p.moved, -sign, before)
		floats.AddScaled(p.before, sign, before)
	}
}

// exchanging tells whether one of the terms has margins or may be one: else hierarchical terms are
// as they are fitted. Interactions of factors do not list theirs.
func (d *Predictor) exchanging(terms []int) bool {
	margins := map[string]bool{}
	for _, t := range d.Terms {
		if observed, _ := cells(t.term); observed > 0 {
			return true
		}
		for _, m := range t.Margins {
			margins[m.Term] = true
		}
	}
	return slices.ContainsFunc(terms, func(j int) bool { return len(d.Terms[j].Margins) > 0 || margins[d.Terms[j].Name] })
}

// congruentTo is l v l'. Most rows of l are those of the identity, all of many levels' among
// them, so zeros are left out.
func congruentTo(l *mat.Dense, of mat.Symmetric) *mat.Dense {
	v, ok := of.(*mat.SymDense)
	if !ok {
		return linalg.Times(linalg.RowsTimes(l, of), mat.DenseCopyOf(l.T()))
	}
	n, q := l.Dims()
	at, entries := make([][]int, n), 0 // where a row is not 0
	for i := range n {
		for a, x := range l.RawRowView(i) {
			if x != 0 {
				at[i] = append(at[i], a)
			}
		}
		entries += len(at[i])
	}
	whole := mat.NewDense(n, n, nil)
	if entries/4 > q {
		var half mat.Dense
		half.Mul(l, v)
		whole.Mul(&half, l.T())
		return whole
	}
	from := v.RawSymmetric()
	for i, row := range at {
		for k, column := range at[:i+1] {
			sum := 0.0
			for _, a := range row {
				for _, b := range column {
					sum += l.At(i, a) * l.At(k, b) * from.Data[min(a, b)*from.Stride+max(a, b)]
				}
			}
			whole.Set(i, k, sum)
			whole.Set(k, i, sum)
		}
	}
	return whole
}

// splitting is made again from the moments that were read.
func (r *Result) splitting(k int) *splitting {
	return &splitting{make: func() (*projection.Hierarchy, error) {
		d := &r.Predictors[k]
		var terms []Term
		starts := []int{0}
		for j := range d.Terms {
			starts = append(starts, starts[j]+len(d.Terms[j].Alpha))
			if d.Terms[j].term == nil {
				return nil, errors.New("decompose: terms without a basis")
			}
			terms = append(terms, d.Terms[j].term)
		}
		view := r.sum.Total().Predictor(k)
		if !slices.Equal(view.Starts, starts) {
			return nil, fmt.Errorf("decompose: predictor %q: the moments are of other terms: their columns begin at %v, the terms' at %v", d.Name, view.Starts, starts)
		}
		h, err := projection.NewHierarchy(view.XX, view.Mean, view.SumW, view.Starts, nesting(terms), d.RankTolerance)
		if err != nil || d.Hierarchy == nil {
			return h, err
		}
		for j := range d.Terms {
			if s := d.Hierarchy.smoothed(d.Terms[j].Name); s != nil {
				if err := h.Shrink(j, s.Kept); err != nil {
					return nil, fmt.Errorf("decompose: predictor %q: term %q: %w", d.Name, d.Terms[j].Name, err)
				}
			}
		}
		return h, nil
	}}
}

// checkMargins reports margins that do not fit the terms.
func (d *Predictor) checkMargins() (faults []error) {
	dims := map[string]int{}
	for _, t := range d.Terms {
		dims[t.Name] = len(t.Alpha)
	}
	for _, t := range d.Terms {
		for _, m := range t.Margins {
			n, ok := dims[m.Term]
			switch {
			case !ok || m.Term == t.Name:
				faults = append(faults, fmt.Errorf("decompose: term %q gives a margin to %q, which is no other term", t.Name, m.Term))
			case len(m.Coef) != n || m.Before != nil && len(m.Before) != n:
				faults = append(faults, fmt.Errorf("decompose: term %q has %d and %d coefficients for its margin %q, which has %d columns", t.Name, len(m.Coef), len(m.Before), m.Term, n))
			}
		}
	}
	return faults
}
