package main

import "fmt"

// bilinear adds a'Cb of four values of a, four of b and the sixteen of C where they begin,
// for n rows, a multiple of 4, four at a time, with the operations of the formula: nothing
// is fused. It stops before four rows of which one begins outside.
func bilinear(s *source) {
	v := avx2vector
	s.function("bilinearAVX2", "b", "bilinearAVX2 adds forms of four rows at a time: see AddBilinear.")
	s.bandArguments()
	s.op("MOVQ", mem(bandCol, "DI"), "R9")
	s.op("MOVQ", mem(bandB, "DI"), "R10")
	s.op("MOVQ", mem(bandCols, "DI"), "R13")
	s.op("MOVQ", mem(bandLDB, "DI"), "DI")
	s.op("LEAQ", "(DI)(DI*2)", "R14")
	s.label("loop")
	for i := range 4 {
		s.op("MOVL", mem(4*i, "SI"), "AX")
		s.op("MOVL", mem(4*i, "R9"), "BX")
		s.op("CMPQ", "AX", "R12")
		s.op("JAE", "done")
		s.op("CMPQ", "BX", "R13")
		s.op("JAE", "done")
		s.op("IMULQ", "DI", "AX")
		s.op("ADDQ", "R11", "AX")
		s.op("LEAQ", "(AX)(BX*8)", "AX")
		s.op("VMOVUPD", mem(32*i, "R8"), v.r(8))
		for l, row := range []string{"(AX)", "(AX)(DI*1)", "(AX)(DI*2)", "(AX)(R14*1)"} {
			s.op("VPERMPD", fmt.Sprintf("$%#x", 0x55*l), v.r(8), v.r(4+l)) // loads are what it waits for: one, not four
			s.op("VMULPD", row, v.r(4+l), v.r(4+l))
		}
		s.op("VADDPD", v.r(5), v.r(4), v.r(4))
		s.op("VADDPD", v.r(7), v.r(6), v.r(6))
		s.op("VADDPD", v.r(6), v.r(4), v.r(4))
		s.op("VMULPD", mem(32*i, "R10"), v.r(4), v.r(i))
	}
	s.op("VHADDPD", v.r(1), v.r(0), v.r(4)) // pairs of rows 0, 1, 0, 1
	s.op("VHADDPD", v.r(3), v.r(2), v.r(5))
	s.op("VPERM2F128", "$0x20", v.r(5), v.r(4), v.r(6))
	s.op("VPERM2F128", "$0x31", v.r(5), v.r(4), v.r(7))
	s.op("VADDPD", v.r(7), v.r(6), v.r(6))
	s.op("VADDPD", "(DX)", v.r(6), v.r(6))
	s.op("VMOVUPD", v.r(6), "(DX)")
	s.op("ADDQ", "$16", "SI")
	s.op("ADDQ", "$16", "R9")
	s.op("ADDQ", "$128", "R8")
	s.op("ADDQ", "$128", "R10")
	s.op("ADDQ", "$32", "DX")
	s.op("SUBQ", "$4", "CX")
	s.op("JNE", "loop")
	s.label("done")
	s.op("MOVQ", "b+0(FP)", "DI")
	s.op("MOVQ", "CX", mem(bandN, "DI"))
	s.finish()
}
