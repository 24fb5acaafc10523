package decompose

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/projection"
)

// Order is the part of a predictor that is of one order of interaction (stacked
// orthogonality; Köhler, Rügamer and Schmid 2025). V_d is the span of the constant and
// of all functions of at most d columns among the terms', P_d the weighted orthogonal
// projection on it, without penalties; the part is P_d eta - P_(d-1) eta. Parts of
// different orders are unique and uncorrelated, also with the remainder eta - P_D eta: the
// shares are not negative and add to 1 with that of the remainder (all are 0 if the
// predictor is constant). The part of order 2
// is one function of all pairs together: none of it belongs to a single pair.
type Order struct {
	Order int      `json:"order"`
	Share float64  `json:"share"` // of Var(eta)
	Terms []string `json:"terms"` // those of so many columns; empty: margins of others alone
}

// Subspace are functions of some of a term's columns alone that are among its functions:
// Phi Map (n x m) depends on Columns only. A term says which by a method
//
//	Subspaces() []Subspace
//
// as a tensor product does, whose margins' functions are sums of its own. By them main
// effects that a term of two columns could express count as main effects, whether or not
// there is a term for these. Without the method there are none.
type Subspace struct {
	Columns []string
	Map     *mat.Dense // d x m
}

func subspaces(t Term) []Subspace {
	if s, ok := t.(interface{ Subspaces() []Subspace }); ok {
		return s.Subspaces()
	}
	return nil
}

// order is the number of columns of a term or subspace.
func order(columns []string) int {
	c := slices.Clone(columns)
	slices.Sort(c)
	return len(slices.Compact(c))
}

// orderOf is that of a term: slopes of several columns are a sum of functions of one.
func orderOf(t Term) int {
	if _, ok := t.(sloped); ok {
		return 1
	}
	return order(t.Columns())
}

// orders splits the predictor by order of interaction, from the moments.
// X'W eta = X'WX beta + X'W zeta, so projections of eta cost no pass.
func (s *solver) orders(ctx context.Context) error {
	if !s.o.Orders {
		return nil
	}
	s.out.Orders = []Order{}
	below, rest := 0.0, 1.0 // all is left by no term
	for _, d := range ordersOf(s.d.blocks) {
		if err := ctx.Err(); err != nil {
			return err
		}
		explained, total, err := projection.Explained(s.moments, s.k, s.spaceOf(d), s.ordersTolerance())
		if err != nil {
			return fmt.Errorf("order %d: %w", d, err)
		}
		// The spaces are nested: the difference is a sum of squares but for rounding.
		part := Order{Order: d, Terms: []string{}}
		if explained = max(explained, below); total > 0 {
			part.Share, rest = (explained-below)/total, 1-explained/total
		} else {
			rest = 0
		}
		for _, b := range s.d.blocks {
			if orderOf(b.Term) == d {
				part.Terms = append(part.Terms, b.Term.Name())
			}
		}
		s.out.Orders, below = append(s.out.Orders, part), explained
	}
	s.out.OrdersRemainder = &rest
	if coarse := coarseMains(s.d.blocks); len(coarse) > 0 {
		s.warn("orders: of %s the model's own %s one function each: main effects of other terms that are no multiples of it count as interactions; add s() of these columns by a formula to have them among the main effects",
			listed(coarse), map[bool]string{true: "term has", false: "terms have"}[len(coarse) == 1])
	}
	return nil
}

