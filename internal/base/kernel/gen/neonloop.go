package main

import "fmt"

// scalarNEON is the register that holds the scalar throughout a loop.
const scalarNEON = 31

// neonOperations are the bodies of operations, by name: vector u of an unrolled loop, at bytes
// on. Its registers are 2u and 2u+1.
var neonOperations = map[string]func(s neon, u, at int){
	"add":       func(s neon, u, at int) { s.binary("fadd", u, at) },
	"addScalar": func(s neon, u, at int) { s.withScalar("fadd", u, at, false) },
	"sub":       func(s neon, u, at int) { s.binary("fsub", u, at) },
	"subScalar": func(s neon, u, at int) { s.withScalar("fsub", u, at, false) },
	"scalarSub": func(s neon, u, at int) { s.withScalar("fsub", u, at, true) },
	"mul":       func(s neon, u, at int) { s.binary("fmul", u, at) },
	"mulScalar": func(s neon, u, at int) { s.withScalar("fmul", u, at, false) },
	"div":       func(s neon, u, at int) { s.binary("fdiv", u, at) },
	"divScalar": func(s neon, u, at int) { s.withScalar("fdiv", u, at, false) },
	"scalarDiv": func(s neon, u, at int) { s.withScalar("fdiv", u, at, true) },
	"max":       func(s neon, u, at int) { s.binary("fmax", u, at) },
	"relu":      func(s neon, u, at int) { s.unary(u, at, func(x, mask int) { s.positive(x, mask) }) },
	"leakyRelu": func(s neon, u, at int) {
		s.unary(u, at, func(x, t int) {
			s.withZero("fcmlt", t, x)
			s.three("fmul", t+8, x, scalarNEON)
			s.put(x, t+8, t)
		})
	},
	"atLeast": func(s neon, u, at int) {
		s.unary(u, at, func(x, mask int) {
			s.three("fcmgt", mask, scalarNEON, x)
			s.put(x, scalarNEON, mask)
		})
	},
	"atMost": func(s neon, u, at int) {
		s.unary(u, at, func(x, mask int) {
			s.three("fcmgt", mask, x, scalarNEON)
			s.put(x, scalarNEON, mask)
		})
	},
	"axpy": func(s neon, u, at int) {
		s.load(at, "R6", 8+2*u, 8+2*u+1)
		s.load(at, "R4", 2*u, 2*u+1)
		for h := range 2 {
			s.three("fmla", 2*u+h, 8+2*u+h, scalarNEON)
		}
		s.store(2*u, 2*u+1, at, "R4")
	},
}

// neonLoops writes both precisions.
func neonLoops(src *source) {
	for _, double := range []bool{true, false} {
		s := neon{src, double}
		s.begin("loop"+s.typ(), "l", fmt.Sprintf("loop%s runs one elementwise operation: see type loop.", s.typ()))
		s.field(loopDst, "R4")
		s.field(loopA, "R6")
		s.field(loopB, "R7")
		s.field(loopN, "R3")
		s.field(loopOp, "R5")
		s.repeatField(loopScalar, scalarNEON)
		for i, o := range operations {
			s.op("CMP", imm(i), "R5")
			s.op("BEQ", o.name)
		}
		s.ret()
		for _, o := range operations {
			s.label(o.name)
			if o.name == "dot" {
				s.dot()
				continue
			}
			s.unrolledBy(o.name, 1, known(neonOperations, o.name))
			s.ret()
		}
	}
}

// unrolledBy goes through groups of vectors four by four, then one by one.
func (s neon) unrolledBy(name string, group int, body func(s neon, u, at int)) {
	for _, unroll := range []int{4 * group, group} {
		loop, next := fmt.Sprintf("%s_by%d", name, unroll), fmt.Sprintf("%s_after%d", name, unroll)
		s.label(loop)
		s.op("CMP", imm(unroll*s.lanes()), "R3")
		s.op("BLT", next)
		for u := range unroll {
			body(s, u, u*neonBytes)
		}
		for _, pointer := range []string{"R4", "R6", "R7"} {
			s.op("ADD", imm(unroll*neonBytes), pointer)
		}
		s.op("SUB", imm(unroll*s.lanes()), "R3")
		s.op("JMP", loop)
		s.label(next)
	}
}

func (s neon) binary(name string, u, at int) {
	s.load(at, "R6", 2*u, 2*u+1)
	s.load(at, "R7", 8+2*u, 8+2*u+1)
	for h := range 2 {
		s.three(name, 2*u+h, 2*u+h, 8+2*u+h)
	}
	s.store(2*u, 2*u+1, at, "R4")
}

// withScalar is a op scalar, or scalar op a if swapped.
func (s neon) withScalar(name string, u, at int, swapped bool) {
	s.unary(u, at, func(x, _ int) {
		if swapped {
			s.three(name, x, scalarNEON, x)
		} else {
			s.three(name, x, x, scalarNEON)
		}
	})
}

// unary changes each register x of a vector; the register that follows it by 8, and the
// one by 16, are free.
func (s neon) unary(u, at int, change func(x, free int)) {
	s.load(at, "R6", 2*u, 2*u+1)
	for h := range 2 {
		change(2*u+h, 8+2*u+h)
	}
	s.store(2*u, 2*u+1, at, "R4")
}

// dot sums in four lines of dotBytes of partial sums, then in one, and adds the lines
// and their halves up. A line is four registers.
func (s neon) dot() {
	const parts = dotBytes / 16
	for i := range 4 * parts {
		s.zeros(i)
	}
	s.unrolledBy("dot", dotBytes/neonBytes, func(s neon, u, at int) {
		a := 16 + 4*(u%4)
		s.load(at, "R6", a, a+1)
		s.load(at, "R7", a+2, a+3)
		for h := range 2 {
			s.three("fmla", 2*u+h, a+h, a+2+h)
		}
	})
	for _, sum := range [][2]int{{0, 1}, {2, 3}, {0, 2}} {
		for i := range parts {
			to, from := sum[0]*parts+i, sum[1]*parts+i
			s.three("fadd", to, to, from)
		}
	}
	for _, sum := range [][2]int{{0, 2}, {1, 3}, {0, 1}} {
		s.three("fadd", sum[0], sum[0], sum[1])
	}
	s.three("faddp", 0, 0, 0)
	if !s.double {
		s.three("faddp", 0, 0, 0)
	}
	s.op(s.move(), f(0), mem(loopScalar, "R0"))
	s.ret()
}
