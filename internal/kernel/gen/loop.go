package main

import (
	"fmt"
	"math"
)

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
	{"relu", func(s *source, v vector, u, at int) {
		s.load(v, mem(at, "SI"), u, false)
		s.op(v.p("VMAX"), v.r(u), v.r(zeroReg), v.r(u)) // keeps NaN and -0: see tile
		s.store(v, u, mem(at, "R8"), false)
	}},
	{"leakyRelu", (*source).leakyRelu},
	{"axpy", func(s *source, v vector, u, at int) {
		s.load(v, mem(at, "R8"), u, false)
		s.op(v.p("VFMADD231"), mem(at, "SI"), v.r(scalarReg), v.r(u))
		s.store(v, u, mem(at, "R8"), false)
	}},
	{"dot", nil},
	{"exp", nil},
	{"sigmoid", nil},
	{"tanh", nil},
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
			case o.body == nil:
				s.transcendental(v, o.name)
			default:
				s.label(o.name)
				s.unrolled(v, o.name, o.body)
				s.finish()
			}
		}
	}
	s.constants()
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

// constant names the values of the table that exp and its kin read; each is
// repeated over a whole vector.
var constantNames = []string{"log2e", "ln2hi", "ln2lo", "low", "high", "half", "one", "two", "bias", "abs", "sign", "tanhHigh"}

const firstCoefficient, lastCoefficient = 2, 13

func constantValues() []uint64 {
	v := []uint64{}
	for _, x := range []float64{
		math.Log2E,
		6.93147180369123816490e-01, // 33 bits: times an exponent it is exact
		1.90821492927058770002e-10, // the rest of log 2
		-750, 710,                  // exp is 0 below and infinite above
		0.5, 1, 2,
		1<<52 + 1023, // plus a small integer: its last bits are that exponent's
	} {
		v = append(v, math.Float64bits(x))
	}
	v = append(v, 1<<63-1, 1<<63, math.Float64bits(44)) // tanh(22) is 1
	factorial := 1.0
	for k := firstCoefficient; k <= lastCoefficient; k++ {
		factorial *= float64(k)
		v = append(v, math.Float64bits(1/factorial))
	}
	return v
}

func (s *source) constants() {
	values := constantValues()
	s.line("")
	for i, x := range values {
		for j := range 8 {
			s.line(fmt.Sprintf("DATA numbers<>+%d(SB)/8, $0x%016x", i*64+j*8, x))
		}
	}
	s.line(fmt.Sprintf("GLOBL numbers<>(SB), RODATA|NOPTR, $%d", len(values)*64))
}

// number is a constant in memory.
func number(name string) string {
	for i, n := range constantNames {
		if n == name {
			return fmt.Sprintf("numbers<>+%d(SB)", i*64)
		}
	}
	panic("no constant " + name)
}

func coefficient(k int) string {
	return fmt.Sprintf("numbers<>+%d(SB)", (len(constantNames)+k-firstCoefficient)*64)
}

// transcendental computes in float64 whatever the precision; a float32 vector
// has half the width then.
func (s *source) transcendental(v vector, name string) {
	wide := vector{v.isa, true}
	half := map[int]string{64: "Y0", 32: "X0"}[v.bytes]
	s.label(name)
	s.label(name + "_loop")
	if v.double {
		s.op("VMOVUPD", "(SI)", wide.r(0))
	} else {
		s.op("VCVTPS2PD", "(SI)", wide.r(0))
	}
	switch name {
	case "exp":
		// The operand comes first in MIN and MAX: NaN stays.
		s.op("VMOVUPD", number("low"), wide.r(1))
		s.op("VMAXPD", wide.r(0), wide.r(1), wide.r(0))
		s.op("VMOVUPD", number("high"), wide.r(1))
		s.op("VMINPD", wide.r(0), wide.r(1), wide.r(0))
		s.expm1(wide)
		s.scale(wide)
		s.op("VMOVAPD", wide.r(3), wide.r(0))
	case "sigmoid":
		s.sigmoid(wide)
	case "tanh":
		s.tanh(wide)
	}
	if v.double {
		s.op("VMOVUPD", wide.r(0), "(R8)")
	} else if v.bytes == 64 {
		s.op("VCVTPD2PS", wide.r(0), half)
		s.op("VMOVUPS", half, "(R8)")
	} else {
		s.op("VCVTPD2PSY", wide.r(0), half)
		s.op("VMOVUPS", half, "(R8)")
	}
	for _, pointer := range []string{"SI", "R8"} {
		s.op("ADDQ", imm(wide.lanes()*v.size()), pointer)
	}
	s.op("SUBQ", imm(wide.lanes()), "CX")
	s.op("JGT", name+"_loop")
	s.finish()
}

