package main

import "fmt"

// Offsets of the fields of kernel.loop.
const (
	loopDst    = 8 * iota
	loopA      // operand
	loopB      // second operand
	loopN      // elements: whole vectors of them, at least one
	loopOp     // index into operations
	loopScalar // in the precision of the operands; a dot product is left here
)

// operations by their number, as the constants of package kernel count them.
var operations = []struct {
	name string
	body func(s *source, v vector, u, at int) // vector u of an unrolled loop, at bytes on
}{
	{"add", func(s *source, v vector, u, at int) { s.binary(v, "VADD", u, at, mem(at, "DX"), false) }},
	{"addScalar", func(s *source, v vector, u, at int) { s.binary(v, "VADD", u, at, v.r(scalarReg), false) }},
	{"sub", func(s *source, v vector, u, at int) { s.binary(v, "VSUB", u, at, mem(at, "DX"), false) }},
	{"subScalar", func(s *source, v vector, u, at int) { s.binary(v, "VSUB", u, at, v.r(scalarReg), false) }},
	{"scalarSub", func(s *source, v vector, u, at int) { s.binary(v, "VSUB", u, at, v.r(scalarReg), true) }},
	{"mul", func(s *source, v vector, u, at int) { s.binary(v, "VMUL", u, at, mem(at, "DX"), false) }},
	{"mulScalar", func(s *source, v vector, u, at int) { s.binary(v, "VMUL", u, at, v.r(scalarReg), false) }},
	{"div", func(s *source, v vector, u, at int) { s.binary(v, "VDIV", u, at, mem(at, "DX"), false) }},
	{"divScalar", func(s *source, v vector, u, at int) { s.binary(v, "VDIV", u, at, v.r(scalarReg), false) }},
	{"scalarDiv", func(s *source, v vector, u, at int) { s.binary(v, "VDIV", u, at, v.r(scalarReg), true) }},
	{"max", func(s *source, v vector, u, at int) { s.binary(v, "VMAX", u, at, mem(at, "DX"), false) }},
	{"relu", func(s *source, v vector, u, at int) {
		s.load(v, mem(at, "SI"), u, false)
		s.op(v.p("VMAX"), v.r(u), v.r(zeroReg), v.r(u)) // keeps NaN and -0: see tile
		s.store(v, u, mem(at, "R8"), false)
	}},
	{"leakyRelu", (*source).leakyRelu},
	{"atLeast", func(s *source, v vector, u, at int) { s.bounded(v, "VMAX", u, at) }},
	{"atMost", func(s *source, v vector, u, at int) { s.bounded(v, "VMIN", u, at) }},
	{"axpy", func(s *source, v vector, u, at int) {
		s.load(v, mem(at, "R8"), u, false)
		s.op(v.p("VFMADD231"), mem(at, "SI"), v.r(scalarReg), v.r(u))
		s.store(v, u, mem(at, "R8"), false)
	}},
	{"dot", nil},
}

// Registers that hold their value throughout a loop.
const (
	zeroReg   = 14
	scalarReg = 15
)

// loops writes both precisions of an instruction set.
func loops(s *source, set isa) {
	for _, double := range []bool{true, false} {
		v := vector{set, double}
		s.function("loop"+v.typ(), "l", fmt.Sprintf("loop%s runs one elementwise operation: see type loop.", v.typ()))
		s.op("MOVQ", mem(loopDst, "DI"), "R8")
		s.op("MOVQ", mem(loopA, "DI"), "SI")
		s.op("MOVQ", mem(loopB, "DI"), "DX")
		s.op("MOVQ", mem(loopN, "DI"), "CX")
		s.op("MOVQ", mem(loopOp, "DI"), "AX")
		s.op(v.broadcast(), mem(loopScalar, "DI"), v.r(scalarReg))
		s.zero(v, zeroReg)
		for i, o := range operations {
			s.op("CMPQ", "AX", imm(i))
			s.op("JEQ", o.name)
		}
		s.finish()
		for _, o := range operations {
			switch {
			case o.name == "dot":
				s.dot(v)
			default:
				s.label(o.name)
				s.unrolled(v, o.name, o.body)
				s.finish()
			}
		}
	}
}

// unrolled goes through the vectors four by four, then one by one.
func (s *source) unrolled(v vector, name string, body func(s *source, v vector, u, at int)) {
	s.unrolledBy(v, name, 1, body)
}

