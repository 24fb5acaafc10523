package interaction

import (
	"fmt"

	"github.com/pho-go/pho/decompose"
)

// sums are what a chunk of rows adds in one pass: what Ranking.Map returns.
type sums struct {
	pass     int         // from 0 on, over the rows
	worst    []worst     // by predictor, of the first pass; none: of no rows
	tables   *tables     // nil: of no rows, or of a pass of products
	products []*products // by predictor, nil: of no rows; none: of no rows, or of a pass of tables
	spare    *spare      // that is given what is used no longer; nil: nobody is
}

// Kind names the type and its encoding.
func (s *sums) Kind() string { return pairsKind }

// Add adds the sums of rows that follow. Those of another pass, of other columns or
// functions are an error that leaves s as it was.
func (s *sums) Add(next decompose.Sums) error {
	o, ok := next.(*sums)
	if !ok {
		return fmt.Errorf("interaction: sums of the kind %q do not add up with %q", next.Kind(), pairsKind)
	}
	if err := s.match(o); err != nil {
		return fmt.Errorf("interaction: sums of different decompositions or passes do not add up: %w", err)
	}
	if s.worst == nil {
		s.worst = o.worst
	} else {
		for k := range o.worst {
			s.worst[k] = s.worst[k].with(o.worst[k])
		}
	}
	if s.tables == nil {
		s.tables = o.tables
	} else if o.tables != nil {
		s.tables.add(o.tables)
		s.spare.takeTables(o.tables)
	}
	if s.products == nil {
		s.products = o.products
		return nil
	}
	for k, p := range o.products {
		if s.products[k] == nil {
			s.products[k] = p
		} else if p != nil {
			s.products[k].add(p)
			s.spare.takeProducts(k, p)
		}
	}
	return nil
}

// match is an error if o is of another pass, or of other predictors, columns or functions.
func (s *sums) match(o *sums) error {
	switch {
	case s.pass != o.pass:
		return fmt.Errorf("passes %d and %d over the rows", s.pass+1, o.pass+1)
	case s.worst != nil && o.worst != nil && len(s.worst) != len(o.worst):
		return fmt.Errorf("%d and %d predictors", len(s.worst), len(o.worst))
	case s.tables != nil && o.tables != nil && s.tables.shape() != o.tables.shape():
		return fmt.Errorf("tables of pairs, predictors and weights %v and %v", s.tables.shape(), o.tables.shape())
	case s.products != nil && o.products != nil && len(s.products) != len(o.products):
		return fmt.Errorf("%d and %d predictors", len(s.products), len(o.products))
	}
	for k := range min(len(s.products), len(o.products)) {
		if a, b := s.products[k], o.products[k]; a != nil && b != nil && a.n != b.n {
			return fmt.Errorf("predictor %d: %d and %d functions", k+1, a.n, b.n)
		}
	}
	return nil
}
