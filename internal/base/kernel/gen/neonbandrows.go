package main

// neonBandRows multiplies rows of four values with rows of a matrix: see bandsTimesRows.
func neonBandRows(src *source) {
	s := neon{src, true}
	s.bandArguments("bandRowsNEON", "bandRowsNEON multiplies rows of four values with rows of a matrix: see MulBandRows.")
	s.field(bandCols, "R7")
	s.field(bandLDB, "R8")
	s.field(bandLDC, "R10")
	const a, b = 0, 2
	rows := []string{"R11", "R12", "R13", "R14"}
	// sum adds the products in vector i of each row up in that of the first.
	sum := func(i int) {
		for l := range rows {
			s.byLane("fmul", b+2*l+i, b+2*l+i, a+l/2, l%2)
		}
		s.three("fadd", b+i, b+i, b+2+i)
		s.three("fadd", b+4+i, b+4+i, b+6+i)
		s.three("fadd", b+i, b+i, b+4+i)
	}
	s.label("row")
	s.op("MOVWU", "(R4)", "R11")
	s.below("R11", "R5")
	s.op("MUL", "R8", "R11")
	s.op("ADD", "R9", "R11")
	for l := range 3 {
		s.op("ADD", "R8", rows[l], rows[l+1])
	}
	s.load(0, "R6", a, a+1)
	s.op("MOVD", "R2", "R16")
	s.op("LSR", "$2", "R7", "R15")
	s.op("CBZ", "R15", "two")
	s.label("vector")
	for l, r := range rows {
		s.op("FLDPQ.P", "32("+r+")", pairOf(b+2*l, b+2*l+1))
	}
	sum(0)
	sum(1)
	s.op("FSTPQ.P", pairOf(b, b+1), "32(R16)")
	s.op("SUB", "$1", "R15")
	s.op("CBNZ", "R15", "vector")
	s.label("two")
	s.op("TBZ", "$1", "R7", "one")
	for l, r := range rows {
		s.op("FMOVQ.P", "16("+r+")", f(b+2*l))
	}
	sum(0)
	s.op("FMOVQ.P", f(b), "16(R16)")
	s.label("one")
	s.op("TBZ", "$0", "R7", "next")
	for l, r := range rows {
		s.op("FMOVD", "("+r+")", f(b+2*l))
	}
	sum(0)
	s.op("FMOVD", f(b), "(R16)")
	s.label("next")
	s.op("ADD", "$4", "R4")
	s.op("ADD", "$32", "R6")
	s.op("ADD", "R10", "R2")
	s.op("SUB", "$1", "R3")
	s.op("CBNZ", "R3", "row")
	s.rowsLeft()
}
