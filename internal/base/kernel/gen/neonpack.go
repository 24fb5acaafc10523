package main

import "fmt"

// neonPacks writes both precisions.
func neonPacks(s *source) {
	for _, double := range []bool{true, false} {
		s := neon{s, double}
		s.begin("pack"+s.typ(), "p", fmt.Sprintf("pack%s copies rows into a panel: see type pack.", s.typ()))
		s.field(packCols, "R3")
		s.field(packSrc, "R4")
		s.field(packSS, "R5")
		s.field(packRows, "R8")
		s.field(packW, "R9")
		s.field(packDst, "R10")
		s.field(packDS, "R11")
		s.op("CBZ", "R8", "done")
		s.op("CMP", imm(s.lanes()), "R3")
		s.op("BLE", "narrow")
		s.op("SUB", imm(s.lanes()), "R3")
		s.pack(2)
		s.label("narrow")
		s.pack(1)
		s.label("done")
		s.ret()
	}
}

func (s neon) pack(vectors int) {
	apart := fmt.Sprintf("pack%d_apart", vectors)
	s.op("CBNZ", "R11", apart)
	s.op("MOVD", imm(vectors*neonBytes), "R11")
	s.label(apart)
	s.wholeOrPart(fmt.Sprintf("pack%d", vectors), func(whole bool) {
		name := fmt.Sprintf("pack%d_part", vectors)
		if whole {
			name = fmt.Sprintf("pack%d_whole", vectors)
		}
		s.op("CBNZ", "R9", name+"_weighted")
		s.packLoop(name+"_loop", vectors, whole, false)
		s.packLoop(name+"_weighted", vectors, whole, true)
	})
}

func (s neon) packLoop(loop string, vectors int, whole, weighted bool) {
	s.label(loop)
	for j := range vectors {
		if whole || j < vectors-1 {
			s.load(j*neonBytes, "R4", 2*j, 2*j+1)
		} else {
			s.last("R4", j)
			s.loadPart(tilePart, "R6", 2*j, 2*j+1, 31)
		}
	}
	if weighted {
		s.op(s.move()+".P", mem(s.size(), "R9"), f(8))
		for i := range 2 * vectors {
			s.byLane("fmul", i, i, 8, 0)
		}
	}
	for j := range vectors {
		s.store(2*j, 2*j+1, j*neonBytes, "R10")
	}
	s.op("ADD", "R5", "R4")
	s.op("ADD", "R11", "R10")
	s.op("SUB", "$1", "R8")
	s.op("CBNZ", "R8", loop)
	s.ret()
}
