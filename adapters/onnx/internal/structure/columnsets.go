package structure

import "math/bits"

// columnSets interns sets of data columns: equal sets have equal ids, id 0 is
// the empty set, and the union of two ids is computed once. A network has few
// distinct sets, so one int32 per tensor element is all that discovery stores.
type columnSets struct {
	columns int
	words   int
	sets    [][]uint64
	ids     map[string]int32
	unions  map[[2]int32]int32
}

func newColumnSets(columns int) *columnSets {
	s := &columnSets{
		columns: columns,
		words:   (columns + 63) / 64,
		ids:     map[string]int32{},
		unions:  map[[2]int32]int32{},
	}
	s.intern(make([]uint64, s.words))
	return s
}

func (s *columnSets) intern(set []uint64) int32 {
	key := make([]byte, 0, 8*len(set))
	for _, w := range set {
		for b := 0; b < 64; b += 8 {
			key = append(key, byte(w>>b))
		}
	}
	if id, ok := s.ids[string(key)]; ok {
		return id
	}
	id := int32(len(s.sets))
	s.sets = append(s.sets, set)
	s.ids[string(key)] = id
	return id
}

// single returns the set {c}.
func (s *columnSets) single(c int) int32 { return s.of([]int{c}) }

// of returns the set of the given columns.
func (s *columnSets) of(columns []int) int32 {
	set := make([]uint64, s.words)
	for _, c := range columns {
		set[c/64] |= 1 << (c % 64)
	}
	return s.intern(set)
}

// every returns the set of all columns.
func (s *columnSets) every() int32 {
	all := make([]int, s.columns)
	for c := range all {
		all[c] = c
	}
	return s.of(all)
}

// contains reports whether column c is in the set.
func (s *columnSets) contains(id int32, c int) bool { return s.sets[id][c/64]>>(c%64)&1 == 1 }

// meet reports whether the sets have a column in common.
func (s *columnSets) meet(a, b int32) bool {
	for i, w := range s.sets[a] {
		if w&s.sets[b][i] != 0 {
			return true
		}
	}
	return false
}

func (s *columnSets) union(a, b int32) int32 {
	if a == b || b == 0 {
		return a
	}
	if a == 0 {
		return b
	}
	if a > b {
		a, b = b, a
	}
	if id, ok := s.unions[[2]int32{a, b}]; ok {
		return id
	}
	set := make([]uint64, s.words)
	for i := range set {
		set[i] = s.sets[a][i] | s.sets[b][i]
	}
	id := s.intern(set)
	s.unions[[2]int32{a, b}] = id
	return id
}

// minus returns the columns of a that are not in b.
func (s *columnSets) minus(a, b int32) int32 {
	if a == 0 || b == 0 {
		return a
	}
	set := make([]uint64, s.words)
	for i := range set {
		set[i] = s.sets[a][i] &^ s.sets[b][i]
	}
	return s.intern(set)
}

// size is the number of columns in the set.
func (s *columnSets) size(id int32) int {
	n := 0
	for _, w := range s.sets[id] {
		n += bits.OnesCount64(w)
	}
	return n
}

// members lists the set's columns in increasing order.
func (s *columnSets) members(id int32) []int {
	var m []int
	for i, w := range s.sets[id] {
		for w != 0 {
			m = append(m, 64*i+bits.TrailingZeros64(w))
			w &= w - 1
		}
	}
	return m
}

// bytes estimates the memory held, for the discovery budget.
func (s *columnSets) bytes() int {
	return len(s.sets)*(16*s.words+80) + 40*len(s.unions)
}
