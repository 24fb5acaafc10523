package main

import "fmt"

// Offsets of the fields of kernel.unitDot.
const (
	dotSrc    = 8 * iota // first unit
	dotSS                // bytes between units
	dotWith              // values of the rows
	dotN                 // vectors of rows, at least one
	dotSum               // a sum for each unit
	dotBlocks            // vectors of units, at least one
	dotSums              // of the rows by themselves, for each unit
	dotMask              // first unit of the mask, or nil
)

// rowsOfDot is kernel.rowsOfDot.
const rowsOfDot = 64

// dots writes both precisions.
func dots(s *source) {
	for _, double := range []bool{true, false} {
		v := vector{avx512, double}
		s.unitDot(v)
		s.oneInput(v)
	}
}

// unitDot adds rows of units, times a number each, to a sum for each unit, one row after the
// other. Squares of units by rows are turned in registers. Those of the same rows come one
// after the other, for their sums do not wait for each other.
func (s *source) unitDot(v vector) {
	s.function("unitDot"+v.typ(), "d", fmt.Sprintf("unitDot%s adds products with units to sums: see type unitDot.", v.typ()))
	s.dotLoops(v, func() {
		for u := range v.lanes() {
			s.load(v, s.unit("R11", u), u, false)
			if u%4 == 3 {
				s.op("LEAQ", "(R11)(DX*4)", "R11")
			}
		}
	}, func(rows []int, free int) {
		s.addRows(v, rows, free, 31, 0, "R9")
	})
}

// oneInput does so with 0 for what the mask switches off, and adds the rows, times other
// numbers, to other sums.
func (s *source) oneInput(v vector) {
	s.function("oneInput"+v.typ(), "d", fmt.Sprintf("oneInput%s adds units and products with them to sums: see type unitDot.", v.typ()))
	s.op("MOVQ", mem(dotMask, "DI"), "R12")
	s.dotLoops(v, func() {
		s.op("TESTQ", "R12", "R12")
		s.op("JEQ", "plain")
		s.op("MOVQ", "R12", "AX")
		s.op("ADDQ", "R11", "AX")
		s.op("SUBQ", mem(dotSrc, "DI"), "AX")
		s.zero(v, 31)
		for u := range v.lanes() {
			s.op(v.p("VCMP"), "$4", s.unit("AX", u), v.r(31), "K2")
			s.op(v.p("VMOVU")+".Z", s.unit("R11", u), "K2", v.r(u))
			if u%4 == 3 {
				s.op("LEAQ", "(R11)(DX*4)", "R11")
				s.op("LEAQ", "(AX)(DX*4)", "AX")
			}
		}
		s.op("JMP", "square")
		s.label("plain")
		for u := range v.lanes() {
			s.load(v, s.unit("R11", u), u, false)
			if u%4 == 3 {
				s.op("LEAQ", "(R11)(DX*4)", "R11")
			}
		}
		s.label("square")
	}, func(rows []int, free int) {
		s.op("MOVQ", mem(dotSums, "DI"), "AX")
		s.op("ADDQ", "R9", "AX")
		s.op("SUBQ", mem(dotSum, "DI"), "AX")
		s.addRows(v, rows, free, 31, 0, "R9")
		s.addRows(v, rows, free+6, 30, rowsOfDot*v.size(), "AX")
	})
}

// dotLoops goes through vectors of rows, and for each through all squares of units: load has
// the units that begin at R11 in the first registers, and add takes the registers of the
// rows, with others that are free, to the sums at R9.
func (s *source) dotLoops(v vector, load func(), add func(rows []int, free int)) {
	s.op("MOVQ", mem(dotSrc, "DI"), "SI")
	s.op("MOVQ", mem(dotSS, "DI"), "DX")
	s.op("MOVQ", mem(dotWith, "DI"), "R8")
	s.op("MOVQ", mem(dotN, "DI"), "CX")
	s.op("LEAQ", "(DX)(DX*2)", "R10")
	s.label("rows")
	s.op("MOVQ", "SI", "R11")
	s.op("MOVQ", mem(dotSum, "DI"), "R9")
	s.op("MOVQ", mem(dotBlocks, "DI"), "BX")
	s.label("units")
	load()
	rows := s.square(v)
	// The square leaves the registers of the other half to others.
	free := 16
	if rows[0] >= 16 {
		free = 0
	}
	add(rows, free)
	s.op("ADDQ", "$64", "R9")
	s.op("DECQ", "BX")
	s.op("JNE", "units")
	s.op("ADDQ", "$64", "SI")
	s.op("ADDQ", "$64", "R8")
	s.op("DECQ", "CX")
	s.op("JNE", "rows")
	s.finish()
}

// addRows adds the rows, times the numbers from the given place behind R8 on, to the vector
// at to, in register sum; six registers from free on hold the numbers in turn.
func (s *source) addRows(v vector, rows []int, free, sum, with int, to string) {
	s.load(v, mem(0, to), sum, false)
	for i, r := range rows {
		number := v.r(free + i%6)
		s.op(v.broadcast(), mem(with+i*v.size(), "R8"), number)
		s.op(v.p("VFMADD231"), number, v.r(r), v.r(sum))
	}
	s.store(v, sum, mem(0, to), false)
}
