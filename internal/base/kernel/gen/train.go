package main

import "fmt"

// Offsets of the fields of kernel.adam: four pointers, the length, and then the
// constants in the precision of the values.
const (
	adamW = 8 * iota
	adamG
	adamM
	adamV
	adamN
	adamConstants
)

// Offsets of the fields of kernel.sumRows.
const (
	sumSrc  = 8 * iota // first row
	sumSum             // one row
	sumRows            // at least one
	sumCols            // whole vectors of them, at least one
	sumLD              // bytes between rows
)

// train writes what only training needs, in AVX2: these loops wait for memory, but Adam's,
// which waits for roots and quotients. Nothing is fused, so all paths round alike.
func train(s *source) {
	for _, double := range []bool{true, false} {
		v := vector{avx2, double}
		s.adam(v)
		s.reluGrad(v)
		s.sumRows(v)
	}
	s.transpose8()
}

// adams writes what longer vectors make faster.
func adams(s *source) {
	s.adam(vector{avx512, true})
	s.adam(vector{avx512, false})
}

// transpose8 is transpose in float32: squares of 8 x 8.
func (s *source) transpose8() {
	v := vector{avx2, false}
	s.function("transposeF32AVX2", "q", "transposeF32AVX2 transposes squares of 8 x 8 float32: see type squares.")
	s.op("MOVQ", mem(squaresSrc, "DI"), "SI")
	s.op("MOVQ", mem(squaresSS, "DI"), "DX")
	s.op("MOVQ", mem(squaresDst, "DI"), "R8")
	s.op("MOVQ", mem(squaresDS, "DI"), "R9")
	s.op("MOVQ", mem(squaresN, "DI"), "CX")
	s.op("LEAQ", "(DX)(DX*2)", "R10")
	s.op("LEAQ", "(R9)(R9*2)", "R11")
	// Rows 0 to 3 from one pointer, 4 to 7 from another.
	rows := func(a, b, stride, three string) []string {
		var at []string
		for _, p := range []string{a, b} {
			at = append(at, "("+p+")", "("+p+")("+stride+"*1)", "("+p+")("+stride+"*2)", "("+p+")("+three+"*1)")
		}
		return at
	}
	s.label("loop")
	s.op("LEAQ", "(SI)(DX*4)", "R12")
	for i, from := range rows("SI", "R12", "DX", "R10") {
		s.load(v, from, i, false)
	}
	// Pairs of rows, then pairs of pairs, within the halves of the vectors.
	for i := range 4 {
		s.op("VUNPCKLPS", v.r(2*i+1), v.r(2*i), v.r(8+2*i))
		s.op("VUNPCKHPS", v.r(2*i+1), v.r(2*i), v.r(9+2*i))
	}
	for _, half := range []int{0, 4} {
		for i := range 2 {
			s.op("VUNPCKLPD", v.r(8+half+2+i), v.r(8+half+i), v.r(half+2*i))
			s.op("VUNPCKHPD", v.r(8+half+2+i), v.r(8+half+i), v.r(half+2*i+1))
		}
	}
	s.op("LEAQ", "(R8)(R9*4)", "R13")
	for i, to := range rows("R8", "R13", "R9", "R11") {
		halves := "$0x20"
		if i >= 4 {
			halves = "$0x31"
		}
		s.op("VPERM2F128", halves, v.r(4+i%4), v.r(i%4), v.r(8+i%4))
		s.store(v, 8+i%4, to, false)
	}
	s.op("ADDQ", "$32", "SI")
	s.op("LEAQ", "(R8)(R9*8)", "R8")
	s.op("DECQ", "CX")
	s.op("JNE", "loop")
	s.finish()
}

