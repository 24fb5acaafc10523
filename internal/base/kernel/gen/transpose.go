package main

// Offsets of the fields of kernel.squares.
const (
	squaresSrc = 8 * iota // first of four rows
	squaresSS             // bytes between them
	squaresDst            // first row of the first transposed square
	squaresDS             // bytes between rows
	squaresN              // squares, side by side in src, one above the other in dst; at least one
)

// transpose writes the transposition of squares of 4 x 4 float64 (AVX).
func transpose(s *source) {
	s.function("transposeF64AVX2", "q", "transposeF64AVX2 transposes squares of 4 x 4: see type squares.")
	s.op("MOVQ", mem(squaresSrc, "DI"), "SI")
	s.op("MOVQ", mem(squaresSS, "DI"), "DX")
	s.op("MOVQ", mem(squaresDst, "DI"), "R8")
	s.op("MOVQ", mem(squaresDS, "DI"), "R9")
	s.op("MOVQ", mem(squaresN, "DI"), "CX")
	s.op("LEAQ", "(DX)(DX*2)", "R10")
	s.op("LEAQ", "(R9)(R9*2)", "R11")
	s.label("loop")
	for i, from := range []string{"(SI)", "(SI)(DX*1)", "(SI)(DX*2)", "(SI)(R10*1)"} {
		s.op("VMOVUPD", from, avx2vector.r(i))
	}
	for i := range 2 {
		s.op("VUNPCKLPD", avx2vector.r(2*i+1), avx2vector.r(2*i), avx2vector.r(4+2*i))
		s.op("VUNPCKHPD", avx2vector.r(2*i+1), avx2vector.r(2*i), avx2vector.r(5+2*i))
	}
	for i, to := range []string{"(R8)", "(R8)(R9*1)", "(R8)(R9*2)", "(R8)(R11*1)"} {
		halves := "$0x20"
		if i >= 2 {
			halves = "$0x31"
		}
		s.op("VPERM2F128", halves, avx2vector.r(6+i%2), avx2vector.r(4+i%2), avx2vector.r(8+i))
		s.op("VMOVUPD", avx2vector.r(8+i), to)
	}
	s.op("ADDQ", "$32", "SI")
	s.op("LEAQ", "(R8)(R9*4)", "R8")
	s.op("DECQ", "CX")
	s.op("JNE", "loop")
	s.finish()
}

var avx2vector = vector{avx2, true}
