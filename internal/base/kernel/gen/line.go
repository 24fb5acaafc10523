package main

import "fmt"

// Offsets of the fields of kernel.line.
const (
	lineA      = 8 * iota // a row of values
	lineB                 // the first panel
	linePS                // bytes between panels
	lineK                 // length of the sums
	lineX                 // initial values, or nil for 0
	lineC                 // result
	linePanels            // 2 or 4
	lineRelu              // not 0: negative results become 0
)

// lines writes both precisions of an instruction set.
func lines(s *source, set isa) {
	for _, double := range []bool{true, false} {
		v := vector{set, double}
		s.function("line"+v.typ(), "l", fmt.Sprintf("line%s multiplies a row by panels side by side: see type line.", v.typ()))
		s.op("CMPQ", mem(linePanels, "DI"), "$2")
		s.op("JEQ", "panels2")
		for _, panels := range []int{4, 2} {
			s.panelsOf(v, panels)
		}
	}
}

// panelsOf is the code for so many panels: as in a tile every element is one chain of
// fused multiply-adds in order of k, but there are enough of them to wait for none.
func (s *source) panelsOf(v vector, panels int) {
	name, count := fmt.Sprintf("panels%d", panels), 2*panels
	s.label(name)
	s.op("MOVQ", mem(lineX, "DI"), "AX")
	s.op("TESTQ", "AX", "AX")
	s.op("JEQ", name+"_zero")
	for i := range count {
		s.load(v, mem(i*v.bytes, "AX"), i, false)
	}
	s.op("JMP", name+"_begin")
	s.label(name + "_zero")
	for i := range count {
		s.zero(v, i)
	}
	s.label(name + "_begin")
	s.op("MOVQ", mem(lineA, "DI"), "R8")
	s.op("MOVQ", mem(lineB, "DI"), "SI")
	s.op("MOVQ", mem(linePS, "DI"), "BX")
	s.op("MOVQ", mem(lineK, "DI"), "CX")
	s.op("LEAQ", "(BX)(BX*2)", "R9")
	s.op("PCALIGN", "$32")
	s.label(name + "_loop")
	s.op(v.broadcast(), "(R8)", v.r(count))
	for p := range panels {
		for j := range 2 {
			from := [...]string{"(SI)", "(SI)(BX*1)", "(SI)(BX*2)", "(SI)(R9*1)"}[p]
			if j > 0 {
				from = fmt.Sprintf("%d%s", v.bytes, from)
			}
			s.op(v.p("VFMADD231"), from, v.r(count), v.r(2*p+j))
		}
	}
	s.op("ADDQ", imm(v.size()), "R8")
	s.op("ADDQ", imm(2*v.bytes), "SI")
	s.op("DECQ", "CX")
	s.op("JNE", name+"_loop")
	s.op("CMPQ", mem(lineRelu, "DI"), "$0")
	s.op("JEQ", name+"_store")
	s.zero(v, count)
	for i := range count {
		s.op(v.p("VMAX"), v.r(i), v.r(count), v.r(i)) // keeps NaN and -0: see tile
	}
	s.label(name + "_store")
	s.op("MOVQ", mem(lineC, "DI"), "AX")
	for i := range count {
		s.store(v, i, mem(i*v.bytes, "AX"), false)
	}
	s.finish()
}
