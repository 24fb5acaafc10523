package main

// A part of a vector is its first n lanes, n from 0 to all of them, in a register. There are
// no masked loads, and memory beyond a part must not be touched: the part is a sum of powers of
// two, and moved in pieces of those sizes.

// part says where the pieces of a part are. The registers hold their numbers
// as long as parts of the same length are moved.
type part struct {
	n    string // lanes
	rest string // bytes before what does not fill a register: 0 or 16
	last string // bytes between that and the odd lane
	full bool   // n may be all lanes
}

// split computes the places of pieces from p.n.
func (s neon) split(p part) {
	if s.double {
		s.op("AND", "$2", p.n, p.rest)
		s.op("LSL", "$3", p.rest, p.rest)
		return
	}
	s.op("AND", "$4", p.n, p.rest)
	s.op("LSL", "$2", p.rest, p.rest)
	s.op("AND", "$2", p.n, p.last)
	s.op("LSL", "$2", p.last, p.last)
}

// bit is the number of the bit of n that says whether a register is full; the next
// one says that of the vector.
func (s neon) bit() int {
	if s.double {
		return 1
	}
	return 2
}

// loadPart loads a part into registers i and j; other lanes become 0. It uses register t
// and R1.
func (s neon) loadPart(p part, base string, i, j, t int) {
	odd, done, low := s.fresh("odd"), s.fresh("done"), s.fresh("low")
	s.ifFull(p, done, func() { s.load(0, base, i, j) })
	s.op("ADD", p.rest, base, "R1")
	s.zeros(t)
	s.op("TBZ", "$0", p.n, odd)
	if s.double {
		s.op("FMOVD", "(R1)", f(t))
		s.label(odd)
	} else {
		s.op("FMOVS", "(R1)("+p.last+")", f(t))
		s.label(odd)
		two := s.fresh("two")
		s.op("TBZ", "$1", p.n, two)
		s.op("FMOVD", "(R1)", f(j))
		s.lower(t, j, t)
		s.label(two)
	}
	s.op("TBZ", imm(s.bit()), p.n, low)
	s.op("FMOVQ", mem(0, base), f(i))
	s.copy(j, t)
	s.op("JMP", done)
	s.label(low)
	s.copy(i, t)
	s.zeros(j)
	s.label(done)
}

// storePart stores a part of registers i and j. It uses register t and R1.
func (s neon) storePart(p part, i, j int, base string, t int) {
	rest, odd, done := s.fresh("rest"), s.fresh("odd"), s.fresh("done")
	s.ifFull(p, done, func() { s.store(i, j, 0, base) })
	s.copy(t, i)
	s.op("TBZ", imm(s.bit()), p.n, rest)
	s.op("FMOVQ", f(i), mem(0, base))
	s.copy(t, j)
	s.label(rest)
	s.op("ADD", p.rest, base, "R1")
	if s.double {
		s.op("TBZ", "$0", p.n, done)
		s.op("FMOVD", f(t), "(R1)")
		s.label(done)
		return
	}
	s.op("TBZ", "$1", p.n, odd)
	s.op("FMOVD", f(t), "(R1)")
	s.upper(t, t, t)
	s.label(odd)
	s.op("TBZ", "$0", p.n, done)
	s.op("FMOVS", f(t), "(R1)("+p.last+")")
	s.label(done)
}

// ifFull moves the whole vector if the part is that.
func (s neon) ifFull(p part, done string, move func()) {
	if !p.full {
		return
	}
	some := s.fresh("some")
	s.op("TBZ", imm(s.bit()+1), p.n, some)
	move()
	s.op("JMP", done)
	s.label(some)
}
