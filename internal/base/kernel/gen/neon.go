package main

import "fmt"

// neon writes assembly of arm64: ASIMD, which every such processor has.
//
// A vector of package kernel is here two registers side by side: 32 bytes, as in AVX2. So
// panels, tiles and tails have the same shapes, and every sum has the same order.
type neon struct {
	*source
	double bool
}

const (
	neonName  = "NEON"
	neonBytes = 32 // of a vector: two registers
)

// R0 holds the argument; R18 and R27 to R30 belong to the system and the assembler.

func (s neon) size() int {
	if s.double {
		return 8
	}
	return 4
}

// lanes are those of a vector, in both registers.
func (s neon) lanes() int { return neonBytes / s.size() }

// typ ends the name of a function.
func (s neon) typ() string {
	if s.double {
		return "F64NEON"
	}
	return "F32NEON"
}

// begin begins a function with one pointer argument, which it leaves in R0.
func (s neon) begin(name, argument, comment string) {
	s.line("")
	s.line("// " + comment)
	s.line(fmt.Sprintf("TEXT ·%s(SB), NOSPLIT, $0-8", name))
	s.op("MOVD", argument+"+0(FP)", "R0")
}

// field loads a field of the argument into a general register.
func (s neon) field(offset int, to string) { s.op("MOVD", mem(offset, "R0"), to) }

func (s neon) ret() { s.op("RET") }

// fresh is a label that no other place has.
func (s neon) fresh(name string) string {
	s.labels++
	return fmt.Sprintf("%s_%d", name, s.labels)
}

// b names all bytes of register i, f the register as a number.
func b(i int) string { return fmt.Sprintf("V%d.B16", i) }
func f(i int) string { return fmt.Sprintf("F%d", i) }

// pairOf is two registers as an operand.
func pairOf(i, j int) string { return fmt.Sprintf("(F%d, F%d)", i, j) }

// move is the instruction that moves one value between memory and a register; loading
// clears the rest of the register.
func (s neon) move() string {
	if s.double {
		return "FMOVD"
	}
	return "FMOVS"
}

// all is register i as floating-point lanes, in Go's notation.
func (s neon) all(i int) string {
	if s.double {
		return fmt.Sprintf("V%d.D2", i)
	}
	return fmt.Sprintf("V%d.S4", i)
}

func (s neon) three(name string, d, n, m int)        { s.emit(three(name, s.double, d, n, m)) }
func (s neon) two(name string, d, n int)             { s.emit(two(name, s.double, d, n)) }
func (s neon) withZero(name string, d, n int)        { s.emit(withZero(name, s.double, d, n)) }
func (s neon) byLane(name string, d, n, m, lane int) { s.emit(byLane(name, s.double, d, n, m, lane)) }
func (s neon) clearBits(d, n, m int)                 { s.emit(clearBits(d, n, m)) }
func (s neon) zeros(i int)                           { s.op("VEOR", b(i), b(i), b(i)) }
func (s neon) copy(d, n int)                         { s.op("VMOV", b(n), b(d)) }

// put takes the bits of d where mask has ones from n.
func (s neon) put(d, n, mask int) { s.op("VBIT", b(mask), b(n), b(d)) }

// lower and upper join the lower halves of n and m, or the upper ones.
func (s neon) lower(d, n, m int) { s.halves("VZIP1", d, n, m) }
func (s neon) upper(d, n, m int) { s.halves("VZIP2", d, n, m) }

func (s neon) halves(name string, d, n, m int) {
	s.op(name, fmt.Sprintf("V%d.D2", m), fmt.Sprintf("V%d.D2", n), fmt.Sprintf("V%d.D2", d))
}

// load and store move a vector, in registers i and j.
func (s neon) load(offset int, base string, i, j int) {
	s.op("FLDPQ", mem(offset, base), pairOf(i, j))
}

func (s neon) store(i, j, offset int, base string) {
	s.op("FSTPQ", pairOf(i, j), mem(offset, base))
}

// repeat loads one value into all lanes; base is a register without offset.
func (s neon) repeat(base string, i int) {
	s.op("VLD1R", mem(0, base), "["+s.all(i)+"]")
}

// repeatField repeats a field of the argument; it uses R1.
func (s neon) repeatField(offset, i int) {
	s.op("ADD", imm(offset), "R0", "R1")
	s.repeat("R1", i)
}

// floor sets lanes of x that are below least's to least's; NaN and -0 stay. It uses register mask.
func (s neon) floor(x, least, mask int) {
	s.three("fcmgt", mask, least, x)
	s.put(x, least, mask)
}

// positive makes negative lanes 0; NaN and -0 stay. It uses register mask.
func (s neon) positive(x, mask int) {
	s.withZero("fcmlt", mask, x)
	s.clearBits(x, x, mask)
}

// constant repeats a number of 64 bits. It uses R1.
func (s neon) constant(bits uint64, i int) {
	s.op("MOVD", fmt.Sprintf("$0x%016x", bits), "R1")
	s.op("VDUP", "R1", fmt.Sprintf("V%d.D2", i))
}