// adam takes a step on whole vectors.
func (s *source) adam(v vector) {
	s.function("adam"+v.typ(), "a", fmt.Sprintf("adam%s takes a step of Adam: see type adam.", v.typ()))
	pointers := []string{"R10", "SI", "R8", "R9"} // w, g, m, v
	for i, p := range pointers {
		s.op("MOVQ", mem(adamW+8*i, "DI"), p)
	}
	s.op("MOVQ", mem(adamN, "DI"), "CX")
	const beta1, c1, beta2, c2, keep, rate, eps, tiny, magnitude = 8, 9, 10, 11, 12, 13, 14, 15, 7
	for i := range 8 {
		s.op(v.broadcast(), mem(adamConstants+i*v.size(), "DI"), v.r(beta1+i))
	}
	if v.bytes == 64 {
		s.op("VPTERNLOGD", "$0xff", v.r(magnitude), v.r(magnitude), v.r(magnitude))
	} else {
		s.op("VPCMPEQD", v.r(magnitude), v.r(magnitude), v.r(magnitude))
	}
	shift := "VPSRLD"
	if v.double {
		shift = "VPSRLQ"
	}
	s.op(shift, "$1", v.r(magnitude), v.r(magnitude)) // all bits but the sign
	s.label("loop")
	s.load(v, mem(0, "SI"), 0, false)
	// m = beta1 m + c1 g
	s.op(v.p("VMUL"), mem(0, "R8"), v.r(beta1), v.r(1))
	s.op(v.p("VMUL"), v.r(0), v.r(c1), v.r(2))
	s.op(v.p("VADD"), v.r(2), v.r(1), v.r(1))
	// v = beta2 v + c2 g g
	s.op(v.p("VMUL"), mem(0, "R9"), v.r(beta2), v.r(2))
	s.op(v.p("VMUL"), v.r(0), v.r(c2), v.r(3))
	s.op(v.p("VMUL"), v.r(0), v.r(3), v.r(3))
	s.op(v.p("VADD"), v.r(3), v.r(2), v.r(2))
	// 0 if less than tiny
	s.op(v.p("VAND"), v.r(magnitude), v.r(1), v.r(4))
	s.dropLess(v, 1, 4, tiny)
	s.dropLess(v, 2, 2, tiny)
	s.store(v, 1, mem(0, "R8"), false)
	s.store(v, 2, mem(0, "R9"), false)
	// w = keep w - rate m/(sqrt(v) + eps)
	s.op(v.p("VSQRT"), v.r(2), v.r(2))
	s.op(v.p("VADD"), v.r(eps), v.r(2), v.r(2))
	s.op(v.p("VMUL"), v.r(1), v.r(rate), v.r(1))
	s.op(v.p("VDIV"), v.r(2), v.r(1), v.r(1))
	s.op(v.p("VMUL"), mem(0, "R10"), v.r(keep), v.r(3))
	s.op(v.p("VSUB"), v.r(1), v.r(3), v.r(3))
	s.store(v, 3, mem(0, "R10"), false)
	for _, p := range pointers {
		s.op("ADDQ", imm(v.bytes), p)
	}
	s.op("SUBQ", imm(v.lanes()), "CX")
	s.op("JNE", "loop")
	s.finish()
}

// dropLess makes register x 0 where register of is less than the least; NaN stays. Register
// 4 may be of.
func (s *source) dropLess(v vector, x, of, least int) {
	if v.bytes == 64 {
		s.op(v.p("VCMP"), "$5", v.r(least), v.r(of), "K2") // not less
		s.op(v.p("VMOVA")+".Z", v.r(x), "K2", v.r(x))
		return
	}
	s.op(v.p("VCMP"), "$1", v.r(least), v.r(of), v.r(4))
	s.op(v.p("VANDN"), v.r(x), v.r(4), v.r(x))
}

// reluGrad keeps dy where y is not 0: dst, a and b of kernel.loop.
func (s *source) reluGrad(v vector) {
	s.function("reluGrad"+v.typ(), "l", fmt.Sprintf("reluGrad%s sets dst = a where b is not 0, else 0: see type loop.", v.typ()))
	s.op("MOVQ", mem(loopDst, "DI"), "R8")
	s.op("MOVQ", mem(loopA, "DI"), "SI")
	s.op("MOVQ", mem(loopB, "DI"), "DX")
	s.op("MOVQ", mem(loopN, "DI"), "CX")
	s.zero(v, 0)
	s.label("loop")
	s.op(v.p("VCMP"), "$4", mem(0, "DX"), v.r(0), v.r(1))
	s.op(v.p("VAND"), mem(0, "SI"), v.r(1), v.r(1))
	s.store(v, 1, mem(0, "R8"), false)
	for _, p := range []string{"R8", "SI", "DX"} {
		s.op("ADDQ", imm(v.bytes), p)
	}
	s.op("SUBQ", imm(v.lanes()), "CX")
	s.op("JNE", "loop")
	s.finish()
}

// sumRows goes down four vectors of columns at a time, then one: the sums stay in
// registers.
func (s *source) sumRows(v vector) {
	s.function("sumRows"+v.typ(), "r", fmt.Sprintf("sumRows%s adds rows to their sum: see type sumRows.", v.typ()))
	s.op("MOVQ", mem(sumSrc, "DI"), "SI")
	s.op("MOVQ", mem(sumSum, "DI"), "R9")
	s.op("MOVQ", mem(sumCols, "DI"), "CX")
	s.op("MOVQ", mem(sumLD, "DI"), "R10")
	for _, vectors := range []int{4, 1} {
		name := fmt.Sprintf("by%d", vectors)
		s.label(name)
		s.op("CMPQ", "CX", imm(vectors*v.lanes()))
		s.op("JLT", name+"_after")
		s.op("MOVQ", mem(sumRows, "DI"), "BX")
		s.op("MOVQ", "SI", "R11")
		for u := range vectors {
			s.load(v, mem(u*v.bytes, "R9"), u, false)
		}
		s.label(name + "_row")
		for u := range vectors {
			s.op(v.p("VADD"), mem(u*v.bytes, "R11"), v.r(u), v.r(u))
		}
		s.op("ADDQ", "R10", "R11")
		s.op("DECQ", "BX")
		s.op("JNE", name+"_row")
		for u := range vectors {
			s.store(v, u, mem(u*v.bytes, "R9"), false)
		}
		for _, p := range []string{"SI", "R9"} {
			s.op("ADDQ", imm(vectors*v.bytes), p)
		}
		s.op("SUBQ", imm(vectors*v.lanes()), "CX")
		s.op("JMP", name)
		s.label(name + "_after")
	}
	s.finish()
}
