package main

import "fmt"

// neonRowSums sums rows of products or of absolute values: see rowSums.
func neonRowSums(src *source) {
	for _, sizes := range []bool{false, true} {
		neon{src, true}.sumsOfRows(sizes)
	}
}

func (s neon) sumsOfRows(sizes bool) {
	const parts = 4
	name, what := "rowDots", "products with other rows"
	if sizes {
		name, what = "rowSizes", "absolute values"
	}
	s.begin(name+"NEON", "a", fmt.Sprintf("%sNEON sums rows of %s: see type rowSums.", name, what))
	s.field(rowSumsA, "R23")
	s.field(rowSumsRS, "R12")
	s.field(rowSumsIndex, "R13")
	s.field(rowSumsC, "R14")
	s.field(rowSumsGroups, "R15")
	if !sizes {
		s.field(rowSumsB, "R24")
		s.field(rowSumsBS, "R25")
	}
	acc := func(i, h int) int { return i*parts + h }
	const value, other, spare = 16, 20, 24
	s.field(rowSumsK, "R3")
	// Whole chunks, then what a vector takes of the rest, then the other vector.
	s.op("LSR", "$3", "R3", "R16")
	s.op("AND", "$7", "R3")
	s.op("MOVD", imm(s.lanes()), "R5")
	s.op("CMP", "R5", "R3")
	s.op("CSEL", "LT", "R3", "R5", "R5")
	s.op("SUB", "R5", "R3", "R4")
	first := part{n: "R5", rest: "R19", last: "R20", full: true}
	second := part{n: "R4", rest: "R21", last: "R22"}
	s.split(first)
	s.split(second)
	next := func(base string, to int) {
		s.op("FLDPQ.P", mem(neonBytes, base), pairOf(to, to+1))
		s.op("FLDPQ.P", mem(neonBytes, base), pairOf(to+2, to+3))
	}
	some := func(base string, to int) {
		s.loadPart(first, base, to, to+1, spare)
		s.op("ADD", imm(neonBytes), base, "R6")
		s.loadPart(second, "R6", to+2, to+3, spare)
	}
	add := func(i int, load func(base string, to int)) {
		load("R8", value)
		if !sizes {
			load("R9", other)
		}
		for h := range parts {
			if sizes {
				s.two("fabs", value+h, value+h)
			} else {
				s.three("fmul", value+h, value+h, other+h)
			}
			s.three("fadd", acc(i, h), acc(i, h), value+h)
		}
	}
	s.label("group")
	for i := range 4 * parts {
		s.zeros(i)
	}
	for i := range 4 {
		loop, tail, done, rows := s.fresh("loop"), s.fresh("tail"), s.fresh("done"), s.fresh("rows")
		if !sizes {
			indexed := s.fresh("indexed")
			s.op("CBNZ", "R13", indexed)
			s.op("MOVD", "R23", "R8")
			s.op("ADD", "R12", "R23")
			s.op("JMP", rows)
			s.label(indexed)
			s.op("MOVWU.P", "4(R13)", "R8")
			s.op("MUL", "R12", "R8")
			s.op("ADD", "R23", "R8")
			s.label(rows)
			s.op("MOVD", "R24", "R9")
			s.op("ADD", "R25", "R24")
		} else {
			s.op("MOVD", "R23", "R8")
			s.op("ADD", "R12", "R23")
		}
		s.op("CBZ", "R16", tail)
		s.op("MOVD", "R16", "R17")
		s.label(loop)
		add(i, next)
		s.op("SUB", "$1", "R17")
		s.op("CBNZ", "R17", loop)
		s.label(tail)
		s.op("CBZ", "R3", done)
		add(i, some)
		s.label(done)
	}
	for i := range 4 {
		s.three("fadd", acc(i, 0), acc(i, 0), acc(i, 2))
		s.three("fadd", acc(i, 1), acc(i, 1), acc(i, 3))
		s.three("fadd", acc(i, 0), acc(i, 0), acc(i, 1))
	}
	for i := range 2 {
		s.three("faddp", i, acc(2*i, 0), acc(2*i+1, 0))
	}
	s.store(0, 1, 0, "R14")
	s.op("ADD", "$32", "R14")
	s.op("SUB", "$1", "R15")
	s.op("CBNZ", "R15", "group")
	s.ret()
}
