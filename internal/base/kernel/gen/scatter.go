package main

import "fmt"

// Offsets of the fields of kernel.scatter.
const (
	scatterC     = 8 * iota // rows that are added to
	scatterLDC              // bytes between them
	scatterRows             // how many there are
	scatterN                // rows of b; what is left of them at one that cannot be added
	scatterIndex            // k row numbers for each row of b, 4 bytes each
	scatterK
	scatterFactor // a factor for each of them, or nil for ones
	scatterFirst  // for each row of b the column where it is added, 4 bytes (band)
	scatterStarts // how many such columns there are (band)
	scatterB      // rows of q values
	scatterLDB    // bytes between them
	scatterQ      // at least 1 (rows)
)

// scatters writes the loop that adds rows of b to rows of c.
func scatters(s *source, set isa) {
	v := vector{set, true}
	s.function("scatter"+v.name, "s", fmt.Sprintf("scatter%s adds multiples of rows to rows of a table: see type scatter.", v.name))
	s.op("MOVQ", mem(scatterQ, "DI"), "CX")
	s.op("DECQ", "CX")
	s.op("ANDQ", imm(v.lanes()-1), "CX")
	s.op("INCQ", "CX") // values in the last vector
	s.tailMask(v)
	s.op("MOVQ", mem(scatterQ, "DI"), "R13")
	s.op("DECQ", "R13")
	s.op("SHRQ", imm(map[int]int{4: 2, 8: 3}[v.lanes()]), "R13") // vectors before it
	s.op("MOVQ", mem(scatterIndex, "DI"), "SI")
	s.op("MOVQ", mem(scatterFactor, "DI"), "R8")
	s.op("MOVQ", mem(scatterC, "DI"), "R11")
	s.op("MOVQ", mem(scatterB, "DI"), "R10")
	s.label("row")
	s.op("MOVQ", mem(scatterK, "DI"), "R12")
	s.label("entry")
	s.op("MOVL", "(SI)", "AX")
	s.op("CMPQ", "AX", mem(scatterRows, "DI"))
	s.op("JAE", "done")
	s.op("IMULQ", mem(scatterLDC, "DI"), "AX")
	s.op("ADDQ", "R11", "AX")
	s.op("MOVQ", "R10", "DX")
	s.op("MOVQ", "R13", "CX")
	s.op("TESTQ", "R8", "R8")
	s.op("JNE", "scaled")
	for _, scaled := range []bool{false, true} {
		name := "plain"
		if scaled {
			name = "scaled"
			s.label(name)
			s.op("VBROADCASTSD", "(R8)", v.r(0))
			s.op("ADDQ", "$8", "R8")
		}
		add := func(masked bool) {
			s.load(v, "(DX)", 1, masked)
			s.load(v, "(AX)", 2, masked)
			if scaled {
				s.op("VFMADD231PD", v.r(0), v.r(1), v.r(2))
			} else {
				s.op("VADDPD", v.r(1), v.r(2), v.r(2))
			}
			s.store(v, 2, "(AX)", masked)
		}
		s.op("TESTQ", "CX", "CX")
		s.op("JEQ", name+"_last")
		s.label(name + "_vector")
		add(false)
		s.op("ADDQ", imm(v.bytes), "DX")
		s.op("ADDQ", imm(v.bytes), "AX")
		s.op("DECQ", "CX")
		s.op("JNE", name+"_vector")
		s.label(name + "_last")
		add(true)
		if !scaled {
			s.op("JMP", "next")
		}
	}
	s.label("next")
	s.op("ADDQ", "$4", "SI")
	s.op("DECQ", "R12")
	s.op("JNE", "entry")
	s.op("ADDQ", mem(scatterLDB, "DI"), "R10")
	s.op("DECQ", mem(scatterN, "DI"))
	s.op("JNE", "row")
	s.label("done")
	s.finish()
	if v.bytes == 32 {
		s.masks()
	}
}

// scatterBand is for rows of four values: a vector.
func scatterBand(s *source) {
	v := avx2vector
	s.function("scatterBand"+v.name, "s", fmt.Sprintf("scatterBand%s is scatter for rows of four values that have first columns.", v.name))
	s.op("MOVQ", mem(scatterC, "DI"), "DX")
	s.op("MOVQ", mem(scatterLDC, "DI"), "R13")
	s.op("MOVQ", mem(scatterRows, "DI"), "R12")
	s.op("MOVQ", mem(scatterN, "DI"), "CX")
	s.op("MOVQ", mem(scatterIndex, "DI"), "SI")
	s.op("MOVQ", mem(scatterFactor, "DI"), "R8")
	s.op("MOVQ", mem(scatterFirst, "DI"), "R9")
	s.op("MOVQ", mem(scatterB, "DI"), "R10")
	s.label("row")
	s.op("MOVL", "(R9)", "R11")
	s.op("CMPQ", "R11", mem(scatterStarts, "DI"))
	s.op("JAE", "done")
	s.op("LEAQ", "(DX)(R11*8)", "R11")
	s.op("VMOVUPD", "(R10)", v.r(0))
	s.op("MOVQ", mem(scatterK, "DI"), "BX")
	s.label("entry")
	s.op("MOVL", "(SI)", "AX")
	s.op("CMPQ", "AX", "R12")
	s.op("JAE", "done")
	s.op("IMULQ", "R13", "AX")
	s.op("TESTQ", "R8", "R8")
	s.op("JEQ", "one")
	s.op("VBROADCASTSD", "(R8)", v.r(1))
	s.op("ADDQ", "$8", "R8")
	s.op("VFMADD213PD", "(R11)(AX*1)", v.r(0), v.r(1))
	s.op("JMP", "store")
	s.label("one")
	s.op("VADDPD", "(R11)(AX*1)", v.r(0), v.r(1))
	s.label("store")
	s.op("VMOVUPD", v.r(1), "(R11)(AX*1)")
	s.op("ADDQ", "$4", "SI")
	s.op("DECQ", "BX")
	s.op("JNE", "entry")
	s.op("ADDQ", "$4", "R9")
	s.op("ADDQ", "$32", "R10")
	s.op("DECQ", "CX")
	s.op("JNE", "row")
	s.label("done")
	s.op("MOVQ", "CX", mem(scatterN, "DI"))
	s.finish()
}
