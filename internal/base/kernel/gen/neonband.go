package main

// neonBands writes the loops over rows that have four adjacent entries: a vector.
func neonBands(s *source) {
	v := neon{s, true}
	v.bandOuter()
	v.bandScale()
	v.bandFold()
	v.bandNorm()
	v.bounds()
	v.bandMul()
}

// bandArguments loads the fields that the loops share: R2 cells, R3 rows left, R4 and R5 their
// cells and how many there are, R6 values, R7 weights, R9 the other operand.
func (s neon) bandArguments(name, comment string) {
	s.begin(name, "b", comment)
	s.field(bandC, "R2")
	s.field(bandN, "R3")
	s.field(bandRow, "R4")
	s.field(bandRows, "R5")
	s.field(bandA, "R6")
	s.field(bandW, "R7")
	s.field(bandB, "R9")
}

// below leaves the loop if the number in a register is not below a limit.
func (s neon) below(number, limit string) {
	s.op("CMP", limit, number)
	s.op("BHS", "done")
}

func (s neon) rowsLeft() {
	s.label("done")
	s.op("MOVD", "R3", mem(bandN, "R0"))
	s.ret()
}

func (s neon) bandOuter() {
	s.bandArguments("bandOuterNEON", "bandOuterNEON adds products of four values by four to cells: see type band.")
	s.field(bandCol, "R8")
	s.field(bandCols, "R10")
	const b, a, weight, cell = 0, 2, 4, 8
	s.label("loop")
	s.op("MOVWU", "(R4)", "R11")
	s.op("MOVWU", "(R8)", "R12")
	s.below("R11", "R5")
	s.below("R12", "R10")
	s.op("MUL", "R10", "R11")
	s.op("ADD", "R12", "R11")
	s.op("ADD", "R11<<7", "R2", "R11")
	s.load(0, "R9", b, b+1)
	s.op("CBZ", "R7", "add")
	s.op("FMOVD.P", "8(R7)", f(weight))
	s.byLane("fmul", b, b, weight, 0)
	s.byLane("fmul", b+1, b+1, weight, 0)
	s.label("add")
	s.load(0, "R6", a, a+1)
	for l := range 4 {
		s.load(32*l, "R11", cell+2*l, cell+2*l+1)
	}
	for l := range 4 {
		for h := range 2 {
			s.byLane("fmla", cell+2*l+h, b+h, a+l/2, l%2)
		}
		s.store(cell+2*l, cell+2*l+1, 32*l, "R11")
	}
	s.op("ADD", "$4", "R4")
	s.op("ADD", "$4", "R8")
	s.op("ADD", "$32", "R6")
	s.op("ADD", "$32", "R9")
	s.op("SUB", "$1", "R3")
	s.op("CBNZ", "R3", "loop")
	s.rowsLeft()
}

func (s neon) bandScale() {
	s.bandArguments("bandScaleNEON", "bandScaleNEON adds four values times each column of b to cells: see type band.")
	s.field(bandCols, "R10")
	s.field(bandLDB, "R12")
	s.op("LSL", "$5", "R10", "R13") // bytes of a row of cells
	s.label("row")
	s.op("MOVWU", "(R4)", "R11")
	s.below("R11", "R5")
	s.op("MUL", "R13", "R11")
	s.op("ADD", "R2", "R11")
	s.load(0, "R6", 0, 1)
	s.op("CBZ", "R7", "columns")
	s.op("FMOVD.P", "8(R7)", f(2))
	s.byLane("fmul", 0, 0, 2, 0)
	s.byLane("fmul", 1, 1, 2, 0)
	s.label("columns")
	s.op("MOVD", "R9", "R14")
	s.op("MOVD", "R10", "R15")
	s.label("column")
	s.op("FMOVD.P", "8(R14)", f(2))
	s.load(0, "R11", 4, 5)
	s.byLane("fmla", 4, 0, 2, 0)
	s.byLane("fmla", 5, 1, 2, 0)
	s.op("FSTPQ.P", pairOf(4, 5), "32(R11)")
	s.op("SUB", "$1", "R15")
	s.op("CBNZ", "R15", "column")
	s.op("ADD", "$4", "R4")
	s.op("ADD", "$32", "R6")
	s.op("ADD", "R12", "R9")
	s.op("SUB", "$1", "R3")
	s.op("CBNZ", "R3", "row")
	s.rowsLeft()
}

// bandFold adds to each of n vectors of four, 16 values apart, the terms that lie
// ldb bytes on, 2 ldb bytes on and so forth: rows of them.
func (s neon) bandFold() {
	s.bandArguments("bandFoldNEON", "bandFoldNEON adds up rows of cells: see FoldOuter.")
	s.field(bandLDB, "R12")
	s.label("cell")
	s.load(0, "R2", 0, 1)
	s.op("MOVD", "R2", "R10")
	s.op("MOVD", "R5", "R11")
	s.label("term")
	s.op("ADD", "R12", "R10")
	s.load(0, "R10", 2, 3)
	s.three("fadd", 0, 0, 2)
	s.three("fadd", 1, 1, 3)
	s.op("SUB", "$1", "R11")
	s.op("CBNZ", "R11", "term")
	s.store(0, 1, 0, "R2")
	s.op("ADD", "$128", "R2")
	s.op("SUB", "$1", "R3")
	s.op("CBNZ", "R3", "cell")
	s.ret()
}

