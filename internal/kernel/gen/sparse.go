package main

import "fmt"

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
	sparseRows                // how many: an even number
	sparseLast                // not 0: sums end here
	sparseRelu                // not 0: then negative results become 0
	sparseNegative            // becomes not 0 where a sum ends at -0
)

// sparsePanels is how many panels of two vectors a sum of rows may take: registers for all of
// them, of which each waits for its own multiply-add before only.
var sparsePanels = []int{4, 3, 2}

// sparses writes, for each precision, the rows of B that A has a number for, and where those are.
func sparses(s *source, set isa) {
	for _, double := range []bool{true, false} {
		v := vector{set, double}
		for _, panels := range sparsePanels {
			s.sparse(v, panels)
		}
		s.nonzeros(v)
	}
}

// sparse is the code for so many panels: for two rows of A at once a loop over the bits of their
// masks, since sums of one are too few to keep the units busy.
func (s *source) sparse(v vector, panels int) {
	vectors := 2 * panels
	number, zero, least := 2*vectors, 2*vectors+2, 2*vectors+3
	panel := []string{"R8", "R9", "R10", "R11"}[:panels]
	from, mask, index := []string{"SI", "R15"}, []string{"CX", "R12"}, []string{"BX", "R13"}
	acc := func(row, i int) int { return row*vectors + i }
	s.function(fmt.Sprintf("sparse%d%s", panels, v.typ()), "p", fmt.Sprintf("sparse%d%s adds rows of %d panels: see type sparse.", panels, v.typ(), panels))
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
	for i := range 2 * vectors {
		s.zero(v, i)
	}
	s.op("MOVQ", mem(sparseX, "DI"), "BX")
	s.op("TESTQ", "BX", "BX")
	s.op("JEQ", "begin")
	for row := range 2 {
		for i := range vectors {
			s.load(v, mem(i*v.bytes, "BX"), acc(row, i), false)
		}
		s.op("ADDQ", mem(sparseXS, "DI"), "BX")
	}
	s.op("MOVQ", "BX", mem(sparseX, "DI"))
	s.label("begin")
	s.op("MOVQ", from[0], from[1])
	s.op("ADDQ", mem(sparseRS, "DI"), from[1])
	for row := range 2 {
		s.op("MOVQ", "(DX)", mask[row])
		s.op("ADDQ", mem(sparseMS, "DI"), "DX")
	}
	step := func(row int) { // the next number of a row, whose mask has one
		s.op("TZCNTQ", mask[row], index[row])
		s.op(v.broadcast(), fmt.Sprintf("(%s)(%s*%d)", from[row], index[row], v.size()), v.r(number+row))
		s.op("SHLQ", "$7", index[row])
		for i := range vectors {
			s.op(v.p("VFMADD231"), fmt.Sprintf("%d(%s)(%s*1)", i%2*v.bytes, panel[i/2], index[row]), v.r(number+row), v.r(acc(row, i)))
		}
	}
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

	s.label("end")
	s.op("CMPQ", mem(sparseLast, "DI"), "$0")
	s.op("JEQ", "store")
	for i := range 2 * vectors {
		s.op(v.integer("VPMINS"), v.r(i), v.r(least), v.r(least))
	}
	s.op("CMPQ", mem(sparseRelu, "DI"), "$0")
	s.op("JEQ", "store")
	for i := range 2 * vectors {
		s.op(v.p("VMAX"), v.r(i), v.r(zero), v.r(i)) // as in a tile
	}
	s.label("store")
	for row := range 2 {
		for i := range vectors {
			s.store(v, acc(row, i), mem(i*v.bytes, "AX"), false)
		}
		s.op("ADDQ", mem(sparseCS, "DI"), "AX")
	}
	s.op("MOVQ", from[1], from[0])
	s.op("ADDQ", mem(sparseRS, "DI"), from[0])
	s.op("SUBQ", "$2", mem(sparseRows, "DI"))
	s.op("JNE", "rows")
	s.op("VPTERNLOGD", "$0xFF", v.r(zero), v.r(zero), v.r(zero))
	s.op(v.integer("VPSLL"), imm(8*v.size()-1), v.r(zero), v.r(zero)) // -0
	s.op(v.integer("VPCMPEQ"), v.r(zero), v.r(least), "K1")
	s.op("KMOVW", "K1", "AX")
	s.op("ORQ", "AX", mem(sparseNegative, "DI"))
	// It has come to the end of its memory, or behind it, which the garbage collector must not see.
	s.op("MOVQ", "$0", mem(sparseX, "DI"))
	s.finish()
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

// nonzeros tells which numbers are not 0, a vector at a time.
func (s *source) nonzeros(v vector) {
	s.function("nonzeros"+v.typ(), "n", fmt.Sprintf("nonzeros%s sets a bit for each number that is not 0: see type nonzeros.", v.typ()))
	put, bits := "KMOVB", v.lanes()
	if !v.double {
		put = "KMOVW"
	}
	s.op("MOVQ", mem(nonzerosA, "DI"), "R8")
	s.op("MOVQ", mem(nonzerosMask, "DI"), "R9")
	s.op("MOVQ", mem(nonzerosRows, "DI"), "R10")
	s.op("MOVQ", mem(nonzerosK, "DI"), "R11")
	s.op("MOVQ", "R11", "CX")
	s.op("ANDQ", imm(v.lanes()-1), "CX")
	s.tailMask(v)
	s.op("MOVQ", "R11", "R12")
	s.op("ANDQ", imm(-v.lanes()), "R12")
	s.op("XORQ", "R11", "R12") // what is behind the last whole vector
	s.op("SUBQ", "R12", "R11")
	s.zero(v, 0)
	const unequal = "$4" // or not a number
	s.label("row")
	s.op("MOVQ", "R8", "SI")
	s.op("MOVQ", "R9", "DX")
	s.op("MOVQ", "R11", "BX")
	s.op("TESTQ", "BX", "BX")
	s.op("JEQ", "tail")
	s.label("loop")
	s.op(v.p("VCMP"), unequal, mem(0, "SI"), v.r(0), "K2")
	s.op(put, "K2", "(DX)")
	s.op("ADDQ", imm(v.bytes), "SI")
	s.op("ADDQ", imm(bits/8), "DX")
	s.op("SUBQ", imm(v.lanes()), "BX")
	s.op("JNE", "loop")
	s.label("tail")
	s.op("TESTQ", "R12", "R12")
	s.op("JEQ", "next")
	s.load(v, mem(0, "SI"), 1, true)
	s.op(v.p("VCMP"), unequal, v.r(1), v.r(0), "K2")
	s.op(put, "K2", "(DX)")
	s.label("next")
	s.op("ADDQ", mem(nonzerosRS, "DI"), "R8")
	s.op("ADDQ", mem(nonzerosMS, "DI"), "R9")
	s.op("DECQ", "R10")
	s.op("JNE", "row")
	s.finish()
}
