package main

// neonTransposes writes the transposition of squares of one vector by one.
func neonTransposes(s *source) {
	neon{s, true}.transpose("transposeF64NEON", "transposeF64NEON transposes squares of 4 x 4: see type squares.")
	neon{s, false}.transpose("transposeF32NEON", "transposeF32NEON transposes squares of 8 x 8 float32: see type squares.")
}

// transpose takes blocks that fit in registers: two by two float64, four by four float32.
func (s neon) transpose(name, comment string) {
	s.begin(name, "q", comment)
	s.field(squaresSrc, "R2")
	s.field(squaresSS, "R3")
	s.field(squaresDst, "R4")
	s.field(squaresDS, "R5")
	s.field(squaresN, "R6")
	side := s.lanes()
	// Row i of the square in registers 2i and 2i+1: its left and right half.
	s.label("loop")
	s.op("MOVD", "R2", "R7")
	for i := range side {
		s.load(0, "R7", 2*i, 2*i+1)
		if i < side-1 {
			s.op("ADD", "R3", "R7")
		}
	}
	rows := make([][2]int, side) // registers of the rows of the result
	for half := range 2 {        // upper and lower half of the square
		for side := range 2 { // left and right
			s.transposeBlock(half, side, rows)
		}
	}
	for i := range side {
		s.store(rows[i][0], rows[i][1], 0, "R4")
		s.op("ADD", "R5", "R4")
	}
	s.op("ADD", imm(neonBytes), "R2")
	s.op("SUB", "$1", "R6")
	s.op("CBNZ", "R6", "loop")
	s.ret()
}

// transposeBlock transposes a quarter of the square and says where the rows are.
func (s neon) transposeBlock(half, side int, rows [][2]int) {
	n := s.lanes() / 2
	in := func(i int) int { return 2*(half*n+i) + side }
	out := func(i int) int { return 16 + n*(2*half+side) + i }
	defer func() {
		for i := range n {
			rows[side*n+i][half] = out(i)
		}
	}()
	if s.double {
		s.lower(out(0), in(0), in(1))
		s.upper(out(1), in(0), in(1))
		return
	}
	// Even lanes of two rows, and odd ones; then halves of those.
	for i := range 2 {
		p, q := in(2*i), in(2*i+1)
		s.op("VTRN1", s.all(q), s.all(p), s.all(out(2*i)))
		s.op("VTRN2", s.all(q), s.all(p), s.all(out(2*i+1)))
	}
	for i := range 2 {
		p, q := out(i), out(2+i)
		s.copy(in(0), p)
		s.lower(p, p, q)
		s.upper(q, in(0), q)
	}
}