// rowSums adds up four rows of four values in registers 0 to 7: in 0 and 1, the first two
// of a row and the last two first.
func (s neon) rowSums() {
	for i := range 4 {
		s.three("faddp", i, 2*i, 2*i+1)
	}
	s.three("faddp", 0, 0, 1)
	s.three("faddp", 1, 2, 3)
}

// bandNorm finds the largest sum of four absolute values; it is left in the first
// four numbers at b, with NaN for what is not finite in the next four.
func (s neon) bandNorm() {
	s.bandArguments("bandNormNEON", "bandNormNEON finds the largest 1-norm of four rows at a time: see BandNorm.")
	const most, rest = 16, 18
	for h := range 2 {
		s.zeros(most + h)
		s.zeros(rest + h)
	}
	s.label("loop")
	for i := range 4 {
		s.load(32*i, "R6", 2*i, 2*i+1)
		s.two("fabs", 2*i, 2*i)
		s.two("fabs", 2*i+1, 2*i+1)
	}
	s.rowSums()
	for h := range 2 {
		s.three("fmax", most+h, most+h, h)
		s.three("fsub", h, h, h)
		s.three("fadd", rest+h, rest+h, h)
	}
	s.op("ADD", "$128", "R6")
	s.op("SUB", "$4", "R3")
	s.op("CBNZ", "R3", "loop")
	s.store(most, most+1, 0, "R9")
	s.store(rest, rest+1, 32, "R9")
	s.ret()
}

// bounds finds the least and the greatest of n numbers, a multiple of 16, and leaves
// four of each at b, followed by four that are NaN if one is not finite.
func (s neon) bounds() {
	s.bandArguments("boundsNEON", "boundsNEON finds the range of numbers: see Bounds.")
	const least, most, rest, value, mask = 0, 8, 16, 20, 30
	for i := range 4 {
		s.load(32*i, "R6", least+2*i, least+2*i+1)
		s.load(32*i, "R6", most+2*i, most+2*i+1)
	}
	for i := range 4 {
		s.zeros(rest + i)
	}
	// Of equal numbers the second counts, as in AVX2: 0 and -0 differ.
	lesser := func(d, x int) {
		s.three("fcmgt", mask, x, d)
		s.op("VBIF", b(mask), b(x), b(d))
	}
	greater := func(d, x int) {
		s.three("fcmgt", mask, d, x)
		s.op("VBIF", b(mask), b(x), b(d))
	}
	s.label("loop")
	for i := range 4 {
		s.load(32*i, "R6", value+2*i, value+2*i+1)
	}
	for i := range 8 {
		lesser(least+i, value+i)
		greater(most+i, value+i)
		s.three("fsub", value+i, value+i, value+i)
		s.three("fadd", rest+i%4, rest+i%4, value+i)
	}
	s.op("ADD", "$128", "R6")
	s.op("SUB", "$16", "R3")
	s.op("CBNZ", "R3", "loop")
	for h := range 2 {
		for _, pair := range [][2]int{{0, 2}, {4, 6}, {0, 4}} {
			lesser(least+pair[0]+h, least+pair[1]+h)
			greater(most+pair[0]+h, most+pair[1]+h)
		}
		s.three("fadd", rest+h, rest+h, rest+2+h)
	}
	for i, from := range []int{least, most, rest} {
		s.store(from, from+1, 32*i, "R9")
	}
	s.ret()
}

// bandMul multiplies four rows at a time and stops before four of which one begins
// outside: nothing is fused.
func (s neon) bandMul() {
	s.bandArguments("bandMulNEON", "bandMulNEON multiplies four rows at a time with coefficients: see MulBand.")
	starts := []string{"R11", "R12", "R13", "R14"}
	s.label("loop")
	for i, r := range starts {
		s.op("MOVWU", mem(4*i, "R4"), r)
	}
	for _, r := range starts {
		s.below(r, "R5")
	}
	for i, r := range starts {
		s.op("ADD", r+"<<3", "R9", r)
		s.load(32*i, "R6", 2*i, 2*i+1)
		s.load(0, r, 8, 9)
		s.three("fmul", 2*i, 2*i, 8)
		s.three("fmul", 2*i+1, 2*i+1, 9)
	}
	s.rowSums()
	s.store(0, 1, 0, "R2")
	s.op("ADD", "$16", "R4")
	s.op("ADD", "$128", "R6")
	s.op("ADD", "$32", "R2")
	s.op("SUB", "$4", "R3")
	s.op("CBNZ", "R3", "loop")
	s.rowsLeft()
}
