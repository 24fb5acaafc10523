package interaction

import "sync"

// spare is the memory of tables that were added to others, to be used for other chunks:
// those of many pairs are megabytes. A nil spare takes none.
type spare struct {
	lock   sync.Mutex
	tables []*tables
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
