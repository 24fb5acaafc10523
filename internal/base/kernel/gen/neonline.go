package main

import "fmt"

// neonLines writes both precisions.
func neonLines(s *source) {
	for _, double := range []bool{true, false} {
		s := neon{s, double}
		s.begin("line"+s.typ(), "l", fmt.Sprintf("line%s multiplies a row by panels side by side: see type line.", s.typ()))
		s.field(linePanels, "R2")
		s.op("CMP", "$2", "R2")
		s.op("BEQ", "panels2")
		for _, panels := range []int{4, 2} {
			s.panelsOf(panels)
		}
	}
}

// panelsOf is the code for so many panels: see the one of amd64.
func (s neon) panelsOf(panels int) {
	name, count := fmt.Sprintf("panels%d", panels), 2*panels
	const row, value = 16, 18 // of a panel; of A
	pointer := []string{"R11", "R12", "R13", "R14"}
	s.label(name)
	s.field(lineX, "R4")
	s.op("CBZ", "R4", name+"_zero")
	for i := range count {
		s.load(i*neonBytes, "R4", 2*i, 2*i+1)
	}
	s.op("JMP", name+"_begin")
	s.label(name + "_zero")
	for i := range 2 * count {
		s.zeros(i)
	}
	s.label(name + "_begin")
	s.field(lineA, "R8")
	s.field(linePS, "R9")
	s.field(lineK, "R10")
	s.field(lineB, "R11")
	for p := 1; p < panels; p++ {
		s.op("ADD", "R9", pointer[p-1], pointer[p])
	}
	s.op("PCALIGN", "$16")
	s.label(name + "_loop")
	s.op(s.move()+".P", mem(s.size(), "R8"), f(value))
	for i := range count {
		s.op("FLDPQ.P", mem(neonBytes, pointer[i/2]), pairOf(row, row+1))
		s.byLane("fmla", 2*i, row, value, 0)
		s.byLane("fmla", 2*i+1, row+1, value, 0)
	}
	s.op("SUB", "$1", "R10")
	s.op("CBNZ", "R10", name+"_loop")
	s.field(lineRelu, "R2")
	s.op("CBZ", "R2", name+"_store")
	for i := range 2 * count {
		s.positive(i, value)
	}
	s.label(name + "_store")
	s.field(lineC, "R4")
	for i := range count {
		s.store(2*i, 2*i+1, i*neonBytes, "R4")
	}
	s.ret()
}
