package main

import "fmt"

// bandMul multiplies rows of four adjacent values with coefficients, n of them, a
// multiple of 4, four at a time, with the operations of the formula: nothing is
// fused. It stops before four rows of which one begins outside.
func bandMul(s *source) {
	v := avx2vector
	s.function("bandMulAVX2", "b", "bandMulAVX2 multiplies four rows at a time with coefficients: see MulBand.")
	s.bandArguments()
	s.op("MOVQ", mem(bandB, "DI"), "R10")
	starts := []string{"AX", "BX", "R9", "R13"}
	s.label("loop")
	for i, r := range starts {
		s.op("MOVL", mem(4*i, "SI"), r)
	}
	for _, r := range starts {
		s.op("CMPQ", r, "R12")
		s.op("JAE", "done")
	}
	for i, r := range starts {
		s.op("VMOVUPD", mem(32*i, "R8"), v.r(i))
		s.op("VMULPD", fmt.Sprintf("(R10)(%s*8)", r), v.r(i), v.r(i))
	}
	s.op("VHADDPD", v.r(1), v.r(0), v.r(4)) // pairs of rows 0, 1, 0, 1
	s.op("VHADDPD", v.r(3), v.r(2), v.r(5))
	s.op("VPERM2F128", "$0x20", v.r(5), v.r(4), v.r(6))
	s.op("VPERM2F128", "$0x31", v.r(5), v.r(4), v.r(7))
	s.op("VADDPD", v.r(7), v.r(6), v.r(6))
	s.op("VMOVUPD", v.r(6), "(DX)")
	s.op("ADDQ", "$16", "SI")
	s.op("ADDQ", "$128", "R8")
	s.op("ADDQ", "$32", "DX")
	s.op("SUBQ", "$4", "CX")
	s.op("JNE", "loop")
	s.label("done")
	s.op("MOVQ", "CX", mem(bandN, "DI"))
	s.finish()
}
