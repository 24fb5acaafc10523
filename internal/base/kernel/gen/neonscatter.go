package main

// neonScatters writes the loops that add rows of b to rows of c.
func neonScatters(src *source) {
	s := neon{src, true}
	s.scatterArguments("scatterNEON", "scatterNEON adds multiples of rows to rows of a table: see type scatter.")
	s.field(scatterLDB, "R10")
	s.field(scatterQ, "R12")
	s.label("row")
	s.op("MOVD", "R6", "R17")
	s.label("entry")
	s.op("MOVWU.P", "4(R4)", "R11")
	s.below("R11", "R5")
	s.op("MUL", "R8", "R11")
	s.op("ADD", "R2", "R11")
	s.op("MOVD", "R9", "R14")
	s.op("LSR", "$2", "R12", "R15")
	s.op("CBNZ", "R7", "scaled")
	s.scatterRow("plain", false)
	s.op("JMP", "next")
	s.label("scaled")
	s.op("FMOVD.P", "8(R7)", f(0))
	s.scatterRow("scaled", true)
	s.label("next")
	s.op("SUB", "$1", "R17")
	s.op("CBNZ", "R17", "entry")
	s.op("ADD", "R10", "R9")
	s.op("SUB", "$1", "R3")
	s.op("CBNZ", "R3", "row")
	s.rowsToAdd()

	s.scatterArguments("scatterBandNEON", "scatterBandNEON is scatter for rows of four values that have first columns.")
	s.field(scatterFirst, "R10")
	s.field(scatterStarts, "R12")
	s.label("row")
	s.op("MOVWU.P", "4(R10)", "R11")
	s.below("R11", "R12")
	s.op("ADD", "R11<<3", "R2", "R13")
	s.load(0, "R9", 1, 2)
	s.op("MOVD", "R6", "R17")
	s.label("entry")
	s.op("MOVWU.P", "4(R4)", "R11")
	s.below("R11", "R5")
	s.op("MUL", "R8", "R11")
	s.op("ADD", "R13", "R11")
	s.load(0, "R11", 3, 4)
	s.op("CBZ", "R7", "one")
	s.op("FMOVD.P", "8(R7)", f(0))
	s.addTo(3, 1, true)
	s.addTo(4, 2, true)
	s.op("JMP", "store")
	s.label("one")
	s.addTo(3, 1, false)
	s.addTo(4, 2, false)
	s.label("store")
	s.store(3, 4, 0, "R11")
	s.op("SUB", "$1", "R17")
	s.op("CBNZ", "R17", "entry")
	s.op("ADD", "$32", "R9")
	s.op("SUB", "$1", "R3")
	s.op("CBNZ", "R3", "row")
	s.rowsToAdd()
}

// scatterArguments loads the fields that both loops have.
func (s neon) scatterArguments(name, comment string) {
	s.begin(name, "s", comment)
	s.field(scatterC, "R2")
	s.field(scatterN, "R3")
	s.field(scatterIndex, "R4")
	s.field(scatterRows, "R5")
	s.field(scatterK, "R6")
	s.field(scatterFactor, "R7")
	s.field(scatterLDC, "R8")
	s.field(scatterB, "R9")
}

func (s neon) rowsToAdd() {
	s.label("done")
	s.op("MOVD", "R3", mem(scatterN, "R0"))
	s.ret()
}

// addTo adds x to d, times the factor in register 0 if scaled.
func (s neon) addTo(d, x int, scaled bool) {
	if scaled {
		s.byLane("fmla", d, x, 0, 0)
	} else {
		s.three("fadd", d, d, x)
	}
}

// scatterRow adds the row at R14 to the one at R11: R15 vectors, then the pieces of what is left
// of R12.
func (s neon) scatterRow(name string, scaled bool) {
	s.op("CBZ", "R15", name+"_two")
	s.label(name + "_vector")
	s.op("FLDPQ.P", "32(R14)", pairOf(1, 2))
	s.load(0, "R11", 3, 4)
	s.addTo(3, 1, scaled)
	s.addTo(4, 2, scaled)
	s.op("FSTPQ.P", pairOf(3, 4), "32(R11)")
	s.op("SUB", "$1", "R15")
	s.op("CBNZ", "R15", name+"_vector")
	s.label(name + "_two")
	s.op("TBZ", "$1", "R12", name+"_one")
	s.op("FMOVQ.P", "16(R14)", f(1))
	s.op("FMOVQ", "(R11)", f(3))
	s.addTo(3, 1, scaled)
	s.op("FMOVQ.P", f(3), "16(R11)")
	s.label(name + "_one")
	s.op("TBZ", "$0", "R12", name+"_end")
	s.op("FMOVD", "(R14)", f(1))
	s.op("FMOVD", "(R11)", f(3))
	s.addTo(3, 1, scaled)
	s.op("FMOVD", f(3), "(R11)")
	s.label(name + "_end")
}
