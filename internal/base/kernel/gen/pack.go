package main

import "fmt"

// Offsets of the fields of kernel.pack.
const (
	packDst  = 8 * iota // rows of one or two whole vectors
	packSrc             // first row
	packSS              // bytes between rows of the source
	packRows            // how many
	packCols            // 1 to two vectors
	packW               // weights of the rows, or nil
	packDS              // bytes between rows of the panel, or 0: one follows the other
)

// packs writes both precisions of an instruction set.
func packs(s *source, set isa) {
	for _, double := range []bool{true, false} {
		v := vector{set, double}
		s.function("pack"+v.typ(), "p", fmt.Sprintf("pack%s copies rows into a panel: see type pack.", v.typ()))
		s.op("MOVQ", mem(packCols, "DI"), "CX")
		s.op("MOVQ", mem(packSrc, "DI"), "SI")
		s.op("MOVQ", mem(packSS, "DI"), "DX")
		s.op("MOVQ", mem(packRows, "DI"), "R8")
		s.op("MOVQ", mem(packW, "DI"), "R9")
		s.op("MOVQ", mem(packDst, "DI"), "R10")
		s.op("MOVQ", mem(packDS, "DI"), "R11")
		s.op("TESTQ", "R8", "R8")
		s.op("JEQ", "done")
		s.op("CMPQ", "CX", imm(v.lanes()))
		s.op("JLE", "narrow")
		s.op("SUBQ", imm(v.lanes()), "CX")
		s.pack(v, 2)
		s.label("narrow")
		s.pack(v, 1)
		s.label("done")
		s.op("RET")
	}
	if set.bytes == 32 {
		s.masks()
	}
}

func (s *source) pack(v vector, vectors int) {
	name := fmt.Sprintf("pack%d", vectors)
	s.tailMask(v)
	s.op("MOVQ", imm(vectors*v.bytes), "AX")
	s.op("TESTQ", "R11", "R11")
	s.op("CMOVQEQ", "AX", "R11")
	s.op("TESTQ", "R9", "R9")
	s.op("JNE", name+"_weighted")
	for _, weighted := range []bool{false, true} {
		loop := name + "_loop"
		if weighted {
			loop = name + "_weighted"
		}
		s.label(loop)
		for j := range vectors {
			s.load(v, mem(j*v.bytes, "SI"), j, j == vectors-1)
		}
		if weighted {
			s.op(v.broadcast(), mem(0, "R9"), v.r(2))
			s.op("ADDQ", imm(v.size()), "R9")
			for j := range vectors {
				s.op(v.p("VMUL"), v.r(2), v.r(j), v.r(j))
			}
		}
		for j := range vectors {
			s.store(v, j, mem(j*v.bytes, "R10"), false)
		}
		s.op("ADDQ", "DX", "SI")
		s.op("ADDQ", "R11", "R10")
		s.op("DECQ", "R8")
		s.op("JNE", loop)
		s.finish()
	}
}
