package main

import "fmt"

// Offsets of the fields of kernel.band.
const (
	bandC    = 8 * iota // cells
	bandN               // rows; what is left of them at a row in no cell
	bandRow             // cell rows, 4 bytes each
	bandRows            // how many there are
	bandA               // four values of each row
	bandCol             // cell columns, 4 bytes each (outer)
	bandCols            // how many there are (outer); columns of b (scale)
	bandB               // four values of each row (outer), any number (scale)
	bandLDB             // bytes between rows of b (scale), between terms (fold)
	bandW               // weights, or nil for ones
)

// bands writes the loops over rows that have four adjacent entries.
func bands(s *source, set isa) {
	v := vector{set, true}
	s.function("bandOuter"+v.name, "b", fmt.Sprintf("bandOuter%s adds products of four values by four to cells: see type band.", v.name))
	s.bandArguments()
	s.op("MOVQ", mem(bandCol, "DI"), "R9")
	s.op("MOVQ", mem(bandB, "DI"), "R10")
	s.op("MOVQ", mem(bandCols, "DI"), "R13")
	if v.bytes == 64 {
		s.op("VMOVDQU64", "pairs<>+0(SB)", v.r(14))
		s.op("VMOVDQU64", "pairs<>+64(SB)", v.r(15))
	}
	s.op("TESTQ", "R11", "R11")
	s.op("JNE", "weighted")
	for _, weighted := range []bool{false, true} {
		loop := "loop"
		if weighted {
			loop = "weighted"
		}
		s.label(loop)
		s.op("MOVL", "(SI)", "AX")
		s.op("MOVL", "(R9)", "BX")
		s.op("CMPQ", "AX", "R12")
		s.op("JAE", "done")
		s.op("CMPQ", "BX", "R13")
		s.op("JAE", "done")
		s.op("IMULQ", "R13", "AX")
		s.op("ADDQ", "BX", "AX")
		s.op("SHLQ", "$7", "AX")
		s.op("ADDQ", "DX", "AX")
		if v.bytes == 64 {
			s.op("VBROADCASTF64X4", "(R10)", v.r(0))
		} else {
			s.op("VMOVUPD", "(R10)", v.r(0))
		}
		if weighted {
			s.op("VBROADCASTSD", "(R11)", v.r(5))
			s.op("VMULPD", v.r(5), v.r(0), v.r(0))
			s.op("ADDQ", "$8", "R11")
		}
		if v.bytes == 64 {
			s.op("VMOVUPD", "(R8)", "Y1")
			for l := range 2 {
				s.op("VPERMPD", v.r(1), v.r(14+l), v.r(2+l))
				s.op("VFMADD213PD", mem(64*l, "AX"), v.r(0), v.r(2+l))
				s.op("VMOVUPD", v.r(2+l), mem(64*l, "AX"))
			}
		} else {
			for l := range 4 {
				s.op("VBROADCASTSD", mem(8*l, "R8"), v.r(1+l))
			}
			for l := range 4 {
				s.op("VFMADD213PD", mem(32*l, "AX"), v.r(0), v.r(1+l))
				s.op("VMOVUPD", v.r(1+l), mem(32*l, "AX"))
			}
		}
		s.op("ADDQ", "$4", "SI")
		s.op("ADDQ", "$4", "R9")
		s.op("ADDQ", "$32", "R8")
		s.op("ADDQ", "$32", "R10")
		s.op("DECQ", "CX")
		s.op("JNE", loop)
		if !weighted {
			s.op("JMP", "done")
		}
	}
	s.label("done")
	s.op("MOVQ", "CX", mem(bandN, "DI"))
	s.finish()

	if v.bytes == 64 {
		s.line("")
		for i := range 16 {
			s.line(fmt.Sprintf("DATA pairs<>+%d(SB)/8, $%d", 8*i, i/4))
		}
		s.line("GLOBL pairs<>(SB), RODATA|NOPTR, $128")
		return
	}
	s.bandScale(v)
	s.bandFold(v)
}