// ordersOf are the orders of the terms and of what they contain, ascending.
func ordersOf(blocks []Block) []int {
	var all []int
	for _, b := range blocks {
		all = append(all, orderOf(b.Term))
		for _, sub := range subspaces(b.Term) {
			all = append(all, order(sub.Columns))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// spaceOf are the blocks that span V_d: terms of at most d columns, and what others have of
// such functions.
func (s *solver) spaceOf(d int) []projection.Block {
	out := s.plan.resolved(s.d, s.moments, s.o)
	for j, b := range s.d.blocks {
		p := projection.Block{Beta: out[j].Beta, Norm: out[j].Norm, Learned: out[j].Learned}
		switch {
		case orderOf(b.Term) > d:
			p.Map = lower(b.Term, d)
			p.Kept = p.Map == nil
		case len(subspaces(b.Term)) == 0: // else all of the basis: V_(d-1) has its subspaces
			p.Map, p.Normal = out[j].Map, out[j].Normal
		}
		out[j] = p
	}
	return out
}

// lower maps to the functions of at most d columns among a term's; nil: there are none.
func lower(t Term, d int) *mat.Dense {
	var all *mat.Dense
	for _, sub := range subspaces(t) {
		switch {
		case order(sub.Columns) > d:
		case all == nil:
			all = sub.Map
		default:
			both := new(mat.Dense)
			both.Augment(all, sub.Map)
			all = both
		}
	}
	return all
}

// ordersTolerance is the rank tolerance of the spaces, which hold the columns of terms that
// the decomposition keeps as they are.
func (s *solver) ordersTolerance() float64 {
	if s.o.RankTolerance == 0 && slices.ContainsFunc(s.d.blocks, func(b Block) bool { return b.Term.Kind() == Learned }) {
		return toleranceLearned
	}
	return s.o.tolerance(s.d)
}

// coarseMains are the columns of which the only main effects are multiples of one learned
// function, while a learned term of more columns may hold others.
func coarseMains(blocks []Block) (columns []string) {
	others := map[string]int{} // dimensions of what there is of a column alone
	for _, b := range blocks {
		for _, sub := range append(subspaces(b.Term), Subspace{Columns: b.Term.Columns()}) {
			if order(sub.Columns) == 1 && b.Term.Kind() != Linear {
				width := b.Term.Dim()
				if b.Term.Kind() != Learned {
					width = max(width, 2) // spans what it is meant to span
				}
				others[sub.Columns[0]] = max(others[sub.Columns[0]], width)
			}
		}
	}
	for _, b := range blocks {
		if b.Term.Kind() != Learned || orderOf(b.Term) < 2 {
			continue
		}
		for _, c := range b.Term.Columns() {
			if others[c] == 1 && !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
	}
	return columns
}

// orders refuses terms of several columns whose main effects would count as interactions,
// all predictors that lack the same in one sentence.
func (f *faults) orders(m Model) {
	var lacks []string // what, by predictor
	who := map[string][]string{}
	for k, name := range m.Predictors() {
		columns, terms := withoutOwn(m.Blocks(k))
		if len(columns) == 0 {
			continue
		}
		whose := "its"
		if len(terms) > 1 {
			whose = "their"
		}
		lack := fmt.Sprintf("%s would count %s main effects as interactions: add terms of %s alone by a formula, as ~ . does", listed(terms), whose, listed(columns))
		if who[lack] == nil {
			lacks = append(lacks, lack)
		}
		who[lack] = append(who[lack], fmt.Sprintf("%q", name))
	}
	for _, lack := range lacks {
		f.add("orders of interaction: predictor %s: %s", listed(who[lack]), lack)
	}
}

// withoutOwn are the columns, quoted, that occur only together with others, and the terms
// in which they first do.
func withoutOwn(blocks []Block) (columns, terms []string) {
	known := map[string]bool{}
	for _, b := range blocks {
		for _, sub := range append(subspaces(b.Term), Subspace{Columns: b.Term.Columns()}) {
			if order(sub.Columns) == 1 {
				known[sub.Columns[0]] = true
			}
		}
	}
	for _, b := range blocks {
		before := len(columns)
		for _, c := range b.Term.Columns() {
			if !known[c] {
				columns, known[c] = append(columns, fmt.Sprintf("%q", c)), true
			}
		}
		if len(columns) > before {
			terms = append(terms, fmt.Sprintf("%q", b.Term.Name()))
		}
	}
	return columns, terms
}
