package main

import (
	"fmt"
	"math/bits"
)

// Offsets of the fields of kernel.sparse.
const (
	sparseA        = 8 * iota // first value of the chunk in the first row
	sparseRS                  // bytes between rows of A
	sparseMask                // of the chunk in the first row
	sparseMS                  // bytes between masks of rows
	sparseB                   // rows of the chunk in the first panel
	sparseBS                  // bytes between panels
	sparseX                   // initial values, or nil for 0
	sparseXS                  // bytes between their rows; 0 repeats one
	sparseC                   // result
	sparseCS                  // bytes between its rows
	sparseRows                // how many: a multiple of those at once
	sparseLast                // not 0: sums end here
	sparseRelu                // not 0: then negative results become 0
	sparseNegative            // becomes not 0 where a sum ends at -0
)

// sparseShape is how rows are added up: as many sums at once as keep the units busy, each of which
// waits for its own multiply-add before only.
type sparseShape struct {
	panels int // of two vectors that a sum of rows takes: registers for all of them
	rows   int // of A at once
}

var sparseShapes = map[string][]sparseShape{
	avx512.name: {{4, 2}, {3, 2}, {2, 2}, {6, 1}, {5, 1}, {4, 1}, {3, 1}, {2, 1}},
	avx2.name:   {{3, 2}, {6, 1}, {5, 1}, {4, 1}, {3, 1}},
}

// sparses writes, for each precision, the rows of B that A has a number for, and where those are.
func sparses(s *source, set isa) {
	for _, double := range []bool{true, false} {
		v := vector{set, double}
		for _, shape := range sparseShapes[set.name] {
			s.sparse(v, shape.rows, shape.panels)
		}
		s.nonzeros(v)
	}
	if set.bytes == 32 {
		s.masks()
	}
}

// sparse is the code for so many rows of A at once and panels: a loop over the bits of their masks.
func (s *source) sparse(v vector, rows, panels int) {
	vectors := 2 * panels
	number, zero, least := rows*vectors, rows*vectors+rows, rows*vectors+rows+1
	from, mask, index, panel := []string{"SI"}, []string{"CX"}, []string{"BX"}, []string{"R8", "R9", "R10", "R11", "R12", "R13"}
	if rows == 2 {
		from, mask, index, panel = []string{"SI", "R15"}, []string{"CX", "R12"}, []string{"BX", "R13"}, panel[:4]
	}
	acc := func(row, i int) int { return row*vectors + i }
	name := fmt.Sprintf("sparse%dx%d%s", panels, rows, v.typ())
	s.function(name, "p", fmt.Sprintf("%s adds rows of %d panels for %d of A: see type sparse.", name, panels, rows))
	s.op("MOVQ", mem(sparseA, "DI"), from[0])
	s.op("MOVQ", mem(sparseMask, "DI"), "DX")
	s.op("MOVQ", mem(sparseC, "DI"), "AX")
	s.op("MOVQ", mem(sparseB, "DI"), panel[0])
	for i := 1; i < panels; i++ {
		s.op("MOVQ", panel[i-1], panel[i])
		s.op("ADDQ", mem(sparseBS, "DI"), panel[i])
	}
	s.zero(v, zero)
	s.zero(v, least) // of the sums' bits as integers: those of -0 are the least there is

	s.label("rows")
	for i := range rows * vectors {
		s.zero(v, i)
	}
	s.op("MOVQ", mem(sparseX, "DI"), "BX")
	s.op("TESTQ", "BX", "BX")
	s.op("JEQ", "begin")
	for row := range rows {
		for i := range vectors {
			s.load(v, mem(i*v.bytes, "BX"), acc(row, i), false)
		}
		s.op("ADDQ", mem(sparseXS, "DI"), "BX")
	}
	s.op("MOVQ", "BX", mem(sparseX, "DI"))
	s.label("begin")
	if rows == 2 {
		s.op("MOVQ", from[0], from[1])
		s.op("ADDQ", mem(sparseRS, "DI"), from[1])
	}
	for row := range rows {
		s.op("MOVQ", "(DX)", mask[row])
		s.op("ADDQ", mem(sparseMS, "DI"), "DX")
	}
	step := func(row int) { // the next number of a row, whose mask has one
		s.op("TZCNTQ", mask[row], index[row])
		s.op(v.broadcast(), fmt.Sprintf("(%s)(%s*%d)", from[row], index[row], v.size()), v.r(number+row))
		s.op("SHLQ", imm(bits.TrailingZeros(uint(2*v.bytes))), index[row])
		for i := range vectors {
			s.op(v.p("VFMADD231"), fmt.Sprintf("%d(%s)(%s*1)", i%2*v.bytes, panel[i/2], index[row]), v.r(number+row), v.r(acc(row, i)))
		}
	}
	if rows == 2 {
		s.twoMasks(mask, step)
	} else {
		s.op("TESTQ", mask[0], mask[0])
		s.op("JEQ", "end")
		s.op("PCALIGN", "$32")
		s.label("more")
		step(0)
		s.op("BLSRQ", mask[0], mask[0])
		s.op("JNE", "more")
	}

	s.label("end")
	s.op("CMPQ", mem(sparseLast, "DI"), "$0")
	s.op("JEQ", "store")
	for i := range rows * vectors {
		s.op(v.integers("VPMINS"), v.r(i), v.r(least), v.r(least))
	}
	s.op("CMPQ", mem(sparseRelu, "DI"), "$0")
	s.op("JEQ", "store")
	for i := range rows * vectors {
		s.op(v.p("VMAX"), v.r(i), v.r(zero), v.r(i)) // as in a tile
	}
	s.label("store")
	for row := range rows {
		for i := range vectors {
			s.store(v, acc(row, i), mem(i*v.bytes, "AX"), false)
		}
		s.op("ADDQ", mem(sparseCS, "DI"), "AX")
	}
	if rows == 2 {
		s.op("MOVQ", from[1], from[0])
	}
	s.op("ADDQ", mem(sparseRS, "DI"), from[0])
	s.op("SUBQ", imm(rows), mem(sparseRows, "DI"))
	s.op("JNE", "rows")
	s.anyNegativeZero(v, zero, least)
	s.op("ORQ", "AX", mem(sparseNegative, "DI"))
	// It has come to the end of its memory, or behind it, which the garbage collector must not see.
	s.op("MOVQ", "$0", mem(sparseX, "DI"))
	s.finish()
}