func (s *source) bandArguments() {
	s.op("MOVQ", mem(bandC, "DI"), "DX")
	s.op("MOVQ", mem(bandN, "DI"), "CX")
	s.op("MOVQ", mem(bandRow, "DI"), "SI")
	s.op("MOVQ", mem(bandRows, "DI"), "R12")
	s.op("MOVQ", mem(bandA, "DI"), "R8")
	s.op("MOVQ", mem(bandW, "DI"), "R11")
}

// bandScale adds the four values times each value of a row of b.
func (s *source) bandScale(v vector) {
	s.function("bandScale"+v.name, "b", fmt.Sprintf("bandScale%s adds four values times each column of b to cells: see type band.", v.name))
	s.bandArguments()
	s.op("MOVQ", mem(bandB, "DI"), "R10")
	s.op("MOVQ", mem(bandLDB, "DI"), "R9")
	s.op("MOVQ", mem(bandCols, "DI"), "R13")
	s.op("MOVQ", "R13", "DI") // bytes of a row of cells
	s.op("SHLQ", "$5", "DI")
	s.label("row")
	s.op("MOVL", "(SI)", "AX")
	s.op("CMPQ", "AX", "R12")
	s.op("JAE", "done")
	s.op("IMULQ", "DI", "AX")
	s.op("ADDQ", "DX", "AX")
	s.op("VMOVUPD", "(R8)", v.r(0))
	s.op("TESTQ", "R11", "R11")
	s.op("JEQ", "columns")
	s.op("VBROADCASTSD", "(R11)", v.r(1))
	s.op("VMULPD", v.r(1), v.r(0), v.r(0))
	s.op("ADDQ", "$8", "R11")
	s.label("columns")
	s.op("XORQ", "BX", "BX")
	s.label("column")
	s.op("VBROADCASTSD", "(R10)(BX*8)", v.r(1))
	s.op("VFMADD213PD", "(AX)", v.r(0), v.r(1))
	s.op("VMOVUPD", v.r(1), "(AX)")
	s.op("ADDQ", "$32", "AX")
	s.op("INCQ", "BX")
	s.op("CMPQ", "BX", "R13")
	s.op("JLT", "column")
	s.op("ADDQ", "$4", "SI")
	s.op("ADDQ", "$32", "R8")
	s.op("ADDQ", "R9", "R10")
	s.op("DECQ", "CX")
	s.op("JNE", "row")
	s.label("done")
	s.op("MOVQ", "b+0(FP)", "DI")
	s.op("MOVQ", "CX", mem(bandN, "DI"))
	s.finish()
}

// bandFold adds to each of n vectors of four, 16 values apart, the terms that lie
// ldb bytes on, 2 ldb bytes on and so forth: rows of them.
func (s *source) bandFold(v vector) {
	s.function("bandFold"+v.name, "b", fmt.Sprintf("bandFold%s adds up rows of cells: see FoldOuter.", v.name))
	s.op("MOVQ", mem(bandC, "DI"), "AX")
	s.op("MOVQ", mem(bandN, "DI"), "CX")
	s.op("MOVQ", mem(bandRows, "DI"), "R12")
	s.op("MOVQ", mem(bandLDB, "DI"), "R9")
	s.label("cell")
	s.op("VMOVUPD", "(AX)", v.r(0))
	s.op("MOVQ", "AX", "BX")
	s.op("MOVQ", "R12", "DX")
	s.label("term")
	s.op("ADDQ", "R9", "BX")
	s.op("VADDPD", "(BX)", v.r(0), v.r(0))
	s.op("DECQ", "DX")
	s.op("JNE", "term")
	s.op("VMOVUPD", v.r(0), "(AX)")
	s.op("ADDQ", "$128", "AX")
	s.op("DECQ", "CX")
	s.op("JNE", "cell")
	s.finish()
}