// unrolledBy goes through groups of vectors four by four, then one by one.
func (s *source) unrolledBy(v vector, name string, group int, body func(s *source, v vector, u, at int)) {
	for _, unroll := range []int{4 * group, group} {
		loop, next := fmt.Sprintf("%s_by%d", name, unroll), fmt.Sprintf("%s_after%d", name, unroll)
		s.label(loop)
		s.op("CMPQ", "CX", imm(unroll*v.lanes()))
		s.op("JLT", next)
		for u := range unroll {
			body(s, v, u, u*v.bytes)
		}
		for _, pointer := range []string{"SI", "DX", "R8"} {
			s.op("ADDQ", imm(unroll*v.bytes), pointer)
		}
		s.op("SUBQ", imm(unroll*v.lanes()), "CX")
		s.op("JMP", loop)
		s.label(next)
	}
}

// binary is a op second, or second op a if swapped (second is a register then).
func (s *source) binary(v vector, name string, u, at int, second string, swapped bool) {
	if swapped {
		s.op(v.p(name), mem(at, "SI"), second, v.r(u))
	} else {
		s.load(v, mem(at, "SI"), u, false)
		s.op(v.p(name), second, v.r(u), v.r(u))
	}
	s.store(v, u, mem(at, "R8"), false)
}

// bounded is the larger or the smaller of a and the scalar: of NaN, and of zeros, a, which is the second source.
func (s *source) bounded(v vector, name string, u, at int) {
	s.load(v, mem(at, "SI"), u, false)
	s.op(v.p(name), v.r(u), v.r(scalarReg), v.r(u))
	s.store(v, u, mem(at, "R8"), false)
}

func (s *source) leakyRelu(v vector, u, at int) {
	s.load(v, mem(at, "SI"), u, false)
	if v.bytes == 64 {
		s.op(v.p("VCMP"), "$1", v.r(zeroReg), v.r(u), "K1") // x < 0
		s.op(v.p("VMUL"), v.r(scalarReg), v.r(u), "K1", v.r(u))
	} else {
		s.op(v.p("VCMP"), "$1", v.r(zeroReg), v.r(u), v.r(u+4))
		s.op(v.p("VMUL"), v.r(scalarReg), v.r(u), v.r(u+8))
		s.op(v.p("VBLENDV"), v.r(u+4), v.r(u+8), v.r(u), v.r(u))
	}
	s.store(v, u, mem(at, "R8"), false)
}

// dotBytes is what a dot product reads at once of each operand: on both instruction
// sets, so that their sums have the same order.
const dotBytes = 64

// dot sums in four lines of 64 bytes of partial sums, then in one, and adds the lines
// and their halves up. A line is one vector or two.
func (s *source) dot(v vector) {
	parts := dotBytes / v.bytes // vectors in a line
	s.label("dot")
	for i := range 4 * parts {
		s.zero(v, i)
	}
	s.unrolledBy(v, "dot", parts, func(_ *source, _ vector, u, at int) {
		s.load(v, mem(at, "SI"), u+4*parts, false)
		s.op(v.p("VFMADD231"), mem(at, "DX"), v.r(u+4*parts), v.r(u))
	})
	for _, sum := range [][2]int{{0, 1}, {2, 3}, {0, 2}} {
		for i := range parts {
			to, from := sum[0]*parts+i, sum[1]*parts+i
			s.op(v.p("VADD"), v.r(from), v.r(to), v.r(to))
		}
	}
	if v.bytes == 64 {
		s.op("VEXTRACTF64X4", "$1", "Z0", "Y1")
	}
	s.op(v.p("VADD"), "Y1", "Y0", "Y0")
	s.op("VEXTRACTF128", "$1", "Y0", "X1")
	s.op(v.p("VADD"), "X1", "X0", "X0")
	if v.double {
		s.op("VHADDPD", "X0", "X0", "X0")
		s.op("VMOVSD", "X0", mem(loopScalar, "DI"))
	} else {
		s.op("VHADDPS", "X0", "X0", "X0")
		s.op("VHADDPS", "X0", "X0", "X0")
		s.op("VMOVSS", "X0", mem(loopScalar, "DI"))
	}
	s.finish()
}
