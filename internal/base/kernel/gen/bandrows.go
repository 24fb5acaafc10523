package main

import "fmt"

// bandsTimesRows multiplies rows of four adjacent values with rows of b, any number of columns, with the
// operations of the formula: nothing is fused. It stops before a row that begins outside.
func bandsTimesRows(s *source, set isa) {
	v := vector{set, true}
	s.function("bandRows"+v.name, "b", fmt.Sprintf("bandRows%s multiplies rows of four values with rows of a matrix: see MulBandRows.", v.name))
	s.op("MOVQ", mem(bandCols, "DI"), "CX")
	s.op("DECQ", "CX")
	s.op("MOVQ", "CX", "R13")
	s.op("ANDQ", imm(v.lanes()-1), "CX")
	s.op("INCQ", "CX") // values in the last vector
	s.tailMask(v)
	s.op("SHRQ", imm(map[int]int{4: 2, 8: 3}[v.lanes()]), "R13") // vectors before it
	s.op("MOVQ", mem(bandC, "DI"), "R11")
	s.op("MOVQ", mem(bandRow, "DI"), "SI")
	s.op("MOVQ", mem(bandA, "DI"), "R8")
	s.op("MOVQ", mem(bandB, "DI"), "R10")
	s.op("MOVQ", mem(bandLDB, "DI"), "R9")
	s.op("LEAQ", "(R9)(R9*2)", "R12")
	rows := []string{"(AX)", "(AX)(R9*1)", "(AX)(R9*2)", "(AX)(R12*1)"}
	products := func(masked bool) {
		for l, row := range rows {
			s.load(v, row, 4+l, masked)
			s.op("VMULPD", v.r(l), v.r(4+l), v.r(4+l))
		}
		s.op("VADDPD", v.r(5), v.r(4), v.r(4))
		s.op("VADDPD", v.r(7), v.r(6), v.r(6))
		s.op("VADDPD", v.r(6), v.r(4), v.r(4))
		s.store(v, 4, "(DX)", masked)
	}
	s.label("row")
	s.op("MOVL", "(SI)", "AX")
	s.op("CMPQ", "AX", mem(bandRows, "DI"))
	s.op("JAE", "done")
	s.op("IMULQ", "R9", "AX")
	s.op("ADDQ", "R10", "AX")
	for l := range rows {
		s.op("VBROADCASTSD", mem(8*l, "R8"), v.r(l))
	}
	s.op("MOVQ", "R11", "DX")
	s.op("MOVQ", "R13", "CX")
	s.op("TESTQ", "CX", "CX")
	s.op("JEQ", "last")
	s.label("vector")
	products(false)
	s.op("ADDQ", imm(v.bytes), "DX")
	s.op("ADDQ", imm(v.bytes), "AX")
	s.op("DECQ", "CX")
	s.op("JNE", "vector")
	s.label("last")
	products(true)
	s.op("ADDQ", "$4", "SI")
	s.op("ADDQ", "$32", "R8")
	s.op("ADDQ", mem(bandLDC, "DI"), "R11")
	s.op("DECQ", mem(bandN, "DI"))
	s.op("JNE", "row")
	s.label("done")
	s.finish()
	if v.bytes == 32 {
		s.masks()
	}
}
