package interaction

import (
	"slices"
	"sync"
)

// spare is memory to be used for other chunks: of tables that were added to others, megabytes for
// many pairs, and of the numbers that rows add to them. A nil spare takes none.
type spare struct {
	lock   sync.Mutex
	tables []*tables
	sums   [][]sum
}

// newTables are tables of no rows.
func (s *spare) newTables(pairs, predictors int, weighted bool) *tables {
	s.lock.Lock()
	defer s.lock.Unlock()
	last := len(s.tables) - 1
	if last < 0 {
		return newTables(pairs, predictors, weighted)
	}
	t := s.tables[last]
	s.tables = s.tables[:last]
	t.clear()
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

// newSums are n sums, of whatever was in their memory.
func (s *spare) newSums(n int) []sum {
	s.lock.Lock()
	defer s.lock.Unlock()
	var own []sum
	if last := len(s.sums) - 1; last >= 0 {
		own, s.sums = s.sums[last], s.sums[:last]
	}
	return slices.Grow(own[:0], n)[:n]
}

// takeSums takes those that nobody needs.
func (s *spare) takeSums(own []sum) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.sums = append(s.sums, own)
}
