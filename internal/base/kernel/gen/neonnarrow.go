package main

import "fmt"

// neonNarrow writes both precisions: products with one column, and of one column with one
// row.
func neonNarrow(s *source) {
	for _, double := range []bool{true, false} {
		s := neon{s, double}
		s.column()
		s.rankOne()
	}
}

// column sums 64 bytes of every row, four registers, in as many lanes: see the one of amd64.
func (s neon) column() {
	const chunk, parts = 64, 4
	s.begin("column"+s.typ(), "a", fmt.Sprintf("column%s multiplies rows by a column: see type column.", s.typ()))
	s.field(columnA, "R23")
	s.field(columnRS, "R12")
	s.field(columnW, "R13")
	s.field(columnC, "R14")
	s.field(columnGroups, "R15")
	acc := func(i, h int) int { return i*parts + h }
	const w, value, bias, floor, spare = 16, 20, 24, 25, 26
	s.repeatField(columnBias, bias)
	s.repeatField(columnBias+s.size(), floor)
	s.field(columnK, "R3")
	// Whole chunks, then what a vector takes of the rest, then the other vector.
	lanes := chunk / s.size()
	s.op("LSR", imm(map[int]int{8: 3, 16: 4}[lanes]), "R3", "R16")
	s.op("AND", imm(lanes-1), "R3")
	s.op("MOVD", imm(s.lanes()), "R5")
	s.op("CMP", "R5", "R3")
	s.op("CSEL", "LT", "R3", "R5", "R5")
	s.op("SUB", "R5", "R3", "R4")
	first := part{n: "R5", rest: "R19", last: "R20", full: true}
	second := part{n: "R4", rest: "R21", last: "R22"}
	s.split(first)
	s.split(second)
	rows := []string{"R8", "R9", "R10", "R11"}

	s.label("group")
	for i := range 4 * parts {
		s.zeros(i)
	}
	s.op("MOVD", "R23", "R8")
	for i := 1; i < 4; i++ {
		s.op("ADD", "R12", rows[i-1], rows[i])
	}
	s.op("ADD", "R12", "R11", "R23")
	s.op("MOVD", "R13", "R2")
	s.op("CBZ", "R16", "tail")
	s.op("MOVD", "R16", "R17")
	s.label("loop")
	next := func(base string, to int) {
		s.op("FLDPQ.P", mem(neonBytes, base), pairOf(to, to+1))
		s.op("FLDPQ.P", mem(neonBytes, base), pairOf(to+2, to+3))
	}
	next("R2", w)
	for i, row := range rows {
		next(row, value)
		for h := range parts {
			s.three("fmla", acc(i, h), value+h, w+h)
		}
	}
	s.op("SUB", "$1", "R17")
	s.op("CBNZ", "R17", "loop")
	s.label("tail")
	s.op("CBZ", "R3", "sum")
	some := func(base string, to int) {
		s.loadPart(first, base, to, to+1, spare)
		s.op("ADD", imm(neonBytes), base, "R6")
		s.loadPart(second, "R6", to+2, to+3, spare)
	}
	some("R2", w)
	for i, row := range rows {
		some(row, value)
		for h := range parts {
			s.three("fmla", acc(i, h), value+h, w+h)
		}
	}

	s.label("sum")
	for i := range 4 {
		s.three("fadd", acc(i, 0), acc(i, 0), acc(i, 2))
		s.three("fadd", acc(i, 1), acc(i, 1), acc(i, 3))
		s.three("fadd", acc(i, 0), acc(i, 0), acc(i, 1))
	}
	if s.double {
		for i := range 2 {
			s.three("faddp", i, acc(2*i, 0), acc(2*i+1, 0))
			s.three("fadd", i, i, bias)
			s.floor(i, floor, spare)
		}
		s.store(0, 1, 0, "R14")
	} else {
		for i := range 2 {
			p, q := acc(2*i, 0), acc(2*i+1, 0)
			s.lower(spare, p, q)
			s.upper(spare+1, p, q)
			s.three("fadd", i, spare, spare+1)
		}
		s.three("faddp", 0, 0, 1)
		s.three("fadd", 0, 0, bias)
		s.floor(0, floor, spare)
		s.op("FMOVQ", f(0), "(R14)")
	}
	s.op("ADD", imm(4*s.size()), "R14")
	s.op("SUB", "$1", "R15")
	s.op("CBNZ", "R15", "group")
	s.ret()
}

// rankOne keeps the row and the initial values in registers while the rows of the
// result are written.
func (s neon) rankOne() {
	s.begin("rankOne"+s.typ(), "r", fmt.Sprintf("rankOne%s multiplies a column by a row: see type rankOne.", s.typ()))
	s.field(rankOneCols, "R3")
	s.field(rankOneA, "R8")
	s.field(rankOneAS, "R9")
	s.field(rankOneW, "R4")
	s.field(rankOneX, "R10")
	s.field(rankOneC, "R12")
	s.field(rankOneCS, "R11")
	s.field(rankOneRows, "R13")
	const x, sum, a, floor, spare = 8, 16, 24, 25, 26
	s.repeatField(rankOneFloor, floor)
	p := tilePart
	p.full = true
	s.op("CMP", imm(s.lanes()), "R3")
	s.op("BGT", "rankOne4")
	s.split(p)
	for _, vectors := range []int{1, 4} {
		name := fmt.Sprintf("rankOne%d", vectors)
		s.label(name)
		for j := range vectors {
			s.load(j*neonBytes, "R4", 2*j, 2*j+1)
			s.zeros(x + 2*j)
			s.zeros(x + 2*j + 1)
		}
		s.op("CBZ", "R10", name+"_loop")
		if vectors == 1 {
			s.loadPart(p, "R10", x, x+1, spare)
		} else {
			for j := range vectors {
				s.load(j*neonBytes, "R10", x+2*j, x+2*j+1)
			}
		}
		s.label(name + "_loop")
		s.op(s.move(), "(R8)", f(a))
		for i := range 2 * vectors {
			s.copy(sum+i, x+i)
			s.byLane("fmla", sum+i, i, a, 0)
			s.floor(sum+i, floor, spare+i%4)
		}
		if vectors == 1 {
			s.storePart(p, sum, sum+1, "R12", spare)
		} else {
			for j := range vectors {
				s.store(sum+2*j, sum+2*j+1, j*neonBytes, "R12")
			}
		}
		s.op("ADD", "R9", "R8")
		s.op("ADD", "R11", "R12")
		s.op("SUB", "$1", "R13")
		s.op("CBNZ", "R13", name+"_loop")
		s.ret()
	}
}