// expm1 splits x in register 0 as n log 2 + r, |r| <= log(2)/2, and leaves n in
// register 1 and exp(r) - 1 in register 3, by Taylor's series: its first term
// left out is below 2^-57.
func (s *source) expm1(v vector) {
	s.op("VMULPD", number("log2e"), v.r(0), v.r(1))
	s.round(v, 1, 8) // to nearest
	s.op("VMOVAPD", v.r(0), v.r(2))
	s.op("VFNMADD231PD", number("ln2hi"), v.r(1), v.r(2))
	s.op("VFNMADD231PD", number("ln2lo"), v.r(1), v.r(2))
	s.op("VMOVUPD", coefficient(lastCoefficient), v.r(3))
	for k := lastCoefficient - 1; k >= firstCoefficient; k-- {
		s.op("VFMADD213PD", coefficient(k), v.r(2), v.r(3))
	}
	s.op("VMULPD", v.r(2), v.r(2), v.r(4))
	s.op("VFMADD213PD", v.r(2), v.r(4), v.r(3))
}

func (s *source) round(v vector, i, mode int) {
	name := "VROUNDPD"
	if v.bytes == 64 {
		name = "VRNDSCALEPD"
	}
	s.op(name, imm(mode), v.r(i), v.r(i))
}

// scale makes register 3 (1 + register 3) times 2 to register 1. Without an
// instruction for it in two exact steps, so that the result is rounded once even
// if it is subnormal.
func (s *source) scale(v vector) {
	s.op("VADDPD", number("one"), v.r(3), v.r(3))
	if v.bytes == 64 {
		s.op("VSCALEFPD", v.r(1), v.r(3), v.r(3))
		return
	}
	s.op("VMULPD", number("half"), v.r(1), v.r(4))
	s.round(v, 4, 9) // down
	s.op("VSUBPD", v.r(4), v.r(1), v.r(1))
	for _, i := range []int{4, 1} {
		s.power(v, i)
		s.op("VMULPD", v.r(i), v.r(3), v.r(3))
	}
}

// power makes register i, an integer between -1022 and 1023, a power of 2.
func (s *source) power(v vector, i int) {
	s.op("VADDPD", number("bias"), v.r(i), v.r(i))
	s.op("VPSLLQ", "$52", v.r(i), v.r(i))
}

// sigmoid is 1/(1+e) or e/(1+e), e = exp(-|x|), by the sign of x.
func (s *source) sigmoid(v vector) {
	s.op("VMOVAPD", v.r(0), v.r(5))
	s.op("VORPD", number("sign"), v.r(0), v.r(0))
	s.op("VMOVUPD", number("low"), v.r(1))
	s.op("VMAXPD", v.r(0), v.r(1), v.r(0))
	s.expm1(v)
	s.scale(v)
	s.op("VMOVUPD", number("one"), v.r(1))
	s.op("VADDPD", v.r(1), v.r(3), v.r(4))
	s.op("VSUBPD", v.r(1), v.r(4), v.r(6))
	s.op("VSUBPD", v.r(6), v.r(3), v.r(6)) // what 1 + e was rounded by
	s.zero(v, 2)
	if v.bytes == 64 {
		s.op("VCMPPD", "$1", v.r(2), v.r(5), "K1")
		s.op("VMOVAPD", v.r(3), "K1", v.r(1))
	} else {
		s.op("VCMPPD", "$1", v.r(2), v.r(5), v.r(2))
		s.op("VBLENDVPD", v.r(2), v.r(3), v.r(1), v.r(1))
	}
	s.quotient(v)
}

// quotient sets register 0 to register 1 over (register 4 + register 6), the
// latter tiny. The remainder corrects the first approximation.
func (s *source) quotient(v vector) {
	s.op("VMOVUPD", number("one"), v.r(2))
	s.op("VDIVPD", v.r(4), v.r(2), v.r(2))
	s.op("VMULPD", v.r(2), v.r(1), v.r(0))
	s.op("VFNMADD231PD", v.r(4), v.r(0), v.r(1))
	s.op("VFNMADD231PD", v.r(6), v.r(0), v.r(1))
	s.op("VFMADD231PD", v.r(2), v.r(1), v.r(0))
}

// tanh is e/(e+2), e = exp(2|x|) - 1, with the sign of x. e is summed without
// cancellation: small x are as accurate as large ones.
func (s *source) tanh(v vector) {
	s.op("VANDPD", number("sign"), v.r(0), v.r(5))
	s.op("VANDPD", number("abs"), v.r(0), v.r(0))
	s.op("VADDPD", v.r(0), v.r(0), v.r(0))
	s.op("VMOVUPD", number("tanhHigh"), v.r(1))
	s.op("VMINPD", v.r(0), v.r(1), v.r(0))
	s.expm1(v)
	s.power(v, 1)
	s.op("VSUBPD", number("one"), v.r(1), v.r(4))
	s.op("VFMADD213PD", v.r(4), v.r(3), v.r(1))
	s.op("VADDPD", number("two"), v.r(1), v.r(4))
	s.op("VSUBPD", number("two"), v.r(4), v.r(6))
	s.op("VSUBPD", v.r(6), v.r(1), v.r(6)) // what e + 2 was rounded by
	s.quotient(v)
	s.op("VORPD", v.r(5), v.r(0), v.r(0))
}
