package interaction

import (
	"fmt"

	"github.com/pho-go/pho/decompose"
)

// sums are what a chunk of rows adds: what Ranking.Map returns.
type sums struct {
	worst  []worst // by predictor; none: of no rows
	tables *tables // nil: of no rows
	kept   *kept   // nil: of no rows
	spare  *spare  // that is given what is used no longer; nil: nobody is
}

// Kind names the type and its encoding.
func (s *sums) Kind() string { return pairsKind }

// Add adds the sums of rows that follow. Those of other columns are an error that leaves s
// as it was.
func (s *sums) Add(next decompose.Sums) error {
	o, ok := next.(*sums)
	if !ok {
		return fmt.Errorf("interaction: sums of the kind %q do not add up with %q", next.Kind(), pairsKind)
	}
	if err := s.match(o); err != nil {
		return fmt.Errorf("interaction: sums of different decompositions do not add up: %w", err)
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
	if s.kept == nil {
		s.kept = o.kept
	} else if o.kept != nil {
		s.kept.add(o.kept)
	}
	return nil
}

// match is an error if o is of other predictors or columns.
func (s *sums) match(o *sums) error {
	switch {
	case s.worst != nil && o.worst != nil && len(s.worst) != len(o.worst):
		return fmt.Errorf("%d and %d predictors", len(s.worst), len(o.worst))
	case s.tables != nil && o.tables != nil && s.tables.shape() != o.tables.shape():
		return fmt.Errorf("tables of pairs, predictors and weights %v and %v", s.tables.shape(), o.tables.shape())
	case s.kept != nil && o.kept != nil && !s.kept.shape().equal(o.kept.shape()):
		return fmt.Errorf("rows of factors, predictors and weights %v and %v", s.kept.shape(), o.kept.shape())
	}
	return nil
}
