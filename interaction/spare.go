package interaction

import "sync"

// spare is the memory of sums that were added to others, to be used for other chunks of the
// same pass: tables of many pairs are megabytes. A nil spare has none and takes none.
type spare struct {
	lock     sync.Mutex
	tables   []*tables
	products [][]*products // by predictor
}

func newSpare(predictors int) *spare { return &spare{products: make([][]*products, predictors)} }

// newTables are tables of no rows.
func (s *spare) newTables(pairs, predictors int, weighted bool) *tables {
	if t := pop(s, &s.tables); t != nil {
		t.clear()
		return t
	}
	return newTables(pairs, predictors, weighted)
}

// newProducts are products of n functions of no rows, of predictor k.
func (s *spare) newProducts(k, n int) *products {
	if p := pop(s, &s.products[k]); p != nil {
		p.clear()
		return p
	}
	return newProducts(n)
}

// pop takes the last one, nil if there is none.
func pop[T any](s *spare, from *[]*T) *T {
	s.lock.Lock()
	defer s.lock.Unlock()
	last := len(*from) - 1
	if last < 0 {
		return nil
	}
	t := (*from)[last]
	*from = (*from)[:last]
	return t
}

// takeTables takes those that nobody needs.
func (s *spare) takeTables(t *tables) {
	if s != nil {
		s.lock.Lock()
		defer s.lock.Unlock()
		s.tables = append(s.tables, t)
	}
}

// takeProducts takes those of predictor k that nobody needs.
func (s *spare) takeProducts(k int, p *products) {
	if s != nil {
		s.lock.Lock()
		defer s.lock.Unlock()
		s.products[k] = append(s.products[k], p)
	}
}
