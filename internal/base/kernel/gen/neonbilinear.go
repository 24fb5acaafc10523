package main

// neonBilinear adds forms of four rows at a time: see bilinear.
func neonBilinear(s *source) {
	v := neon{s, true}
	v.bandArguments("bilinearNEON", "bilinearNEON adds forms of four rows at a time: see AddBilinear.")
	v.field(bandCol, "R8")
	v.field(bandCols, "R10")
	v.field(bandLDB, "R12")
	const a, b, c, sums = 0, 2, 4, 16
	v.label("loop")
	for i := range 4 {
		v.op("MOVWU", mem(4*i, "R4"), "R11")
		v.op("MOVWU", mem(4*i, "R8"), "R13")
		v.below("R11", "R5")
		v.below("R13", "R10")
		v.op("MUL", "R12", "R11")
		v.op("ADD", "R7", "R11")
		v.op("ADD", "R13<<3", "R11", "R11")
		v.load(32*i, "R6", a, a+1)
		v.load(32*i, "R9", b, b+1)
		for l := range 4 {
			v.load(0, "R11", c+2*l, c+2*l+1)
			v.op("ADD", "R12", "R11")
			for h := range 2 {
				v.byLane("fmul", c+2*l+h, c+2*l+h, a+l/2, l%2)
			}
		}
		for h := range 2 {
			v.three("fadd", c+h, c+h, c+2+h)
			v.three("fadd", c+4+h, c+4+h, c+6+h)
			v.three("fadd", c+h, c+h, c+4+h)
			v.three("fmul", c+h, c+h, b+h)
		}
		v.three("faddp", sums+i, c, c+1)
	}
	v.three("faddp", sums, sums, sums+1)
	v.three("faddp", sums+1, sums+2, sums+3)
	v.load(0, "R2", a, a+1)
	for h := range 2 {
		v.three("fadd", a+h, sums+h, a+h)
	}
	v.op("FSTPQ.P", pairOf(a, a+1), "32(R2)")
	for _, p := range []string{"R4", "R8"} {
		v.op("ADD", "$16", p)
	}
	for _, p := range []string{"R6", "R9"} {
		v.op("ADD", "$128", p)
	}
	v.op("SUB", "$4", "R3")
	v.op("CBNZ", "R3", "loop")
	v.rowsLeft()
}
