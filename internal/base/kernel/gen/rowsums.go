package main

import "fmt"

// Offsets of the fields of kernel.rowSums.
const (
	rowSumsA      = 8 * iota // rows
	rowSumsRS                // bytes between them
	rowSumsIndex             // which of them, 4 bytes each, or nil for one after the other (dots)
	rowSumsB                 // rows (dots)
	rowSumsBS                // bytes between them
	rowSumsK                 // values in a row
	rowSumsC                 // four results for each group
	rowSumsGroups            // how many
)

// rowSums sums products with other rows, or absolute values, of four rows at a time in 64 bytes of
// lanes each, which are added up as those of column are. Nothing is fused.
func rowSums(s *source, set isa) {
	for _, sizes := range []bool{false, true} {
		s.rowSums(vector{set, true}, sizes)
	}
	if set.bytes == 32 {
		s.masks()
	}
}

func (s *source) rowSums(v vector, sizes bool) {
	const chunk = 64
	parts := chunk / v.bytes
	name, what := "rowDots", "products with other rows"
	if sizes {
		name, what = "rowSizes", "absolute values"
	}
	s.function(name+v.name, "a", fmt.Sprintf("%s%s sums rows of %s: see type rowSums.", name, v.name, what))
	acc := func(i, h int) int { return i*parts + h }
	other, value, sign := 4*parts, 10, 13
	s.op("MOVQ", mem(rowSumsK, "DI"), "BX")
	s.op("MOVQ", "BX", "CX")
	s.op("ANDQ", imm(v.lanes()*parts-1), "CX")
	s.op("SHRQ", "$3", "BX") // whole chunks
	s.chunkMasks(v)
	s.op("MOVQ", mem(rowSumsIndex, "DI"), "SI")
	s.op("MOVQ", mem(rowSumsC, "DI"), "DX")
	s.op("MOVQ", mem(rowSumsA, "DI"), "R11")
	if sizes {
		// All bits but the first.
		if v.bytes == 64 {
			s.op("VPTERNLOGQ", "$0xFF", v.r(sign), v.r(sign), v.r(sign))
		} else {
			s.op("VPCMPEQQ", v.r(sign), v.r(sign), v.r(sign))
		}
		s.op("VPSRLQ", "$1", v.r(sign), v.r(sign))
	} else {
		s.op("MOVQ", mem(rowSumsB, "DI"), "R12")
		s.op("MOVQ", mem(rowSumsBS, "DI"), "R13")
		s.op("LEAQ", "(R13)(R13*2)", "R15")
	}
	row := []string{"R8", "R9", "R10", "AX"}
	against := []string{"(R12)", "(R12)(R13*1)", "(R12)(R13*2)", "(R12)(R15*1)"}
	add := func(load func(from string, to, h int)) {
		for i := range 4 {
			for h := range parts {
				load(fmt.Sprintf("%d(%s)", h*v.bytes, row[i]), value, h)
				if sizes {
					s.op("VANDPD", v.r(sign), v.r(value), v.r(value))
				} else {
					load(fmt.Sprintf("%d%s", h*v.bytes, against[i]), other, h)
					s.op("VMULPD", v.r(other), v.r(value), v.r(value))
				}
				s.op("VADDPD", v.r(value), v.r(acc(i, h)), v.r(acc(i, h)))
			}
		}
	}
	s.label("group")
	for i := range 4 * parts {
		s.zero(v, i)
	}
	s.op("MOVQ", mem(rowSumsRS, "DI"), "CX")
	if !sizes {
		s.op("TESTQ", "SI", "SI")
		s.op("JNE", "indexed")
	}
	for _, r := range row {
		s.op("MOVQ", "R11", r)
		s.op("ADDQ", "CX", "R11")
	}
	if !sizes {
		s.op("JMP", "rows")
		s.label("indexed")
		for i, r := range row {
			s.op("MOVL", mem(4*i, "SI"), r)
			s.op("IMULQ", "CX", r)
			s.op("ADDQ", "R11", r)
		}
		s.op("ADDQ", "$16", "SI")
		s.label("rows")
	}
	s.op("MOVQ", "BX", "CX")
	s.op("TESTQ", "CX", "CX")
	s.op("JEQ", "tail")
	s.label("chunk")
	add(func(from string, to, _ int) { s.load(v, from, to, false) })
	for _, r := range row {
		s.op("ADDQ", imm(chunk), r)
	}
	if !sizes {
		s.op("ADDQ", imm(chunk), "R12")
	}
	s.op("DECQ", "CX")
	s.op("JNE", "chunk")
	s.label("tail")
	s.op("MOVQ", mem(rowSumsK, "DI"), "CX")
	s.op("TESTQ", imm(v.lanes()*parts-1), "CX")
	s.op("JEQ", "sum")
	add(func(from string, to, h int) { s.loadTail(v, from, to, h) })
	s.label("sum")
	s.halves(v, acc, value)
	p, q, t := fmt.Sprintf("Y%d", acc(0, 0)), fmt.Sprintf("Y%d", acc(1, 0)), fmt.Sprintf("Y%d", value)
	s.op("VUNPCKHPD", q, p, t)
	s.op("VUNPCKLPD", q, p, p)
	s.op("VADDPD", t, p, p)
	s.op("VMOVUPD", p, "(DX)")
	s.op("ADDQ", "$32", "DX")
	if !sizes { // to the next four rows
		s.op("LEAQ", "(R12)(R13*4)", "R12")
		s.op("MOVQ", "BX", "CX")
		s.op("SHLQ", "$6", "CX")
		s.op("SUBQ", "CX", "R12")
	}
	s.op("DECQ", mem(rowSumsGroups, "DI"))
	s.op("JNE", "group")
	s.finish()
}
