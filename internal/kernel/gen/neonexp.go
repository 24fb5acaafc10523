package main

import "fmt"

// pairs writes every instruction for both registers of a vector: vector i is in registers
// 2i and 2i+1. Constants come from a table, at R8, by way of one register.
type pairs struct{ neon }

const constantNEON = 30

func (s pairs) three(name string, d, n, m int) {
	for h := range 2 {
		s.neon.three(name, 2*d+h, 2*n+h, 2*m+h)
	}
}

func (s pairs) two(name string, d, n int) {
	for h := range 2 {
		s.neon.two(name, 2*d+h, 2*n+h)
	}
}

func (s pairs) copy(d, n int) {
	for h := range 2 {
		s.neon.copy(2*d+h, 2*n+h)
	}
}

// put takes the bits of d where mask has ones from n.
func (s pairs) put(d, n, mask int) {
	for h := range 2 {
		s.neon.put(2*d+h, 2*n+h, 2*mask+h)
	}
}

// with is three with a constant as the last operand.
func (s pairs) with(name string, d, n, constant int) {
	s.number(constant, constantNEON)
	for h := range 2 {
		s.neon.three(name, 2*d+h, 2*n+h, constantNEON)
	}
}

// bits is an operation on bits with a constant.
func (s pairs) bits(name string, d, n, constant int) {
	s.number(constant, constantNEON)
	for h := range 2 {
		s.op(name, b(constantNEON), b(2*n+h), b(2*d+h))
	}
}

// set makes d the constant.
func (s pairs) set(d, constant int) {
	s.number(constant, 2*d)
	s.neon.copy(2*d+1, 2*d)
}

// number loads a constant into a register.
func (s pairs) number(constant, to int) { s.op("FMOVQ", mem(16*constant, "R8"), f(to)) }

// constantIndex is the place of a constant, in 16 bytes each.
func constantIndex(name string) int {
	for i, n := range constantNames {
		if n == name {
			return i
		}
	}
	panic("no constant " + name)
}

func coefficientIndex(k int) int { return len(constantNames) + k - firstCoefficient }

// neonConstants is the table.
func neonConstants(s *source) {
	values := constantValues()
	s.line("")
	for i, x := range values {
		for j := range 2 {
			s.line(fmt.Sprintf("DATA numbers<>+%d(SB)/8, $0x%016x", i*16+j*8, x))
		}
	}
	s.line(fmt.Sprintf("GLOBL numbers<>(SB), RODATA|NOPTR, $%d", len(values)*16))
}

// transcendental computes in float64 whatever the precision, four values at a time, with the
// operations of amd64 in their order: see there.
func (s neon) transcendental(name string) {
	w := pairs{neon{s.source, true}}
	s.op("MOVD", "$numbers<>(SB)", "R8")
	s.label(name + "_loop")
	if s.double {
		s.op("FLDPQ.P", mem(neonBytes, "R6"), pairOf(0, 1))
	} else {
		s.op("FMOVQ.P", "16(R6)", f(2))
		s.emit(convert("fcvtl", 0, 2))
		s.emit(convert("fcvtl2", 1, 2))
	}
	switch name {
	case "exp":
		w.with("fmax", 0, 0, constantIndex("low"))
		w.with("fmin", 0, 0, constantIndex("high"))
		w.expm1()
		w.scale()
		w.copy(0, 3)
	case "sigmoid":
		w.sigmoid()
	case "tanh":
		w.tanh()
	}
	if s.double {
		s.op("FSTPQ.P", pairOf(0, 1), mem(neonBytes, "R4"))
	} else {
		s.emit(convert("fcvtn", 2, 0))
		s.emit(convert("fcvtn2", 2, 1))
		s.op("FMOVQ.P", f(2), "16(R4)")
	}
	s.op("SUB", "$4", "R3")
	s.op("CBNZ", "R3", name+"_loop")
	s.ret()
}

// expm1 leaves n in vector 1 and exp(r) - 1 in vector 3, for vector 0 = n log 2 + r.
func (s pairs) expm1() {
	s.with("fmul", 1, 0, constantIndex("log2e"))
	s.two("frintn", 1, 1)
	s.copy(2, 0)
	s.with("fmls", 2, 1, constantIndex("ln2hi"))
	s.with("fmls", 2, 1, constantIndex("ln2lo"))
	sum, next := 3, 4
	s.set(sum, coefficientIndex(lastCoefficient))
	for k := lastCoefficient - 1; k >= firstCoefficient; k-- {
		s.set(next, coefficientIndex(k))
		s.three("fmla", next, sum, 2)
		sum, next = next, sum
	}
	// r + r^2 sum
	s.three("fmul", next, 2, 2)
	s.three("fmla", 2, sum, next)
	s.copy(3, 2)
}

// scale makes vector 3 (1 + vector 3) times 2 to vector 1, in two exact steps.
func (s pairs) scale() {
	s.with("fadd", 3, 3, constantIndex("one"))
	s.with("fmul", 4, 1, constantIndex("half"))
	s.two("frintm", 4, 4)
	s.three("fsub", 1, 1, 4)
	for _, i := range []int{4, 1} {
		s.power(i)
		s.three("fmul", 3, 3, i)
	}
}

// power makes vector i, integers between -1022 and 1023, powers of 2.
func (s pairs) power(i int) {
	s.with("fadd", i, i, constantIndex("bias"))
	for h := range 2 {
		r := fmt.Sprintf("V%d.D2", 2*i+h)
		s.op("VSHL", "$52", r, r)
	}
}

func (s pairs) sigmoid() {
	s.copy(5, 0)
	s.bits("VORR", 0, 0, constantIndex("sign"))
	s.with("fmax", 0, 0, constantIndex("low"))
	s.expm1()
	s.scale()
	s.set(1, constantIndex("one"))
	s.three("fadd", 4, 3, 1)
	s.three("fsub", 6, 4, 1)
	s.three("fsub", 6, 3, 6) // what 1 + e was rounded by
	for h := range 2 {
		s.neon.withZero("fcmlt", 4+h, 10+h)
	}
	s.put(1, 3, 2)
	s.quotient()
}

// quotient sets vector 0 to vector 1 over (vector 4 + vector 6), the latter tiny.
func (s pairs) quotient() {
	s.set(2, constantIndex("one"))
	s.three("fdiv", 2, 2, 4)
	s.three("fmul", 0, 1, 2)
	s.three("fmls", 1, 0, 4)
	s.three("fmls", 1, 0, 6)
	s.three("fmla", 0, 1, 2)
}

func (s pairs) tanh() {
	s.bits("VAND", 5, 0, constantIndex("sign"))
	s.bits("VAND", 0, 0, constantIndex("abs"))
	s.three("fadd", 0, 0, 0)
	s.with("fmin", 0, 0, constantIndex("tanhHigh"))
	s.expm1()
	s.power(1)
	s.with("fsub", 4, 1, constantIndex("one"))
	s.three("fmla", 4, 1, 3)
	s.copy(1, 4)
	s.with("fadd", 4, 1, constantIndex("two"))
	s.with("fsub", 6, 4, constantIndex("two"))
	s.three("fsub", 6, 1, 6) // what e + 2 was rounded by
	s.quotient()
	for h := range 2 {
		s.op("VORR", b(10+h), b(h), b(h))
	}
}