// twoMasks steps through the bits of two masks side by side, since sums of one row are too few to
// keep the units busy.
func (s *source) twoMasks(mask []string, step func(row int)) {
	s.op("TESTQ", mask[0], mask[0])
	s.op("JEQ", "second")
	s.op("TESTQ", mask[1], mask[1])
	s.op("JEQ", "first")
	s.op("PCALIGN", "$32")
	s.label("both")
	step(0)
	step(1)
	s.op("BLSRQ", mask[1], mask[1])
	s.op("BLSRQ", mask[0], mask[0])
	s.op("JEQ", "second")
	s.op("TESTQ", mask[1], mask[1])
	s.op("JNE", "both")
	s.label("first")
	step(0)
	s.op("BLSRQ", mask[0], mask[0])
	s.op("JNE", "first")
	s.op("JMP", "end")
	s.label("second")
	s.op("TESTQ", mask[1], mask[1])
	s.op("JEQ", "end")
	s.label("more")
	step(1)
	s.op("BLSRQ", mask[1], mask[1])
	s.op("JNE", "more")
}

// integers is an instruction on integers that the sums' bits are compared as: of their size, or of
// the upper halves of doubles where AVX2 has no other. Negative numbers above -2^-1042 pass for -0 there.
func (v vector) integers(name string) string {
	if v.bytes == 32 {
		return name + "D"
	}
	return v.integer(name)
}

// anyNegativeZero makes AX not 0 if an element of least is -0, by a free register.
func (s *source) anyNegativeZero(v vector, free, least int) {
	if v.bytes == 64 {
		s.op("VPTERNLOGD", "$0xFF", v.r(free), v.r(free), v.r(free))
		s.op(v.integer("VPSLL"), imm(8*v.size()-1), v.r(free), v.r(free)) // -0
		s.op(v.integer("VPCMPEQ"), v.r(free), v.r(least), "K1")
		s.op("KMOVW", "K1", "AX")
		return
	}
	s.op("VPCMPEQD", v.r(free), v.r(free), v.r(free))
	s.op("VPSLLD", "$31", v.r(free), v.r(free))
	s.op("VPCMPEQD", v.r(free), v.r(least), v.r(free))
	s.op(v.p("VMOVMSK"), v.r(free), "AX") // of doubles the upper halves
}

