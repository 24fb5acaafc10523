package main

import "fmt"

// neonTrain writes what only training needs: nothing is fused, so all paths round alike.
func neonTrain(s *source) {
	for _, double := range []bool{true, false} {
		v := neon{s, double}
		v.adam()
		v.reluGrad()
		v.gradRows()
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

// keepOn makes lanes of dy 0 where y is 0; it destroys y.
func (s neon) keepOn(dy, y int) {
	s.withZero("fcmeq", y, y)
	s.clearBits(dy, dy, y)
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
	s.keepOn(0, 2)
	s.keepOn(1, 3)
	s.op("FSTPQ.P", pairOf(0, 1), mem(neonBytes, "R4"))
	s.op("SUB", imm(s.lanes()), "R3")
	s.op("CBNZ", "R3", "loop")
	s.ret()
}

// gradRows goes down four vectors of columns at a time, then one: the sums stay in
// registers.
func (s neon) gradRows() {
	s.begin("gradRows"+s.typ(), "r", fmt.Sprintf("gradRows%s adds rows to their sum, masked or as they are: see type gradRows.", s.typ()))
	s.field(gradDX, "R4")
	s.field(gradDY, "R5")
	s.field(gradY, "R6")
	s.field(gradSum, "R7")
	s.field(gradCols, "R3")
	s.field(gradLD, "R8")
	for _, vectors := range []int{4, 1} {
		name := fmt.Sprintf("by%d", vectors)
		s.label(name)
		s.op("CMP", imm(vectors*s.lanes()), "R3")
		s.op("BLT", name+"_after")
		s.field(gradRows, "R9")
		s.op("MOVD", "R5", "R10")
		s.op("MOVD", "R4", "R11")
		s.op("MOVD", "R6", "R12")
		const dy, y = 8, 16
		for u := range vectors {
			s.load(u*neonBytes, "R7", 2*u, 2*u+1)
		}
		s.op("CBZ", "R6", name+"_plain")
		s.label(name + "_masked")
		for u := range vectors {
			s.load(u*neonBytes, "R10", dy+2*u, dy+2*u+1)
			s.load(u*neonBytes, "R12", y+2*u, y+2*u+1)
			for h := range 2 {
				s.keepOn(dy+2*u+h, y+2*u+h)
				s.three("fadd", 2*u+h, 2*u+h, dy+2*u+h)
			}
			s.store(dy+2*u, dy+2*u+1, u*neonBytes, "R11")
		}
		for _, p := range []string{"R10", "R11", "R12"} {
			s.op("ADD", "R8", p)
		}
		s.op("SUB", "$1", "R9")
		s.op("CBNZ", "R9", name+"_masked")
		s.op("ADD", imm(vectors*neonBytes), "R6") // but nil stays nil
		s.op("JMP", name+"_next")
		s.label(name + "_plain")
		for u := range vectors {
			s.load(u*neonBytes, "R10", dy+2*u, dy+2*u+1)
			for h := range 2 {
				s.three("fadd", 2*u+h, 2*u+h, dy+2*u+h)
			}
		}
		s.op("ADD", "R8", "R10")
		s.op("SUB", "$1", "R9")
		s.op("CBNZ", "R9", name+"_plain")
		s.label(name + "_next")
		for u := range vectors {
			s.store(2*u, 2*u+1, u*neonBytes, "R7")
		}
		for _, p := range []string{"R5", "R4", "R7"} {
			s.op("ADD", imm(vectors*neonBytes), p)
		}
		s.op("SUB", imm(vectors*s.lanes()), "R3")
		s.op("JMP", name)
		s.label(name + "_after")
	}
	s.ret()
}
