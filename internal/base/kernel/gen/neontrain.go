package main

import "fmt"

// neonTrain writes what only training needs: nothing is fused, so all paths round alike.
func neonTrain(s *source) {
	for _, double := range []bool{true, false} {
		v := neon{s, double}
		v.adam()
		v.reluGrad()
		v.sumRows()
	}
}

// adam takes a step on whole vectors.
func (s neon) adam() {
	s.begin("adam"+s.typ(), "a", fmt.Sprintf("adam%s takes a step of Adam: see type adam.", s.typ()))
	pointers := []string{"R4", "R5", "R6", "R7"} // w, g, m, v
	for i, p := range pointers {
		s.field(adamW+8*i, p)
	}
	s.field(adamN, "R3")
	const beta1, c1, beta2, c2, keep, rate, eps, tiny = 24, 25, 26, 27, 28, 29, 30, 31
	for i := range 8 {
		s.repeatField(adamConstants+i*s.size(), beta1+i)
	}
	s.label("loop")
	const w, g, m, v, t, u = 0, 2, 4, 6, 8, 10
	for i, p := range pointers {
		s.load(0, p, 2*i, 2*i+1)
	}
	for h := range 2 {
		w, g, m, v, t, u := w+h, g+h, m+h, v+h, t+h, u+h
		// m = beta1 m + c1 g
		s.three("fmul", m, m, beta1)
		s.three("fmul", t, g, c1)
		s.three("fadd", m, m, t)
		// v = beta2 v + c2 g g
		s.three("fmul", v, v, beta2)
		s.three("fmul", t, g, c2)
		s.three("fmul", t, t, g)
		s.three("fadd", v, v, t)
		// 0 if less than tiny
		s.three("facgt", t, tiny, m)
		s.clearBits(m, m, t)
		s.three("fcmgt", t, tiny, v)
		s.clearBits(v, v, t)
		// w = keep w - rate m/(sqrt(v) + eps)
		s.two("fsqrt", t, v)
		s.three("fadd", t, t, eps)
		s.three("fmul", u, rate, m)
		s.three("fdiv", u, u, t)
		s.three("fmul", w, w, keep)
		s.three("fsub", w, w, u)
	}
	for i, p := range []string{"R4", "", "R6", "R7"} {
		if p != "" {
			s.store(2*i, 2*i+1, 0, p)
		}
	}
	for _, p := range pointers {
		s.op("ADD", imm(neonBytes), p)
	}
	s.op("SUB", imm(s.lanes()), "R3")
	s.op("CBNZ", "R3", "loop")
	s.ret()
}

// reluGrad keeps dy where y is not 0: dst, a and b of kernel.loop.
func (s neon) reluGrad() {
	s.begin("reluGrad"+s.typ(), "l", fmt.Sprintf("reluGrad%s sets dst = a where b is not 0, else 0: see type loop.", s.typ()))
	s.field(loopDst, "R4")
	s.field(loopA, "R5")
	s.field(loopB, "R6")
	s.field(loopN, "R3")
	s.label("loop")
	s.op("FLDPQ.P", mem(neonBytes, "R5"), pairOf(0, 1))
	s.op("FLDPQ.P", mem(neonBytes, "R6"), pairOf(2, 3))
	for h := range 2 {
		s.withZero("fcmeq", 2+h, 2+h)
		s.clearBits(h, h, 2+h)
	}
	s.op("FSTPQ.P", pairOf(0, 1), mem(neonBytes, "R4"))
	s.op("SUB", imm(s.lanes()), "R3")
	s.op("CBNZ", "R3", "loop")
	s.ret()
}

// sumRows goes down four vectors of columns at a time, then one: the sums stay in
// registers.
func (s neon) sumRows() {
	s.begin("sumRows"+s.typ(), "r", fmt.Sprintf("sumRows%s adds rows to their sum: see type sumRows.", s.typ()))
	s.field(sumSrc, "R5")
	s.field(sumSum, "R7")
	s.field(sumCols, "R3")
	s.field(sumLD, "R8")
	for _, vectors := range []int{4, 1} {
		name := fmt.Sprintf("by%d", vectors)
		s.label(name)
		s.op("CMP", imm(vectors*s.lanes()), "R3")
		s.op("BLT", name+"_after")
		s.field(sumRows, "R9")
		s.op("MOVD", "R5", "R10")
		for u := range vectors {
			s.load(u*neonBytes, "R7", 2*u, 2*u+1)
		}
		s.label(name + "_row")
		const row = 8
		for u := range vectors {
			s.load(u*neonBytes, "R10", row+2*u, row+2*u+1)
			for h := range 2 {
				s.three("fadd", 2*u+h, 2*u+h, row+2*u+h)
			}
		}
		s.op("ADD", "R8", "R10")
		s.op("SUB", "$1", "R9")
		s.op("CBNZ", "R9", name+"_row")
		for u := range vectors {
			s.store(2*u, 2*u+1, u*neonBytes, "R7")
		}
		for _, p := range []string{"R5", "R7"} {
			s.op("ADD", imm(vectors*neonBytes), p)
		}
		s.op("SUB", imm(vectors*s.lanes()), "R3")
		s.op("JMP", name)
		s.label(name + "_after")
	}
	s.ret()
}