// Offsets of the fields of kernel.nonzeros.
const (
	nonzerosA    = 8 * iota // first row
	nonzerosRS              // bytes between rows
	nonzerosRows            // how many
	nonzerosK               // values in one
	nonzerosMask            // a bit for each value of a row
	nonzerosMS              // bytes between the bits of rows
)

// nonzeros tells which numbers are not 0: of AVX-512 a vector at a time, of AVX2 a byte's worth.
func (s *source) nonzeros(v vector) {
	s.function("nonzeros"+v.typ(), "n", fmt.Sprintf("nonzeros%s sets a bit for each number that is not 0: see type nonzeros.", v.typ()))
	step := max(8, v.lanes())
	s.op("MOVQ", mem(nonzerosA, "DI"), "R8")
	s.op("MOVQ", mem(nonzerosMask, "DI"), "R9")
	s.op("MOVQ", mem(nonzerosRows, "DI"), "R10")
	s.op("MOVQ", mem(nonzerosK, "DI"), "R11")
	s.op("MOVQ", "R11", "R12")
	s.op("ANDQ", imm(step-1), "R12") // what is behind the last whole step
	s.op("SUBQ", "R12", "R11")
	if step > v.lanes() { // the second vector of the last step
		s.op("XORQ", "AX", "AX")
		s.op("MOVQ", "R12", "CX")
		s.op("SUBQ", imm(v.lanes()), "CX")
		s.op("CMOVQLT", "AX", "CX")
		s.tailMask(v)
		s.op(v.p("VMOVU"), v.r(maskReg), v.r(maskReg-1))
		s.op("MOVQ", imm(v.lanes()), "CX")
		s.op("CMPQ", "R12", "CX")
		s.op("CMOVQLT", "R12", "CX")
	} else {
		s.op("MOVQ", "R12", "CX")
	}
	s.tailMask(v)
	s.zero(v, 0)
	s.label("row")
	s.op("MOVQ", "R8", "SI")
	s.op("MOVQ", "R9", "DX")
	s.op("MOVQ", "R11", "BX")
	s.op("TESTQ", "BX", "BX")
	s.op("JEQ", "tail")
	s.label("loop")
	s.nonzeroBits(v, false)
	s.op("ADDQ", imm(step*v.size()), "SI")
	s.op("ADDQ", imm(step/8), "DX")
	s.op("SUBQ", imm(step), "BX")
	s.op("JNE", "loop")
	s.label("tail")
	s.op("TESTQ", "R12", "R12")
	s.op("JEQ", "next")
	s.nonzeroBits(v, true)
	s.label("next")
	s.op("ADDQ", mem(nonzerosRS, "DI"), "R8")
	s.op("ADDQ", mem(nonzerosMS, "DI"), "R9")
	s.op("DECQ", "R10")
	s.op("JNE", "row")
	s.finish()
}

// nonzeroBits writes the bits of one step at SI to DX; the last one reads the lanes of the masks only.
func (s *source) nonzeroBits(v vector, last bool) {
	const unequal = "$4" // or not a number
	s.load(v, mem(0, "SI"), 1, last)
	if v.bytes == 64 {
		put := "KMOVB"
		if !v.double {
			put = "KMOVW"
		}
		s.op(v.p("VCMP"), unequal, v.r(1), v.r(0), "K2")
		s.op(put, "K2", "(DX)")
		return
	}
	s.op(v.p("VCMP"), unequal, v.r(1), v.r(0), v.r(1))
	s.op(v.p("VMOVMSK"), v.r(1), "AX")
	if v.double {
		if last {
			s.op(v.p("VMASKMOV"), mem(v.bytes, "SI"), v.r(maskReg-1), v.r(1))
		} else {
			s.load(v, mem(v.bytes, "SI"), 1, false)
		}
		s.op(v.p("VCMP"), unequal, v.r(1), v.r(0), v.r(1))
		s.op(v.p("VMOVMSK"), v.r(1), "CX")
		s.op("SHLL", imm(v.lanes()), "CX")
		s.op("ORL", "CX", "AX")
	}
	s.op("MOVB", "AX", "(DX)")
}
