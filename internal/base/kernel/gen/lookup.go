package main

// Offsets of the fields of kernel.lookup.
const (
	lookupDst   = 8 * iota
	lookupDS    // bytes between rows of dst
	lookupTable // rows one after another
	lookupBytes // of a row: 4 to 128, whole float32s
	lookupSize  // rows of the table
	lookupIndex // int64
	lookupIS    // bytes between them
	lookupN     // of them, at least one; then those left from the first on that the table does not have
)

// lookUps writes the copying of rows of a table, one or two vectors each, the last one cut by a mask.
func lookUps(s *source) {
	s.function("lookUpAVX512", "l", "lookUpAVX512 copies rows of a table: see type lookup.")
	for _, field := range []struct {
		offset int
		to     string
	}{{lookupDst, "SI"}, {lookupDS, "DX"}, {lookupTable, "R8"}, {lookupBytes, "R9"}, {lookupSize, "R10"}, {lookupIndex, "R11"}, {lookupIS, "R12"}, {lookupN, "R13"}} {
		s.op("MOVQ", mem(field.offset, "DI"), field.to)
	}
	s.op("MOVQ", "R9", "CX")
	s.op("SHRQ", "$2", "CX")
	s.op("CMPQ", "CX", imm(f32.lanes()))
	s.op("JGT", "two")
	s.tailMask(f32)
	s.lookUp("one", 1)
	s.label("two")
	s.op("SUBQ", imm(f32.lanes()), "CX")
	s.tailMask(f32)
	s.lookUp("twos", 2)
	s.label("end")
	s.op("MOVQ", "R13", mem(lookupN, "DI"))
	s.finish()
}

func (s *source) lookUp(loop string, vectors int) {
	s.label(loop)
	s.op("MOVQ", "(R11)", "AX")
	s.op("MOVQ", "AX", "BX") // negative ones count from the end
	s.op("SARQ", "$63", "BX")
	s.op("ANDQ", "R10", "BX")
	s.op("ADDQ", "BX", "AX")
	s.op("CMPQ", "AX", "R10")
	s.op("JCC", "end")
	s.op("IMULQ", "R9", "AX")
	s.op("ADDQ", "R8", "AX")
	for i := range vectors {
		s.load(f32, mem(i*f32.bytes, "AX"), i, i == vectors-1)
	}
	for i := range vectors {
		s.store(f32, i, mem(i*f32.bytes, "SI"), i == vectors-1)
	}
	s.op("ADDQ", "R12", "R11")
	s.op("ADDQ", "DX", "SI")
	s.op("DECQ", "R13")
	s.op("JNE", loop)
	s.op("JMP", "end")
}
